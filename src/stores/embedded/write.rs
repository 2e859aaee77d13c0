//! Writes to one collection in one transaction: what is unique stays unique, indexes follow.

mod change;

use redb::{ReadableTable as _, Table, WriteTransaction};

use super::catalog::{self, Entry, TICK, bytes};
use super::file::StoreFile;
use super::order::beginning_with;
use super::query::write_indexed;
use super::rules;
use super::system::Stamp;
use crate::check::{Reason, Refusal};
use crate::document::json::{JsonError, Tape};
use crate::document::{StoreKey, StoreKind};
use crate::stores::{CollectionSpec, Created, StoreError, StoreErrorKind, StoreResult, collection_noun};

type ByteTable<'txn> = Table<'txn, &'static [u8], &'static [u8]>;

/// One collection within a write transaction.
pub(super) struct Writer<'txn> {
    file: &'txn StoreFile,
    name: &'txn str,
    entry: Entry,
    documents: ByteTable<'txn>,
    sample: ByteTable<'txn>,
    indexes: Vec<ByteTable<'txn>>,
    /// The logical clock.
    tick: u64,
    tape: Tape,
}

/// A document that does not go in, or a failure of the file, which ends the transaction.
enum Failure {
    Document(Refusal),
    File(StoreError),
    Storage(redb::StorageError),
}

/// Runs `work` on a collection in one transaction, which is on disk when this returns.
pub(super) fn transaction<T>(
    file: &StoreFile,
    name: &str,
    work: impl FnOnce(&mut Writer<'_>) -> StoreResult<T>,
) -> StoreResult<T> {
    let failed = |error: redb::Error| file.failure("write", error);
    let write = file.begin_write()?;
    let entry = match catalog::find_to_write(&write, name).map_err(failed)? {
        Some(entry) => entry,
        // Here a collection comes with its first document.
        None if file.kind() == StoreKind::Firestore => {
            catalog::add(&write, name, &CollectionSpec::default()).map_err(failed)?
        }
        None => {
            let message = format!("There is no {} {name:?}", collection_noun(file.kind()));
            return Err(StoreError::new(StoreErrorKind::NotFound, message));
        }
    };
    let counter = entry.writes();
    let start = catalog::advance(&write, TICK, 0).map_err(failed)?;
    let (result, end) = {
        let mut writer = Writer::new(file, name, entry, &write, start).map_err(failed)?;
        (work(&mut writer)?, writer.tick)
    };
    let _ = catalog::advance(&write, TICK, end - start).map_err(failed)?;
    let _ = catalog::advance(&write, &counter, 1).map_err(failed)?;
    write.commit().map_err(|error| failed(error.into()))?;
    Ok(result)
}

impl<'txn> Writer<'txn> {
    fn new(
        file: &'txn StoreFile,
        name: &'txn str,
        entry: Entry,
        write: &'txn WriteTransaction,
        tick: u64,
    ) -> Result<Self, redb::Error> {
        let indexes = 0..entry.indexes().len();
        let indexes =
            indexes.map(|at| write.open_table(bytes(&entry.index(at)))).collect::<Result<_, _>>()?;
        let documents = write.open_table(bytes(&entry.documents()))?;
        let sample = write.open_table(bytes(&entry.sample()))?;
        Ok(Self { file, name, entry, documents, sample, indexes, tick, tape: Tape::new() })
    }

    /// Creates one document; the error is a failure of the file.
    pub(super) fn create(&mut self, line: &[u8]) -> StoreResult<Created> {
        self.try_create(line).or_else(|failure| failure.into_error(self.file).map(Created::Failed))
    }

    fn try_create(&mut self, line: &[u8]) -> Result<Created, Failure> {
        let key = self.read(line)?;
        if let Some(stored) = self.get(&key)? {
            return Ok(Created::Exists(Some(stored)));
        }
        let rows = self.index_rows(line);
        if let Some(index) = self.taken(&rows, &key)? {
            return Ok(Created::UniqueTaken(index));
        }
        let mut stored = Vec::with_capacity(line.len() + 256);
        self.stamp().create(&self.tape, line, &mut stored);
        self.put(&key, &stored)?;
        for (table, mut row) in self.indexes.iter_mut().zip(rows) {
            row.extend_from_slice(&key);
            let _ = table.insert(row.as_slice(), key.as_slice())?;
        }
        if is_sample(&key) {
            let _ = self.sample.insert(key.as_slice(), [].as_slice())?;
        }
        Ok(Created::Written)
    }

    /// Reads a line that is to be stored, checks it against the store's rules and gives its ordered key.
    fn read(&mut self, line: &[u8]) -> Result<Vec<u8>, Failure> {
        let kind = self.file.kind();
        self.tape.read(line)?;
        rules::check_document(kind, &self.tape, line)?;
        let fields = self.entry.store_key_fields(kind);
        let key = StoreKey::of(kind, &fields, &self.tape, line)?;
        self.key(&key)
    }

    fn key(&self, key: &StoreKey) -> Result<Vec<u8>, Failure> {
        Ok(rules::ordered_key(self.file.kind(), self.entry.key_fields(), key)?)
    }

    fn get(&self, key: &[u8]) -> Result<Option<Box<[u8]>>, Failure> {
        let stored = self.documents.get(key)?;
        Ok(stored.map(|line| line.value().into()))
    }

    fn put(&mut self, key: &[u8], line: &[u8]) -> Result<(), Failure> {
        let _ = self.documents.insert(key, line)?;
        self.tick += 1;
        Ok(())
    }

    /// The indexed values of the document on the tape, one row an index, each still without the key.
    fn index_rows(&self, line: &[u8]) -> Vec<Vec<u8>> {
        let kind = self.file.kind();
        let row = |index| {
            let mut row = Vec::new();
            write_indexed(kind, &self.entry, index, &self.tape, line, &mut row);
            row
        };
        self.entry.indexes().iter().map(row).collect()
    }

    /// The unique index in which another document than the one under `key` holds the same values.
    fn taken(&self, rows: &[Vec<u8>], key: &[u8]) -> Result<Option<String>, Failure> {
        let indexes = self.entry.indexes().iter().zip(&self.indexes).zip(rows);
        for ((index, table), row) in indexes.filter(|((index, _), _)| index.unique) {
            let (start, end) = beginning_with(row);
            for held in table.range::<&[u8]>((start, end.as_ref().map(Vec::as_slice)))? {
                if held?.1.value() != key {
                    return Ok(Some(index.name.clone()));
                }
            }
        }
        Ok(None)
    }

    fn stamp(&self) -> Stamp<'_> {
        Stamp { kind: self.file.kind(), collection: self.name, number: self.entry.number, tick: self.tick }
    }
}

impl Failure {
    /// A refused document is an answer, a failing file is not.
    fn into_error(self, file: &StoreFile) -> StoreResult<StoreError> {
        match self {
            Self::Document(refusal) => Ok(StoreError::new(StoreErrorKind::Permanent, refusal.to_string())),
            Self::File(error) => Err(error),
            Self::Storage(error) => Err(file.failure("write", error)),
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Document(refusal)
    }
}

impl From<JsonError> for Failure {
    fn from(error: JsonError) -> Self {
        Self::Document(Refusal::new(Reason::Malformed, error.to_string()))
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::File(error)
    }
}

impl From<redb::StorageError> for Failure {
    fn from(error: redb::StorageError) -> Self {
        Self::Storage(error)
    }
}

/// Whether a key is kept in the sample: one of 64, by a hash (FNV-1a, its bits mixed once more, since keys
/// differ in their last bytes) that is the same on every machine.
fn is_sample(key: &[u8]) -> bool {
    let hash = key.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58 == 0
}
