//! SIGINT and SIGTERM: the first one asks the run to stop after the batch in flight, the second ends it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

use crate::error::{Error, ErrorKind, Result};
use crate::stores::{StoreError, StoreErrorKind};

/// How long a first signal may take to be answered before the run is stopped in any case.
const ANSWER: Duration = Duration::from_secs(1);

/// Says whether the run was asked to stop; clones share one state.
#[derive(Clone, Debug, Default)]
pub struct StopSignal {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// 0, or the exit code of the signal that came first.
    code: AtomicU8,
    /// Whether a signal came: it is answered before it is obeyed.
    heard: AtomicBool,
    waiting: Notify,
}

impl StopSignal {
    /// Makes a signal that nothing has set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Listens for SIGINT and SIGTERM for as long as the process lives. Needs a tokio runtime.
    ///
    /// The first one calls `tell` and sets the signal; the second exits at once with the code of the signal.
    pub fn listen(tell: impl Fn() + Clone + Send + Sync + 'static) -> Result<Self> {
        let stop = Self::new();
        stop.listen_for(ErrorKind::Interrupted, tell.clone())?;
        stop.listen_for(ErrorKind::Terminated, tell)?;
        survive_file_size_limit()?;
        Ok(stop)
    }

    /// Asks the run to stop; tells whether it was asked before.
    pub fn set(&self, kind: ErrorKind) -> bool {
        let first =
            self.shared.code.compare_exchange(0, kind.exit_code(), Ordering::SeqCst, Ordering::SeqCst);
        self.shared.waiting.notify_waiters();
        first.is_err()
    }

    /// Tells whether the run was asked to stop.
    pub fn is_set(&self) -> bool {
        self.kind().is_some()
    }

    /// Waits until the run is asked to stop; for use in `tokio::select!`.
    pub async fn wait(&self) {
        let notified = self.shared.waiting.notified();
        tokio::pin!(notified);
        // Registered before the look, so that a signal between the two is not missed.
        let _ = notified.as_mut().enable();
        if !self.is_set() {
            notified.await;
        }
    }

    /// Fails with [`StopSignal::error`] if the run was asked to stop. For use between two batches.
    pub fn check(&self, what: &str) -> Result<()> {
        if self.is_set() { Err(self.error(what)) } else { Ok(()) }
    }

    /// The error of a run that stopped when asked; `what` is one sentence about what is done and what is not.
    pub fn error(&self, what: &str) -> Error {
        Error::new(self.kind().unwrap_or(ErrorKind::Interrupted), what)
    }

    /// Says `what` is done and what is not where a call to a store was interrupted, which cannot know it.
    pub fn explain<T>(&self, result: Result<T>, what: &str) -> Result<T> {
        let is_interrupted = |error: &Error| {
            error.cause::<StoreError>().is_some_and(|cause| cause.kind == StoreErrorKind::Interrupted)
        };
        result.map_err(|error| if is_interrupted(&error) { self.error(what) } else { error })
    }

    fn kind(&self) -> Option<ErrorKind> {
        match self.shared.code.load(Ordering::SeqCst) {
            0 => None,
            code if code == ErrorKind::Terminated.exit_code() => Some(ErrorKind::Terminated),
            _ => Some(ErrorKind::Interrupted),
        }
    }

    /// Answers a first signal and obeys it; ends the process at a second one.
    async fn arrived(&self, kind: ErrorKind, tell: &(impl Fn() + Clone + Send + Sync + 'static)) {
        if self.shared.heard.swap(true, Ordering::SeqCst) {
            std::process::exit(kind.exit_code().into());
        }
        // On a thread of its own: whoever does not read standard error must not keep the run from ending.
        let told = tokio::task::spawn_blocking(tell.clone());
        let _in_time = tokio::time::timeout(ANSWER, told).await;
        let _first = self.set(kind);
    }

    #[cfg(unix)]
    fn listen_for(&self, kind: ErrorKind, tell: impl Fn() + Clone + Send + Sync + 'static) -> Result<()> {
        use tokio::signal::unix::{SignalKind, signal};

        let which =
            if kind == ErrorKind::Terminated { SignalKind::terminate() } else { SignalKind::interrupt() };
        let mut arrivals = signal(which)
            .map_err(|source| Error::caused(ErrorKind::File, "Cannot listen for signals", source))?;
        let stop = self.clone();
        let _listener = tokio::spawn(async move {
            while arrivals.recv().await.is_some() {
                stop.arrived(kind, &tell).await;
            }
        });
        Ok(())
    }

    #[cfg(not(unix))]
    fn listen_for(&self, kind: ErrorKind, tell: impl Fn() + Clone + Send + Sync + 'static) -> Result<()> {
        if kind == ErrorKind::Terminated {
            return Ok(()); // There is no such signal.
        }
        let stop = self.clone();
        let _listener = tokio::spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                stop.arrived(kind, &tell).await;
            }
        });
        Ok(())
    }
}

/// Turns the signal of a file that grows beyond the limit (`ulimit -f`) into an error of the write. A signal
/// that somebody listens for no longer ends the process; there is nothing else to do about it.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn survive_file_size_limit() -> Result<()> {
    use tokio::signal::unix::{SignalKind, signal};

    /// The number of SIGXFSZ on these systems (on MIPS it is another one, which this then is not).
    const FILE_SIZE: i32 = 25;
    if cfg!(any(target_arch = "mips", target_arch = "mips64")) {
        return Ok(());
    }
    let listening = signal(SignalKind::from_raw(FILE_SIZE));
    listening.map(drop).map_err(|source| Error::caused(ErrorKind::File, "Cannot listen for signals", source))
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn survive_file_size_limit() -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_signal_decides_the_exit_code() {
        let stop = StopSignal::new();
        assert!(!stop.is_set() && stop.check("Stopped.").is_ok());
        assert!(!stop.set(ErrorKind::Terminated));
        assert!(stop.set(ErrorKind::Interrupted));
        assert_eq!(stop.check("Stopped.").map_err(|error| error.kind()), Err(ErrorKind::Terminated));
    }

    #[test]
    fn an_interrupted_call_is_explained_by_whoever_knows_what_is_done() {
        let stop = StopSignal::new();
        let _ = stop.set(ErrorKind::Terminated);
        let call = |kind| Err::<(), _>(Error::from(StoreError::new(kind, "a call")).context("A read failed"));
        let explained = stop.explain(call(StoreErrorKind::Interrupted), "Nothing was written.").unwrap_err();
        assert_eq!(explained.kind(), ErrorKind::Terminated);
        assert_eq!(explained.messages(), ["Nothing was written."]);
        let other = stop.explain(call(StoreErrorKind::Denied), "Nothing was written.").unwrap_err();
        assert_eq!(other.kind(), ErrorKind::Store);
    }

    #[tokio::test]
    async fn waiting_ends_when_the_signal_comes_and_when_it_came_before() {
        let stop = StopSignal::new();
        let waiter = tokio::spawn({
            let stop = stop.clone();
            async move { stop.wait().await }
        });
        tokio::task::yield_now().await;
        assert!(!waiter.is_finished());
        let _ = stop.set(ErrorKind::Interrupted);
        waiter.await.unwrap();
        stop.wait().await;
    }
}
