//! Wrappers that change nothing about reading.

use async_trait::async_trait;

use super::{
    Activity, CollectionReader, Description, Examination, FrameworkQuery, LegacyProbe, Page, Position,
    Remark, ScanPart, Snapshot, StoreResult, Subscribers,
};
use crate::check::Refusal;
use crate::document::json::Tape;
use crate::document::{StoreKey, StoreKind};

/// A wrapper through which every read passes as it is; it is a [`CollectionReader`] by that.
pub(super) trait ReadsThrough: Send + Sync {
    /// What is read.
    fn reader(&self) -> &dyn CollectionReader;
}

#[async_trait]
impl<T: ReadsThrough> CollectionReader for T {
    fn kind(&self) -> StoreKind {
        self.reader().kind()
    }

    fn name(&self) -> &str {
        self.reader().name()
    }

    fn location(&self) -> &str {
        self.reader().location()
    }

    async fn collections(&self) -> StoreResult<Vec<String>> {
        self.reader().collections().await
    }

    async fn describe(&self) -> StoreResult<Description> {
        self.reader().describe().await
    }

    async fn examine(&self) -> StoreResult<Examination> {
        self.reader().examine().await
    }

    async fn subscribers(&self) -> StoreResult<Subscribers> {
        self.reader().subscribers().await
    }

    async fn count(&self, snapshot: Option<&Snapshot>) -> StoreResult<Option<u64>> {
        self.reader().count(snapshot).await
    }

    async fn activity(&self) -> StoreResult<Option<Activity>> {
        self.reader().activity().await
    }

    async fn snapshot(&self) -> StoreResult<Option<Snapshot>> {
        self.reader().snapshot().await
    }

    async fn parts(&self, wanted: usize) -> StoreResult<Vec<ScanPart>> {
        self.reader().parts(wanted).await
    }

    async fn page(
        &self,
        part: &ScanPart,
        from: Option<&Position>,
        limit: usize,
        snapshot: Option<&Snapshot>,
    ) -> StoreResult<Page> {
        self.reader().page(part, from, limit, snapshot).await
    }

    async fn read(&self, keys: &[StoreKey]) -> StoreResult<Vec<Option<Box<[u8]>>>> {
        self.reader().read(keys).await
    }

    async fn probe(&self, probe: &LegacyProbe) -> StoreResult<Vec<String>> {
        self.reader().probe(probe).await
    }

    async fn query(&self, query: &FrameworkQuery, from: Option<&Position>) -> StoreResult<Page> {
        self.reader().query(query, from).await
    }

    fn check(&self, tape: &Tape, line: &[u8]) -> Result<(), Refusal> {
        self.reader().check(tape, line)
    }

    fn seen(&self) -> Vec<Remark> {
        self.reader().seen()
    }
}
