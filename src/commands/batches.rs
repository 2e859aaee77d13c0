use std::ops::Range;

use crate::archive::{ArchiveInput, Chunk, Line, LineReader};
use crate::journal::Ranges;
use crate::signal::StopSignal;
use crate::stores::BatchLimits;
use crate::ui::format;
use crate::{Error, Result};

/// What is collected of consecutive documents until it is sent in one call.
pub(super) trait Batch: Default {
    /// How many documents are to be sent.
    fn documents(&self) -> usize;

    /// How many bytes their lines have.
    fn bytes(&self) -> usize;
}

/// The error of a run that stopped when asked after it had begun to write; of so many documents that were under way
/// nobody waited for what became of them.
pub(super) fn interrupted(stop: &StopSignal, unanswered: u64) -> Error {
    let what = match unanswered {
        0 => "Interrupted; what was under way is finished".to_owned(),
        _ => format!(
            "Interrupted; what became of {} under way is not known yet, the next run looks",
            format::count(unanswered, "document")
        ),
    };
    stop.error(&what).hint("Run the same command again to go on where this run ended.")
}

/// Cuts an archive into batches of consecutive documents that have no outcome yet.
pub(super) struct Batches {
    limits: BatchLimits,
    reader: LineReader,
    chunk: Chunk,
    next_line: usize,
    position: u64,
}

impl Batches {
    /// Starts at the archive's beginning.
    pub fn new(input: &ArchiveInput, limits: BatchLimits) -> Self {
        Self { limits, reader: input.line_reader(), chunk: Chunk::new(), next_line: 0, position: 0 }
    }

    /// The next batch with the positions of its documents in the archive; `None` after the last document.
    ///
    /// Positions are those among the documents that are looked at. `take` gets every line in order, with its position
    /// in the whole archive: with the batch it may add to, or without one if it is among `done`.
    pub fn next<B: Batch>(
        &mut self,
        done: &Ranges,
        mut take: impl FnMut(Option<&mut B>, Line<'_>, u64) -> Result<()>,
    ) -> Result<Option<(Range<u64>, B)>> {
        let mut batch = B::default();
        let mut from = self.position;
        loop {
            if self.next_line >= self.chunk.len() {
                self.next_line = 0;
                if !self.reader.fill(&mut self.chunk)? {
                    return Ok((self.position > from).then_some((from..self.position, batch)));
                }
            }
            let Some(line) = self.chunk.line(self.next_line) else { continue };
            let is_done = done.contains(self.position, self.position + 1);
            let is_full = batch.documents() >= self.limits.documents
                || (batch.documents() > 0 && batch.bytes() + line.bytes.len() > self.limits.bytes);
            if is_full || (is_done && self.position > from) {
                return Ok(Some((from..self.position, batch)));
            }
            let in_archive = self.chunk.position(self.next_line);
            self.next_line += 1;
            self.position += 1;
            if is_done {
                from = self.position;
                take(None, line, in_archive)?;
            } else {
                take(Some(&mut batch), line, in_archive)?;
            }
        }
    }
}
