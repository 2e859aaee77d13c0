//! Which shard of a store a document belongs to: by its stream, and the same on every machine.
//!
//! A shard is a part of a store's streams that is moved by itself. The number is made of what a tenant map calls the
//! stream, so that a document, its rekeyed twin, and every other document that could get the same new key are in one
//! shard: what `rekey` refuses in the whole it refuses in the part.

mod filter;
mod reader;
mod shards;

use std::num::NonZeroU32;

use sha2::{Digest as _, Sha256};

pub use filter::{ShardFilter, ShardSieve};
pub use reader::ShardReader;
pub use shards::Shards;

/// The number, from 1, of the shard among `of` that the stream a tenant map calls `map_key` belongs to.
pub fn shard_of(map_key: &str, of: NonZeroU32) -> u32 {
    let digest: [u8; 32] = Sha256::digest(map_key.as_bytes()).into();
    let high = digest.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
    // Evenly over all shards, and without a division's bias: the high half of a product.
    let scaled = (u128::from(high) * u128::from(of.get())) >> u64::BITS;
    u32::try_from(scaled).unwrap_or_default() + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Reason;
    use crate::layout::Layout;

    fn of(number: u32) -> NonZeroU32 {
        NonZeroU32::new(number).unwrap()
    }

    #[test]
    fn a_stream_has_one_number_for_ever() {
        // Shards of one run may be made by different versions of the tool, so these must never change.
        let numbers = ["", "order-1", "Order:order-1", "ü:😀"].map(|key| shard_of(key, of(64)));
        assert_eq!(numbers, [57, 3, 23, 4]);
        assert!((0..100).all(|id| shard_of(&id.to_string(), of(1)) == 1));
    }

    #[test]
    fn streams_are_spread_evenly() {
        let mut streams = [0_u32; 7];
        for id in 0..7_000 {
            streams[shard_of(&format!("Order:{id}"), of(7)) as usize - 1] += 1;
        }
        assert!(streams.iter().all(|count| (850..1_150).contains(count)), "{streams:?}");
    }

    #[test]
    fn a_document_and_its_twin_are_in_one_shard_and_what_is_none_is_in_no_shard() {
        let layout = Layout::builtin("dynamodb-events").unwrap();
        let mut reader = ShardReader::new(&layout, of(1_000));
        let vectors: Vec<serde_json::Value> =
            serde_json::from_str(include_str!("../tests/vectors/rekey-vectors.json")).unwrap();
        let pairs: Vec<_> = vectors.iter().filter(|pair| pair["store"] == "dynamodb-events").collect();
        assert!(!pairs.is_empty());
        for pair in pairs {
            let line = |side: &str| format!("{{\"Item\":{}}}", pair[side]);
            let old = reader.shard(line("before").as_bytes()).unwrap();
            assert_eq!(reader.shard(line("after").as_bytes()), Ok(old), "{pair}");
        }
        assert_eq!(reader.shard(b"{\"Item\":").unwrap_err().reason, Reason::Malformed);
    }
}
