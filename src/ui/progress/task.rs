use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::ProgressTask;
use crate::ui::format::{bytes, count, duration, number};

/// Shows a task's state.
pub(super) trait Display: Send + 'static {
    /// How long a task lasts before it is shown at all.
    fn delay(&self) -> Duration;

    /// How often it is shown from then on.
    fn interval(&self) -> Duration;

    /// Shows how far the task is.
    fn show(&mut self, state: &State);

    /// The task is over; `shown` tells whether it was shown before.
    fn end(&mut self, state: &State, shown: bool);
}

/// How far a task is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct State {
    pub(super) what: String,
    pub(super) total: Option<u64>,
    pub(super) documents: u64,
    pub(super) bytes: u64,
    pub(super) elapsed: Duration,
}

impl State {
    /// Documents a second, over the whole task.
    pub(super) fn rate(&self) -> u64 {
        let milliseconds = self.elapsed.as_millis().max(1);
        u64::try_from(u128::from(self.documents) * 1_000 / milliseconds).unwrap_or(u64::MAX)
    }

    /// The time left at that rate, if the total is known and something is done.
    pub(super) fn left(&self) -> Option<Duration> {
        let missing = self.total?.checked_sub(self.documents).filter(|missing| *missing > 0)?;
        let milliseconds = self.elapsed.as_millis().checked_mul(u128::from(missing))?;
        let left = milliseconds.checked_div(u128::from(self.documents))?;
        u64::try_from(left).ok().map(Duration::from_millis)
    }

    /// One phrase: `1,200 of 5,000 documents, 3.40 MB, 400/s, 9.5 s left`.
    pub(super) fn phrase(&self) -> String {
        match self.total {
            Some(total) => {
                self.with_rate(&format!("{} of {}", number(self.documents), count(total, "document")))
            }
            None => self.with_rate(&count(self.documents, "document")),
        }
    }

    /// The phrase without its noun, for beside a bar: `1,200 of 5,000, 3.40 MB, 400/s, 9.5 s left`.
    pub(super) fn short_phrase(&self) -> String {
        match self.total {
            Some(total) => self.with_rate(&format!("{} of {}", number(self.documents), number(total))),
            None => self.phrase(),
        }
    }

    fn with_rate(&self, documents: &str) -> String {
        let mut parts = vec![documents.to_owned()];
        if self.bytes > 0 {
            parts.push(bytes(self.bytes));
        }
        if self.documents > 0 {
            parts.push(format!("{}/s", number(self.rate())));
        }
        parts.extend(self.left().map(|left| format!("{} left", duration(left))));
        parts.join(", ")
    }
}

/// A task that a thread of its own looks at.
pub(super) struct Task {
    shared: Arc<Shared>,
    watcher: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    what: String,
    total: Option<u64>,
    begun: Instant,
    documents: AtomicU64,
    bytes: AtomicU64,
    over: Mutex<bool>,
    ended: Condvar,
}

impl Task {
    /// Begins a task. Where no thread can be had, it is not shown.
    pub(super) fn start(what: &str, total: Option<u64>, display: impl Display) -> Self {
        let shared = Arc::new(Shared {
            what: what.to_owned(),
            total,
            begun: Instant::now(),
            documents: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            over: Mutex::new(false),
            ended: Condvar::new(),
        });
        let seen = Arc::clone(&shared);
        let watcher =
            std::thread::Builder::new().name("progress".into()).spawn(move || seen.watch(display)).ok();
        Self { shared, watcher: Mutex::new(watcher) }
    }
}

impl ProgressTask for Task {
    fn add(&self, documents: u64, bytes: u64) {
        let _ = self.shared.documents.fetch_add(documents, Ordering::Relaxed);
        let _ = self.shared.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    fn finish(&self) {
        *self.shared.over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.shared.ended.notify_all();
        let watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(watcher) = watcher {
            // A panic in the display is not the work's.
            let _shown = watcher.join();
        }
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Shared {
    fn watch(&self, mut display: impl Display) {
        let mut shown = false;
        let mut wait = display.delay();
        let mut over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        while !*over {
            let (guard, timeout) =
                self.ended.wait_timeout(over, wait).unwrap_or_else(PoisonError::into_inner);
            over = guard;
            if !*over && timeout.timed_out() {
                display.show(&self.state());
                shown = true;
                wait = display.interval();
            }
        }
        drop(over);
        display.end(&self.state(), shown);
    }

    fn state(&self) -> State {
        State {
            what: self.what.clone(),
            total: self.total,
            documents: self.documents.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            elapsed: self.begun.elapsed(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn state(total: Option<u64>, documents: u64, bytes: u64) -> State {
        State { what: "writing".into(), total, documents, bytes, elapsed: Duration::from_secs(3) }
    }

    #[test]
    fn a_phrase_says_what_is_known() {
        assert_eq!(state(None, 0, 0).phrase(), "0 documents");
        assert_eq!(state(None, 1, 0).phrase(), "1 document, 0/s");
        assert_eq!(
            state(Some(5_000), 1_200, 3_400_000).phrase(),
            "1,200 of 5,000 documents, 3.40 MB, 400/s, 9.5 s left"
        );
        assert_eq!(
            state(Some(5_000), 1_200, 3_400_000).short_phrase(),
            "1,200 of 5,000, 3.40 MB, 400/s, 9.5 s left"
        );
        assert_eq!(state(Some(5_000), 5_000, 0).phrase(), "5,000 of 5,000 documents, 1,666/s");
    }

    #[test]
    fn nothing_is_left_where_nothing_is_known_or_more_was_done_than_expected() {
        assert_eq!(state(None, 5, 0).left(), None);
        assert_eq!(state(Some(10), 0, 0).left(), None);
        assert_eq!(state(Some(10), 11, 0).left(), None);
        assert_eq!(
            state(Some(u64::MAX), 1, 0).left(),
            None,
            "longer than can be counted is as good as unknown"
        );
    }

    struct Recorder(mpsc::Sender<(&'static str, u64)>, Duration);

    impl Display for Recorder {
        fn delay(&self) -> Duration {
            self.1
        }

        fn interval(&self) -> Duration {
            Duration::from_millis(5)
        }

        fn show(&mut self, state: &State) {
            self.0.send(("show", state.documents)).unwrap();
        }

        fn end(&mut self, state: &State, shown: bool) {
            self.0.send((if shown { "end" } else { "end unshown" }, state.documents)).unwrap();
        }
    }

    #[test]
    fn a_short_task_is_never_shown() {
        let (sender, receiver) = mpsc::channel();
        let task = Task::start("writing", None, Recorder(sender, Duration::from_mins(1)));
        task.add(3, 10);
        task.finish();
        task.finish();
        drop(task);
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [("end unshown", 3)]);
    }

    #[test]
    fn a_long_task_is_shown_while_it_runs_and_ended_when_dropped() {
        let (sender, receiver) = mpsc::channel();
        let task = Task::start("writing", None, Recorder(sender, Duration::from_millis(1)));
        task.add(3, 10);
        assert_eq!(receiver.recv().unwrap().0, "show");
        task.add(4, 10);
        drop(task);
        assert_eq!(receiver.iter().last(), Some(("end", 7)));
    }
}
