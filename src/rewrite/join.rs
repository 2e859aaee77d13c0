use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use super::buffer::Output;
use super::collect::Collector;
use super::lines::line_at;
use super::long_stream::LongStream;
use super::rules::Rules;
use super::stream::{Fragment, StreamRewriter};
use super::worker::{WorkedBlock, out_of_order};
use crate::Result;
use crate::archive::Chunk;
use crate::tenant::TenantResolver;

/// How many bytes of one stream are held in memory; a longer one goes to a temporary file.
const HELD_BYTES: usize = 16 * 1024 * 1024;

/// Puts the streams at the ends of neighbouring blocks together, and everything in order.
pub struct Joiner {
    rewriter: StreamRewriter,
    output: Output,
    spill_folder: PathBuf,
    pending: Pending,
    last_key: Vec<u8>,
    collector: Collector,
}

/// A stream that may go on in the next block.
#[derive(Default)]
struct Pending {
    stream: Vec<u8>,
    lines: Chunk,
    long: Option<LongStream>,
}

impl Joiner {
    /// Makes a joiner that hands finished streams to `collector`.
    pub fn new(
        rules: &Arc<Rules>,
        tenants: &TenantResolver,
        spill_folder: PathBuf,
        collector: Collector,
    ) -> Self {
        Self {
            rewriter: StreamRewriter::new(rules, tenants),
            output: Output::default(),
            spill_folder,
            pending: Pending::default(),
            last_key: Vec::new(),
            collector,
        }
    }

    /// Takes the next block, in the archive's order.
    pub fn take(&mut self, worked: &WorkedBlock) -> Result<()> {
        let WorkedBlock { block, output, results, head, tail, order } = worked;
        if let Some((first, last)) = order {
            if *first < self.last_key {
                return Err(out_of_order(line_at(block, 0).number));
            }
            self.last_key.clone_from(last);
        }
        // Documents of no stream come first in the order, so before the head.
        let (alone, whole): (Vec<_>, Vec<_>) = results.iter().partition(|result| result.stream.is_empty());
        alone.into_iter().try_for_each(|result| self.collector.take(block, output, result))?;
        if head.lines.is_empty() {
            return Ok(());
        }
        self.go_on(block, head)?;
        if tail.lines.is_empty() {
            return Ok(());
        }
        self.close_pending()?;
        whole.into_iter().try_for_each(|result| self.collector.take(block, output, result))?;
        self.go_on(block, tail)
    }

    /// Ends the last stream and hands back what was collected.
    pub fn finish(mut self) -> Result<Collector> {
        self.close_pending()?;
        Ok(self.collector)
    }

    /// Adds a fragment to the pending stream, ending that first if the fragment is of another.
    fn go_on(&mut self, block: &Chunk, fragment: &Fragment) -> Result<()> {
        if self.pending.stream != fragment.stream {
            self.close_pending()?;
            self.pending.stream.clone_from(&fragment.stream);
        }
        self.pending.add(block, fragment.lines.clone(), &self.spill_folder)
    }

    fn close_pending(&mut self) -> Result<()> {
        let Self { rewriter, output, pending, collector, .. } = self;
        output.clear();
        if let Some(mut long) = pending.long.take() {
            long.append(&pending.lines, 0..pending.lines.len())?;
            long.rewrite(rewriter, output, collector)?;
        } else if !pending.lines.is_empty() {
            let result = rewriter.rewrite(&pending.lines, 0..pending.lines.len(), output)?;
            collector.take(&pending.lines, output, &result)?;
        }
        pending.lines.clear();
        pending.stream.clear();
        Ok(())
    }
}

impl Pending {
    fn add(&mut self, block: &Chunk, lines: Range<usize>, spill_folder: &std::path::Path) -> Result<()> {
        if self.lines.bytes() > HELD_BYTES {
            let long = match &mut self.long {
                Some(long) => long,
                none => none.insert(LongStream::new(spill_folder)?),
            };
            long.append(&self.lines, 0..self.lines.len())?;
            self.lines.clear();
        }
        for index in lines {
            let line = line_at(block, index);
            self.lines.push(line.bytes, line.number);
        }
        Ok(())
    }
}
