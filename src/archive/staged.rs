//! Finished outputs that appear together, or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::part_file::{PartFile, sync_folder_of};
use super::spool::Spool;
use crate::failpoint::{self, Point};
use crate::{Error, Result};

/// One finished output that nobody sees yet.
#[derive(Debug)]
pub struct Output(pub(super) Kind);

#[derive(Debug)]
pub(super) enum Kind {
    /// A synced `.part` file that awaits its name.
    File(PartFile),
    /// Lines that await standard output.
    Stdout(Spool),
}

/// The outputs of one run: data, key map, list of refusals, and the manifest as the last.
///
/// Dropped without a commit, every `.part` file is removed and nothing was written to standard output. A
/// commit that dies half-way leaves new lines beside an old manifest or none, and neither passes for whole.
#[derive(Debug, Default)]
pub struct Staged {
    outputs: Vec<Output>,
    outdated: Vec<PathBuf>,
}

impl Staged {
    /// Stages nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an output; outputs appear in the order they are added, so the manifest comes last.
    pub fn add(&mut self, output: Output) {
        self.outputs.push(output);
    }

    /// Has the commit remove a file of an earlier run that this one does not replace; it need not exist.
    pub fn remove(&mut self, path: PathBuf) {
        self.outdated.push(path);
    }

    /// Puts everything in its place, on the disk when it returns. A reader of standard output that went away
    /// is [`crate::ErrorKind::ClosedPipe`], and nothing after it appears.
    pub fn commit(self) -> Result<()> {
        self.commit_to(&mut io::stdout().lock())
    }

    fn commit_to(self, stdout: &mut dyn Write) -> Result<()> {
        let Self { outputs, outdated } = self;
        for path in outdated {
            remove_if_there(&path)?;
        }
        for Output(kind) in outputs {
            match kind {
                Kind::Stdout(spool) => spool.copy_to(stdout, Path::new("standard output"))?,
                Kind::File(mut file) => {
                    failpoint::pass(Point::OutputRename)?;
                    file.put_in_place()?;
                    // One by one, so that after a power cut no manifest is there without its lines.
                    sync_folder_of(file.path())?;
                    failpoint::pass(Point::OutputNamed)?;
                }
            }
        }
        Ok(())
    }
}

fn remove_if_there(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", path, source)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::archive::ArchiveWriter;

    fn written(path: &Path) -> Output {
        let mut writer = ArchiveWriter::create(path).unwrap();
        writer.write_line(b"{}").unwrap();
        writer.finish().unwrap().output
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn outputs_appear_together_and_outdated_files_go() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.refused.ndjson"), "old").unwrap();
        let mut staged = Staged::new();
        staged.add(written(&dir.path().join("a")));
        staged.add(written(&dir.path().join("a.keys.ndjson")));
        staged.remove(dir.path().join("a.refused.ndjson"));
        staged.remove(dir.path().join("never.there"));
        assert_eq!(names(dir.path()), ["a.keys.ndjson.part", "a.part", "a.refused.ndjson"]);
        staged.commit().unwrap();
        assert_eq!(names(dir.path()), ["a", "a.keys.ndjson"]);
    }

    #[test]
    fn dropped_outputs_leave_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let mut staged = Staged::new();
        staged.add(written(&dir.path().join("a")));
        drop(staged);
        assert!(names(dir.path()).is_empty());
    }

    #[test]
    fn a_rename_that_fails_leaves_no_part_and_no_later_output() {
        let dir = tempfile::tempdir().unwrap();
        let mut staged = Staged::new();
        staged.add(written(&dir.path().join("a")));
        staged.add(written(&dir.path().join("b")));
        staged.add(written(&dir.path().join("c")));
        fs::create_dir(dir.path().join("b")).unwrap();
        assert_eq!(staged.commit().unwrap_err().kind(), ErrorKind::File);
        assert_eq!(names(dir.path()), ["a", "b"]);
    }

    /// A pipe whose reader went away.
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn standard_output_is_written_at_the_commit_and_a_closed_pipe_stops_the_rest() {
        let dir = tempfile::tempdir().unwrap();
        let spooled = || {
            let mut writer = ArchiveWriter::spooled(dir.path()).unwrap();
            writer.write_line(b"{\"a\":1}").unwrap();
            let mut staged = Staged::new();
            staged.add(writer.finish().unwrap().output);
            staged.add(written(&dir.path().join("m.json")));
            staged
        };
        assert_eq!(spooled().commit_to(&mut Closed).unwrap_err().kind(), ErrorKind::ClosedPipe);
        assert!(names(dir.path()).is_empty());
        let mut out = Vec::new();
        spooled().commit_to(&mut out).unwrap();
        assert_eq!(out, b"{\"a\":1}\n");
        assert_eq!(names(dir.path()), ["m.json"]);
    }
}
