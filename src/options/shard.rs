use std::num::NonZeroU32;
use std::path::PathBuf;

use super::ArchiveOptions;

/// What `shard` is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardOptions {
    /// The archive whose lines are numbered.
    pub archive: ArchiveOptions,
    /// How many shards there are.
    pub of: NonZeroU32,
    /// Where the lines that belong to no shard are listed with their reasons.
    pub findings: Option<PathBuf>,
}
