use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use crate::check::Reason;

/// The result of `combine`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CombineReport {
    /// The layout's full name.
    pub layout: String,
    /// How many archives were combined.
    pub parts: u64,
    /// Documents in the archive.
    pub documents: u64,
    /// Streams in the archive (sagas, where the layout is of sagas).
    pub streams: u64,
    /// Bytes of the lines, uncompressed, each with its LF.
    pub bytes: u64,
    /// SHA-256 of the lines, 64 hex digits.
    pub sha256: String,
    /// Documents in the list of what was set aside.
    pub set_aside: u64,
    /// The archive.
    pub archive: PathBuf,
    /// Its manifest.
    pub manifest: PathBuf,
}

/// The result of `shard`: how many documents went where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ShardReport {
    /// The layout's full name.
    pub layout: String,
    /// How many shards there are.
    pub of: u32,
    /// Documents read: those of all shards and those of none.
    pub documents: u64,
    /// Documents by shard; shards without any are left out.
    pub shards: BTreeMap<u32, u64>,
    /// Documents of which nobody can tell the stream, by reason; their lines have the number 0.
    pub unplaced: BTreeMap<Reason, u64>,
}
