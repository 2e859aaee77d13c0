use std::path::PathBuf;

use super::{ExportOptions, RestoreOptions, StoreRun};

/// What `rehearse` is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RehearseOptions {
    /// The project file, as it was named.
    pub project: PathBuf,
    /// The stores, in the order in which they are rehearsed.
    pub stores: Vec<Rehearsal>,
}

/// One store's migration on embedded storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rehearsal {
    /// Reads the real source into the legacy archive of the rehearsal; `None` where the project's own is taken.
    pub export: Option<ExportOptions>,
    /// Puts the documents of the legacy archive into the embedded source.
    pub seed: RestoreOptions,
    /// The run on embedded storage, with its archives and evidence in a folder of its own.
    pub run: StoreRun,
}
