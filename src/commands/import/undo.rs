//! The undo list of an import, and what must be known of the target for it.

use std::path::Path;

use super::batch::Writes;
use super::target::Target;
use super::{Plan, What};
use crate::commands::journal_stem;
use crate::commands::manifest::{TOOL, layout_account};
use crate::stores::StoreResult;
use crate::undo_list::{FORMAT, Header, Place, UndoList};
use crate::{Error, Result};

/// Notes what a batch will write before it is sent.
pub(super) struct Noted {
    list: UndoList,
    what: What,
}

impl Noted {
    /// Opens the list beside the journal; nothing is noted of legacy documents that are put back.
    pub fn open(journal: &Path, plan: &Plan, target: &Target) -> Result<Option<Self>> {
        if plan.what == What::Legacy {
            return Ok(None);
        }
        let list = UndoList::open(journal, &header(plan, target)?)?;
        Ok(Some(Self { list, what: plan.what }))
    }

    /// Puts on the disk what of the batch will be written; `present` says what the target held beforehand.
    pub fn note(&mut self, batch: &Writes, present: Option<&[bool]>) -> Result<()> {
        for (index, key) in batch.keys.iter().enumerate() {
            match (self.what, batch.digests.get(index), batch.updates.get(index)) {
                (What::InPlace, _, Some(update)) => {
                    let new = &update.set;
                    let old = update.when_text.iter().find(|(name, _)| *name == new.0);
                    let version = update.when_integer.first().map(|(_, version)| *version);
                    // What was carried over under its key had nothing to change.
                    if let Some((_, old)) = old.filter(|(_, old)| *old != new.1) {
                        self.list.changed(key, old, &new.1, version);
                    }
                }
                (What::Rekeyed | What::Move, Some(digest), _) => {
                    if !present.is_some_and(|present| present.get(index).copied().unwrap_or_default()) {
                        self.list.created(key, digest);
                    }
                }
                _ => return Err(Error::bug("A document is to be written that the undo list cannot name")),
            }
        }
        self.list.sync()
    }
}

/// Whether it must be asked what of a batch is there before it is sent: after a crash nobody could tell any more what
/// was identical beforehand from what this import wrote. A target that holds nothing needs no question, and a document
/// that is changed where it is says by its key whether it was.
pub(super) fn must_look(plan: &Plan, target: &Target) -> bool {
    plan.what.creates_rekeyed() && !target.was_empty
}

/// Tells which documents of a batch are there.
pub(super) async fn look(target: &Target, batch: &Writes) -> StoreResult<Vec<bool>> {
    let stored = target.collection.read(&batch.keys).await?;
    Ok(stored.iter().map(Option::is_some).collect())
}

fn header(plan: &Plan, target: &Target) -> Result<Header> {
    let totals =
        plan.input.totals().ok_or_else(|| Error::bug("The archive was not checked before it is sent"))?;
    Ok(Header {
        format: FORMAT,
        tool: TOOL.to_owned(),
        archive: journal_stem(&plan.input, plan.shards.as_ref()),
        archive_sha256: totals.sha256.clone(),
        target: Place::of(&target.description),
        source: plan.sources().next().map(Place::of),
        layout: layout_account(&plan.layout),
        escaping: plan.escaping,
        in_place: plan.what.is_in_place(),
    })
}
