mod copy;
mod demo;
mod doctor;
mod explain;
mod init;
mod page;
mod plan;
mod rehearsal;
mod rewrite;
mod run;
mod sagas;
mod shard;
mod status;
mod verify;

pub use copy::{ExportReport, ImportReport, PruneReport, UndoReport};
pub use demo::{DemoLayout, DemoReport};
pub use doctor::{DoctorReport, MachineHealth, PermissionHealth, StoreHealth};
pub use explain::ExplainReport;
pub use init::InitReport;
pub use page::PageReport;
pub use plan::PlanReport;
pub use rehearsal::{Met, RehearsalReport};
pub use rewrite::{KeySample, RekeyReport};
pub use run::{RunReport, StateReport, StoreReport};
pub use sagas::{SagaAges, SagaGroup, SagasReport};
pub use shard::{CombineReport, ShardReport};
pub use status::{JournalState, JournalStatus, StatusReport, StoreStatus};
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

/// Writes a path that is always there as text.
pub(super) fn shown<S: Serializer>(path: &std::path::Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}
