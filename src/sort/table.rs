//! Sorted rows that answer by key.

use std::path::Path;
use std::sync::Arc;

use zstd::bulk::Decompressor;

use super::Sorted;
use super::block::{BlockWriter, Blocks};
use crate::Result;

/// Read-only sorted rows with a sparse index: memory holds one key for each 32 KiB of rows.
///
/// Below 16 MiB the rows themselves stay in memory; larger tables are compressed blocks in one unnamed
/// temporary file. A clone shares the rows and has a cached block of its own, so that each thread asks its
/// own clone. Lookups in nearly ascending order find the block they need cached.
#[derive(Clone)]
pub struct SortedTable {
    blocks: Arc<Blocks>,
    rows: u64,
    cache: Cache,
}

impl SortedTable {
    /// Writes sorted rows into a table, in `dir` if they do not fit into memory.
    pub fn build(mut sorted: Sorted, dir: &Path) -> Result<Self> {
        let rows = sorted.rows();
        let mut writer = BlockWriter::new(dir);
        while let Some((key, payload)) = sorted.next()? {
            writer.push(key, payload)?;
        }
        Ok(Self { blocks: Arc::new(writer.finish()?), rows, cache: Cache::default() })
    }

    /// How many rows there are.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Whether the rows had to go to the disk.
    pub fn in_file(&self) -> bool {
        self.blocks.in_file()
    }

    /// Finds the rows with exactly this key, in the order they came; there may be none.
    pub fn get(&mut self, key: &[u8]) -> Result<Rows<'_>> {
        let mut block = self.blocks.first_with(key);
        let mut at = self.cache.resume(block, key);
        while block < self.blocks.len() {
            let rows = self.cache.block(&self.blocks, block)?;
            at = first_not_before(rows, at, key);
            if at < rows.len() {
                break;
            }
            (block, at) = (block + 1, 0);
        }
        self.cache.remember(block, at, key);
        Ok(Rows { blocks: &self.blocks, cache: &mut self.cache, block, at })
    }

    /// The payload of the first row with this key.
    pub fn first(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        Ok(self.get(key)?.next()?.map(<[u8]>::to_vec))
    }
}

/// The rows with one key.
pub struct Rows<'a> {
    blocks: &'a Blocks,
    cache: &'a mut Cache,
    block: usize,
    at: usize,
}

impl Rows<'_> {
    /// The next row's payload; `None` after the last one. The slice lives until the next call.
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend from itself")]
    pub fn next(&mut self) -> Result<Option<&[u8]>> {
        if self.at >= self.cache.block(self.blocks, self.block)?.len() {
            (self.block, self.at) = (self.block + 1, 0);
            let _ = self.cache.block(self.blocks, self.block)?;
        }
        let (rows, wanted) = self.cache.view(self.blocks, self.block);
        let Some((key, payload, next)) = row_at(rows, self.at) else { return Ok(None) };
        if key != wanted {
            return Ok(None);
        }
        self.at = next;
        Ok(Some(payload))
    }
}

/// The block read last, and how far the last lookup got in it.
#[derive(Default)]
struct Cache {
    loaded: Option<usize>,
    bytes: Vec<u8>,
    compressed: Vec<u8>,
    decompressor: Option<Decompressor<'static>>,
    key: Vec<u8>,
    found: Option<(usize, usize)>,
}

impl Clone for Cache {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Cache {
    /// Where to begin looking for `key` in `block`: not before the place found for a smaller key.
    fn resume(&self, block: usize, key: &[u8]) -> usize {
        match self.found {
            Some((found, at)) if found == block && self.key.as_slice() <= key => at,
            _ => 0,
        }
    }

    fn remember(&mut self, block: usize, at: usize, key: &[u8]) {
        self.found = Some((block, at));
        self.key.clear();
        self.key.extend_from_slice(key);
    }

    /// The rows of a block, read if they are not in memory; empty beyond the last block.
    fn block<'a>(&'a mut self, blocks: &'a Blocks, block: usize) -> Result<&'a [u8]> {
        if blocks.in_file() && self.loaded != Some(block) {
            self.loaded = None;
            let decompressor = match &mut self.decompressor {
                Some(decompressor) => decompressor,
                none => none.insert(Decompressor::new().map_err(|source| {
                    crate::Error::caused(crate::ErrorKind::File, "Cannot set up decompression", source)
                })?),
            };
            blocks.load(block, decompressor, &mut self.compressed, &mut self.bytes)?;
            self.loaded = Some(block);
        }
        Ok(self.view(blocks, block).0)
    }

    /// The rows of the block that [`Self::block`] read last, and the key looked for.
    fn view<'a>(&'a self, blocks: &'a Blocks, block: usize) -> (&'a [u8], &'a [u8]) {
        let rows = if blocks.in_file() { &self.bytes } else { blocks.in_memory(block).unwrap_or_default() };
        (rows, &self.key)
    }
}

/// The position of the first row at or after `at` whose key is not before `key`; the end if there is none.
fn first_not_before(rows: &[u8], mut at: usize, key: &[u8]) -> usize {
    while let Some((found, _, next)) = row_at(rows, at) {
        if found >= key {
            return at;
        }
        at = next;
    }
    rows.len()
}

/// The key and payload of the row at `at`, and where the next one begins.
fn row_at(rows: &[u8], at: usize) -> Option<(&[u8], &[u8], usize)> {
    let (key_len, rest) = rows.get(at..)?.split_first_chunk()?;
    let (payload_len, rest) = rest.split_first_chunk()?;
    let (key, rest) = rest.split_at_checked(u32::from_le_bytes(*key_len) as usize)?;
    let payload = rest.get(..u32::from_le_bytes(*payload_len) as usize)?;
    Some((key, payload, at + 8 + key.len() + payload.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sort::Sorter;
    use proptest::prelude::*;

    fn table(rows: &[(Vec<u8>, Vec<u8>)]) -> SortedTable {
        let dir = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::new(dir.path(), 64 << 20);
        for (key, payload) in rows {
            sorter.push(key, payload).unwrap();
        }
        sorter.into_table().unwrap()
    }

    fn all(table: &mut SortedTable, key: &[u8]) -> Vec<Vec<u8>> {
        let mut found = table.get(key).unwrap();
        let mut payloads = Vec::new();
        while let Some(payload) = found.next().unwrap() {
            payloads.push(payload.to_vec());
        }
        payloads
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn every_key_gives_all_its_rows_in_order(
            keys in prop::collection::vec("[abc]{0,3}", 0..200),
            asked in prop::collection::vec("[abcd]{0,3}", 0..60),
            padding in prop::sample::select(vec![0usize, 3_000, 40_000]),
        ) {
            let rows: Vec<_> = keys.iter().enumerate().map(|(number, key)| {
                let payload = [number.to_le_bytes().as_slice(), &vec![b'.'; padding]].concat();
                (key.clone().into_bytes(), payload)
            }).collect();
            let mut table = table(&rows);
            for key in asked {
                let expected: Vec<_> = rows.iter().filter(|row| row.0 == key.as_bytes()).map(|row| row.1.clone()).collect();
                prop_assert_eq!(all(&mut table, key.as_bytes()), expected);
            }
        }
    }

    #[test]
    fn a_table_beyond_the_limit_is_in_a_file_and_answers_the_same() {
        let rows: Vec<_> =
            (0..200_000u32).map(|n| (format!("key-{:06}", n / 3).into_bytes(), vec![b'x'; 100])).collect();
        let mut table = table(&rows);
        assert!(table.in_file());
        let mut other = table.clone();
        for n in (0..66_666).step_by(997) {
            let key = format!("key-{n:06}");
            assert_eq!(all(&mut table, key.as_bytes()).len(), 3, "{key}");
            assert_eq!(all(&mut other, format!("key-{:06}", 66_665 - n).as_bytes()).len(), 3);
            assert_eq!(table.first(format!("key-{n:06}x").as_bytes()).unwrap(), None);
        }
        assert_eq!(table.first(b"zzz").unwrap(), None);
        assert_eq!(table.first(b"").unwrap(), None);
    }

    #[test]
    fn an_empty_table_answers_nothing() {
        let mut table = table(&[]);
        assert_eq!((table.rows(), table.first(b"a").unwrap()), (0, None));
    }
}
