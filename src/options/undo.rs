use std::path::PathBuf;

use super::{LayoutOptions, StoreOptions};

/// What `undo` is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoOptions {
    /// The undo lists, or the archives beside which they stand.
    pub lists: Vec<PathBuf>,
    /// The layout, where the lists' is not built in.
    pub layout: LayoutOptions,
    /// The store that was imported into.
    pub from: StoreOptions,
    /// Where the legacy documents are, if not in the same collection.
    pub legacy: Option<StoreOptions>,
    /// Whether to read only and say what would be taken back.
    pub dry_run: bool,
    /// Where the findings go; beside the list if `None`.
    pub findings: Option<PathBuf>,
    /// Where the list of an archive is looked for and spill files go; beside the archive if `None`.
    pub state_dir: Option<PathBuf>,
}
