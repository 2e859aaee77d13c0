//! Named points at every step that changes something, at which a test stops the tool.
//!
//! Compiled in by the feature `faults` only; without it every question is answered with no. Which point, at which of its
//! passes and how stands in the environment: `REKEY_FAILPOINT=journal-done:2:abort` (or `error`).
//! `REKEY_FAILPOINT_TRACE=FILE` writes down each point that is passed.

use crate::{Error, Result};

macro_rules! points {
    ($($(#[$doc:meta])* $point:ident = $name:literal,)*) => {
        /// A step that changes something.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Point {
            $($(#[$doc])* $point,)*
        }

        impl Point {
            /// Every point, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$point,)*];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$point => $name,)*
                }
            }
        }
    };
}

points! {
    /// The lines of a file are about to be synced: archive, key map, list of refused documents.
    OutputSync = "output-sync",
    /// A finished file is about to get its name, the manifest last of all.
    OutputRename = "output-rename",
    /// A finished file has its name.
    OutputNamed = "output-named",
    /// A list of findings is about to get its name.
    FindingsRename = "findings-rename",
    /// A journal is about to be begun.
    JournalBegin = "journal-begin",
    /// It is about to be noted that a batch will be sent.
    JournalIntent = "journal-intent",
    /// It is about to be noted what became of a batch.
    JournalDone = "journal-done",
    /// It is about to be noted that all is done.
    JournalFinished = "journal-finished",
    /// Half a line of the journal is written.
    JournalTorn = "journal-torn",
    /// The entries of a batch are about to be written into the undo list.
    UndoListWrite = "undo-list-write",
    /// Half of them are.
    UndoListTorn = "undo-list-torn",
    /// The target is made and empty.
    TargetMade = "target-made",
    /// A batch is noted and about to be sent.
    BatchUnsent = "batch-unsent",
    /// A batch is written and not yet noted.
    BatchSent = "batch-sent",
    /// A batch is about to be deleted, or put back.
    WithdrawalUnsent = "withdrawal-unsent",
    /// A batch is deleted, or put back.
    WithdrawalSent = "withdrawal-sent",
}

/// How a test stops the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The process is gone at once, as with SIGKILL.
    Abort,
    /// The step fails as if the disk had.
    Error,
}

impl Stop {
    /// Stops.
    ///
    /// # Errors
    /// The I/O error that was asked for.
    pub fn now(self, point: Point) -> Result<()> {
        match self {
            Self::Abort => std::process::abort(),
            Self::Error => {
                let source = std::io::Error::other("a failure on purpose");
                Err(Error::io("pass the point", point.name(), source))
            }
        }
    }
}

/// Passes a point, or stops there.
///
/// # Errors
/// The I/O error that a test asked for.
pub fn pass(point: Point) -> Result<()> {
    stop_at(point).map_or(Ok(()), |stop| stop.now(point))
}

/// Tells whether the tool is to stop at this pass of a point, for whoever has something to leave half done.
#[cfg(not(feature = "faults"))]
pub fn stop_at(_: Point) -> Option<Stop> {
    None
}

/// Tells whether the tool is to stop at this pass of a point, for whoever has something to leave half done.
#[cfg(feature = "faults")]
pub fn stop_at(point: Point) -> Option<Stop> {
    armed::stop_at(point)
}

#[cfg(feature = "faults")]
mod armed {
    use std::fs::OpenOptions;
    use std::io::Write as _;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::{Point, Stop};

    static PLAN: OnceLock<Option<(String, u32, Stop)>> = OnceLock::new();
    static PASSES: AtomicU32 = AtomicU32::new(0);

    pub(super) fn stop_at(point: Point) -> Option<Stop> {
        if let Some(file) = std::env::var_os("REKEY_FAILPOINT_TRACE") {
            let opened = OpenOptions::new().create(true).append(true).open(file);
            // A trace that cannot be written shows in the test that reads it.
            let _ = opened.and_then(|mut file| writeln!(file, "{}", point.name()));
        }
        let (name, pass, stop) = PLAN.get_or_init(plan).as_ref()?;
        if name != point.name() || PASSES.fetch_add(1, Ordering::SeqCst) + 1 != *pass {
            return None;
        }
        Some(*stop)
    }

    fn plan() -> Option<(String, u32, Stop)> {
        let text = std::env::var("REKEY_FAILPOINT").ok()?;
        let mut words = text.split(':');
        let (name, pass, how) = (words.next()?, words.next()?.parse().ok()?, words.next()?);
        let stop = if how == "abort" { Stop::Abort } else { Stop::Error };
        Some((name.to_owned(), pass, stop))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_plan_every_point_is_passed_and_no_two_have_one_name() {
        let mut names: Vec<_> = Point::ALL.iter().map(|point| point.name()).collect();
        for point in Point::ALL {
            pass(*point).unwrap();
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Point::ALL.len());
        assert_eq!(Stop::Error.now(Point::JournalTorn).unwrap_err().kind(), crate::ErrorKind::File);
    }
}
