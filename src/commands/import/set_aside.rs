use std::path::{Path, PathBuf};

use super::Plan;
use super::preflight::{Checked, Examined};
use crate::Result;
use crate::archive::{ArchiveWriter, Chunk, Staged};
use crate::rewrite::write_entry;
use crate::stores::CollectionReader;

/// Writes the documents that are set aside, whole, each with why; without one the file of an earlier run goes.
pub(super) fn write(
    plan: &Plan,
    checked: &Checked,
    target: &dyn CollectionReader,
    path: PathBuf,
) -> Result<Option<PathBuf>> {
    let mut staged = Staged::new();
    if checked.refused == 0 {
        staged.remove(path);
        staged.commit()?;
        return Ok(None);
    }
    let mut list = ArchiveWriter::create(&path)?;
    let mut document = Examined::new(plan, target);
    let mut entry = Vec::new();
    let mut reader = plan.input.line_reader();
    let mut chunk = Chunk::new();
    let mut positions = 0..;
    while reader.fill(&mut chunk)? {
        for (line, position) in chunk.lines().zip(&mut positions) {
            let Some(refusal) = checked.sets_aside(&mut document, line.bytes, position) else { continue };
            let refused = document.refused(line.bytes, line.number, refusal);
            entry.clear();
            write_entry(&refused, Some(line.bytes), &mut entry)?;
            list.write_block(&entry, 1)?;
        }
    }
    let _totals = reader.finish()?;
    staged.add(list.finish()?.output);
    staged.commit()?;
    Ok(Some(path))
}

/// Where they go: beside the archive, or, where it came from standard input, into the state folder under a
/// name that no other archive gets.
pub(super) fn path(plan: &Plan, beside: Option<&Path>, folder: &Path) -> PathBuf {
    if let Some(beside) = beside {
        return super::companion(beside, plan.shards.as_ref(), "import.refused.ndjson");
    }
    let digest = plan.input.totals().map_or("", |totals| totals.sha256.get(..16).unwrap_or_default());
    super::companion(&folder.join(format!("stdin-{digest}")), plan.shards.as_ref(), "import.refused.ndjson")
}
