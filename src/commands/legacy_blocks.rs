use std::path::Path;
use std::sync::Arc;

use crate::archive::{ArchiveInput, CHUNK_BYTES, Chunk, LineReader};
use crate::rewrite::{BlockSource, DocumentRewriter, Rules, refuse_cut_off};
use crate::sort::{Sorted, Sorter};
use crate::{Error, Result};

/// How many bytes a sort holds in memory.
pub(crate) const SORT_BUDGET: usize = 48 * 1024 * 1024;

/// The lines of a legacy archive in order: as they stand, or sorted first if nobody says that they are.
pub(crate) fn legacy_blocks(
    input: &ArchiveInput,
    rules: &Arc<Rules>,
    spill_folder: &Path,
    watch: impl Fn(u64, u64) -> Result<()>,
) -> Result<Box<dyn BlockSource>> {
    if input.is_sorted() {
        return Ok(Box::new(AsTheyStand(Some(input.line_reader()))));
    }
    Ok(Box::new(InOrder(sort(input.line_reader(), rules, spill_folder, watch)?)))
}

struct AsTheyStand(Option<LineReader>);

impl BlockSource for AsTheyStand {
    fn fill(&mut self, block: &mut Chunk) -> Result<bool> {
        let Some(reader) = &mut self.0 else { return Ok(false) };
        if reader.fill(block)? {
            return Ok(true);
        }
        self.0.take().map_or(Ok(()), |reader| reader.finish().map(drop))?;
        Ok(false)
    }
}

struct InOrder(Sorted);

impl BlockSource for InOrder {
    fn fill(&mut self, block: &mut Chunk) -> Result<bool> {
        block.clear();
        while block.bytes() < CHUNK_BYTES {
            let Some((_, row)) = self.0.next()? else { break };
            let Some((number, line)) = row.split_first_chunk() else {
                return Err(Error::bug("A sorted line has lost its number"));
            };
            block.push(line, u64::from_le_bytes(*number));
        }
        Ok(!block.is_empty())
    }
}

/// Sorts lines by their order keys; those that cannot be read come first.
fn sort(
    mut reader: LineReader,
    rules: &Arc<Rules>,
    spill_folder: &Path,
    watch: impl Fn(u64, u64) -> Result<()>,
) -> Result<Sorted> {
    let mut document = DocumentRewriter::new(rules);
    let mut sorter = Sorter::new(spill_folder, SORT_BUDGET);
    let mut row = Vec::new();
    let mut block = Chunk::new();
    while reader.fill(&mut block)? {
        let last = block.len().saturating_sub(1);
        for (index, line) in block.lines().enumerate() {
            let reading = document.read(line.bytes);
            if block.last_line_unterminated() && index == last {
                refuse_cut_off(&reading, block.file(), line.number)?;
            }
            row.clear();
            row.extend_from_slice(&line.number.to_le_bytes());
            row.extend_from_slice(line.bytes);
            sorter.push(document.order_key(), &row)?;
        }
        watch(block.len() as u64, block.bytes() as u64)?;
    }
    let _totals = reader.finish()?;
    sorter.finish()
}
