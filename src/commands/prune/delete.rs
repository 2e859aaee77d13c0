use std::collections::BTreeMap;

use super::Archives;
use super::decide::Decided;
use crate::archive::{Chunk, Line, LineReader};
use crate::commands::journal_stem;
use crate::document::json::Tape;
use crate::document::{Lines, StoreKey};
use crate::journal::{Context, Done, Journal, Tally};
use crate::layout::Inspector;
use crate::options::PruneOptions;
use crate::report::{Finding, FindingCode, Findings, NoticeCode};
use crate::rewrite::stream_id;
use crate::signal::StopSignal;
use crate::stores::{Collection, Guarded, outcome};
use crate::ui::Ui;
use crate::{Error, Result};

/// The collection that documents are deleted from.
pub(super) struct Target<'a> {
    pub collection: &'a dyn Collection,
    pub identity: Option<&'a str>,
}

/// Deletes the documents of every stream that is not kept; each only if it is still what was exported.
pub(super) async fn delete(
    options: &PruneOptions,
    archives: &Archives,
    decided: &Decided,
    target: &Target<'_>,
    findings: &mut Findings,
    ui: &Ui,
    stop: &StopSignal,
) -> Result<Tally> {
    let mut journal = Journal::open(&archives.folder, &context(options, archives, target)?)?;
    if journal.is_resumed() {
        ui.notice(NoticeCode::Resumed, format!("Resuming the unfinished run of {:?}.", journal.path()));
    }
    let task = ui.progress().start("deleting", Some(decided.documents));
    let mut batches = Batches::new(archives, decided, target);
    while let Some(batch) = tokio::task::block_in_place(|| batches.next(&journal))? {
        if stop.is_set() {
            return Err(stop
                .error("Interrupted; what was under way is finished and noted")
                .hint("Run the same command again to go on where this run ended."));
        }
        journal.intend(batch.from, batch.to)?;
        let outcomes = outcome::delete(target.collection, &batch.keys, &batch.lines).await;
        let done = settle(&batch, outcomes, findings)?;
        task.add(batch.to - batch.from, batch.lines.bytes() as u64);
        journal.finish_range(done)?;
    }
    let tally = *journal.tally();
    journal.finish()?;
    task.finish();
    Ok(tally)
}

fn settle(batch: &Batch, outcomes: Vec<Guarded>, findings: &mut Findings) -> Result<Done> {
    let mut tally = Tally { kept: batch.kept, ..Tally::default() };
    for (outcome, shown) in outcomes.into_iter().zip(&batch.shown) {
        match outcome {
            Guarded::Done => tally.deleted += 1,
            Guarded::Missing => tally.gone += 1,
            Guarded::Differs(_) | Guarded::UniqueTaken(_) => {
                tally.kept += 1;
                let message = "It was changed while its stream was being deleted, and is kept.";
                findings
                    .push(Finding { key: Some(shown.clone()), ..Finding::new(FindingCode::Kept, message) })?;
            }
            Guarded::Failed(error) => {
                return Err(Error::from(error)
                    .context(format!("The legacy document {shown:?} was not deleted"))
                    .hint("Run the same command again to go on where this run ended."));
            }
        }
    }
    Ok(Done { from: batch.from, to: batch.to, tally, conflicts: Vec::new() })
}

fn context(options: &PruneOptions, archives: &Archives, target: &Target<'_>) -> Result<Context> {
    let totals =
        archives.legacy.totals().ok_or_else(|| Error::bug("The archive was not read before it is pruned"))?;
    let twins =
        options.twins.as_ref().map(|twins| format!("{} {}", twins.address.identity(), twins.collection));
    Ok(Context {
        command: "prune".to_owned(),
        archive: journal_stem(&archives.legacy),
        archive_sha256: totals.sha256.clone(),
        target: format!(
            "{} {} {}",
            options.from.address.identity(),
            options.from.collection,
            target.identity.unwrap_or_default()
        ),
        options: BTreeMap::from([
            ("layout".to_owned(), archives.layout.digest()),
            ("twins-in".to_owned(), twins.unwrap_or_else(|| "the same collection".to_owned())),
        ]),
    })
}

/// Consecutive documents of the archive.
#[derive(Default)]
struct Batch {
    from: u64,
    to: u64,
    keys: Vec<StoreKey>,
    lines: Lines,
    shown: Vec<String>,
    kept: u64,
}

/// Cuts the legacy archive into batches.
struct Batches<'a> {
    decided: &'a Decided,
    limits: crate::stores::BatchLimits,
    reader: LineReader,
    chunk: Chunk,
    next_line: usize,
    position: u64,
    tape: Tape,
    inspector: Inspector,
    key: Vec<u8>,
}

impl<'a> Batches<'a> {
    fn new(archives: &'a Archives, decided: &'a Decided, target: &Target<'_>) -> Self {
        Self {
            decided,
            limits: target.collection.batch_limits(),
            reader: archives.legacy.line_reader(),
            chunk: Chunk::new(),
            next_line: 0,
            position: 0,
            tape: Tape::new(),
            inspector: Inspector::new(&archives.layout, archives.escaping),
            key: Vec::new(),
        }
    }

    /// The next batch; `None` after the last document.
    fn next(&mut self, journal: &Journal) -> Result<Option<Batch>> {
        let mut batch = Batch { from: self.position, to: self.position, ..Batch::default() };
        loop {
            if self.next_line >= self.chunk.len() {
                self.next_line = 0;
                if !self.reader.fill(&mut self.chunk)? {
                    return Ok(Some(batch).filter(|batch| batch.to > batch.from));
                }
            }
            let is_done = journal.done().contains(self.position, self.position + 1);
            let bytes = self.chunk.line(self.next_line).map_or(0, |line| line.bytes.len());
            let is_full = batch.keys.len() >= self.limits.documents
                || (!batch.keys.is_empty() && batch.lines.bytes() + bytes > self.limits.bytes);
            if is_full || (is_done && batch.to > batch.from) {
                return Ok(Some(batch));
            }
            self.position += 1;
            if is_done {
                self.next_line += 1;
                (batch.from, batch.to) = (self.position, self.position);
                continue;
            }
            batch.to = self.position;
            let chunk = std::mem::take(&mut self.chunk);
            let taken = chunk.line(self.next_line).map_or(Ok(()), |line| self.take(&mut batch, line));
            self.chunk = chunk;
            self.next_line += 1;
            taken?;
        }
    }

    fn take(&mut self, batch: &mut Batch, line: Line<'_>) -> Result<()> {
        let damaged = |what: String| {
            Error::file(format!("Line {} of the legacy archive is damaged: {what}", line.number))
        };
        self.tape.read(line.bytes).map_err(|error| damaged(error.to_string()))?;
        self.key.clear();
        let stream_len = self.inspector.order_key(&self.tape, line.bytes, &mut self.key).unwrap_or_default();
        let stream = self.key.get(..stream_len).unwrap_or_default();
        if self.decided.kept.contains_key(&stream_id(stream)) {
            batch.kept += 1;
            return Ok(());
        }
        let key =
            self.inspector.store_key(&self.tape, line.bytes).map_err(|refusal| damaged(refusal.detail))?;
        batch.keys.push(key);
        batch.lines.push(line.bytes);
        batch.shown.push(self.inspector.display_key(&self.tape, line.bytes).into_owned());
        Ok(())
    }
}
