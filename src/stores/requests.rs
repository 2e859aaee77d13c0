//! Several requests to a store that together are one call.

use std::future::Future;
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::JoinSet;

use super::waits::Waits;
use super::{Rates, StoreError, StoreResult};

/// How often one of several requests that make a whole is sent again before the whole fails, to begin anew later.
const IDLE_ROUNDS: u32 = 5;
/// The first and the longest pause between two rounds.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The pauses of a request that is one of several: where each fifth is turned down, a whole that begins anew at
/// every refusal would never end.
pub struct Patience<'w> {
    waits: &'w Waits,
    idle: u32,
    pause: Duration,
}

impl<'w> Patience<'w> {
    /// Starts without a refusal.
    pub fn new(waits: &'w Waits) -> Self {
        Self { waits, idle: 0, pause: FIRST_PAUSE }
    }

    /// Notes that the service did something.
    pub fn progress(&mut self) {
        self.waits.answered();
        *self = Self::new(self.waits);
    }

    /// Waits before the next round, as long as the service asks for.
    ///
    /// Errors: `failure`, if it is none that passes, or has not passed for too long.
    pub async fn pause(&mut self, failure: StoreError) -> StoreResult<()> {
        self.idle += 1;
        if self.idle > IDLE_ROUNDS {
            return Err(failure);
        }
        self.waits.pause(self.pause, failure).await?;
        self.pause = LONGEST_PAUSE.min(self.pause * 2);
        Ok(())
    }
}

/// Holds the requests of a collection that are in flight at one time to a number.
pub struct InFlight(Semaphore);

impl InFlight {
    /// Holds to what the rates say, or else to `otherwise`.
    pub fn new(rates: Rates, otherwise: usize) -> Self {
        let asked = rates.concurrency.map(|most| usize::try_from(most.get()).unwrap_or(usize::MAX));
        Self(Semaphore::new(asked.unwrap_or(otherwise).min(Semaphore::MAX_PERMITS)))
    }

    /// Waits until one more request may be in flight; it is for as long as the permit lives.
    pub async fn enter(&self) -> Option<SemaphorePermit<'_>> {
        // It is never closed, so there is always a permit.
        self.0.acquire().await.ok()
    }
}

/// Runs requests side by side on all cores; the answers have the order of the requests. Dropped, it ends those that
/// have no answer yet.
pub async fn side_by_side<T, F>(requests: impl IntoIterator<Item = F>) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let mut running = JoinSet::new();
    let mut answers = Vec::new();
    for (at, request) in requests.into_iter().enumerate() {
        let _handle = running.spawn(async move { (at, request.await) });
        answers.push(None);
    }
    while let Some(ended) = running.join_next().await {
        match ended {
            Ok((at, answer)) => {
                if let Some(place) = answers.get_mut(at) {
                    *place = Some(answer);
                }
            }
            // Nothing cancels the task, so it has panicked.
            Err(stopped) => std::panic::resume_unwind(stopped.into_panic()),
        }
    }
    answers.into_iter().flatten().collect()
}
