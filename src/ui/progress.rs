//! How long work reports its progress, and the four ways to show it.
//!
//! The work sees only the traits. It adds to two counters; a thread of each task looks at them now and then,
//! so that neither a fast loop pays for drawing nor a slow one makes the display stand still.

mod bar;
mod line;
mod record;
mod task;

use std::sync::Arc;

pub(super) use bar::Bars;
pub(super) use record::Recorder;

use super::{ProgressMode, UiOptions};

/// Shows the progress of long work.
pub trait Progress: Send + Sync {
    /// Begins a task: `what` is one or two words (`reading`), `total` its number of documents, if known.
    fn start(&self, what: &str, total: Option<u64>) -> Box<dyn ProgressTask>;
}

/// One piece of long work. Dropped, it disappears like a finished one.
pub trait ProgressTask: Send + Sync {
    /// Adds what was just done.
    fn add(&self, documents: u64, bytes: u64);

    /// Ends the task; a second call does nothing.
    fn finish(&self);
}

/// Shows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hidden;

impl Progress for Hidden {
    fn start(&self, _what: &str, _total: Option<u64>) -> Box<dyn ProgressTask> {
        Box::new(Self)
    }
}

impl ProgressTask for Hidden {
    fn add(&self, _documents: u64, _bytes: u64) {}

    fn finish(&self) {}
}

/// Shows the progress of one part of the work: every task is called after it.
pub(super) struct Labelled {
    label: String,
    progress: Arc<dyn Progress>,
}

impl Labelled {
    pub(super) fn new(label: &str, progress: Arc<dyn Progress>) -> Self {
        Self { label: label.to_owned(), progress }
    }
}

impl Progress for Labelled {
    fn start(&self, what: &str, total: Option<u64>) -> Box<dyn ProgressTask> {
        self.progress.start(&format!("{}: {what}", self.label), total)
    }
}

/// Chooses the way to show progress.
pub(super) fn choose(options: &UiOptions, stderr_is_terminal: bool, bars: Bars) -> Arc<dyn Progress> {
    if options.quiet {
        return Arc::new(Hidden);
    }
    match options.progress {
        ProgressMode::Auto if stderr_is_terminal => Arc::new(bars),
        ProgressMode::Bar => Arc::new(bars),
        ProgressMode::Auto | ProgressMode::Plain => Arc::new(line::PlainLines),
        ProgressMode::Json => Arc::new(line::JsonLines),
        ProgressMode::None => Arc::new(Hidden),
    }
}
