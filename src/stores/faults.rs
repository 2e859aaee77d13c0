//! Faults on purpose, for tests: throttling, cut connections, lost answers, half-done batches.
//!
//! Compiled in by the feature `faults` only.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use super::outcome::subset;
use super::{
    Activity, BatchLimits, Collection, CollectionReader, CollectionSpec, CollectionWriter, Created,
    Description, Examination, FrameworkQuery, Guarded, GuardedUpdate, LegacyProbe, Page, Position, Remark,
    ScanPart, Snapshot, StoreError, StoreErrorKind, StoreResult, Subscribers,
};
use crate::check::Refusal;
use crate::document::json::Tape;
use crate::document::{Lines, StoreKey, StoreKind};

/// Which calls a fault hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// [`CollectionReader::page`].
    Page,
    /// [`CollectionReader::read`].
    Read,
    /// [`CollectionWriter::create`] and [`CollectionWriter::create_in_empty`].
    Create,
    /// [`CollectionWriter::update`].
    Update,
    /// [`CollectionWriter::delete`].
    Delete,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Turned down because of the rate; nothing is done.
    Throttled(Option<Duration>),
    /// The connection breaks before the request is sent; nothing is done.
    Transient,
    /// The request is carried out, its answer is lost. A read fails as with `Transient`.
    LostAnswer,
    /// The request is lost on its way, which its sender cannot tell from a lost answer; nothing is done.
    LostRequest,
    /// The first half of a batch is carried out, the rest is turned down because of the rate. A page comes
    /// back empty although more follow.
    Partial,
    /// The store will never take the request; nothing is done.
    Refused,
}

struct Rule {
    call: Call,
    calls: Range<u64>,
    every: u64,
    fault: Fault,
}

/// A collection in which calls go wrong as scripted.
pub struct Faults {
    inner: Box<dyn Collection>,
    rules: Vec<Rule>,
    calls: Mutex<HashMap<Call, u64>>,
}

impl Faults {
    /// Wraps a collection, still without a fault.
    pub fn new(inner: Box<dyn Collection>) -> Self {
        Self { inner, rules: Vec::new(), calls: Mutex::default() }
    }

    /// Adds a fault for the calls of a kind whose numbers, counted from 0, are in the range.
    #[must_use]
    pub fn on(mut self, call: Call, calls: Range<u64>, fault: Fault) -> Self {
        self.rules.push(Rule { call, calls, every: 1, fault });
        self
    }

    /// Adds a fault for every `every`th call of a kind, the first one included.
    #[must_use]
    pub fn every(mut self, call: Call, every: u64, fault: Fault) -> Self {
        self.rules.push(Rule { call, calls: 0..u64::MAX, every: every.max(1), fault });
        self
    }

    /// How many calls of a kind there were.
    pub fn calls(&self, call: Call) -> u64 {
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.get(&call).copied().unwrap_or_default()
    }

    /// Counts a call and tells what goes wrong with it: the first rule that fits.
    fn next(&self, call: Call) -> Option<Fault> {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let count = calls.entry(call).or_default();
        let number = *count;
        *count += 1;
        let fits = |rule: &&Rule| {
            rule.call == call && rule.calls.contains(&number) && number.is_multiple_of(rule.every)
        };
        self.rules.iter().find(fits).map(|rule| rule.fault)
    }

    /// Sends a batch through a fault. `send` takes places in the batch, ascending.
    async fn batch<T: From<StoreError>, F: Future<Output = Vec<T>>>(
        &self,
        call: Call,
        count: usize,
        send: impl FnOnce(Vec<usize>) -> F,
    ) -> Vec<T> {
        let all = |kind| (0..count).map(|_| T::from(error(kind))).collect();
        match self.next(call) {
            None => send((0..count).collect()).await,
            Some(Fault::Throttled(delay)) => all(StoreErrorKind::Throttled(delay)),
            Some(Fault::Transient) => all(StoreErrorKind::Transient),
            Some(Fault::Refused) => all(StoreErrorKind::Permanent),
            Some(Fault::LostRequest) => all(StoreErrorKind::UnknownOutcome),
            Some(Fault::LostAnswer) => {
                drop(send((0..count).collect()).await);
                all(StoreErrorKind::UnknownOutcome)
            }
            Some(Fault::Partial) => {
                let mut answers = send((0..count / 2).collect()).await;
                answers.resize_with(count, || T::from(error(StoreErrorKind::Throttled(None))));
                answers
            }
        }
    }
}

fn error(kind: StoreErrorKind) -> StoreError {
    StoreError::new(kind, "A fault on purpose")
}

/// What a fault does to a read.
fn on_read(fault: Option<Fault>) -> StoreResult<()> {
    match fault {
        None | Some(Fault::Partial) => Ok(()),
        Some(Fault::Throttled(delay)) => Err(error(StoreErrorKind::Throttled(delay))),
        Some(Fault::Transient | Fault::LostAnswer | Fault::LostRequest) => {
            Err(error(StoreErrorKind::Transient))
        }
        Some(Fault::Refused) => Err(error(StoreErrorKind::Permanent)),
    }
}

#[async_trait]
impl CollectionReader for Faults {
    fn kind(&self) -> StoreKind {
        self.inner.kind()
    }

    fn name(&self) -> &str {
        self.inner.name()
    }

    fn location(&self) -> &str {
        self.inner.location()
    }

    async fn collections(&self) -> StoreResult<Vec<String>> {
        self.inner.collections().await
    }

    async fn describe(&self) -> StoreResult<Description> {
        self.inner.describe().await
    }

    async fn examine(&self) -> StoreResult<Examination> {
        self.inner.examine().await
    }

    async fn subscribers(&self) -> StoreResult<Subscribers> {
        self.inner.subscribers().await
    }

    async fn count(&self, snapshot: Option<&Snapshot>) -> StoreResult<Option<u64>> {
        self.inner.count(snapshot).await
    }

    async fn activity(&self) -> StoreResult<Option<Activity>> {
        self.inner.activity().await
    }

    async fn snapshot(&self) -> StoreResult<Option<Snapshot>> {
        self.inner.snapshot().await
    }

    async fn parts(&self, wanted: usize) -> StoreResult<Vec<ScanPart>> {
        self.inner.parts(wanted).await
    }

    async fn page(
        &self,
        part: &ScanPart,
        from: Option<&Position>,
        limit: usize,
        snapshot: Option<&Snapshot>,
    ) -> StoreResult<Page> {
        let fault = self.next(Call::Page);
        on_read(fault)?;
        match (fault, from) {
            (Some(Fault::Partial), Some(from)) => Ok(Page { lines: Lines::new(), next: Some(from.clone()) }),
            _ => self.inner.page(part, from, limit, snapshot).await,
        }
    }

    async fn read(&self, keys: &[StoreKey]) -> StoreResult<Vec<Option<Box<[u8]>>>> {
        on_read(self.next(Call::Read))?;
        self.inner.read(keys).await
    }

    async fn probe(&self, probe: &LegacyProbe) -> StoreResult<Vec<String>> {
        self.inner.probe(probe).await
    }

    async fn query(&self, query: &FrameworkQuery, from: Option<&Position>) -> StoreResult<Page> {
        self.inner.query(query, from).await
    }

    fn check(&self, tape: &Tape, line: &[u8]) -> Result<(), Refusal> {
        self.inner.check(tape, line)
    }

    fn seen(&self) -> Vec<Remark> {
        self.inner.seen()
    }
}

#[async_trait]
impl CollectionWriter for Faults {
    fn batch_limits(&self) -> BatchLimits {
        self.inner.batch_limits()
    }

    async fn create_collection(&self, spec: &CollectionSpec) -> StoreResult<()> {
        self.inner.create_collection(spec).await
    }

    async fn create(&self, lines: &Lines) -> Vec<Created> {
        let send = |places: Vec<usize>| async move { self.inner.create(&subset(lines, &places)).await };
        self.batch(Call::Create, lines.len(), send).await
    }

    async fn create_in_empty(&self, lines: &Lines) -> Vec<Created> {
        let send =
            |places: Vec<usize>| async move { self.inner.create_in_empty(&subset(lines, &places)).await };
        self.batch(Call::Create, lines.len(), send).await
    }

    async fn update(&self, updates: &[GuardedUpdate]) -> Vec<Guarded> {
        let send = |places: Vec<usize>| async move { self.inner.update(&updates[..places.len()]).await };
        self.batch(Call::Update, updates.len(), send).await
    }

    async fn relocate(&self, old: &Lines, new: &Lines) -> Vec<Guarded> {
        let send = |places: Vec<usize>| async move {
            self.inner.relocate(&subset(old, &places), &subset(new, &places)).await
        };
        self.batch(Call::Update, old.len(), send).await
    }

    async fn delete(&self, keys: &[StoreKey], expected: &Lines) -> Vec<Guarded> {
        let send = |places: Vec<usize>| async move {
            self.inner.delete(&keys[..places.len()], &subset(expected, &places)).await
        };
        self.batch(Call::Delete, keys.len(), send).await
    }

    async fn raise(&self, key: &StoreKey, field: &str, least: i64) -> StoreResult<Option<i64>> {
        self.inner.raise(key, field, least).await
    }
}
