use crate::error::Result;
use crate::report::ShardReport;
use crate::ui::Ui;
use crate::ui::format::count;

/// Shows how many documents went to how many shards.
pub(super) fn shard(report: &ShardReport, ui: &Ui) -> Result<()> {
    let shards = count(u64::from(report.of), "shard");
    ui.line(&format!("{}, spread over {shards}.", count(report.documents, "document")))?;
    super::reasons(&report.unplaced, |reason| reason.advice().to_owned(), ui)
}
