use std::collections::BTreeMap;

use serde::Serialize;

use crate::check::Reason;

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
