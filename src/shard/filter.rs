use std::sync::Arc;

use super::{ShardReader, Shards};
use crate::layout::Layout;

/// Which documents of a layout are of certain shards.
#[derive(Clone, Debug)]
pub struct ShardFilter {
    shards: Shards,
    layout: Arc<Layout>,
}

impl ShardFilter {
    /// Looks for documents of `shards`.
    pub fn new(shards: Shards, layout: &Layout) -> Self {
        Self { shards, layout: Arc::new(layout.clone()) }
    }

    /// Makes a filter ready for one document after the other.
    pub fn sieve(&self) -> ShardSieve {
        ShardSieve { shards: self.shards.clone(), reader: ShardReader::new(&self.layout, self.shards.of()) }
    }
}

/// A [`ShardFilter`] with the buffers it needs.
#[derive(Debug)]
pub struct ShardSieve {
    shards: Shards,
    reader: ShardReader,
}

impl ShardSieve {
    /// Whether a document is of these shards, or of no shard that anybody could tell.
    ///
    /// Such a document is every shard's concern: it may be the one that any of their streams misses.
    pub fn keeps(&mut self, line: &[u8]) -> bool {
        self.reader.shard(line).map_or(true, |number| self.shards.contains(number))
    }
}
