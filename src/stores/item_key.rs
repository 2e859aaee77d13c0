//! What Cosmos DB allows as the key of an item; the service itself enforces it late or not at all.

use crate::check::{Reason, Refusal};

/// The most bytes of an id, and of all components of a partition key together.
///
/// [Per-item limits](https://learn.microsoft.com/azure/cosmos-db/concepts-limits#per-item-limits).
const MOST_ID_BYTES: usize = 1023;
const MOST_PARTITION_KEY_BYTES: usize = 2048;
/// What an id may not hold: the service forbids the first two, and cannot address items with the others.
const FORBIDDEN: [char; 4] = ['/', '\\', '?', '#'];

/// Refuses an id that Cosmos DB does not take.
pub(super) fn check_id(id: &str) -> Result<(), Refusal> {
    if id.is_empty() || id.contains(FORBIDDEN) {
        let detail = format!("Cosmos DB does not allow the id {id:?}: it is empty or holds one of / \\ ? #.");
        return Err(Refusal::new(Reason::KeyForbidden, detail));
    }
    if id.len() > MOST_ID_BYTES {
        let detail = format!("The id has {} bytes; Cosmos DB allows {MOST_ID_BYTES}.", id.len());
        return Err(Refusal::new(Reason::KeyTooLong, detail));
    }
    Ok(())
}

/// Refuses a partition key whose texts have so many bytes, if they are too many.
pub(super) fn check_partition_key(bytes: usize) -> Result<(), Refusal> {
    if bytes > MOST_PARTITION_KEY_BYTES {
        let detail =
            format!("The partition key has {bytes} bytes; Cosmos DB allows {MOST_PARTITION_KEY_BYTES}.");
        return Err(Refusal::new(Reason::KeyTooLong, detail));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_hold_to_the_byte() {
        let id = |id: &str| check_id(id).map_err(|refusal| refusal.reason);
        assert_eq!(id(&"k".repeat(1023)), Ok(()));
        assert_eq!(id(&"k".repeat(1024)), Err(Reason::KeyTooLong));
        assert_eq!(id(&format!("{}é", "k".repeat(1022))), Err(Reason::KeyTooLong));
        for forbidden in ["", "a/b", "a\\b", "a?b", "a#b"] {
            assert_eq!(id(forbidden), Err(Reason::KeyForbidden), "{forbidden:?}");
        }
        assert_eq!(id("i % : 🚀"), Ok(()));
        assert!(check_partition_key(2048).is_ok() && check_partition_key(2049).is_err());
    }
}
