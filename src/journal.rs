//! What a writing command has finished, so that it can be killed anywhere and run again.
//!
//! One journal for each (command, archive digest, target), beside the archive or in `--state-dir`. It is
//! JSON lines: a header that pins the run's context, an intent before each first send, a line for each
//! finished range, and a last line when all is done. A torn last line is the mark of a crash and is cut
//! off. Only an unfinished journal is resumed; after a finished one, and after one whose writes were taken back,
//! everything is read back.

mod held;
mod inspect;
mod ranges;
mod record;

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

pub use held::HeldJournal;
pub use inspect::{JournalAccount, inspect, journals_in};
pub use ranges::Ranges;
use record::Record;
pub use record::{Context, Done, Run, Tally};
use sha2::{Digest, Sha256};

use crate::failpoint::{self, Point};
use crate::{Error, Result};

/// An open journal; the file is locked until it is dropped.
pub struct Journal {
    path: PathBuf,
    file: File,
    done: Ranges,
    intended: Ranges,
    tally: Tally,
    conflicts: Vec<String>,
    resumed: bool,
    /// Whether a line could not be written whole.
    is_broken: bool,
}

impl Journal {
    /// Opens the journal for `context` in `folder`, resuming an unfinished one.
    ///
    /// # Errors
    /// Usage: another run holds the journal, or an unfinished one has another context (both are shown).
    /// File: it cannot be read, written or locked, or is damaged before its last line.
    pub fn open(folder: &Path, context: &Context, run: Run) -> Result<Self> {
        let path = folder.join(file_name(context));
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(|e| Error::io("open the journal", &path, e))
            .map_err(|error| error.hint("Pass --state-dir DIR where it can be written."))?;
        lock(&file, &path)?;
        let Replayed { header, finished, end, done, intended, tally, conflicts, .. } = replay(&file, &path)?;
        let mut journal = Self {
            path,
            file,
            done,
            intended,
            tally,
            conflicts,
            resumed: header.is_some() && !finished,
            is_broken: false,
        };
        match header {
            Some(earlier) if !finished => {
                refuse_other_context(&earlier, context, &journal.path)?;
                journal.cut_to(end)?;
            }
            _ => journal.restart(context)?,
        }
        journal.append(&Record::Run(run))?;
        Ok(journal)
    }

    /// Whether an unfinished journal of an earlier run is being continued.
    pub fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// The documents (by their position in the archive, from 0) that have a final outcome.
    pub fn done(&self) -> &Ranges {
        &self.done
    }

    /// Whether `[from, to)` was sent before without its outcome being recorded.
    pub fn was_intended(&self, from: u64, to: u64) -> bool {
        self.intended.overlaps(from, to)
    }

    /// What the finished ranges came to, earlier runs included.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The keys of the documents in conflict, earlier runs included.
    pub fn conflicts(&self) -> &[String] {
        &self.conflicts
    }

    /// Notes that `[from, to)` is about to be sent for the first time; on disk when it returns.
    pub fn intend(&mut self, from: u64, to: u64) -> Result<()> {
        self.intended.insert(from, to);
        self.append(&Record::Intent { from, to })
    }

    /// Notes the final outcome of a range; on disk when it returns.
    pub fn finish_range(&mut self, done: Done) -> Result<()> {
        self.done.insert(done.from, done.to);
        self.tally.add(&done.tally);
        self.conflicts.extend(done.conflicts.iter().cloned());
        self.append(&Record::Done(done))
    }

    /// Notes that the whole run is done.
    pub fn finish(mut self) -> Result<()> {
        self.append(&Record::Finished)
    }

    /// The journal's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn append(&mut self, record: &Record) -> Result<()> {
        if self.is_broken {
            let message =
                format!("The journal {:?} could not be written before, so nothing more is noted", self.path);
            return Err(Error::file(message));
        }
        let appended = self.try_append(record);
        // Half a line may stand at its end, which is cut off only as long as nothing follows it.
        self.is_broken = appended.is_err();
        appended
    }

    fn try_append(&mut self, record: &Record) -> Result<()> {
        failpoint::pass(match record {
            Record::Begin(_) | Record::Run(_) => Point::JournalBegin,
            Record::Intent { .. } => Point::JournalIntent,
            Record::Done(_) => Point::JournalDone,
            Record::Finished | Record::TakenBack => Point::JournalFinished,
        })?;
        let mut line = serde_json::to_vec(record)
            .map_err(|e| Error::caused(crate::ErrorKind::Bug, "Cannot write a journal record", e))?;
        line.push(b'\n');
        let failed = |e| Error::io("write the journal", &self.path, e);
        if let Some(stop) = failpoint::stop_at(Point::JournalTorn) {
            self.file.write_all(line.get(..line.len() / 2).unwrap_or_default()).map_err(failed)?;
            stop.now(Point::JournalTorn)?;
        }
        self.file.write_all(&line).and_then(|()| self.file.sync_data()).map_err(failed)
    }

    fn cut_to(&mut self, end: u64) -> Result<()> {
        self.file
            .set_len(end)
            .and_then(|()| self.file.seek(SeekFrom::Start(end)).map(drop))
            .map_err(|e| Error::io("cut the torn end off the journal", &self.path, e))
    }

    fn restart(&mut self, context: &Context) -> Result<()> {
        self.cut_to(0)?;
        self.done = Ranges::default();
        self.intended = Ranges::default();
        self.tally = Tally::default();
        self.conflicts.clear();
        self.append(&Record::Begin(context.clone()))?;
        let folder = self.path.parent().unwrap_or(Path::new("."));
        File::open(folder).and_then(|f| f.sync_all()).map_err(|e| Error::io("sync the folder", folder, e))
    }
}

/// The journal's name: the archive's name, the command, and a digest of what else it is bound to.
fn file_name(context: &Context) -> String {
    let mut hasher = Sha256::new();
    for part in [&context.archive_sha256, &context.target] {
        hasher.update(part.as_bytes());
        hasher.update([0]);
    }
    format!("{}.{}-{}.journal", context.archive, context.command, &hex::encode(hasher.finalize())[..12])
}

/// How often a lock is tried, and the pause between: who only asks whether it is held holds it for a moment.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(20);

fn lock(file: &File, path: &Path) -> Result<()> {
    for round in 1.. {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) if round < TRIES => sleep(PAUSE),
            Err(TryLockError::WouldBlock) => return Err(held(file, path)),
            Err(TryLockError::Error(e)) => return Err(Error::io("lock the journal", path, e)),
        }
    }
    Ok(())
}

/// Names the run that holds a journal.
fn held(file: &File, path: &Path) -> Error {
    // Its last line may be half written just now, which says nothing here.
    let holder = replay(file, path).ok().and_then(|replayed| replayed.run);
    let holder = match holder {
        Some(run) => format!("Another run (process {}, since {})", run.process, run.started),
        None => "Another run".to_owned(),
    };
    Error::usage(format!("{holder} is working with the journal {path:?}; nothing was done"))
        .hint("Wait for the other run, or stop it and run this command again to resume.")
}

#[derive(Default)]
struct Replayed {
    header: Option<Context>,
    finished: bool,
    end: u64,
    done: Ranges,
    intended: Ranges,
    tally: Tally,
    conflicts: Vec<String>,
    /// When the first of its runs began, and the last one of them.
    since: Option<String>,
    run: Option<Run>,
}

/// Reads a journal; a last line that is torn or does not parse is left out, an earlier one is damage.
fn replay(file: &File, path: &Path) -> Result<Replayed> {
    let mut replayed = Replayed::default();
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    let mut torn: Option<u64> = None;
    let mut number = 0_u64;
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line).map_err(|e| Error::io("read the journal", path, e))?;
        if read == 0 {
            return Ok(replayed);
        }
        number += 1;
        if let Some(torn) = torn {
            return Err(Error::file(format!(
                "The journal {path:?} is damaged in line {torn}; nothing was done"
            ))
            .hint(
                "Remove the journal to start over: every document is then read back before it is written.",
            ));
        }
        match serde_json::from_slice::<Record>(&line) {
            Ok(record) if line.ends_with(b"\n") => {
                replayed.end += read as u64;
                replayed.apply(record);
            }
            _ => torn = Some(number),
        }
    }
}

impl Replayed {
    fn apply(&mut self, record: Record) {
        match record {
            Record::Begin(context) => self.header = Some(context),
            Record::Run(run) => {
                let _ = self.since.get_or_insert_with(|| run.started.clone());
                self.run = Some(run);
            }
            Record::Intent { from, to } => self.intended.insert(from, to),
            Record::Done(done) => {
                self.done.insert(done.from, done.to);
                self.tally.add(&done.tally);
                self.conflicts.extend(done.conflicts);
            }
            Record::Finished | Record::TakenBack => self.finished = true,
        }
    }
}

fn refuse_other_context(earlier: &Context, now: &Context, path: &Path) -> Result<()> {
    let differences = earlier.differences(now);
    if differences.is_empty() {
        return Ok(());
    }
    Err(Error::usage(format!(
        "The unfinished journal {path:?} belongs to a run with other options: {}; nothing was done",
        differences.join(", ")
    ))
    .hint("Run the earlier command again to finish it, or remove the journal to start over with the new options."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context() -> Context {
        Context {
            command: "import".into(),
            archive: "a.ndjson".into(),
            archive_sha256: "aa".into(),
            target: "embedded:x collection y".into(),
            options: [("layout".to_owned(), "mongodb-events".to_owned())].into(),
        }
    }

    fn open(folder: &Path, context: &Context) -> Result<Journal> {
        Journal::open(folder, context, Run::now(40, vec!["rekey".into(), "import".into()]))
    }

    fn done(from: u64, to: u64) -> Done {
        Done { from, to, tally: Tally { written: to - from, ..Tally::default() }, conflicts: vec![] }
    }

    #[test]
    fn one_whose_writes_were_taken_back_is_not_resumed_and_nobody_works_with_it_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = open(folder.path(), &context()).unwrap();
        journal.finish_range(done(0, 10)).unwrap();
        let path = journal.path().to_owned();
        assert!(HeldJournal::hold(&path).is_err(), "a run is working with it");
        journal.file.write_all(b"{\"done").unwrap();
        drop(journal);
        let mut held = HeldJournal::hold(&path).unwrap().unwrap();
        assert!(open(folder.path(), &context()).is_err(), "it is held");
        held.take_back().unwrap();
        drop(held);
        let journal = open(folder.path(), &context()).unwrap();
        assert!(!journal.is_resumed() && !journal.done().contains(0, 1));
        assert!(HeldJournal::hold(&folder.path().join("no.journal")).unwrap().is_none());
    }

    #[test]
    fn an_unfinished_journal_is_resumed_with_its_tally() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = open(folder.path(), &context()).unwrap();
        journal.intend(0, 10).unwrap();
        journal.finish_range(done(0, 10)).unwrap();
        journal.intend(10, 20).unwrap();
        drop(journal);
        let journal = open(folder.path(), &context()).unwrap();
        assert!(journal.is_resumed());
        assert_eq!(journal.tally().written, 10);
        assert!(journal.done().contains(0, 10) && !journal.done().contains(10, 20));
        assert!(journal.was_intended(10, 20));
    }

    #[test]
    fn a_finished_journal_starts_over() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = open(folder.path(), &context()).unwrap();
        journal.finish_range(done(0, 10)).unwrap();
        journal.finish().unwrap();
        let journal = open(folder.path(), &context()).unwrap();
        assert!(!journal.is_resumed());
        assert_eq!(journal.tally().written, 0);
    }

    #[test]
    fn a_torn_last_line_is_cut_off_and_an_earlier_one_is_damage() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = open(folder.path(), &context()).unwrap();
        journal.finish_range(done(0, 10)).unwrap();
        let path = journal.path().to_owned();
        drop(journal);
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"done\":{\"from\":10").unwrap();
        let mut journal = open(folder.path(), &context()).unwrap();
        journal.finish_range(done(10, 20)).unwrap();
        drop(journal);
        assert_eq!(open(folder.path(), &context()).unwrap().tally().written, 20);
        file.write_all(b"rubbish\n\"finished\"\n").unwrap();
        assert_eq!(open(folder.path(), &context()).err().unwrap().kind(), crate::ErrorKind::File);
    }

    #[test]
    fn a_journal_says_how_far_its_runs_came_and_who_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = open(folder.path(), &context()).unwrap();
        journal.finish_range(done(0, 10)).unwrap();
        let path = journal.path().to_owned();
        assert_eq!(journals_in(folder.path()).unwrap(), std::slice::from_ref(&path));
        let running = inspect(&path).unwrap();
        assert!(running.is_running && !running.is_finished);
        assert_eq!((running.done, running.context), (10, Some(context())));
        drop(journal);
        let stopped = inspect(&path).unwrap();
        assert!(!stopped.is_running);
        assert_eq!(stopped.run.unwrap().process, std::process::id());
        open(folder.path(), &context()).unwrap().finish().unwrap();
        assert!(inspect(&path).unwrap().is_finished);
        std::fs::write(&path, "rubbish\n{}\n").unwrap();
        assert_eq!(inspect(&path).err().unwrap().kind(), crate::ErrorKind::File);
    }

    #[test]
    fn other_options_and_a_second_run_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let journal = open(folder.path(), &context()).unwrap();
        let error = open(folder.path(), &context()).err().unwrap().to_string();
        assert!(error.contains(&format!("Another run (process {}, since", std::process::id())), "{error}");
        drop(journal);
        let mut other = context();
        let _ = other.options.insert("layout".into(), "mongodb-sagas".into());
        let error = open(folder.path(), &other).err().unwrap();
        assert!(error.to_string().contains("layout: mongodb-events then, mongodb-sagas now"), "{error}");
    }
}
