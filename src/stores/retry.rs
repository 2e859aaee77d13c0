//! Sends again what a store turned down for the moment.
//!
//! Only failures that say nothing was done are sent again; an unknown outcome is not, it has to be read back
//! (see [`outcome`](super::outcome)). A call gives up by time without progress, not by attempts, and any
//! success renews the time: a slow store that still takes something is never given up.

use std::future::Future;
use std::time::Duration;

use async_trait::async_trait;
use backon::{BackoffBuilder as _, ExponentialBackoff, ExponentialBuilder};

use super::answers::Answers;
use super::outcome::subset;
use super::waits::{RetryPolicy, Waits};
use super::{
    Activity, BatchLimits, Collection, CollectionReader, CollectionSpec, CollectionWriter, Created,
    Description, Examination, FrameworkQuery, Guarded, GuardedUpdate, LegacyProbe, Page, Position, Remark,
    ScanPart, Snapshot, StoreError, StoreResult, Subscribers,
};
use crate::check::Refusal;
use crate::document::json::Tape;
use crate::document::{Lines, StoreKey, StoreKind};

/// A collection whose calls are retried.
pub struct Retry<C: ?Sized> {
    inner: Box<C>,
    waits: Waits,
}

impl<C: ?Sized> Retry<C> {
    /// Wraps a collection.
    pub fn new(inner: Box<C>, waits: Waits) -> Self {
        Self { inner, waits }
    }

    /// Asks until there is an answer, it fails for good or makes no progress for too long.
    async fn ask<T, F: Future<Output = StoreResult<T>>>(&self, attempt: impl Fn() -> F) -> StoreResult<T> {
        let _call = self.waits.begin_read();
        let answer = self.call(|| async { self.waits.until(attempt()).await.flatten() }).await?;
        self.waits.answered();
        Ok(answer)
    }

    /// As [`ask`](Self::ask), for a call that changes something.
    async fn change<T, F: Future<Output = StoreResult<T>>>(&self, attempt: impl Fn() -> F) -> StoreResult<T> {
        let _call = self.waits.begin_write();
        let answer = self.call(|| async { self.waits.finish(attempt()).await.flatten() }).await?;
        self.waits.wrote();
        Ok(answer)
    }

    async fn call<T, F: Future<Output = StoreResult<T>>>(&self, attempt: impl Fn() -> F) -> StoreResult<T> {
        let mut delays = Delays::new(self.waits.policy());
        loop {
            match attempt().await {
                Ok(value) => return Ok(value),
                Err(error) => self.waits.pause(delays.next(), error).await?,
            }
        }
    }

    /// Sends a batch, then what of it may go through later, until every answer is final or there is no
    /// progress for too long. `send` takes places in the batch, ascending.
    async fn batch<T: From<StoreError>, F: Future<Output = Vec<T>>>(
        &self,
        count: usize,
        send: impl Fn(Vec<usize>) -> F,
        failure: impl Fn(&T) -> Option<&StoreError>,
    ) -> Vec<T> {
        let _call = self.waits.begin_write();
        let mut answers = Answers::new(count);
        let mut pending: Vec<usize> = (0..count).collect();
        let mut delays = Delays::new(self.waits.policy());
        while !pending.is_empty() {
            let round = match self.waits.finish(send(pending.clone())).await {
                Ok(round) => round,
                Err(interrupted) => {
                    answers.fail(&pending, &interrupted);
                    break;
                }
            };
            let before = pending.len();
            let mut again: Option<StoreError> = None;
            let mut left = Vec::new();
            for (at, answer) in pending.into_iter().zip(round) {
                if let Some(error) = failure(&answer).filter(|error| error.kind.is_retryable()) {
                    left.push(at);
                    if again.as_ref().is_none_or(|known| known.kind.asked_delay() < error.kind.asked_delay())
                    {
                        again = Some(error.duplicate());
                    }
                }
                answers.put(at, answer);
            }
            if left.len() < before {
                self.waits.wrote();
                delays = Delays::new(self.waits.policy());
            }
            pending = left;
            if let Some(error) = again
                && let Err(last) = self.waits.pause(delays.next(), error).await
            {
                answers.fail(&pending, &last);
                break;
            }
        }
        answers.finish()
    }
}

/// The growing pauses of one call.
struct Delays {
    delays: ExponentialBackoff,
    longest: Duration,
}

impl Delays {
    fn new(policy: RetryPolicy) -> Self {
        let delays = ExponentialBuilder::default()
            .with_min_delay(policy.first_delay)
            .with_max_delay(policy.longest_delay)
            .with_jitter()
            .without_max_times()
            .build();
        Self { delays, longest: policy.longest_delay }
    }

    fn next(&mut self) -> Duration {
        self.delays.next().unwrap_or(self.longest)
    }
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
        self.ask(|| self.inner.collections()).await
    }

    async fn describe(&self) -> StoreResult<Description> {
        self.ask(|| self.inner.describe()).await
    }

    async fn examine(&self) -> StoreResult<Examination> {
        self.ask(|| self.inner.examine()).await
    }

    async fn subscribers(&self) -> StoreResult<Subscribers> {
        self.ask(|| self.inner.subscribers()).await
    }

    async fn count(&self, snapshot: Option<&Snapshot>) -> StoreResult<Option<u64>> {
        self.ask(|| self.inner.count(snapshot)).await
    }

    async fn activity(&self) -> StoreResult<Option<Activity>> {
        self.ask(|| self.inner.activity()).await
    }

    async fn snapshot(&self) -> StoreResult<Option<Snapshot>> {
        self.ask(|| self.inner.snapshot()).await
    }

    async fn parts(&self, wanted: usize) -> StoreResult<Vec<ScanPart>> {
        self.ask(|| self.inner.parts(wanted)).await
    }

    async fn page(
        &self,
        part: &ScanPart,
        from: Option<&Position>,
        limit: usize,
        snapshot: Option<&Snapshot>,
    ) -> StoreResult<Page> {
        self.ask(|| self.inner.page(part, from, limit, snapshot)).await
    }

    async fn read(&self, keys: &[StoreKey]) -> StoreResult<Vec<Option<Box<[u8]>>>> {
        self.ask(|| self.inner.read(keys)).await
    }

    async fn probe(&self, probe: &LegacyProbe) -> StoreResult<Vec<String>> {
        self.ask(|| self.inner.probe(probe)).await
    }

    async fn query(&self, query: &FrameworkQuery, from: Option<&Position>) -> StoreResult<Page> {
        self.ask(|| self.inner.query(query, from)).await
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
        self.change(|| self.inner.create_collection(spec)).await
    }

    async fn create(&self, lines: &Lines) -> Vec<Created> {
        let send = |places: Vec<usize>| async move { self.inner.create(&subset(lines, &places)).await };
        self.batch(lines.len(), send, Created::error).await
    }

    async fn create_in_empty(&self, lines: &Lines) -> Vec<Created> {
        let send =
            |places: Vec<usize>| async move { self.inner.create_in_empty(&subset(lines, &places)).await };
        self.batch(lines.len(), send, Created::error).await
    }

    async fn update(&self, updates: &[GuardedUpdate]) -> Vec<Guarded> {
        let send = |places: Vec<usize>| async move {
            let some: Vec<_> = places.iter().filter_map(|at| updates.get(*at).cloned()).collect();
            self.inner.update(&some).await
        };
        self.batch(updates.len(), send, Guarded::error).await
    }

    async fn relocate(&self, old: &Lines, new: &Lines) -> Vec<Guarded> {
        let send = |places: Vec<usize>| async move {
            self.inner.relocate(&subset(old, &places), &subset(new, &places)).await
        };
        self.batch(old.len(), send, Guarded::error).await
    }

    async fn delete(&self, keys: &[StoreKey], expected: &Lines) -> Vec<Guarded> {
        let send = |places: Vec<usize>| async move {
            let some: Vec<_> = places.iter().filter_map(|at| keys.get(*at).cloned()).collect();
            self.inner.delete(&some, &subset(expected, &places)).await
        };
        self.batch(keys.len(), send, Guarded::error).await
    }

    async fn raise(&self, key: &StoreKey, field: &str, least: i64) -> StoreResult<Option<i64>> {
        self.change(|| self.inner.raise(key, field, least)).await
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::signal::StopSignal;
    use crate::stores::StoreErrorKind;
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
            ..RetryPolicy::with_allowance(allowance)
        };
        (folder, Retry::new(Box::new(faults), Waits::new(&StopSignal::new(), policy)))
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

    #[tokio::test]
    async fn what_waits_when_the_run_is_asked_to_stop_is_left_and_the_rest_keeps_its_answers() {
        let (folder, collection) = temporary(StoreKind::MongoDb, &CollectionSpec::default()).await;
        let faults = Faults::new(Box::new(collection)).every(Call::Create, 1, Fault::Partial);
        let stop = StopSignal::new();
        let policy = RetryPolicy { first_delay: LONG, longest_delay: LONG, ..RetryPolicy::default() };
        let retry = Retry::new(Box::new(faults), Waits::new(&stop, policy));
        let (lines, started) = (documents(8), Instant::now());
        let (created, _) = tokio::join!(retry.create(&lines), async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            stop.set(crate::ErrorKind::Interrupted)
        });
        assert!(started.elapsed() < LONG / 4);
        let left = created.iter().filter(|it| it.failure() == Some(StoreErrorKind::Interrupted)).count();
        let written = created.iter().filter(|it| matches!(it, Created::Written)).count();
        assert!(left > 0 && written > 0 && left + written == 8, "{created:?}");
        let read = retry.read(&[StoreKey("[\"0\"]".into())]).await.unwrap_err();
        assert_eq!((read.kind, retry.inner.calls(Call::Read)), (StoreErrorKind::Interrupted, 0));
        drop(folder);
    }
}
