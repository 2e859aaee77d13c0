use std::path::PathBuf;

use super::{ArchiveOptions, OnRefused, StoreOptions};

/// What `import` is to do.
// Each switch is one flag of the command line, independent of the others.
#[allow(clippy::struct_excessive_bools)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportOptions {
    /// The rekeyed archive.
    pub archive: ArchiveOptions,
    /// The store to write.
    pub to: StoreOptions,
    /// Whether a missing target is created.
    pub create_target: bool,
    /// Whether MongoDB events are updated in the collection they came from.
    pub in_place: bool,
    /// Whether Firestore documents move from their legacy key to the new one in one step.
    pub moves: bool,
    /// Whether whoever reads the target's changes is ready to see every document as new.
    pub subscribers_handled: bool,
    /// What to do with documents that the target refuses.
    pub on_refused: OnRefused,
    /// Whether to read only and say what would be written.
    pub dry_run: bool,
    /// Where the findings go; beside the archive if `None`.
    pub findings: Option<PathBuf>,
    /// Where the journal goes; beside the archive if `None`.
    pub state_dir: Option<PathBuf>,
}
