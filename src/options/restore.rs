use std::path::PathBuf;

use super::{ArchiveOptions, StoreOptions};

/// What `restore` is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreOptions {
    /// The legacy archive.
    pub archive: ArchiveOptions,
    /// The store to write.
    pub to: StoreOptions,
    /// Whether a missing target is created.
    pub create_target: bool,
    /// Whether whoever reads the target's changes is ready to see every document as new.
    pub subscribers_handled: bool,
    /// Whether to read only and say what would be written.
    pub dry_run: bool,
    /// Where the findings go; beside the archive if `None`.
    pub findings: Option<PathBuf>,
    /// Where the journal goes; beside the archive if `None`.
    pub state_dir: Option<PathBuf>,
}
