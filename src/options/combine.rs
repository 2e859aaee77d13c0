use std::path::PathBuf;

use super::LayoutOptions;

/// What `combine` is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CombineOptions {
    /// The archives of all shards, or a folder of them.
    pub parts: Vec<PathBuf>,
    /// The layout, where the manifests do not say it or are not to be believed.
    pub layout: LayoutOptions,
    /// The archive of the whole.
    pub out: PathBuf,
    /// The whole legacy archive, where each rekeyed part was made from a part of it.
    pub legacy: Option<PathBuf>,
    /// Where spill files go; beside the archive if `None`.
    pub state_dir: Option<PathBuf>,
}
