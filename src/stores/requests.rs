//! Several requests to a store that together are one call.

use std::future::Future;
use std::time::Duration;

use super::{StoreError, StoreResult};

/// How often one of several requests that make a whole is sent again before the whole fails, to begin anew later.
const IDLE_ROUNDS: u32 = 5;
/// The first and the longest pause between two rounds.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The pauses of a request that is one of several: where each fifth is turned down, a whole that begins anew at
/// every refusal would never end.
pub struct Patience {
    idle: u32,
    pause: Duration,
}

impl Patience {
    /// Starts without a refusal.
    pub fn new() -> Self {
        Self { idle: 0, pause: FIRST_PAUSE }
    }

    /// Notes that the service did something.
    pub fn progress(&mut self) {
        *self = Self::new();
    }

    /// Waits before the next round.
    ///
    /// Errors: `failure`, if it is none that passes, or has not passed for too long.
    pub async fn pause(&mut self, failure: StoreError) -> StoreResult<()> {
        self.idle += 1;
        if self.idle > IDLE_ROUNDS || !failure.kind.is_retryable() {
            return Err(failure);
        }
        tokio::time::sleep(self.pause).await;
        self.pause = LONGEST_PAUSE.min(self.pause * 2);
        Ok(())
    }
}

/// Runs requests side by side on all cores; the answers have the order of the requests.
pub async fn side_by_side<T, F>(requests: impl IntoIterator<Item = F>) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let running: Vec<_> = requests.into_iter().map(tokio::spawn).collect();
    let mut answers = Vec::with_capacity(running.len());
    for request in running {
        match request.await {
            Ok(answer) => answers.push(answer),
            // Nothing cancels the task, so it has panicked.
            Err(stopped) => std::panic::resume_unwind(stopped.into_panic()),
        }
    }
    answers
}
