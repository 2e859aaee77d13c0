//! Embedded storage: one local file that stands for a database and keeps its rules.
//!
//! What is kept: what is unique (`_id` and unique indexes; partition and sort key; document id; id within
//! its partition key), the limits in bytes of keys and documents, forbidden characters, key types, numbers
//! equal by value, and what the store sets by itself. Documents are stored as their lines.
//!
//! What is not: documents do not expire, there are no capacity units, no subscribers, no permissions, and a
//! scan goes in key order on every kind.
//!
//! A snapshot is a read transaction that the collection keeps. In another process, or after the collection
//! was dropped, it still stands while nobody has written to the collection; afterwards it is
//! [`StoreErrorKind::SnapshotTooOld`].

mod automatic;
mod catalog;
mod fields;
mod file;
mod order;
mod query;
mod rules;
mod scan;
mod system;
mod view;
mod write;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use async_trait::async_trait;

use self::automatic::AutomaticIndex;
use self::file::StoreFile;
use self::view::View;
use super::address::EmbeddedAddress;
use super::{
    Activity, BatchLimits, CollectionReader, CollectionSpec, CollectionWriter, Created, Description,
    Examination, FrameworkQuery, Guarded, GuardedUpdate, KeyField, LegacyProbe, Page, Position, ScanPart,
    Snapshot, StoreError, StoreErrorKind, StoreResult, Subscribers, collection_noun, store_key_fields,
};
use crate::check::Refusal;
use crate::document::json::Tape;
use crate::document::{Lines, StoreKey, StoreKind};

pub(super) use fields::write_ordered;
pub use file::Access;

/// One batch is one transaction and one wait for the disk.
const BATCH: BatchLimits = BatchLimits { documents: 1000, bytes: 4 * 1024 * 1024 };

/// One collection in a file. Clones share the opening.
#[derive(Clone)]
pub struct EmbeddedCollection {
    shared: Arc<Shared>,
}

struct Shared {
    file: Arc<StoreFile>,
    name: String,
    location: String,
    /// Moments that scans read at.
    snapshots: Mutex<Vec<View>>,
    automatic: Mutex<Option<AutomaticIndex>>,
    /// The key fields, once somebody has asked for a check.
    key_fields: OnceLock<Vec<KeyField>>,
}

impl EmbeddedCollection {
    /// Opens a file and names a collection in it, which need not be there yet.
    ///
    /// Errors: [`StoreErrorKind::NotFound`] if there is no file, or the store allows no such name,
    /// [`StoreErrorKind::AlreadyExists`] if the file stands for another store,
    /// [`StoreErrorKind::Transient`] if another process has it open.
    pub async fn open(address: &EmbeddedAddress, collection: &str, access: Access) -> StoreResult<Self> {
        let kind = address.stands_for();
        Self::check_name(kind, collection)?;
        let opened = address.clone();
        let file = blocking(move || StoreFile::open(&opened, access)).await?;
        Ok(Self::of(file, address, collection))
    }

    /// What the collection would be if it were made, empty and in memory: its rules can be asked, and no file is
    /// touched.
    ///
    /// Errors: [`StoreErrorKind::NotFound`] if the store allows no such name.
    pub async fn imagine(
        address: &EmbeddedAddress,
        collection: &str,
        spec: &CollectionSpec,
    ) -> StoreResult<Self> {
        Self::check_name(address.stands_for(), collection)?;
        let imagined = Self::of(StoreFile::in_memory(address)?, address, collection);
        imagined.create_collection(spec).await?;
        Ok(imagined)
    }

    fn of(file: Arc<StoreFile>, address: &EmbeddedAddress, collection: &str) -> Self {
        let kind = address.stands_for();
        let location = format!(
            "{}, embedded storage that stands for {}, {} {collection:?}",
            address.file().display(),
            kind.title(),
            collection_noun(kind)
        );
        let shared = Shared {
            file,
            name: collection.to_owned(),
            location,
            snapshots: Mutex::default(),
            automatic: Mutex::default(),
            key_fields: OnceLock::new(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Checks the name of a collection.
    ///
    /// Errors: [`StoreErrorKind::NotFound`] if the store allows no such name.
    pub fn check_name(kind: StoreKind, name: &str) -> StoreResult<()> {
        rules::check_name(kind, name).map_err(|message| StoreError::new(StoreErrorKind::NotFound, message))
    }

    async fn blocking<T: Send + 'static>(&self, work: impl FnOnce(&Shared) -> T + Send + 'static) -> T {
        let shared = self.shared.clone();
        blocking(move || work(&shared)).await
    }
}

/// Runs work that waits for the disk where it holds up no other task.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        // Nothing cancels the task, so it has panicked.
        Err(stopped) => std::panic::resume_unwind(stopped.into_panic()),
    }
}

impl Shared {
    fn view(&self) -> StoreResult<View> {
        View::now(&self.file, &self.name)
    }

    /// The view that reads at `snapshot`, or at this moment.
    fn view_at(&self, snapshot: Option<&Snapshot>) -> StoreResult<View> {
        let Some(snapshot) = snapshot else { return self.view() };
        let mut kept = self.snapshots.lock().unwrap_or_else(PoisonError::into_inner);
        for view in kept.iter() {
            if view.snapshot()? == *snapshot {
                return Ok(view.clone());
            }
        }
        let view = self.view()?;
        if view.snapshot()? != *snapshot {
            let message = format!("The collection {:?} has been written to since the snapshot", self.name);
            return Err(StoreError::new(StoreErrorKind::SnapshotTooOld, message));
        }
        kept.push(view.clone());
        Ok(view)
    }

    fn describe(&self) -> StoreResult<Description> {
        let (kind, view) = (self.file.kind(), self.view()?);
        let CollectionSpec { key_fields, indexes } =
            view.entry().map(|entry| entry.spec.clone()).unwrap_or_default();
        Ok(Description {
            store: kind,
            location: self.location.clone(),
            // Firestore has nothing that tells a collection from one that was dropped and made again.
            identity: view
                .entry()
                .filter(|_| kind != StoreKind::Firestore)
                .map(|entry| entry.identity.clone()),
            key_fields,
            hash_version: (kind == StoreKind::CosmosDb).then_some(2),
            indexes,
            time_to_live: None,
            subscribers: Subscribers::None,
            documents: Some(view.len()?),
            remarks: Vec::new(),
        })
    }

    /// Checks a document against the rules of the store it stands for; while there is no collection, against
    /// those that hold whatever its key is.
    fn check(&self, tape: &Tape, line: &[u8]) -> Result<(), Refusal> {
        let kind = self.file.kind();
        rules::check_document(kind, tape, line)?;
        let key_fields = match self.key_fields.get() {
            Some(known) => known,
            None => match self.describe() {
                Ok(description) => self.key_fields.get_or_init(|| description.key_fields),
                Err(_) => return Ok(()),
            },
        };
        let key = StoreKey::of(kind, &store_key_fields(kind, key_fields), tape, line)?;
        rules::ordered_key(kind, key_fields, &key).map(drop)
    }

    fn create_collection(&self, spec: &CollectionSpec) -> StoreResult<()> {
        let kind = self.file.kind();
        if kind == StoreKind::Firestore {
            return Ok(());
        }
        let permanent = |message| StoreError::new(StoreErrorKind::Permanent, message);
        rules::check_spec(kind, &self.name, spec).map_err(permanent)?;
        let failed = |error| self.file.failure("write", error);
        let write = self.file.begin_write()?;
        if catalog::find_to_write(&write, &self.name).map_err(failed)?.is_some() {
            let message = format!("There is a {} {:?} already", collection_noun(kind), self.name);
            return Err(StoreError::new(StoreErrorKind::AlreadyExists, message));
        }
        let _ = catalog::add(&write, &self.name, spec).map_err(failed)?;
        write.commit().map_err(|error| failed(error.into()))
    }
}

#[async_trait]
impl CollectionReader for EmbeddedCollection {
    fn kind(&self) -> StoreKind {
        self.shared.file.kind()
    }

    fn name(&self) -> &str {
        &self.shared.name
    }

    fn location(&self) -> &str {
        &self.shared.location
    }

    async fn collections(&self) -> StoreResult<Vec<String>> {
        self.blocking(|shared| {
            let read = shared.file.begin_read()?;
            catalog::names(&read).map_err(|error| shared.file.failure("read", error))
        })
        .await
    }

    async fn describe(&self) -> StoreResult<Description> {
        self.blocking(Shared::describe).await
    }

    async fn examine(&self) -> StoreResult<Examination> {
        self.blocking(|shared| Ok(shared.file.examine())).await
    }

    async fn count(&self, snapshot: Option<&Snapshot>) -> StoreResult<Option<u64>> {
        let snapshot = snapshot.cloned();
        self.blocking(move |shared| shared.view_at(snapshot.as_ref())?.len().map(Some)).await
    }

    async fn activity(&self) -> StoreResult<Option<Activity>> {
        self.blocking(|shared| Ok(Some(Activity(shared.view()?.writes()?.into())))).await
    }

    async fn snapshot(&self) -> StoreResult<Option<Snapshot>> {
        if !matches!(self.kind(), StoreKind::MongoDb | StoreKind::Firestore) {
            return Ok(None);
        }
        self.blocking(|shared| {
            let view = shared.view()?;
            let snapshot = view.snapshot()?;
            shared.snapshots.lock().unwrap_or_else(PoisonError::into_inner).push(view);
            Ok(Some(snapshot))
        })
        .await
    }

    async fn parts(&self, wanted: usize) -> StoreResult<Vec<ScanPart>> {
        self.blocking(move |shared| scan::parts(&shared.view()?, wanted)).await
    }

    async fn page(
        &self,
        part: &ScanPart,
        from: Option<&Position>,
        limit: usize,
        snapshot: Option<&Snapshot>,
    ) -> StoreResult<Page> {
        let range = scan::range(part, from)?;
        let snapshot = snapshot.cloned();
        self.blocking(move |shared| scan::page(&shared.view_at(snapshot.as_ref())?, range, limit)).await
    }

    async fn read(&self, keys: &[StoreKey]) -> StoreResult<Vec<Option<Box<[u8]>>>> {
        let keys = keys.to_vec();
        self.blocking(move |shared| {
            let view = shared.view()?;
            let fields = view.entry().map(catalog::Entry::key_fields).unwrap_or_default();
            let read = |key| match rules::ordered_key(shared.file.kind(), fields, key) {
                Ok(key) => view.get(&key),
                // What could not be stored is not there.
                Err(_) => Ok(None),
            };
            keys.iter().map(read).collect()
        })
        .await
    }

    async fn probe(&self, probe: &LegacyProbe) -> StoreResult<Vec<String>> {
        let probe = probe.clone();
        self.blocking(move |shared| query::probe(&shared.view()?, shared.file.kind(), &probe)).await
    }

    async fn query(&self, query: &FrameworkQuery, from: Option<&Position>) -> StoreResult<Page> {
        let (query, after) = (query.clone(), from.map(scan::after).transpose()?);
        self.blocking(move |shared| {
            query::query(&shared.view()?, shared.file.kind(), &query, after, &shared.automatic)
        })
        .await
    }

    fn check(&self, tape: &Tape, line: &[u8]) -> Result<(), Refusal> {
        self.shared.check(tape, line)
    }
}

#[async_trait]
impl CollectionWriter for EmbeddedCollection {
    fn batch_limits(&self) -> BatchLimits {
        BATCH
    }

    async fn create_collection(&self, spec: &CollectionSpec) -> StoreResult<()> {
        let spec = rules::without_slashes(spec);
        self.blocking(move |shared| shared.create_collection(&spec)).await
    }

    async fn create(&self, lines: &Lines) -> Vec<Created> {
        let (lines, count) = (lines.clone(), lines.len());
        let created = self.blocking(move |shared| {
            write::transaction(&shared.file, &shared.name, |writer| {
                lines.iter().map(|line| writer.create(line)).collect::<StoreResult<Vec<_>>>()
            })
        });
        created.await.unwrap_or_else(|error| Created::all_failed(count, &error))
    }

    async fn update(&self, updates: &[GuardedUpdate]) -> Vec<Guarded> {
        let (updates, count) = (updates.to_vec(), updates.len());
        let changed = self.blocking(move |shared| {
            write::transaction(&shared.file, &shared.name, |writer| {
                updates.iter().map(|update| writer.update(update)).collect::<StoreResult<Vec<_>>>()
            })
        });
        changed.await.unwrap_or_else(|error| Guarded::all_failed(count, &error))
    }

    async fn relocate(&self, old: &Lines, new: &Lines) -> Vec<Guarded> {
        let (old, new, count) = (old.clone(), new.clone(), old.len());
        let moved = self.blocking(move |shared| {
            write::transaction(&shared.file, &shared.name, |writer| {
                let pairs = old.iter().zip(new.iter());
                pairs.map(|(old, new)| writer.relocate(old, new)).collect::<StoreResult<Vec<_>>>()
            })
        });
        moved.await.unwrap_or_else(|error| Guarded::all_failed(count, &error))
    }

    async fn delete(&self, keys: &[StoreKey], expected: &Lines) -> Vec<Guarded> {
        let (keys, expected, count) = (keys.to_vec(), expected.clone(), keys.len());
        let deleted = self.blocking(move |shared| {
            write::transaction(&shared.file, &shared.name, |writer| {
                let pairs = keys.iter().zip(expected.iter());
                pairs.map(|(key, line)| writer.delete(key, line)).collect::<StoreResult<Vec<_>>>()
            })
        });
        deleted.await.unwrap_or_else(|error| Guarded::all_failed(count, &error))
    }

    async fn raise(&self, key: &StoreKey, field: &str, least: i64) -> StoreResult<Option<i64>> {
        let (key, field) = (key.clone(), field.to_owned());
        self.blocking(move |shared| {
            write::transaction(&shared.file, &shared.name, |writer| writer.raise(&key, &field, least))
        })
        .await
    }
}

/// A new collection in a folder of its own.
#[cfg(test)]
pub(super) async fn temporary(
    kind: StoreKind,
    spec: &CollectionSpec,
) -> (tempfile::TempDir, EmbeddedCollection) {
    let folder = tempfile::tempdir().unwrap();
    let address = EmbeddedAddress::new(folder.path().join("store.redb"), kind);
    let collection = EmbeddedCollection::open(&address, "events", Access::Create).await.unwrap();
    collection.create_collection(spec).await.unwrap();
    (folder, collection)
}

#[cfg(test)]
impl EmbeddedCollection {
    /// Another collection of the same file.
    pub(super) fn beside(&self, name: &str) -> Self {
        let shared = Shared {
            file: self.shared.file.clone(),
            name: name.to_owned(),
            location: self.shared.location.clone(),
            snapshots: Mutex::default(),
            automatic: Mutex::default(),
            key_fields: OnceLock::new(),
        };
        Self { shared: Arc::new(shared) }
    }
}
