//! Every wait for a store, in one place: it ends when the run is asked to stop, and when the store has done nothing
//! for too long.
//!
//! All calls to a collection share one clock, which any success sets back: a slow store that still takes something is
//! never given up, and one that takes nothing is given up after the same time however many calls wait for it and
//! however long it asks them to wait.

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{StoreError, StoreErrorKind, StoreResult};
use crate::signal::StopSignal;
use crate::ui::format;

/// How long a write that is under way may still take once the run is asked to stop; what it came to is then not known
/// and read back by the next run.
const GRACE: Duration = Duration::from_millis(if cfg!(test) { 150 } else { 3_000 });
/// How often a write that has to be brought to its end is looked at after that.
const LOOK: Duration = Duration::from_millis(50);

/// How long to wait and when to give up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// About how long the first wait is; each further one is twice as long, and all have jitter.
    pub first_delay: Duration,
    /// The longest wait, unless the store asks for a longer one.
    pub longest_delay: Duration,
    /// How long the store may take without any success before a call fails.
    pub allowance: Duration,
    /// How long nobody may listen where the store should be: longer than a change of the primary takes.
    pub absence: Duration,
}

impl RetryPolicy {
    /// The usual policy with another allowance, a fifth of which the store may be away.
    #[must_use]
    pub fn with_allowance(allowance: Duration) -> Self {
        Self {
            first_delay: Duration::from_millis(50),
            longest_delay: Duration::from_secs(20),
            allowance,
            absence: allowance / 5,
        }
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self::with_allowance(Duration::from_mins(5))
    }
}

/// The waits of all calls to one collection; clones share one state.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    stop: StopSignal,
    policy: RetryPolicy,
    clock: Mutex<Clock>,
    /// Writes that have to be brought to their end.
    unbreakable: AtomicUsize,
}

#[derive(Debug, Default)]
struct Clock {
    /// Calls under way.
    calls: usize,
    /// Those among them that write.
    writes: usize,
    /// The last success, or else when the first of the calls under way began.
    success: Option<Instant>,
    /// Since when nobody has been there at all.
    absent: Option<Instant>,
}

/// A call under way; it ends when this is dropped.
#[must_use]
pub(super) struct Call<'w> {
    shared: &'w Shared,
    writes: bool,
}

/// A write that has to be brought to its end, until this is dropped.
#[cfg_attr(
    not(feature = "dynamodb"),
    allow(dead_code, reason = "who deletes without a full condition needs it")
)]
#[must_use]
pub(super) struct Unbreakable(Arc<Shared>);

impl Waits {
    /// Makes the waits of a collection.
    pub fn new(stop: &StopSignal, policy: RetryPolicy) -> Self {
        Self { shared: Arc::new(Shared { stop: stop.clone(), policy, ..Shared::default() }) }
    }

    /// How long to wait and when to give up.
    pub(super) fn policy(&self) -> RetryPolicy {
        self.shared.policy
    }

    /// Begins a call that reads. Time during which nobody asks the store for anything is not its own.
    pub(super) fn begin_read(&self) -> Call<'_> {
        self.begin(false)
    }

    /// Begins a call that writes.
    pub(super) fn begin_write(&self) -> Call<'_> {
        self.begin(true)
    }

    fn begin(&self, writes: bool) -> Call<'_> {
        let mut clock = self.shared.clock();
        if clock.calls == 0 {
            *clock = Clock { success: Some(Instant::now()), ..Clock::default() };
        }
        clock.calls += 1;
        clock.writes += usize::from(writes);
        Call { shared: &self.shared, writes }
    }

    /// Notes that the store wrote something.
    pub(super) fn wrote(&self) {
        let mut clock = self.shared.clock();
        clock.success = Some(Instant::now());
        clock.absent = None;
    }

    /// Notes that the store answered a question. It is no success of a write that reads before each attempt.
    pub(super) fn answered(&self) {
        let mut clock = self.shared.clock();
        if clock.writes == 0 {
            clock.success = Some(Instant::now());
        }
        clock.absent = None;
    }

    /// Fails with [`StoreErrorKind::Interrupted`] once the run was asked to stop: nothing more is sent then.
    pub(super) fn go_on(&self) -> StoreResult<()> {
        if self.shared.stop.is_set() { Err(interrupted()) } else { Ok(()) }
    }

    /// Waits for something that changes nothing in the store: a free place, the pace, an answer to a question.
    ///
    /// Errors: [`StoreErrorKind::Interrupted`] as soon as the run is asked to stop.
    pub(super) async fn until<T>(&self, wait: impl Future<Output = T>) -> StoreResult<T> {
        tokio::select! {
            biased;
            () = self.shared.stop.wait() => Err(interrupted()),
            done = wait => Ok(done),
        }
    }

    /// Waits for the end of a write.
    ///
    /// Errors: [`StoreErrorKind::Interrupted`] if the run was asked to stop before it began, or some seconds ago: what
    /// became of it is then not known.
    pub(super) async fn finish<T>(&self, write: impl Future<Output = T>) -> StoreResult<T> {
        self.go_on()?;
        let patience_ends = async {
            self.shared.stop.wait().await;
            tokio::time::sleep(GRACE).await;
            while self.shared.unbreakable.load(Ordering::SeqCst) > 0 {
                tokio::time::sleep(LOOK).await;
            }
        };
        tokio::select! {
            biased;
            done = write => Ok(done),
            () = patience_ends => Err(interrupted()),
        }
    }

    /// Lets a write that has begun come to its end even if the run is asked to stop.
    #[cfg_attr(
        not(feature = "dynamodb"),
        allow(dead_code, reason = "who deletes without a full condition needs it")
    )]
    pub(super) fn unbreakable(&self) -> Unbreakable {
        let _ = self.shared.unbreakable.fetch_add(1, Ordering::SeqCst);
        Unbreakable(self.shared.clone())
    }

    /// Waits before what failed is sent again: for so long, or as long as the store asks for if that is longer.
    ///
    /// Errors: `failure`, if it is none that passes, or has not passed for too long;
    /// [`StoreErrorKind::Interrupted`] as soon as the run is asked to stop.
    pub(super) async fn pause(&self, delay: Duration, failure: StoreError) -> StoreResult<()> {
        self.go_on()?;
        if !failure.kind.is_retryable() {
            return Err(failure);
        }
        let (allowed, left) = self.left(failure.kind);
        if left.is_zero() {
            let what = if failure.kind == StoreErrorKind::Unreachable {
                "it could not be reached"
            } else {
                "nothing has succeeded"
            };
            return Err(given_up(failure, &format!("{what} for {}", format::duration(allowed))));
        }
        let asked = failure.kind.asked_delay();
        if asked > left {
            let why = format!(
                "it asks to wait {}, and of the {} that it may take without any success {} are left",
                format::duration(asked),
                format::duration(allowed),
                format::duration(left)
            );
            return Err(given_up(failure, &why));
        }
        let delay = delay.min(left).max(asked);
        tracing::debug!(kind = ?failure.kind, ?delay, "the store turned a call down, it is sent again");
        self.until(tokio::time::sleep(delay)).await
    }

    /// How long the store may go on failing like this, in all and from now on.
    fn left(&self, kind: StoreErrorKind) -> (Duration, Duration) {
        let mut clock = self.shared.clock();
        let (policy, now) = (self.shared.policy, Instant::now());
        let (allowed, since) = if kind == StoreErrorKind::Unreachable {
            (policy.absence, *clock.absent.get_or_insert(now))
        } else {
            clock.absent = None;
            (policy.allowance, *clock.success.get_or_insert(now))
        };
        (allowed, allowed.saturating_sub(now.saturating_duration_since(since)))
    }
}

impl Shared {
    fn clock(&self) -> MutexGuard<'_, Clock> {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        let mut clock = self.shared.clock();
        clock.calls = clock.calls.saturating_sub(1);
        clock.writes = clock.writes.saturating_sub(usize::from(self.writes));
    }
}

impl Drop for Unbreakable {
    fn drop(&mut self) {
        let _ = self.0.unbreakable.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The failure of a call that was not made, or not waited for, since the run was asked to stop.
fn interrupted() -> StoreError {
    StoreError::new(StoreErrorKind::Interrupted, "The run was asked to stop")
}

fn given_up(failure: StoreError, why: &str) -> StoreError {
    let message = format!("{}; given up: {why}", failure.message);
    StoreError { message, ..failure }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    fn throttled(seconds: Option<u64>) -> StoreError {
        StoreError::new(StoreErrorKind::Throttled(seconds.map(Duration::from_secs)), "too fast")
    }

    fn waits(allowance: Duration) -> (StopSignal, Waits) {
        let stop = StopSignal::new();
        (stop.clone(), Waits::new(&stop, RetryPolicy::with_allowance(allowance)))
    }

    const LONG: Duration = Duration::from_mins(1);

    #[tokio::test]
    async fn every_wait_ends_as_soon_as_the_run_is_asked_to_stop() {
        let (stop, waits) = waits(LONG * 60);
        let started = Instant::now();
        let asking = async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            let _ = stop.set(ErrorKind::Interrupted);
        };
        let (paused, read, ()) = tokio::join!(
            waits.pause(LONG, throttled(Some(3_000))),
            waits.until(std::future::pending::<()>()),
            asking
        );
        for failed in [paused.unwrap_err(), read.unwrap_err(), waits.go_on().unwrap_err()] {
            assert_eq!(failed.kind, StoreErrorKind::Interrupted);
        }
        assert!(started.elapsed() < Duration::from_secs(1));
    }

    #[tokio::test]
    async fn a_write_under_way_has_some_seconds_and_one_that_must_end_has_its_time() {
        let (stop, waits) = waits(LONG);
        let write = |milliseconds| async move {
            tokio::time::sleep(Duration::from_millis(milliseconds)).await;
            milliseconds
        };
        let stopping = async {
            tokio::task::yield_now().await;
            let _ = stop.set(ErrorKind::Terminated);
        };
        let (short, long, ()) = tokio::join!(waits.finish(write(20)), waits.finish(write(60_000)), stopping);
        assert_eq!(short.ok(), Some(20));
        assert_eq!(long.unwrap_err().kind, StoreErrorKind::Interrupted);

        let (stop, waits) = self::waits(LONG);
        let must_end = async {
            let _until_then = waits.unbreakable();
            let _ = stop.set(ErrorKind::Terminated);
            write(300).await
        };
        assert_eq!(waits.finish(must_end).await.ok(), Some(300));
        assert!(waits.finish(write(0)).await.is_err(), "nothing new is begun");
    }

    #[tokio::test]
    async fn a_store_is_given_up_after_the_allowance_and_at_once_if_it_asks_for_more() {
        let allowance = Duration::from_millis(40);
        let (_stop, waits) = waits(allowance);
        let (started, _call) = (Instant::now(), waits.begin_read());
        let failure = waits.pause(Duration::ZERO, throttled(Some(60))).await.unwrap_err();
        assert_eq!(failure.kind, StoreErrorKind::Throttled(Some(LONG)));
        assert!(failure.message.contains("too fast; given up: it asks to wait 1 min 0 s"), "{failure}");
        assert!(started.elapsed() < allowance);
        // The last pause is not longer than what is left.
        while waits.pause(LONG, throttled(None)).await.is_ok() {}
        assert!((allowance..allowance * 20).contains(&started.elapsed()), "{:?}", started.elapsed());
        waits.answered();
        assert!(waits.pause(Duration::ZERO, throttled(None)).await.is_ok());
    }

    #[tokio::test]
    async fn what_a_write_reads_before_each_attempt_is_no_success_of_it() {
        let (_stop, waits) = waits(Duration::from_millis(50));
        let _write = waits.begin_write();
        while waits.pause(Duration::from_millis(5), throttled(None)).await.is_ok() {
            waits.answered();
        }
        waits.wrote();
        assert!(waits.pause(Duration::ZERO, throttled(None)).await.is_ok());
    }

    #[tokio::test]
    async fn a_store_that_is_away_is_given_up_sooner_and_any_answer_counts() {
        let (_stop, waits) = waits(Duration::from_millis(500));
        let away = || StoreError::new(StoreErrorKind::Unreachable, "refused");
        let _call = waits.begin_read();
        assert!(waits.pause(Duration::from_millis(60), away()).await.is_ok());
        assert!(waits.pause(Duration::ZERO, throttled(None)).await.is_ok());
        assert!(waits.pause(Duration::from_millis(60), away()).await.is_ok());
        assert!(waits.pause(LONG, away()).await.is_ok());
        let failure = waits.pause(Duration::ZERO, away()).await.unwrap_err();
        assert!(failure.message.contains("it could not be reached for 0.1 s"), "{failure}");
    }

    #[tokio::test]
    async fn time_in_which_nobody_asks_does_not_count() {
        let (_stop, waits) = waits(Duration::from_millis(30));
        drop(waits.begin_read());
        tokio::time::sleep(Duration::from_millis(50)).await;
        let _call = waits.begin_read();
        assert!(waits.pause(Duration::ZERO, throttled(None)).await.is_ok());
    }
}
