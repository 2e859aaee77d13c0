//! Databases as the road sees them: typed documents in batches, and what became of each.
//!
//! A store knows its own keys, limits and errors. It knows no tenant, no meaning of a layout, no file and
//! no terminal. Retry, throttling, dry run and injected faults are wrappers around these traits, never
//! flags inside an adapter.

pub mod address;
pub mod connect;
pub mod dry_run;
#[cfg(feature = "embedded-faults")]
pub mod faults;
pub mod embedded;
mod error;
pub mod retry;
pub mod throttle;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

pub use error::{StoreError, StoreErrorKind};

use crate::document::{Lines, StoreKey, StoreKind};

/// The result of a store call.
pub type StoreResult<T> = Result<T, StoreError>;

/// What a collection, table or container is, as far as the store tells.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Description {
    /// The database kind.
    pub store: StoreKind,
    /// Where it is, for a person: host or file, database, collection; never a secret.
    pub location: String,
    /// What stays the same while it is the same collection (UUID, TableId, `_rid`), if the store tells.
    pub identity: Option<String>,
    /// The key fields, in order: DynamoDB's partition and sort key, Cosmos DB's partition key paths.
    pub key_fields: Vec<KeyField>,
    /// The version of Cosmos DB's partition key hash: version 1 reads the first 101 bytes only.
    pub hash_version: Option<u8>,
    /// Indexes besides the primary key.
    pub indexes: Vec<Index>,
    /// A default time to live that restarts for copied documents (Cosmos DB), or the attribute that holds one.
    pub time_to_live: Option<TimeToLive>,
    /// Whether somebody reads the store's changes.
    pub subscribers: Subscribers,
    /// The number of documents, if it is cheap and exact.
    pub documents: Option<u64>,
}

/// One field of a store's key.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct KeyField {
    /// The field's name (Cosmos DB: the path without its first `/`).
    pub name: String,
    /// Its type in the store's own letters (`S`, `N`, `B`), where the store has one.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none", default)]
    pub kind: Option<String>,
}

/// One index.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Index {
    /// The index's name.
    pub name: String,
    /// The fields in order, ascending.
    pub fields: Vec<String>,
    /// Whether two documents may not agree in all the fields.
    pub unique: bool,
}

/// How documents expire.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum TimeToLive {
    /// A default of so many seconds that starts anew for every document written.
    Default(i64),
    /// An absolute time in this field.
    Field(String),
}

/// Whether somebody reads the store's changes (change streams, table streams, triggers).
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Subscribers {
    /// The store shows that there is none.
    None,
    /// The store shows one.
    Present,
    /// The store cannot show whether there is one.
    Unknown,
}

/// What a new collection must have.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectionSpec {
    /// The key fields, as in [`Description::key_fields`].
    pub key_fields: Vec<KeyField>,
    /// The indexes to build.
    pub indexes: Vec<Index>,
}

/// One part of a scan: what one reader reads alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScanPart {
    /// The part's number, from 0.
    pub number: u32,
    /// The store's own words for the range (segment of segments, key range, feed range).
    pub range: serde_json::Value,
}

/// Where in a part the next page begins, in the store's own words; it outlives the process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position(pub serde_json::Value);

/// One page of a scan.
#[derive(Debug, Default)]
pub struct Page {
    /// The documents, each in its lossless form. May be empty although more pages follow.
    pub lines: Lines,
    /// Where the next page begins; `None` after the last one.
    pub next: Option<Position>,
}

/// A consistent moment that all parts of one scan read at (MongoDB snapshot, Firestore read time).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot(pub serde_json::Value);

/// The framework's own question whether a collection still holds legacy keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LegacyProbe {
    /// The field that is asked (`@id` on Firestore is the document id).
    pub field: String,
    /// Only documents whose field begins with this are looked at (`SAGA#` on DynamoDB sagas, else empty).
    pub within: String,
    /// A document is legacy unless its field begins with this (`t:`, or `SAGA#t:`).
    pub rekeyed_prefix: String,
}

/// The framework's own read of one stream or saga.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameworkQuery {
    /// String fields and the values they must equal.
    pub equals: Vec<(String, String)>,
    /// The field the answer is ordered by, ascending as a number.
    pub order_by: Option<String>,
}

/// Reads one collection.
#[async_trait]
pub trait CollectionReader: Send + Sync {
    /// Says what the collection is. [`StoreErrorKind::NotFound`] if there is none.
    async fn describe(&self) -> StoreResult<Description>;

    /// Fixes a moment for all parts of a scan to read at; `None` where the store has no such thing.
    async fn snapshot(&self) -> StoreResult<Option<Snapshot>>;

    /// Cuts a scan of the whole collection into about `wanted` parts whose union is the whole.
    async fn parts(&self, wanted: usize) -> StoreResult<Vec<ScanPart>>;

    /// Reads one page of a part, at most `limit` documents, from `from` (the part's beginning if `None`).
    async fn page(
        &self,
        part: &ScanPart,
        from: Option<&Position>,
        limit: usize,
        snapshot: Option<&Snapshot>,
    ) -> StoreResult<Page>;

    /// Reads documents by key; the answer has the keys' order, `None` where there is no document.
    async fn read(&self, keys: &[StoreKey]) -> StoreResult<Vec<Option<Box<[u8]>>>>;

    /// Asks the framework's question; the answer is a few offending field values (empty: clean).
    async fn probe(&self, probe: &LegacyProbe) -> StoreResult<Vec<String>>;

    /// Reads one stream or saga the way the framework does.
    async fn query(&self, query: &FrameworkQuery) -> StoreResult<Lines>;
}

/// What became of one document that was to be created.
#[derive(Debug)]
pub enum Created {
    /// It was written.
    Written,
    /// Its key (or unique key) is taken; the stored document, where the store gave it back with the answer.
    Exists(Option<Box<[u8]>>),
    /// It was not written, or it is not known whether it was.
    Failed(StoreError),
}

/// A guarded change of one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardedUpdate {
    /// The document's key.
    pub key: StoreKey,
    /// The string field to change and its new value.
    pub set: (String, String),
    /// String fields and the values they must hold for the change to happen.
    pub when_text: Vec<(String, String)>,
    /// Integer fields and the values they must hold for the change to happen.
    pub when_integer: Vec<(String, i64)>,
}

/// What became of one guarded change or delete.
#[derive(Debug)]
pub enum Guarded {
    /// It was done.
    Done,
    /// The document is not what the guard says; the stored one, if it is there.
    Differs(Option<Box<[u8]>>),
    /// There is no document under the key.
    Missing,
    /// It was not done, or it is not known whether it was.
    Failed(StoreError),
}

/// Writes one collection. Every call answers for each document, in the order given.
#[async_trait]
pub trait CollectionWriter: Send + Sync {
    /// The largest batch a call takes: documents and bytes.
    fn batch_limits(&self) -> BatchLimits;

    /// Creates the collection. An existing one is [`StoreErrorKind::AlreadyExists`].
    async fn create_collection(&self, spec: &CollectionSpec) -> StoreResult<()>;

    /// Creates documents, never replacing one.
    async fn create(&self, lines: &Lines) -> Vec<Created>;

    /// Changes documents where their guard holds.
    async fn update(&self, updates: &[GuardedUpdate]) -> Vec<Guarded>;

    /// Deletes documents that are still equal to `expected` (one line a key, system fields included).
    async fn delete(&self, keys: &[StoreKey], expected: &Lines) -> Vec<Guarded>;
}

/// Bounds of one write call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchLimits {
    /// The most documents.
    pub documents: usize,
    /// The most bytes of their lines.
    pub bytes: usize,
}

/// A collection that can be read and written.
pub trait Collection: CollectionReader + CollectionWriter {}

impl<T: CollectionReader + CollectionWriter> Collection for T {}
