//! Reads an archive's lines in large chunks and proves at the end that they are the whole archive.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::source::{OpenSource, Source};
use super::tally::Tally;
use super::{Chunk, Expectation, Totals};
use crate::Result;
use crate::shard::{ShardFilter, ShardSieve};

/// About how many bytes of lines a chunk holds.
pub const CHUNK_BYTES: usize = 1024 * 1024;
/// The longest line that is read unless told otherwise. Every store's documents are far below it.
pub const MAX_LINE_BYTES: usize = 64 * 1024 * 1024;

/// Reads the lines of one pass over an archive.
///
/// Digest and counts are kept while reading, over each chunk as one block; a reader can be moved to a
/// thread of its own. Whoever reads to the end has checked them: where they are not what the manifest, the
/// vendor's manifest or the operator says, the call that would have told the end fails instead (exit 74).
/// Nothing that was read before is to be trusted then, refusals found in it included.
///
/// Memory is one chunk, or the longest line if that is longer.
pub struct LineReader {
    name: String,
    sources: std::vec::IntoIter<Source>,
    open: Option<OpenSource>,
    expectations: Vec<Expectation>,
    earlier: Arc<OnceLock<Totals>>,
    tally: Tally,
    max_line: usize,
    sieve: Option<ShardSieve>,
    ended: Option<Totals>,
}

impl LineReader {
    /// Reads one file of lines, such as a list of refused documents.
    pub fn open_file(path: &Path, expectation: Option<Expectation>) -> Self {
        let source = Source::file(path, None);
        let expectations = expectation.into_iter().collect();
        Self::new(format!("{path:?}"), vec![source], expectations, Arc::default(), MAX_LINE_BYTES)
    }

    /// Reads sources one after the other; `earlier` holds what an earlier pass found.
    pub(super) fn new(
        name: String,
        sources: Vec<Source>,
        expectations: Vec<Expectation>,
        earlier: Arc<OnceLock<Totals>>,
        max_line: usize,
    ) -> Self {
        Self {
            name,
            sources: sources.into_iter(),
            open: None,
            expectations,
            earlier,
            tally: Tally::default(),
            max_line,
            sieve: None,
            ended: None,
        }
    }

    /// Gives the lines of certain shards alone; the whole archive is proven to be whole all the same.
    pub(super) fn of_shards(self, filter: Option<&ShardFilter>) -> Self {
        Self { sieve: filter.map(ShardFilter::sieve), ..self }
    }

    /// The next chunk; `None` at the end, where everything was proven to be whole.
    pub fn next_chunk(&mut self) -> Result<Option<Chunk>> {
        let mut chunk = Chunk::new();
        Ok(self.fill(&mut chunk)?.then_some(chunk))
    }

    /// Reads the next lines into `chunk`, whose buffers are used again; `false` at the end as in
    /// [`Self::next_chunk`].
    pub fn fill(&mut self, chunk: &mut Chunk) -> Result<bool> {
        loop {
            let Some(open) = &mut self.open else {
                match self.sources.next() {
                    Some(source) => self.open = Some(OpenSource::open(source)?),
                    None => return self.end().map(|()| false),
                }
                continue;
            };
            chunk.reset(open.path(), self.tally.documents());
            if !open.read(chunk, self.max_line)? {
                open.finish()?;
                self.open = None;
            } else if !chunk.is_empty() {
                self.tally.add(chunk.block(), chunk.len() as u64);
                if let Some(sieve) = &mut self.sieve {
                    chunk.retain(|line| sieve.keeps(line));
                }
                if !chunk.is_empty() {
                    return Ok(true);
                }
            }
        }
    }

    /// Reads what is left, checks that the archive is whole, and tells its totals.
    pub fn finish(mut self) -> Result<Totals> {
        let mut chunk = Chunk::new();
        while self.fill(&mut chunk)? {}
        Ok(self.ended.unwrap_or_else(|| self.tally.totals()))
    }

    fn end(&mut self) -> Result<()> {
        if self.ended.is_some() {
            return Ok(());
        }
        let totals = self.tally.totals();
        for expectation in &self.expectations {
            expectation.check(&self.name, &totals)?;
        }
        let earlier = self.earlier.get_or_init(|| totals.clone());
        Expectation::totals("an earlier pass over the same file", earlier).check(&self.name, &totals)?;
        self.ended = Some(totals);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
