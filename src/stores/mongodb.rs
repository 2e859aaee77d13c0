//! MongoDB, by its own driver: raw BSON in and out, commands built by hand.
//!
//! Documents pass as bytes, since the driver's typed documents and its Extended JSON lose some (names that
//! stand twice, invalid UTF-8, sub-documents that look like type wrappers); see
//! [`document::bson`](crate::document::bson).
//!
//! A scan goes by the index of `_id`, which is unique, always there and never changes: pages are found again
//! by the last `_id`, also while somebody writes.

mod change;
mod check;
mod command;
mod connect;
mod create;
mod describe;
mod examine;
mod failure;
mod guarded;
mod question;
mod read;
mod scan;
mod snapshot;

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use mongodb::Database;

use self::connect::Deployment;
use super::{
    Activity, BatchLimits, CollectionReader, CollectionSpec, CollectionWriter, Created, Description,
    Examination, FrameworkQuery, Guarded, GuardedUpdate, LegacyProbe, Page, Position, ScanPart, Snapshot,
    StoreResult, Subscribers,
};
use crate::check::Refusal;
use crate::document::json::Tape;
use crate::document::{Lines, StoreKey, StoreKind};

/// One call inserts up to so much: more gains nothing, and a command may not be larger than 16 MiB.
const BATCH: BatchLimits = BatchLimits { documents: 1000, bytes: 4 * 1024 * 1024 };

/// The most bytes of a page.
const PAGE_BYTES: usize = 4 * 1024 * 1024;

/// The largest document.
const MAX_DOCUMENT: usize = 16 * 1024 * 1024;

/// One collection of a MongoDB database.
#[derive(Clone, Debug)]
pub struct MongoDbCollection {
    database: Database,
    name: String,
    location: String,
    deployment: Deployment,
    /// The UUID that the collection had at the first write.
    written: Arc<OnceLock<Vec<u8>>>,
}

#[async_trait]
impl CollectionReader for MongoDbCollection {
    fn kind(&self) -> StoreKind {
        StoreKind::MongoDb
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn location(&self) -> &str {
        &self.location
    }

    async fn collections(&self) -> StoreResult<Vec<String>> {
        self.list_names().await
    }

    async fn describe(&self) -> StoreResult<Description> {
        self.description().await
    }

    async fn examine(&self) -> StoreResult<Examination> {
        self.examination().await
    }

    async fn subscribers(&self) -> StoreResult<Subscribers> {
        Ok(self.deployment.subscribers())
    }

    async fn count(&self, snapshot: Option<&Snapshot>) -> StoreResult<Option<u64>> {
        self.count_documents(snapshot).await.map(Some)
    }

    async fn activity(&self) -> StoreResult<Option<Activity>> {
        self.write_counter().await.map(Some)
    }

    async fn snapshot(&self) -> StoreResult<Option<Snapshot>> {
        self.take_snapshot().await
    }

    async fn parts(&self, wanted: usize) -> StoreResult<Vec<ScanPart>> {
        self.cut(wanted).await
    }

    async fn page(
        &self,
        part: &ScanPart,
        from: Option<&Position>,
        limit: usize,
        snapshot: Option<&Snapshot>,
    ) -> StoreResult<Page> {
        self.read_page(part, from, limit.max(1), snapshot).await
    }

    async fn read(&self, keys: &[StoreKey]) -> StoreResult<Vec<Option<Box<[u8]>>>> {
        self.read_keys(keys).await
    }

    async fn probe(&self, probe: &LegacyProbe) -> StoreResult<Vec<String>> {
        self.ask_for_legacy(probe).await
    }

    async fn query(&self, query: &FrameworkQuery, from: Option<&Position>) -> StoreResult<Page> {
        self.ask(query, from).await
    }

    fn check(&self, _tape: &Tape, line: &[u8]) -> Result<(), Refusal> {
        check::check(&self.deployment, line)
    }
}

#[async_trait]
impl CollectionWriter for MongoDbCollection {
    fn batch_limits(&self) -> BatchLimits {
        BATCH
    }

    async fn create_collection(&self, spec: &CollectionSpec) -> StoreResult<()> {
        self.make(spec).await
    }

    async fn create(&self, lines: &Lines) -> Vec<Created> {
        self.insert(lines).await
    }

    async fn update(&self, updates: &[GuardedUpdate]) -> Vec<Guarded> {
        self.set_texts(updates).await
    }

    async fn delete(&self, keys: &[StoreKey], expected: &Lines) -> Vec<Guarded> {
        self.delete_expected(keys, expected).await
    }

    async fn raise(&self, key: &StoreKey, field: &str, least: i64) -> StoreResult<Option<i64>> {
        self.raise_counter(key, field, least).await
    }
}
