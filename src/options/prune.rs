use std::path::PathBuf;

use super::{ArchiveOptions, StoreOptions};

/// What `prune` is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PruneOptions {
    /// The legacy archive: nothing else is ever deleted.
    pub legacy: ArchiveOptions,
    /// The rekeyed archive made from it.
    pub rekeyed: Vec<PathBuf>,
    /// The store to delete from.
    pub from: StoreOptions,
    /// Where the twins are, if not in the same collection.
    pub twins: Option<StoreOptions>,
    /// Whether an empty Firestore collection, which may as well not exist, is accepted.
    pub allow_empty: bool,
    /// Whether to read only and say what would be deleted.
    pub dry_run: bool,
    /// Where the findings go; beside the legacy archive if `None`.
    pub findings: Option<PathBuf>,
    /// Where the journal goes; beside the legacy archive if `None`.
    pub state_dir: Option<PathBuf>,
}
