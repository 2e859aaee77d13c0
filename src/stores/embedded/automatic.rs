//! An index made when a question has none: Firestore indexes every field by itself, and the other stores
//! answer by looking at everything, which a thousand questions would make too slow.
//!
//! It stands in a temporary file without a name, so that memory stays flat and nothing is left behind, and
//! is made anew after a write.

use redb::backends::FileBackend;
use redb::{Builder, Database, ReadableDatabase as _};

use super::catalog::bytes;
use super::fields::{read_stored, write_ordered};
use super::view::{Table, View};
use crate::document::StoreKind;
use crate::document::json::Tape;
use crate::stores::{StoreError, StoreErrorKind, StoreResult};

const TABLE: &str = "index";
const CACHE_BYTES: usize = 32 * 1024 * 1024;

/// An index on some fields of a collection at one moment.
pub(super) struct AutomaticIndex {
    writes: u64,
    names: Vec<String>,
    database: Database,
}

impl AutomaticIndex {
    /// Indexes the fields `names` of every document.
    pub(super) fn build(view: &View, kind: StoreKind, writes: u64, names: &[&str]) -> StoreResult<Self> {
        let database = temporary().map_err(failed)?;
        let write = database.begin_write().map_err(failed)?;
        {
            let mut table = write.open_table(bytes(TABLE)).map_err(failed)?;
            let (mut tape, mut row) = (Tape::new(), Vec::new());
            view.each(|key, line| {
                read_stored(&mut tape, line)?;
                row.clear();
                write_ordered(kind, &tape, line, names.iter().copied(), &mut row);
                row.extend_from_slice(key);
                let _ = table.insert(row.as_slice(), key).map_err(failed)?;
                Ok(true)
            })?;
        }
        write.commit().map_err(failed)?;
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        Ok(Self { writes, names, database })
    }

    /// Whether this is the index on `names` after so many writes.
    pub(super) fn is_for(&self, writes: u64, names: &[&str]) -> bool {
        self.writes == writes && self.names == names
    }

    /// The rows: indexed values and key, then the key.
    pub(super) fn table(&self) -> StoreResult<Table> {
        let read = self.database.begin_read().map_err(failed)?;
        read.open_table(bytes(TABLE)).map_err(failed)
    }
}

fn temporary() -> Result<Database, redb::Error> {
    let backend = FileBackend::new(tempfile::tempfile()?)?;
    Ok(Builder::new().set_cache_size(CACHE_BYTES).create_with_backend(backend)?)
}

fn failed(error: impl Into<redb::Error>) -> StoreError {
    StoreError::new(StoreErrorKind::File, "Cannot keep an index in a temporary file")
        .with_source(error.into())
}
