use std::path::{Path, PathBuf};

use super::{Job, key_map_of};
use crate::archive::{ArchiveInput, CounterAccount, RecordedEscaping};
use crate::commands::{OpenedArchive, open_archive};
use crate::document::StoreKind;
use crate::layout::Layout;
use crate::shard::Shards;
use crate::signal::StopSignal;
use crate::stores::{Description, StoreAddress};
use crate::{Error, Result};

/// What is written, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Rekeyed documents are created.
    Rekeyed,
    /// Documents get their new key where they are.
    InPlace,
    /// Documents move from their legacy key to the new one.
    Move,
    /// Legacy documents are created again.
    Legacy,
}

impl What {
    /// The command that does it.
    pub fn command(self) -> &'static str {
        match self {
            Self::Rekeyed | Self::InPlace | Self::Move => "import",
            Self::Legacy => "restore",
        }
    }
}

/// The archive to be written and everything that is known about it.
pub(crate) struct Plan {
    pub what: What,
    pub input: ArchiveInput,
    pub layout: Layout,
    pub escaping: RecordedEscaping,
    pub address: StoreAddress,
    /// The shards that are written; `None` is the whole archive.
    pub shards: Option<Shards>,
    /// The key map, where documents are changed in place or move.
    pub key_map: Option<PathBuf>,
}

impl Plan {
    pub(super) fn make(job: &Job, folder: &Path, stop: &StopSignal) -> Result<Self> {
        let address = job.to.address.clone();
        let OpenedArchive { input, layout, shards } =
            open_archive(&job.archive, Some(address.kind()), folder, stop)?;
        refuse_other_kind(job.what, &input)?;
        if job.what == What::InPlace && !layout.keeps_store_key() {
            return Err(Error::usage(format!(
                "--in-place is for documents that keep their store key, and those of {} do not; nothing was done",
                layout.name
            ))
            .hint("Leave --in-place out: the documents are created beside the legacy ones, which prune removes later."));
        }
        if job.what == What::Move && layout.store != StoreKind::Firestore {
            return Err(Error::usage(format!(
                "--move is for Firestore, and the documents are of the layout {}; nothing was done",
                layout.name
            ))
            .hint("Leave --move out: the documents are created beside the legacy ones, which prune removes later."));
        }
        let key_map = match job.what {
            What::InPlace | What::Move => Some(key_map_of(&input, job.archive.manifest.as_deref())?),
            What::Rekeyed | What::Legacy => None,
        };
        let rekeyed = input.manifests().filter_map(|(_, manifest)| manifest.rekey.as_ref());
        let escaping = RecordedEscaping::together(rekeyed.map(|rekey| rekey.escaping))?;
        Ok(Self { what: job.what, input, layout, escaping, address, shards, key_map })
    }

    /// The collections that its parts were exported from, as far as they are known.
    pub fn sources(&self) -> impl Iterator<Item = &Description> {
        self.input.manifests().filter_map(|(_, manifest)| manifest.source.as_ref())
    }

    /// The counter of the global sequence beside the source, as it stood last.
    pub fn counter(&self) -> Option<&CounterAccount> {
        let counters = self.input.manifests().filter_map(|(_, manifest)| manifest.counter.as_ref());
        counters.max_by_key(|counter| counter.value)
    }
}

/// A legacy archive is not imported, a rekeyed one not restored.
fn refuse_other_kind(what: What, input: &ArchiveInput) -> Result<()> {
    let mut manifests = input.manifests();
    let other = manifests.find(|(_, manifest)| manifest.rekey.is_some() == (what == What::Legacy));
    // Of several parts it is the manifest that says which one.
    let name = |path: &PathBuf| match input.manifest() {
        Some(_) => format!("{} is", input.name()),
        None => format!("{path:?} says that its archive is"),
    };
    match (what, other) {
        (_, None) => Ok(()),
        (What::Legacy, Some((path, _))) => {
            Err(Error::usage(format!("{} a rekeyed archive; nothing was done", name(path)))
                .hint("Use rekey import for it."))
        }
        (What::Rekeyed | What::InPlace | What::Move, Some((path, _))) => {
            Err(Error::usage(format!("{} a legacy archive; nothing was done", name(path)))
                .hint("Rewrite it with rekey rekey first, or use rekey restore to put it back as it is."))
        }
    }
}
