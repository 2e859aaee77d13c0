//! Databases as the road sees them: typed documents in batches, and what became of each.
//!
//! A store knows its own keys, limits and errors. It knows no tenant, no meaning of a layout, no file and
//! no terminal. Retry, throttling, dry run and injected faults are wrappers around these traits, never
//! flags inside an adapter. [`connect`] alone turns an address into a collection.

pub mod address;
mod answers;
#[cfg(any(feature = "dynamodb", feature = "cosmosdb"))]
mod capacity;
pub mod clashes;
pub mod connect;
#[cfg(feature = "cosmosdb")]
pub mod cosmosdb;
mod description;
mod document_id;
pub mod dry_run;
#[cfg(feature = "dynamodb")]
pub mod dynamodb;
pub mod embedded;
mod error;
mod examination;
mod expiry;
#[cfg(any(test, feature = "faults"))]
pub mod faults;
#[cfg(feature = "firestore")]
pub mod firestore;
pub mod guard;
mod item_key;
pub mod lookup;
#[cfg(feature = "mongodb")]
pub mod mongodb;
pub mod outcome;
mod question;
mod rates;
mod reads_through;
pub mod relocate;
#[cfg(any(feature = "dynamodb", feature = "firestore", feature = "cosmosdb"))]
mod requests;
pub mod retry;
mod scan;
pub mod throttle;
pub mod waits;
mod write;

use async_trait::async_trait;

pub use address::StoreAddress;
pub use description::{
    CollectionSpec, Description, Index, KeyField, Remark, Subscribers, TimeToLive, collection_noun,
    store_key_fields,
};
pub use error::{StoreError, StoreErrorKind, StoreResult};
pub use examination::{Clock, Examination, Held, Permission, Right, sdk};
pub use expiry::Expiry;
pub use question::{FrameworkQuery, LegacyProbe};
pub use rates::Rates;
pub use scan::{Activity, Page, Position, ScanPart, Snapshot};
pub use write::{BatchLimits, Created, Guarded, GuardedUpdate};

use crate::check::Refusal;
use crate::document::json::Tape;
use crate::document::{Lines, StoreKey, StoreKind};

/// Reads one collection.
#[async_trait]
pub trait CollectionReader: Send + Sync {
    /// The database kind.
    fn kind(&self) -> StoreKind;

    /// The collection's name.
    fn name(&self) -> &str;

    /// Where the collection is, for a person: the resolved host, account, project or file, the database
    /// and the collection; never a secret.
    fn location(&self) -> &str;

    /// Names the collections beside this one, for an error that says what there is.
    async fn collections(&self) -> StoreResult<Vec<String>>;

    /// Says what the collection is.
    ///
    /// Errors: [`StoreErrorKind::NotFound`] if there is none. Firestore cannot tell a missing collection
    /// from an empty one and describes it as empty.
    async fn describe(&self) -> StoreResult<Description>;

    /// Looks at what the store says of itself and at what we may do with the collection, which need not be there.
    /// Nothing in the store changes, whatever we may do: what cannot be asked is tried by requests that the store
    /// must turn down, and that could not change a document if it did not.
    ///
    /// Errors: those of a store that cannot be asked at all. A missing right is an answer.
    async fn examine(&self) -> StoreResult<Examination>;

    /// Tells whether somebody may read the changes of the collection. Of one that does not exist yet: whether
    /// somebody may read those of every collection, so that they will see its documents too.
    async fn subscribers(&self) -> StoreResult<Subscribers> {
        match self.describe().await {
            Ok(description) => Ok(description.subscribers),
            Err(error) if error.kind == StoreErrorKind::NotFound => Ok(Subscribers::None),
            Err(error) => Err(error),
        }
    }

    /// Counts the documents exactly, by another way than a scan; `None` where only a scan can tell.
    async fn count(&self, snapshot: Option<&Snapshot>) -> StoreResult<Option<u64>>;

    /// Tells a mark that every write to the collection changes; `None` where the store keeps none.
    async fn activity(&self) -> StoreResult<Option<Activity>>;

    /// Fixes a moment for all parts of a scan to read at; `None` where the store has no such thing.
    async fn snapshot(&self) -> StoreResult<Option<Snapshot>>;

    /// Cuts a scan of the whole collection into about `wanted` parts: disjoint, their union is the whole.
    async fn parts(&self, wanted: usize) -> StoreResult<Vec<ScanPart>>;

    /// Reads one page of a part, at most `limit` documents, from `from` (the part's beginning if `None`).
    ///
    /// A page may be empty although more follow. Errors: [`StoreErrorKind::SnapshotTooOld`] if the store
    /// no longer keeps the moment of `snapshot`.
    async fn page(
        &self,
        part: &ScanPart,
        from: Option<&Position>,
        limit: usize,
        snapshot: Option<&Snapshot>,
    ) -> StoreResult<Page>;

    /// Reads any number of documents by key; the answer has the keys' order, `None` where there is no
    /// document. Consistent with every write answered before.
    async fn read(&self, keys: &[StoreKey]) -> StoreResult<Vec<Option<Box<[u8]>>>>;

    /// Asks the framework's question of the whole collection; the answer is a few offending field values
    /// (empty: clean).
    async fn probe(&self, probe: &LegacyProbe) -> StoreResult<Vec<String>>;

    /// Reads one page of a stream or saga the way the framework does, from `from` (the beginning if `None`).
    ///
    /// The pages together are the framework's answer in its order. A page holds a few MiB at most and may be
    /// empty although more follow.
    async fn query(&self, query: &FrameworkQuery, from: Option<&Position>) -> StoreResult<Page>;

    /// Refuses a document that this very store would refuse, or keep otherwise than it is, as far as can be
    /// told without writing. `tape` has read the line.
    fn check(&self, _tape: &Tape, _line: &[u8]) -> Result<(), Refusal> {
        Ok(())
    }

    /// What the reads so far have shown that an operator should know (documents that would not move along).
    fn seen(&self) -> Vec<Remark> {
        Vec::new()
    }
}

/// Writes one collection. Every call answers for each document, in the order given.
#[async_trait]
pub trait CollectionWriter: Send + Sync {
    /// The largest batch a call takes: documents and bytes.
    fn batch_limits(&self) -> BatchLimits;

    /// Creates the collection.
    ///
    /// Errors: [`StoreErrorKind::AlreadyExists`]. Firestore, where a collection comes with its first
    /// document, does nothing.
    async fn create_collection(&self, spec: &CollectionSpec) -> StoreResult<()>;

    /// Creates documents, never replacing one. What the store sets by itself (`_etag`, `updateTime`, the
    /// path in a Firestore name) is not taken from the lines.
    async fn create(&self, lines: &Lines) -> Vec<Created>;

    /// Creates documents in a collection that was empty when the run began and that nobody else writes.
    /// A store with a faster call that replaces (DynamoDB) may use it here; the others create.
    async fn create_in_empty(&self, lines: &Lines) -> Vec<Created> {
        self.create(lines).await
    }

    /// Changes documents where their guard holds. Only MongoDB events are changed in place; another adapter
    /// may answer [`StoreErrorKind::Permanent`].
    async fn update(&self, updates: &[GuardedUpdate]) -> Vec<Guarded> {
        let message = "Documents of this store are never changed in place";
        Guarded::all_failed(updates.len(), &StoreError::new(StoreErrorKind::Permanent, message))
    }

    /// Deletes documents that are still equal to `expected` (one line a key) in their canonical form, system
    /// fields aside: one that was written anew with the same content is still the same document. A change
    /// between the look and the delete is never lost; the store's own change mark (`_etag`, `updateTime`) or
    /// a condition on the content sees to it.
    async fn delete(&self, keys: &[StoreKey], expected: &Lines) -> Vec<Guarded>;

    /// Creates documents and in the same step deletes, for each, the one it takes the place of: of `old`, which
    /// are the stored documents as they were just read, those that have not changed since. Never replaces one;
    /// a key that is taken is [`Guarded::UniqueTaken`]. Only Firestore documents are moved so.
    async fn relocate(&self, old: &Lines, new: &Lines) -> Vec<Guarded> {
        let _ = new;
        let message = "Documents of this store are never moved in one step";
        Guarded::all_failed(old.len(), &StoreError::new(StoreErrorKind::Permanent, message))
    }

    /// Raises an integer field of the document under `key` to at least `least`, making the document if
    /// there is none, and tells what it held before. Only MongoDB has such a counter.
    async fn raise(&self, _key: &StoreKey, field: &str, _least: i64) -> StoreResult<Option<i64>> {
        Err(StoreError::new(StoreErrorKind::Permanent, format!("This store keeps no counter in {field:?}")))
    }
}

/// A collection that can be read and written.
pub trait Collection: CollectionReader + CollectionWriter {}

impl<T: CollectionReader + CollectionWriter> Collection for T {}
