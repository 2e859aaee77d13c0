use crate::error::Result;
use crate::report::{CombineReport, ShardReport};
use crate::ui::Ui;
use crate::ui::format::{bytes, count};

/// Shows what the parts came to.
pub(super) fn combine(report: &CombineReport, ui: &Ui) -> Result<()> {
    ui.line(&format!(
        "Combined {} of {}, {}, from {}, into {}.",
        count(report.documents, "document"),
        count(report.streams, "stream"),
        bytes(report.bytes),
        count(report.parts, "shard"),
        report.archive.display()
    ))?;
    match report.set_aside {
        0 => Ok(()),
        set_aside => ui.line(&format!("Set aside by the shards: {}.", count(set_aside, "document"))),
    }
}

/// Shows how many documents went to how many shards.
pub(super) fn shard(report: &ShardReport, ui: &Ui) -> Result<()> {
    let shards = count(u64::from(report.of), "shard");
    ui.line(&format!("{}, spread over {shards}.", count(report.documents, "document")))?;
    super::reasons(&report.unplaced, |reason| reason.advice().to_owned(), ui)
}
