mod copy;
mod demo;
mod explain;
mod page;
mod rewrite;
mod status;
mod verify;

pub use copy::{ExportReport, ImportReport, PruneReport, UndoReport};
pub use demo::{DemoLayout, DemoReport};
pub use explain::ExplainReport;
pub use page::PageReport;
pub use rewrite::{KeySample, RekeyReport};
pub use status::{JournalState, JournalStatus, StatusReport};
pub use verify::{Counted, Level, TenantVerdict, Totals, Verdict, VerifyReport};

use std::path::PathBuf;

use serde::Serializer;

/// Writes a path as text; what is not UTF-8 in it is shown, not refused.
#[allow(clippy::ref_option)] // serde hands over a reference to the member.
pub(super) fn path<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => serializer.collect_str(&path.display()),
        None => serializer.serialize_none(),
    }
}
