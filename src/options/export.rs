use std::path::PathBuf;

use super::{Destination, LayoutOptions, Shards, StoreOptions};

/// What `export` is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportOptions {
    /// The store to read.
    pub from: StoreOptions,
    /// The layout; its name is always given.
    pub layout: LayoutOptions,
    /// The shards that are exported; `None` is all of the collection.
    pub shard: Option<Shards>,
    /// Where the archive goes.
    pub out: Destination,
    /// Where the manifest goes when the archive goes to standard output; `None` otherwise.
    pub manifest: Option<PathBuf>,
    /// Whether to go on without a consistent moment, and record it.
    pub no_snapshot: bool,
    /// Whether an empty Firestore collection, which may as well not exist, is accepted.
    pub allow_empty: bool,
    /// Where spill files go; beside the archive if `None`.
    pub state_dir: Option<PathBuf>,
}
