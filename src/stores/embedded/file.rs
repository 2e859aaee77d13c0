//! The local file: who may open it, and what it remembers of itself.
//!
//! One process writes, or any number read (redb locks the file). Within the process every collection of one
//! file shares one opening: the first that wants to write turns an opening for reading into one for writing.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, RwLock, Weak};

use redb::backends::InMemoryBackend;
use redb::{
    Builder, Database, DatabaseError, ReadOnlyDatabase, ReadTransaction, ReadableDatabase, TableDefinition,
    WriteTransaction,
};

use crate::document::StoreKind;
use crate::stores::address::EmbeddedAddress;
use crate::stores::{Examination, Held, Permission, Right, StoreError, StoreErrorKind, StoreResult};

/// How a file ends that is being made.
const PART: &str = ".part";
/// How many letters and digits its name holds before that end, so that it is no other's.
const RANDOM: usize = 6;
/// What the file remembers of itself.
const ABOUT: TableDefinition<&str, &str> = TableDefinition::new("about");
/// The version of the tables' form.
const FORMAT: &str = "1";
/// redb would take a gigabyte.
const CACHE_BYTES: usize = 64 * 1024 * 1024;

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading; other processes may read too. Nothing in the file changes.
    Read,
    /// Reading and writing; no other process may open it.
    Write,
    /// As `Write`, and a file that does not exist is made.
    Create,
}

/// An opened file.
pub(super) struct StoreFile {
    path: PathBuf,
    kind: StoreKind,
    database: RwLock<Opening>,
}

enum Opening {
    Reading(ReadOnlyDatabase),
    Writing(Database),
    /// Between the two, or after a failed attempt to go from one to the other.
    Closed,
}

/// Every file that this process has open.
static OPEN: LazyLock<Mutex<HashMap<PathBuf, Weak<StoreFile>>>> = LazyLock::new(Mutex::default);

impl StoreFile {
    /// Opens the file, or takes part in an opening that this process has already.
    ///
    /// Errors: [`StoreErrorKind::NotFound`] if there is no file, [`StoreErrorKind::AlreadyExists`] if it stands
    /// for another store, [`StoreErrorKind::Transient`] if another process has it.
    pub(super) fn open(address: &EmbeddedAddress, access: Access) -> StoreResult<Arc<Self>> {
        let path = address.resolved();
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|_, file| file.strong_count() > 0);
        if let Some(file) = open.get(&path).and_then(Weak::upgrade) {
            file.check_kind(address.stands_for())?;
            if access != Access::Read {
                file.turn_to_writing()?;
            }
            return Ok(file);
        }
        let exists = fs::metadata(&path).is_ok_and(|metadata| metadata.len() > 0);
        if !exists && access != Access::Create {
            let message = format!("There is no file {:?}", path.display().to_string());
            return Err(StoreError::new(StoreErrorKind::NotFound, message));
        }
        if !exists {
            create(&path, address.stands_for())?;
        }
        let opening = if access == Access::Read { open_reading(&path)? } else { open_writing(&path)? };
        let kind = read_kind(&path, &opening)?;
        let file = Arc::new(Self { path: path.clone(), kind, database: RwLock::new(opening) });
        file.check_kind(address.stands_for())?;
        let _ = open.insert(path, Arc::downgrade(&file));
        Ok(file)
    }

    /// What the file would be, held in memory; nothing else in the process takes part in it.
    pub(super) fn in_memory(address: &EmbeddedAddress) -> StoreResult<Arc<Self>> {
        let (path, kind) = (address.resolved(), address.stands_for());
        let made = || -> Result<Database, redb::Error> {
            let database = builder().create_with_backend(InMemoryBackend::new())?;
            write_about(&database, kind)?;
            Ok(database)
        };
        let database = made().map_err(|error| failure(&path, "imagine", error))?;
        Ok(Arc::new(Self { path, kind, database: RwLock::new(Opening::Writing(database)) }))
    }

    /// The store the file stands for.
    pub(super) fn kind(&self) -> StoreKind {
        self.kind
    }

    /// Who may do what with the file: whoever may write it.
    pub(super) fn examine(&self) -> Examination {
        // Opened for writing and closed again, the file is as it was.
        let writable = File::options().append(true).open(&self.path).is_ok();
        let permission = |right| Permission {
            right,
            held: if right == Right::Read || writable { Held::Yes } else { Held::No },
            given_by: format!("write access to the file {}", self.path.display()),
        };
        Examination {
            bytes: fs::metadata(&self.path).ok().map(|metadata| metadata.len()),
            permissions: Right::ALL.map(permission).into(),
            ..Examination::default()
        }
    }

    /// Begins to read at this moment.
    pub(super) fn begin_read(&self) -> StoreResult<ReadTransaction> {
        let database = self.database.read().unwrap_or_else(PoisonError::into_inner);
        database.begin_read().map_err(|error| self.failure("read", error))?.ok_or_else(|| self.closed())
    }

    /// Begins to write; waits for the writer before.
    pub(super) fn begin_write(&self) -> StoreResult<WriteTransaction> {
        let database = self.database.read().unwrap_or_else(PoisonError::into_inner);
        match &*database {
            Opening::Writing(database) => {
                database.begin_write().map_err(|error| self.failure("write", error))
            }
            _ => Err(self.closed()),
        }
    }

    /// A store error for a failed access: `what` is `read` or `write`.
    pub(super) fn failure(&self, what: &str, error: impl Into<redb::Error>) -> StoreError {
        failure(&self.path, what, error)
    }

    fn closed(&self) -> StoreError {
        let message = format!("{:?} is not open for this", self.path.display().to_string());
        StoreError::new(StoreErrorKind::File, message)
    }

    fn check_kind(&self, kind: StoreKind) -> StoreResult<()> {
        if self.kind == kind {
            return Ok(());
        }
        let path = self.path.display().to_string();
        let message = format!("{path:?} stands for {}, not for {}: write ?as={}", self.kind, kind, self.kind);
        Err(StoreError::new(StoreErrorKind::AlreadyExists, message))
    }

    fn turn_to_writing(&self) -> StoreResult<()> {
        let mut database = self.database.write().unwrap_or_else(PoisonError::into_inner);
        if matches!(*database, Opening::Writing(_)) {
            return Ok(());
        }
        if let Opening::Reading(reading) = std::mem::replace(&mut *database, Opening::Closed) {
            reading.close().map_err(|error| self.failure("close", error))?;
        }
        *database = open_writing(&self.path)?;
        Ok(())
    }
}

impl Opening {
    fn begin_read(&self) -> Result<Option<ReadTransaction>, redb::TransactionError> {
        match self {
            Self::Reading(database) => database.begin_read().map(Some),
            Self::Writing(database) => database.begin_read().map(Some),
            Self::Closed => Ok(None),
        }
    }
}

fn builder() -> Builder {
    let mut builder = Builder::new();
    let _ = builder.set_cache_size(CACHE_BYTES);
    builder
}

/// Makes the file under a temporary name, so that a half-made one never has the real name.
fn create(path: &Path, kind: StoreKind) -> StoreResult<()> {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let unwritten = |error: std::io::Error| {
        let message = format!("Cannot create {:?}", path.display().to_string());
        StoreError::new(StoreErrorKind::File, message).with_source(error)
    };
    let prefix = format!(".{}.", path.file_name().unwrap_or_default().to_string_lossy());
    remove_left_behind(folder, &prefix).map_err(unwritten)?;
    // The crate gives the file mode 0600.
    let temporary = tempfile::Builder::new()
        .prefix(&prefix)
        .suffix(PART)
        .rand_bytes(RANDOM)
        .tempfile_in(folder)
        .map_err(unwritten)?;
    let database = builder().create(temporary.path()).map_err(|error| failure(path, "create", error))?;
    write_about(&database, kind).map_err(|error| failure(path, "create", error))?;
    database.close().map_err(|error| failure(path, "create", error))?;
    // An empty file of this name counts as none.
    if fs::metadata(path).is_ok_and(|metadata| metadata.len() == 0) {
        fs::remove_file(path).map_err(unwritten)?;
    }
    let _ = temporary.persist_noclobber(path).map_err(|error| unwritten(error.error))?;
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(unwritten)
}

fn write_about(database: &Database, kind: StoreKind) -> Result<(), redb::Error> {
    let write = database.begin_write()?;
    {
        let mut about = write.open_table(ABOUT)?;
        let _ = about.insert("format", FORMAT)?;
        let _ = about.insert("store", kind.name())?;
    }
    write.commit()?;
    Ok(())
}

/// Removes what a process left that was killed while it made the file; a live one holds the lock of its own.
fn remove_left_behind(folder: &Path, prefix: &str) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
        let name = name.to_string_lossy();
        let is_ours =
            name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(PART)).is_some_and(|random| {
                random.len() == RANDOM && random.bytes().all(|it| it.is_ascii_alphanumeric())
            });
        if is_ours && File::open(&path).is_ok_and(|file| file.try_lock().is_ok()) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

fn open_writing(path: &Path) -> StoreResult<Opening> {
    builder().open(path).map(Opening::Writing).map_err(|error| failure(path, "open", error))
}

fn open_reading(path: &Path) -> StoreResult<Opening> {
    match builder().open_read_only(path) {
        // A process was killed while it had the file open: opening it for writing puts that right.
        Err(DatabaseError::RepairAborted) => {
            let repaired = builder().open(path).and_then(Database::close);
            repaired.map_err(|error| failure(path, "repair", error))?;
            builder().open_read_only(path)
        }
        other => other,
    }
    .map(Opening::Reading)
    .map_err(|error| failure(path, "open", error))
}

fn read_kind(path: &Path, opening: &Opening) -> StoreResult<StoreKind> {
    let read = || -> Result<(Option<String>, Option<String>), redb::Error> {
        let Some(read) = opening.begin_read()? else { return Ok((None, None)) };
        let about = read.open_table(ABOUT)?;
        let value = |name| about.get(name).map(|value| value.map(|value| value.value().to_owned()));
        Ok((value("format")?, value("store")?))
    };
    let (format, store) = read().map_err(|error| failure(path, "read", error))?;
    let kind = store.and_then(|name| name.parse().ok());
    kind.filter(|_| format.as_deref() == Some(FORMAT)).ok_or_else(|| {
        let message =
            format!("{:?} is embedded storage of another version of this tool", path.display().to_string());
        StoreError::new(StoreErrorKind::File, message)
    })
}

fn failure(path: &Path, what: &str, error: impl Into<redb::Error>) -> StoreError {
    let path = path.display().to_string();
    let error = error.into();
    let (kind, message) = match &error {
        redb::Error::DatabaseAlreadyOpen | redb::Error::LockProtocolMismatch => {
            (StoreErrorKind::Transient, format!("Another process has {path:?} open"))
        }
        redb::Error::TableDoesNotExist(_) => {
            (StoreErrorKind::File, format!("{path:?} is no embedded storage of this tool"))
        }
        _ => (StoreErrorKind::File, format!("Cannot {what} {path:?}")),
    };
    StoreError::new(kind, message).with_source(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(folder: &Path, kind: StoreKind, access: Access) -> StoreResult<Arc<StoreFile>> {
        StoreFile::open(&EmbeddedAddress::new(folder.join("a.redb"), kind), access)
    }

    fn refused(result: StoreResult<Arc<StoreFile>>) -> StoreErrorKind {
        result.err().expect("refused").kind
    }

    #[test]
    fn what_a_killed_process_left_while_it_made_the_file_is_cleared_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in [".a.redb.x1Y2z3.part", ".a.redb.held00.part", ".b.redb.x1Y2z3.part", ".a.redb.mine.part"]
        {
            fs::write(path(name), "half").unwrap();
        }
        let held = File::open(path(".a.redb.held00.part")).unwrap();
        held.lock().unwrap();
        drop(open(folder.path(), StoreKind::MongoDb, Access::Create).unwrap());
        let mut names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, [".a.redb.held00.part", ".a.redb.mine.part", ".b.redb.x1Y2z3.part", "a.redb"]);
    }

    #[test]
    fn a_missing_file_is_made_only_when_asked_for_and_is_private() {
        let folder = tempfile::tempdir().unwrap();
        for access in [Access::Read, Access::Write] {
            let missing = open(folder.path(), StoreKind::MongoDb, access);
            assert_eq!(refused(missing), StoreErrorKind::NotFound);
        }
        drop(open(folder.path(), StoreKind::MongoDb, Access::Create).unwrap());
        drop(open(folder.path(), StoreKind::MongoDb, Access::Read).unwrap());
        let names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["a.redb"]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(folder.path().join("a.redb")).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn a_file_stands_for_one_store_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        drop(open(folder.path(), StoreKind::MongoDb, Access::Create).unwrap());
        let error = open(folder.path(), StoreKind::DynamoDb, Access::Read).err().unwrap();
        assert_eq!(crate::Error::from(error).kind(), crate::ErrorKind::Usage);
    }

    #[test]
    fn an_opening_for_reading_leaves_the_file_byte_for_byte() {
        let folder = tempfile::tempdir().unwrap();
        drop(open(folder.path(), StoreKind::CosmosDb, Access::Create).unwrap());
        let before = fs::read(folder.path().join("a.redb")).unwrap();
        let file = open(folder.path(), StoreKind::CosmosDb, Access::Read).unwrap();
        drop(file.begin_read().unwrap());
        assert!(file.begin_write().is_err());
        drop(file);
        assert_eq!(fs::read(folder.path().join("a.redb")).unwrap(), before);
    }

    #[test]
    fn a_writer_joins_the_readers_of_its_own_process() {
        let folder = tempfile::tempdir().unwrap();
        drop(open(folder.path(), StoreKind::MongoDb, Access::Create).unwrap());
        let reader = open(folder.path(), StoreKind::MongoDb, Access::Read).unwrap();
        let writer = open(folder.path(), StoreKind::MongoDb, Access::Write).unwrap();
        assert!(Arc::ptr_eq(&reader, &writer));
        writer.begin_write().unwrap().commit().unwrap();
        drop(reader.begin_read().unwrap());
    }

    #[test]
    fn a_file_that_another_process_writes_is_refused_for_the_moment() {
        let folder = tempfile::tempdir().unwrap();
        drop(open(folder.path(), StoreKind::MongoDb, Access::Create).unwrap());
        // The lock is on the opening, so this one stands for another process.
        let other = Database::open(folder.path().join("a.redb")).unwrap();
        for access in [Access::Read, Access::Write] {
            let error = open(folder.path(), StoreKind::MongoDb, access).err().unwrap();
            assert_eq!(error.kind, StoreErrorKind::Transient);
            assert!(error.message.starts_with("Another process has"), "{error}");
        }
        drop(other);
        drop(open(folder.path(), StoreKind::MongoDb, Access::Write).unwrap());
    }

    #[test]
    fn readers_of_several_processes_share_a_file() {
        let folder = tempfile::tempdir().unwrap();
        drop(open(folder.path(), StoreKind::MongoDb, Access::Create).unwrap());
        let other = ReadOnlyDatabase::open(folder.path().join("a.redb")).unwrap();
        drop(open(folder.path(), StoreKind::MongoDb, Access::Read).unwrap());
        assert_eq!(
            refused(open(folder.path(), StoreKind::MongoDb, Access::Write)),
            StoreErrorKind::Transient
        );
        drop(other);
    }

    #[test]
    fn what_a_killed_process_left_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = open(folder.path(), StoreKind::Firestore, Access::Create).unwrap();
        file.begin_write().unwrap().commit().unwrap();
        let left = folder.path().join("left.redb");
        let _ = fs::copy(folder.path().join("a.redb"), &left).unwrap();
        let address = EmbeddedAddress::new(left, StoreKind::Firestore);
        drop(StoreFile::open(&address, Access::Read).unwrap().begin_read().unwrap());
    }

    #[test]
    fn a_foreign_or_damaged_file_is_a_file_error() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.redb"), b"{\"not\":\"redb\"}").unwrap();
        for access in [Access::Read, Access::Write, Access::Create] {
            assert_eq!(refused(open(folder.path(), StoreKind::MongoDb, access)), StoreErrorKind::File);
        }
        fs::remove_file(folder.path().join("a.redb")).unwrap();
        drop(Database::create(folder.path().join("a.redb")).unwrap());
        assert_eq!(refused(open(folder.path(), StoreKind::MongoDb, Access::Read)), StoreErrorKind::File);
    }
}
