//! Blocks of sorted rows and where they are: what a table consists of.

use std::io::{Read, Write};
use std::ops::Range;
use std::path::Path;

use zstd::bulk::Compressor;

use super::TempFile;
use super::run::{row_too_long, write_row};
use crate::Result;

/// A block is closed once it has so many bytes.
pub(super) const BLOCK: usize = 32 * 1024;
/// A table of so many bytes or more goes to a file.
pub(super) const IN_MEMORY: usize = 16 * 1024 * 1024;
const LEVEL: i32 = 1;

/// Where one block is.
#[derive(Clone, Debug)]
struct Place {
    /// Where its first key ends in the index's `keys`.
    key_end: usize,
    /// Where its bytes are in the storage.
    stored: Range<u64>,
    /// How many bytes it has uncompressed.
    len: usize,
}

/// Every block in order, with its first key.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    keys: Vec<u8>,
    places: Vec<Place>,
    storage: Storage,
}

#[derive(Debug)]
enum Storage {
    /// All blocks one after the other, not compressed.
    Memory(Vec<u8>),
    /// Each block compressed on its own.
    File(TempFile),
}

impl Default for Storage {
    fn default() -> Self {
        Self::Memory(Vec::new())
    }
}

impl Blocks {
    /// How many blocks there are.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether the blocks are in a file.
    pub(super) fn in_file(&self) -> bool {
        matches!(self.storage, Storage::File(_))
    }

    /// The first block that may hold rows with `key`: the last one that begins before it.
    pub(super) fn first_with(&self, key: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.first_key(middle) < key { low = middle + 1 } else { high = middle }
        }
        low.saturating_sub(1)
    }

    /// The block's bytes where they are in memory already.
    pub(super) fn in_memory(&self, block: usize) -> Option<&[u8]> {
        let Storage::Memory(bytes) = &self.storage else { return None };
        let place = self.places.get(block)?;
        let start = usize::try_from(place.stored.start).ok()?;
        bytes.get(start..start + place.len)
    }

    /// Reads a block of a file into `into`; `compressed` is a buffer to reuse.
    pub(super) fn load(
        &self,
        block: usize,
        decompressor: &mut zstd::bulk::Decompressor<'static>,
        compressed: &mut Vec<u8>,
        into: &mut Vec<u8>,
    ) -> Result<()> {
        into.clear();
        let (Storage::File(file), Some(place)) = (&self.storage, self.places.get(block)) else {
            return Ok(());
        };
        compressed.clear();
        into.reserve(place.len);
        let read = file.section(place.stored.clone()).read_to_end(compressed);
        let _ = read
            .and_then(|_| decompressor.decompress_to_buffer(compressed.as_slice(), into))
            .map_err(|source| file.read_error(source))?;
        Ok(())
    }

    fn first_key(&self, block: usize) -> &[u8] {
        let start =
            block.checked_sub(1).and_then(|before| self.places.get(before)).map_or(0, |place| place.key_end);
        let end = self.places.get(block).map_or(start, |place| place.key_end);
        self.keys.get(start..end).unwrap_or_default()
    }
}

/// Cuts sorted rows into blocks.
pub(super) struct BlockWriter<'a> {
    dir: &'a Path,
    blocks: Blocks,
    block: Vec<u8>,
    compressor: Option<Compressor<'static>>,
}

impl<'a> BlockWriter<'a> {
    /// Makes a writer that goes to a file in `dir` once the rows outgrow memory.
    pub(super) fn new(dir: &'a Path) -> Self {
        Self { dir, blocks: Blocks::default(), block: Vec::new(), compressor: None }
    }

    /// Appends a row; rows come in order.
    pub(super) fn push(&mut self, key: &[u8], payload: &[u8]) -> Result<()> {
        if self.block.len() >= BLOCK {
            self.close_block()?;
        }
        if self.block.is_empty() {
            self.blocks.keys.extend_from_slice(key);
        }
        write_row(&mut self.block, key, payload).map_err(|_| row_too_long())
    }

    /// Ends the table.
    pub(super) fn finish(mut self) -> Result<Blocks> {
        self.close_block()?;
        Ok(self.blocks)
    }

    fn close_block(&mut self) -> Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let len = self.block.len();
        if let Storage::Memory(bytes) = &self.blocks.storage
            && bytes.len() + len >= IN_MEMORY
        {
            self.move_to_file()?;
        }
        let stored = match &mut self.blocks.storage {
            Storage::Memory(bytes) => {
                let start = bytes.len() as u64;
                bytes.append(&mut self.block);
                start..bytes.len() as u64
            }
            Storage::File(file) => append(file, &mut self.compressor, &self.block)?,
        };
        self.block.clear();
        self.blocks.places.push(Place { key_end: self.blocks.keys.len(), stored, len });
        Ok(())
    }

    /// Writes the blocks so far to a file and frees their memory.
    fn move_to_file(&mut self) -> Result<()> {
        let mut file = TempFile::create(self.dir)?;
        for block in 0..self.blocks.len() {
            let bytes = self.blocks.in_memory(block).unwrap_or_default();
            let stored = append(&mut file, &mut self.compressor, bytes)?;
            if let Some(place) = self.blocks.places.get_mut(block) {
                place.stored = stored;
            }
        }
        self.blocks.storage = Storage::File(file);
        Ok(())
    }
}

fn append(
    file: &mut TempFile,
    compressor: &mut Option<Compressor<'static>>,
    block: &[u8],
) -> Result<Range<u64>> {
    let compressor = match compressor {
        Some(compressor) => compressor,
        none => none.insert(Compressor::new(LEVEL).map_err(|source| file.write_error(source))?),
    };
    let start = file.len();
    let compressed = compressor.compress(block).map_err(|source| file.write_error(source))?;
    file.write_all(&compressed).map_err(|source| file.write_error(source))?;
    Ok(start..file.len())
}
