use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{Progress, ProgressTask};
use crate::report::dossier::Throughput;

/// How many moments of a task are kept at most; then every other one is dropped.
const MOMENTS: usize = 240;
/// How far apart the first ones are.
const FIRST_STEP: Duration = Duration::from_millis(50);

/// Shows progress as another does, and keeps how fast the work went, for reports.
pub(in crate::ui) struct Recorder {
    shown: Arc<dyn Progress>,
    ended: Ended,
}

/// What the tasks that ended came to.
type Ended = Arc<Mutex<Vec<Throughput>>>;

impl Recorder {
    pub(in crate::ui) fn new(shown: Arc<dyn Progress>) -> Self {
        Self { shown, ended: Ended::default() }
    }

    /// What shows the progress.
    pub(in crate::ui) fn shown(&self) -> Arc<dyn Progress> {
        Arc::clone(&self.shown)
    }

    /// Hands over what ended since it was asked last.
    pub(in crate::ui) fn take(&self) -> Vec<Throughput> {
        std::mem::take(&mut *locked(&self.ended))
    }
}

impl Progress for Recorder {
    fn start(&self, what: &str, total: Option<u64>) -> Box<dyn ProgressTask> {
        let begun = Instant::now();
        let moments =
            Moments { step: FIRST_STEP, next: FIRST_STEP, documents: 0, bytes: 0, points: Vec::new() };
        Box::new(Recorded {
            what: what.to_owned(),
            shown: self.shown.start(what, total),
            begun,
            moments: Mutex::new(Some(moments)),
            ended: Arc::clone(&self.ended),
        })
    }
}

/// A task whose speed is kept.
struct Recorded {
    what: String,
    shown: Box<dyn ProgressTask>,
    begun: Instant,
    /// `None` once it has ended.
    moments: Mutex<Option<Moments>>,
    ended: Ended,
}

/// How far a task was at which moment.
struct Moments {
    step: Duration,
    next: Duration,
    documents: u64,
    bytes: u64,
    points: Vec<(u64, u64)>,
}

impl ProgressTask for Recorded {
    fn add(&self, documents: u64, bytes: u64) {
        self.shown.add(documents, bytes);
        if let Some(moments) = &mut *locked(&self.moments) {
            moments.add(documents, bytes, self.begun.elapsed());
        }
    }

    fn finish(&self) {
        self.shown.finish();
        let Some(moments) = locked(&self.moments).take() else { return };
        if moments.documents > 0 {
            locked(&self.ended).push(moments.into_throughput(&self.what, self.begun.elapsed()));
        }
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Moments {
    fn add(&mut self, documents: u64, bytes: u64, elapsed: Duration) {
        self.documents += documents;
        self.bytes += bytes;
        if elapsed < self.next {
            return;
        }
        self.points.push((milliseconds(elapsed), self.documents));
        if self.points.len() >= MOMENTS {
            let mut keep = false;
            self.points.retain(|_| {
                keep = !keep;
                !keep
            });
            self.step *= 2;
        }
        self.next = elapsed + self.step;
    }

    fn into_throughput(mut self, what: &str, elapsed: Duration) -> Throughput {
        let milliseconds = milliseconds(elapsed);
        if self.points.last().is_none_or(|last| last.0 < milliseconds) {
            self.points.push((milliseconds, self.documents));
        }
        Throughput {
            what: what.to_owned(),
            documents: self.documents,
            bytes: self.bytes,
            milliseconds,
            points: self.points,
        }
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn locked<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::super::Hidden;
    use super::*;

    #[test]
    fn a_task_that_did_something_is_kept_once() {
        let recorder = Recorder::new(Arc::new(Hidden));
        let task = recorder.start("reading", Some(3));
        task.add(1, 10);
        task.add(2, 20);
        assert_eq!(recorder.take(), []);
        task.finish();
        drop(task);
        drop(recorder.start("writing", None));
        let ended = recorder.take();
        assert_eq!(ended.len(), 1);
        assert_eq!((ended[0].what.as_str(), ended[0].documents, ended[0].bytes), ("reading", 3, 30));
        assert_eq!(recorder.take(), []);
    }

    #[test]
    fn however_long_it_takes_few_moments_are_kept_and_the_last_is_the_end() {
        let mut moments =
            Moments { step: FIRST_STEP, next: FIRST_STEP, documents: 0, bytes: 0, points: Vec::new() };
        for tick in 1..100_000 {
            moments.add(5, 0, Duration::from_millis(tick * 7));
        }
        let it = moments.into_throughput("reading", Duration::from_secs(700));
        assert!(it.points.len() <= MOMENTS && it.points.len() > MOMENTS / 3, "{}", it.points.len());
        assert_eq!(it.points.last(), Some(&(700_000, 5 * 99_999)));
        assert!(it.points.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 <= two[1].1));
    }
}
