use std::path::PathBuf;

use super::StoreRun;

/// What `status` is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusOptions {
    /// The folders that journals are looked for in.
    pub folders: Vec<PathBuf>,
    /// The project whose stores are asked about, as it was named.
    pub project: Option<PathBuf>,
    /// Its stores.
    pub stores: Vec<AskedStore>,
}

/// A store of a project that is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedStore {
    /// Its name.
    pub name: String,
    /// What a run would do for it; `None` where nothing was done for it yet.
    pub run: Option<StoreRun>,
}
