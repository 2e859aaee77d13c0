use std::num::NonZeroUsize;
use std::path::PathBuf;

use crate::plan::Plan;

use super::{ExportOptions, ImportOptions, PruneOptions, RekeyOptions, VerifyOptions};

/// What `run` is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// The project file, as it was named.
    pub project: PathBuf,
    /// The stores, in the order in which they are moved.
    pub stores: Vec<StoreRun>,
    /// Whether the legacy documents are pruned, too.
    pub prune: bool,
    /// Whether every question is answered with yes.
    pub yes: bool,
    /// How many stores are moved side by side.
    pub parallel: NonZeroUsize,
    /// The plan that the run is held to, with its file.
    pub plan: Option<(PathBuf, Plan)>,
    /// Whether to begin with a new export, whatever was done before.
    pub anew: bool,
}

/// One store of a project with what each command is to do for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreRun {
    /// Its name in the project.
    pub name: String,
    /// Where its archives and evidence are.
    pub folder: PathBuf,
    /// The collection into the legacy archive.
    pub export: ExportOptions,
    /// That one into the rekeyed archive.
    pub rekey: RekeyOptions,
    /// That one into the target.
    pub import: ImportOptions,
    /// The target against both archives.
    pub verify: VerifyOptions,
    /// The legacy documents away.
    pub prune: PruneOptions,
}
