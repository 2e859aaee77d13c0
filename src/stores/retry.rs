//! Sends again what a store turned down for the moment.
//!
//! Only failures that say nothing was done are sent again; an unknown outcome is not, it has to be read back
//! (see [`outcome`](super::outcome)). A call gives up by time without progress, not by attempts, and any
//! success renews the time: a slow store that still takes something is never given up.

use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use backon::{BackoffBuilder as _, ExponentialBackoff, ExponentialBuilder};

use super::outcome::subset;
use super::write::unanswered;
use super::{
    Activity, BatchLimits, Collection, CollectionReader, CollectionSpec, CollectionWriter, Created,
    Description, FrameworkQuery, Guarded, GuardedUpdate, LegacyProbe, Page, Position, Remark, ScanPart,
    Snapshot, StoreError, StoreErrorKind, StoreResult, Subscribers,
};
use crate::check::Refusal;
use crate::document::json::Tape;
use crate::document::{Lines, StoreKey, StoreKind};

/// How long to wait and when to give up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// About how long the first wait is; each further one is twice as long, and all have jitter.
    pub first_delay: Duration,
    /// The longest wait, unless the store asks for a longer one.
    pub longest_delay: Duration,
    /// How long the store may take without any success before a call fails.
    pub allowance: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            first_delay: Duration::from_millis(50),
            longest_delay: Duration::from_secs(20),
            allowance: Duration::from_mins(5),
        }
    }
}

/// A collection whose calls are retried.
pub struct Retry<C: ?Sized> {
    inner: Box<C>,
    policy: RetryPolicy,
    last_success: Mutex<Instant>,
}

impl<C: ?Sized> Retry<C> {
    /// Wraps a collection.
    pub fn new(inner: Box<C>, policy: RetryPolicy) -> Self {
        Self { inner, policy, last_success: Mutex::new(Instant::now()) }
    }

    /// Calls until it succeeds, fails for good or makes no progress for too long.
    async fn call<T, F: Future<Output = StoreResult<T>>>(&self, attempt: impl Fn() -> F) -> StoreResult<T> {
        let mut wait = Wait::new(self);
        loop {
            match attempt().await {
                Ok(value) => {
                    wait.progress();
                    return Ok(value);
                }
                Err(error) if error.kind.is_retryable() && wait.pause(error.kind).await => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Sends a batch, then what of it may go through later, until every answer is final or there is no
    /// progress for too long. `send` takes places in the batch, ascending.
    async fn batch<T: From<StoreError>, F: Future<Output = Vec<T>>>(
        &self,
        count: usize,
        send: impl Fn(Vec<usize>) -> F,
        failure: impl Fn(&T) -> Option<StoreErrorKind>,
    ) -> Vec<T> {
        let mut answers: Vec<Option<T>> = (0..count).map(|_| None).collect();
        let mut pending: Vec<usize> = (0..count).collect();
        let mut wait = Wait::new(self);
        while !pending.is_empty() {
            let before = pending.len();
            let mut again = None;
            let mut left = Vec::new();
            for (at, answer) in pending.iter().copied().zip(send(pending.clone()).await) {
                if let Some(kind) = failure(&answer).filter(|kind| kind.is_retryable()) {
                    left.push(at);
                    again = Some(again.map_or(kind, |known| longer(known, kind)));
                }
                if let Some(place) = answers.get_mut(at) {
                    *place = Some(answer);
                }
            }
            if left.len() < before {
                wait.progress();
            }
            pending = left;
            if let Some(kind) = again
                && !wait.pause(kind).await
            {
                break;
            }
        }
        answers.into_iter().map(|answer| answer.unwrap_or_else(|| unanswered().into())).collect()
    }
}

/// The failure that asks for the longer wait.
fn longer(a: StoreErrorKind, b: StoreErrorKind) -> StoreErrorKind {
    if asked_delay(a) >= asked_delay(b) { a } else { b }
}

/// The wait that the store asks for.
fn asked_delay(kind: StoreErrorKind) -> Duration {
    match kind {
        StoreErrorKind::Throttled(delay) => delay.unwrap_or_default(),
        _ => Duration::ZERO,
    }
}

/// The waits of one call.
struct Wait<'r> {
    policy: RetryPolicy,
    last_success: &'r Mutex<Instant>,
    started: Instant,
    delays: ExponentialBackoff,
}

impl<'r> Wait<'r> {
    fn new<C: ?Sized>(retry: &'r Retry<C>) -> Self {
        let policy = retry.policy;
        Self { policy, last_success: &retry.last_success, started: Instant::now(), delays: delays(policy) }
    }

    /// Notes that the store did something.
    fn progress(&mut self) {
        *self.last_success.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.delays = delays(self.policy);
    }

    /// Waits before the next attempt; `false` if there has been no progress for too long.
    async fn pause(&mut self, kind: StoreErrorKind) -> bool {
        let last_success = *self.last_success.lock().unwrap_or_else(PoisonError::into_inner);
        if last_success.max(self.started).elapsed() >= self.policy.allowance {
            return false;
        }
        let delay = self.delays.next().unwrap_or(self.policy.longest_delay);
        let delay = delay.max(asked_delay(kind));
        tracing::debug!(?kind, ?delay, "the store turned a call down, it is sent again");
        tokio::time::sleep(delay).await;
        true
    }
}

fn delays(policy: RetryPolicy) -> ExponentialBackoff {
    ExponentialBuilder::default()
        .with_min_delay(policy.first_delay)
        .with_max_delay(policy.longest_delay)
        .with_jitter()
        .without_max_times()
        .build()
}

#[async_trait]
impl<C: CollectionReader + ?Sized> CollectionReader for Retry<C> {
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
        self.call(|| self.inner.collections()).await
    }

    async fn describe(&self) -> StoreResult<Description> {
        self.call(|| self.inner.describe()).await
    }

    async fn subscribers(&self) -> StoreResult<Subscribers> {
        self.call(|| self.inner.subscribers()).await
    }

    async fn count(&self, snapshot: Option<&Snapshot>) -> StoreResult<Option<u64>> {
        self.call(|| self.inner.count(snapshot)).await
    }

    async fn activity(&self) -> StoreResult<Option<Activity>> {
        self.call(|| self.inner.activity()).await
    }

    async fn snapshot(&self) -> StoreResult<Option<Snapshot>> {
        self.call(|| self.inner.snapshot()).await
    }

    async fn parts(&self, wanted: usize) -> StoreResult<Vec<ScanPart>> {
        self.call(|| self.inner.parts(wanted)).await
    }

    async fn page(
        &self,
        part: &ScanPart,
        from: Option<&Position>,
        limit: usize,
        snapshot: Option<&Snapshot>,
    ) -> StoreResult<Page> {
        self.call(|| self.inner.page(part, from, limit, snapshot)).await
    }

    async fn read(&self, keys: &[StoreKey]) -> StoreResult<Vec<Option<Box<[u8]>>>> {
        self.call(|| self.inner.read(keys)).await
    }

    async fn probe(&self, probe: &LegacyProbe) -> StoreResult<Vec<String>> {
        self.call(|| self.inner.probe(probe)).await
    }

    async fn query(&self, query: &FrameworkQuery, from: Option<&Position>) -> StoreResult<Page> {
        self.call(|| self.inner.query(query, from)).await
    }

    fn check(&self, tape: &Tape, line: &[u8]) -> Result<(), Refusal> {
        self.inner.check(tape, line)
    }

    fn seen(&self) -> Vec<Remark> {
        self.inner.seen()
    }
}

#[async_trait]
impl<C: Collection + ?Sized> CollectionWriter for Retry<C> {
    fn batch_limits(&self) -> BatchLimits {
        self.inner.batch_limits()
    }

    async fn create_collection(&self, spec: &CollectionSpec) -> StoreResult<()> {
        self.call(|| self.inner.create_collection(spec)).await
    }

    async fn create(&self, lines: &Lines) -> Vec<Created> {
        let send = |places: Vec<usize>| async move { self.inner.create(&subset(lines, &places)).await };
        self.batch(lines.len(), send, Created::failure).await
    }

    async fn create_in_empty(&self, lines: &Lines) -> Vec<Created> {
        let send =
            |places: Vec<usize>| async move { self.inner.create_in_empty(&subset(lines, &places)).await };
        self.batch(lines.len(), send, Created::failure).await
    }

    async fn update(&self, updates: &[GuardedUpdate]) -> Vec<Guarded> {
        let send = |places: Vec<usize>| async move {
            let some: Vec<_> = places.iter().filter_map(|at| updates.get(*at).cloned()).collect();
            self.inner.update(&some).await
        };
        self.batch(updates.len(), send, Guarded::failure).await
    }

    async fn relocate(&self, old: &Lines, new: &Lines) -> Vec<Guarded> {
        let send = |places: Vec<usize>| async move {
            self.inner.relocate(&subset(old, &places), &subset(new, &places)).await
        };
        self.batch(old.len(), send, Guarded::failure).await
    }

    async fn delete(&self, keys: &[StoreKey], expected: &Lines) -> Vec<Guarded> {
        let send = |places: Vec<usize>| async move {
            let some: Vec<_> = places.iter().filter_map(|at| keys.get(*at).cloned()).collect();
            self.inner.delete(&some, &subset(expected, &places)).await
        };
        self.batch(keys.len(), send, Guarded::failure).await
    }

    async fn raise(&self, key: &StoreKey, field: &str, least: i64) -> StoreResult<Option<i64>> {
        self.call(|| self.inner.raise(key, field, least)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stores::embedded::temporary;
    use crate::stores::faults::{Call, Fault, Faults};

    async fn retrying(
        allowance: Duration,
        plan: impl FnOnce(Faults) -> Faults,
    ) -> (tempfile::TempDir, Retry<Faults>) {
        let (folder, collection) = temporary(StoreKind::MongoDb, &CollectionSpec::default()).await;
        let faults = plan(Faults::new(Box::new(collection)));
        let policy = RetryPolicy {
            first_delay: Duration::from_micros(100),
            longest_delay: Duration::from_millis(2),
            allowance,
        };
        (folder, Retry::new(Box::new(faults), policy))
    }

    fn documents(count: usize) -> Lines {
        let mut lines = Lines::new();
        (0..count).for_each(|at| lines.push(format!("{{\"_id\":\"{at}\"}}").as_bytes()));
        lines
    }

    const LONG: Duration = Duration::from_mins(1);

    #[tokio::test]
    async fn what_is_turned_down_for_the_moment_goes_through() {
        let (_folder, retry) = retrying(LONG, |faults| {
            faults.on(Call::Create, 0..3, Fault::Throttled(None)).on(Call::Read, 0..2, Fault::Transient)
        })
        .await;
        assert!(matches!(retry.create(&documents(1)).await[..], [Created::Written]));
        let read = retry.read(&[StoreKey("[\"0\"]".into())]).await.unwrap();
        assert!(matches!(read[..], [Some(_)]));
        assert_eq!(retry.inner.calls(Call::Create), 4);
    }

    #[tokio::test]
    async fn of_a_half_done_batch_only_the_rest_is_sent_again_and_the_order_stays() {
        let (_folder, retry) = retrying(LONG, |faults| faults.on(Call::Create, 1..4, Fault::Partial)).await;
        let mut lines = documents(3);
        let _ = retry.create(&lines).await;
        lines.push(b"{\"_id\":[]}");
        for at in 10..16 {
            lines.push(format!("{{\"_id\":\"{at}\"}}").as_bytes());
        }
        let created = retry.create(&lines).await;
        let words: Vec<&str> = created
            .iter()
            .map(|created| match created {
                Created::Written => "written",
                Created::Exists(_) => "exists",
                _ => "failed",
            })
            .collect();
        assert_eq!(words[..4], ["exists", "exists", "exists", "failed"]);
        assert!(words[4..].iter().all(|word| *word == "written"), "{words:?}");
    }

    #[tokio::test]
    async fn a_refusal_and_an_unknown_outcome_are_not_sent_again() {
        for (fault, kind) in
            [(Fault::Refused, StoreErrorKind::Permanent), (Fault::LostAnswer, StoreErrorKind::UnknownOutcome)]
        {
            let (_folder, retry) = retrying(LONG, |faults| faults.every(Call::Create, 1, fault)).await;
            let created = retry.create(&documents(1)).await;
            assert_eq!(created[0].failure(), Some(kind));
            assert_eq!(retry.inner.calls(Call::Create), 1);
        }
    }

    #[tokio::test]
    async fn a_store_without_progress_is_given_up_after_the_allowance() {
        let allowance = Duration::from_millis(30);
        let plan = |faults: Faults| faults.every(Call::Create, 1, Fault::Throttled(None));
        let (_folder, retry) = retrying(allowance, plan).await;
        let started = Instant::now();
        let created = retry.create(&documents(2)).await;
        assert_eq!(created[1].failure(), Some(StoreErrorKind::Throttled(None)));
        assert!(started.elapsed() >= allowance);
    }

    #[tokio::test]
    async fn progress_renews_the_allowance() {
        let (_folder, retry) =
            retrying(Duration::ZERO, |faults| faults.on(Call::Create, 0..6, Fault::Partial)).await;
        // With no allowance at all a call without progress fails at once; each of these has some.
        let created = retry.create(&documents(64)).await;
        let written = created.iter().filter(|created| matches!(created, Created::Written)).count();
        assert!(written >= 32, "{written}");
    }

    #[test]
    fn the_longest_wait_that_is_asked_for_counts() {
        let throttled = |seconds| StoreErrorKind::Throttled(Some(Duration::from_secs(seconds)));
        assert_eq!(longer(throttled(1), throttled(3)), throttled(3));
        assert_eq!(longer(throttled(1), StoreErrorKind::Transient), throttled(1));
    }
}
