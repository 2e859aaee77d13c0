use std::backtrace::BacktraceStatus;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ThreadId;

use super::plain_ui;
use crate::error::{Error, ErrorKind};
use crate::exit::ExitStatus;

static SEEN: AtomicBool = AtomicBool::new(false);
/// The thread that goes on once the work is over.
static LEFT: OnceLock<ThreadId> = OnceLock::new();

/// Lets a panic on any thread print where it happened, once, and never the message: it may hold a document.
pub(super) fn report_bugs() {
    std::panic::set_hook(Box::new(|info| {
        let is_left_behind = LEFT.get().is_some_and(|left| *left != std::thread::current().id());
        if is_left_behind || SEEN.swap(true, Ordering::SeqCst) {
            return;
        }
        let place = info.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
        let ui = plain_ui();
        ui.error(&bug(&place));
        // Frames name functions, never values.
        let backtrace = std::backtrace::Backtrace::capture();
        if backtrace.status() == BacktraceStatus::Captured {
            ui.status(&backtrace.to_string());
        }
    }));
}

/// Notes that the work is over. Of other threads' panics nothing depends any more: drivers watch their servers in
/// the background, and some panic when the runtime goes away under them.
pub(super) fn work_is_over() {
    let _ = LEFT.get_or_init(|| std::thread::current().id());
}

/// Runs something; a panic in it is a bug.
pub(super) fn catch(run: impl FnOnce() -> ExitStatus) -> ExitStatus {
    // Nothing outlives the closure that a panic could have left half-changed.
    catch_unwind(AssertUnwindSafe(run)).unwrap_or(ExitStatus::Failed(ErrorKind::Bug))
}

/// The exit status of a bug, if a panic happened on any thread, be it caught or not.
pub(super) fn seen() -> Option<ExitStatus> {
    SEEN.load(Ordering::SeqCst).then_some(ExitStatus::Failed(ErrorKind::Bug))
}

fn bug(place: &str) -> Error {
    Error::bug(format!("This is a bug in rekey {}, at {place}.", env!("CARGO_PKG_VERSION")))
        .hint("Run the same command again: what was finished is not repeated.")
        .hint("Report the line above with the command, without any data.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bug_names_the_place_and_what_to_do() {
        let error = bug("src/x.rs:1:2");
        assert_eq!(error.kind(), ErrorKind::Bug);
        assert!(error.to_string().contains("src/x.rs:1:2"));
        assert_eq!(error.hints().len(), 2);
    }

    #[test]
    fn a_panic_is_a_bug() {
        assert_eq!(catch(|| ExitStatus::Done), ExitStatus::Done);
        assert_eq!(catch(|| std::panic::panic_any("a document")), ExitStatus::Failed(ErrorKind::Bug));
    }
}
