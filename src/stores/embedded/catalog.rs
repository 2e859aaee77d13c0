//! Which collections a file holds, and the tables of each.
//!
//! | table | row |
//! |---|---|
//! | `collections` | name → its number, identity, key fields and indexes |
//! | `counters` | what the file and each collection counts |
//! | `documents/N` | key → line |
//! | `index/N/I` | indexed values, then key → key |
//! | `sample/N` | every 64th key or so, for cutting a scan into parts |

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use redb::{ReadTransaction, ReadableTable as _, TableDefinition, TableError, WriteTransaction};
use serde::{Deserialize, Serialize};

use crate::document::StoreKind;
use crate::stores::{CollectionSpec, Index, KeyField, store_key_fields};

const COLLECTIONS: TableDefinition<&str, &[u8]> = TableDefinition::new("collections");
const COUNTERS: TableDefinition<&str, u64> = TableDefinition::new("counters");

/// The counter of documents written to the file: the logical clock.
pub(super) const TICK: &str = "tick";
/// The counter of collections made in the file.
const MADE: &str = "collections";

/// One collection as the file remembers it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    /// Its number, which names its tables.
    pub number: u64,
    /// What no other collection has.
    pub identity: String,
    /// Key fields and indexes.
    #[serde(flatten)]
    pub spec: CollectionSpec,
}

impl Entry {
    /// The names of the fields that make the key of a document.
    pub fn store_key_fields(&self, kind: StoreKind) -> Vec<&str> {
        store_key_fields(kind, &self.spec.key_fields)
    }

    /// The key fields.
    pub fn key_fields(&self) -> &[KeyField] {
        &self.spec.key_fields
    }

    /// The indexes.
    pub fn indexes(&self) -> &[Index] {
        &self.spec.indexes
    }

    /// The name of the table of documents.
    pub fn documents(&self) -> String {
        format!("documents/{}", self.number)
    }

    /// The name of the table of an index.
    pub fn index(&self, at: usize) -> String {
        format!("index/{}/{at}", self.number)
    }

    /// The name of the table of sample keys.
    pub fn sample(&self) -> String {
        format!("sample/{}", self.number)
    }

    /// The counter of the collection's write calls.
    pub fn writes(&self) -> String {
        format!("writes/{}", self.number)
    }
}

/// A table of byte strings under a name of this module.
pub(super) fn bytes(name: &str) -> TableDefinition<'_, &'static [u8], &'static [u8]> {
    TableDefinition::new(name)
}

/// Finds a collection.
pub(super) fn find(read: &ReadTransaction, name: &str) -> Result<Option<Entry>, redb::Error> {
    let Some(collections) = existing(read.open_table(COLLECTIONS))? else { return Ok(None) };
    collections.get(name)?.map(|entry| decode(entry.value())).transpose()
}

/// Finds a collection that is to be written.
pub(super) fn find_to_write(write: &WriteTransaction, name: &str) -> Result<Option<Entry>, redb::Error> {
    let collections = write.open_table(COLLECTIONS)?;
    let entry = collections.get(name)?;
    entry.map(|entry| decode(entry.value())).transpose()
}

/// Names every collection, sorted.
pub(super) fn names(read: &ReadTransaction) -> Result<Vec<String>, redb::Error> {
    let Some(collections) = existing(read.open_table(COLLECTIONS))? else { return Ok(Vec::new()) };
    collections.iter()?.map(|row| Ok(row?.0.value().to_owned())).collect()
}

/// Adds a collection that is not there yet.
pub(super) fn add(write: &WriteTransaction, name: &str, spec: &CollectionSpec) -> Result<Entry, redb::Error> {
    let number = advance(write, MADE, 1)?;
    let entry = Entry { number, identity: identity(), spec: spec.clone() };
    let encoded = serde_json::to_vec(&entry).map_err(std::io::Error::from)?;
    let _ = write.open_table(COLLECTIONS)?.insert(name, encoded.as_slice())?;
    Ok(entry)
}

/// Reads a counter; one that never counted is 0.
pub(super) fn counter(read: &ReadTransaction, name: &str) -> Result<u64, redb::Error> {
    let Some(counters) = existing(read.open_table(COUNTERS))? else { return Ok(0) };
    Ok(counters.get(name)?.map_or(0, |count| count.value()))
}

/// Moves a counter on and tells what it was.
pub(super) fn advance(write: &WriteTransaction, name: &str, by: u64) -> Result<u64, redb::Error> {
    let mut counters = write.open_table(COUNTERS)?;
    let before = counters.get(name)?.map_or(0, |count| count.value());
    let _ = counters.insert(name, before + by)?;
    Ok(before)
}

/// Takes a table that nobody has written to yet for an empty one.
pub(super) fn existing<T>(table: Result<T, TableError>) -> Result<Option<T>, redb::Error> {
    match table {
        Ok(table) => Ok(Some(table)),
        Err(TableError::TableDoesNotExist(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn decode(entry: &[u8]) -> Result<Entry, redb::Error> {
    serde_json::from_slice(entry).map_err(|error| redb::Error::Corrupted(error.to_string()))
}

/// 128 random bits, as hexadecimal digits.
fn identity() -> String {
    let random = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}
