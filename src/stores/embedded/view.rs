//! One collection at one moment.

use std::ops::Bound;
use std::sync::Arc;

use redb::{ReadOnlyTable, ReadTransaction, ReadableTable as _, ReadableTableMetadata as _};

use super::catalog::{self, Entry, bytes, existing};
use super::file::StoreFile;
use super::order::beginning_with;
use crate::document::{Lines, StoreKind};
use crate::stores::{Snapshot, StoreError, StoreErrorKind, StoreResult, collection_noun};

/// The most bytes of a page.
pub(super) const PAGE_BYTES: usize = 4 * 1024 * 1024;
/// Collections up to this size are cut into parts by all their keys, larger ones by a sample.
const SMALL: u64 = 10_000;

/// A table of documents or of an index.
pub(super) type Table = ReadOnlyTable<&'static [u8], &'static [u8]>;

/// One collection at one moment.
#[derive(Clone)]
pub(super) struct View {
    file: Arc<StoreFile>,
    read: Arc<ReadTransaction>,
    entry: Option<Entry>,
}

/// The range of a page: after a key, or from one on; up to a key, which does not belong to it.
pub(super) type KeyRange = (Bound<Vec<u8>>, Bound<Vec<u8>>);

impl View {
    /// Looks at a collection now.
    ///
    /// Errors: [`StoreErrorKind::NotFound`] if there is none, but on Firestore, where such a one is empty.
    pub(super) fn now(file: &Arc<StoreFile>, name: &str) -> StoreResult<Self> {
        let read = Arc::new(file.begin_read()?);
        let entry = catalog::find(&read, name).map_err(|error| file.failure("read", error))?;
        if entry.is_none() && file.kind() != StoreKind::Firestore {
            let message = format!("There is no {} {name:?}", collection_noun(file.kind()));
            return Err(StoreError::new(StoreErrorKind::NotFound, message));
        }
        Ok(Self { file: file.clone(), read, entry })
    }

    /// The collection as the file remembers it; `None` if it has never held a document (Firestore).
    pub(super) fn entry(&self) -> Option<&Entry> {
        self.entry.as_ref()
    }

    /// How many write calls the collection has seen.
    pub(super) fn writes(&self) -> StoreResult<u64> {
        match &self.entry {
            Some(entry) => self.failing(catalog::counter(&self.read, &entry.writes())),
            None => Ok(0),
        }
    }

    /// This moment, as long as nobody writes; unlike a transaction it outlives the process.
    pub(super) fn snapshot(&self) -> StoreResult<Snapshot> {
        Ok(Snapshot(serde_json::json!({ "writes": self.writes()? })))
    }

    /// How many documents there are.
    pub(super) fn len(&self) -> StoreResult<u64> {
        self.documents()?.map_or(Ok(0), |documents| self.failing(documents.len()))
    }

    /// The table of documents, unless nothing has been written yet.
    pub(super) fn documents(&self) -> StoreResult<Option<Table>> {
        self.table(Entry::documents)
    }

    /// The table of an index, unless nothing has been written yet.
    pub(super) fn index(&self, at: usize) -> StoreResult<Option<Table>> {
        self.table(|entry| entry.index(at))
    }

    /// Reads one document.
    pub(super) fn get(&self, key: &[u8]) -> StoreResult<Option<Box<[u8]>>> {
        let Some(documents) = self.documents()? else { return Ok(None) };
        let found = self.failing(documents.get(key))?;
        Ok(found.map(|line| line.value().into()))
    }

    /// Reads documents in the order of their keys, at most `limit` and about 4 MiB; the key of the last one
    /// if more follow.
    pub(super) fn page(&self, range: KeyRange, limit: usize) -> StoreResult<(Lines, Option<Vec<u8>>)> {
        let mut lines = Lines::new();
        let Some(documents) = self.documents()? else { return Ok((lines, None)) };
        let range = (range.0.as_ref().map(Vec::as_slice), range.1.as_ref().map(Vec::as_slice));
        let mut last = Vec::new();
        for row in self.failing(documents.range::<&[u8]>(range))? {
            let (key, line) = self.failing(row)?;
            if lines.len() == limit.max(1) || (lines.bytes() >= PAGE_BYTES) {
                return Ok((lines, Some(last)));
            }
            lines.push(line.value());
            last.clear();
            last.extend_from_slice(key.value());
        }
        Ok((lines, None))
    }

    /// The keys at which a scan may be cut into about `wanted` parts, ascending.
    pub(super) fn cuts(&self, wanted: usize) -> StoreResult<Vec<Vec<u8>>> {
        let sample = if self.len()? <= SMALL { self.documents()? } else { self.table(Entry::sample)? };
        let (Some(sample), true) = (sample, wanted > 1) else { return Ok(Vec::new()) };
        let keys = self.failing(sample.iter())?.map(|row| Ok(self.failing(row)?.0.value().to_vec()));
        let keys: Vec<Vec<u8>> = keys.collect::<StoreResult<_>>()?;
        let parts = wanted.min(keys.len());
        Ok((1..parts).filter_map(|part| keys.get(part * keys.len() / parts).cloned()).collect())
    }

    /// Calls `visit` with every document until it answers `false`.
    pub(super) fn each(&self, mut visit: impl FnMut(&[u8], &[u8]) -> StoreResult<bool>) -> StoreResult<()> {
        let Some(documents) = self.documents()? else { return Ok(()) };
        for row in self.failing(documents.iter())? {
            let (key, line) = self.failing(row)?;
            if !visit(key.value(), line.value())? {
                break;
            }
        }
        Ok(())
    }

    /// Calls `visit` with the rows of a table whose keys begin with `prefix`, in order, from behind `after`
    /// on, until it answers `false`.
    pub(super) fn each_beginning_with(
        &self,
        table: &Table,
        prefix: &[u8],
        after: Option<&[u8]>,
        mut visit: impl FnMut(&[u8], &[u8]) -> StoreResult<bool>,
    ) -> StoreResult<()> {
        let (start, end) = beginning_with(prefix);
        let range = (after.map_or(start, Bound::Excluded), end.as_ref().map(Vec::as_slice));
        for row in self.failing(table.range::<&[u8]>(range))? {
            let (key, value) = self.failing(row)?;
            if !visit(key.value(), value.value())? {
                break;
            }
        }
        Ok(())
    }

    /// Gives a failure of redb the file's name.
    pub(super) fn failing<T>(&self, result: Result<T, impl Into<redb::Error>>) -> StoreResult<T> {
        result.map_err(|error| self.file.failure("read", error))
    }

    fn table(&self, name: impl Fn(&Entry) -> String) -> StoreResult<Option<Table>> {
        let Some(entry) = &self.entry else { return Ok(None) };
        self.failing(existing(self.read.open_table(bytes(&name(entry)))))
    }
}
