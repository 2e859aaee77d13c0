//! Where a scan or query goes on: behind the item with a key, which need not exist any more.

use serde::{Deserialize, Serialize};

use super::item::{Item, read_item, write_map};
use crate::document::json::Tape;
use crate::stores::{Position, StoreError, StoreErrorKind, StoreResult};

#[derive(Serialize, Deserialize)]
struct After {
    after: serde_json::Value,
}

/// Where to go on. An empty key is no key: some servers send one at the end.
pub(super) fn next_key(key: Option<Item>) -> Option<Item> {
    key.filter(|key| !key.is_empty())
}

/// A key as a position that outlives the process.
pub(super) fn write_position(key: &Item) -> StoreResult<Position> {
    let mut text = Vec::new();
    write_map(key, &mut text)?;
    let after = serde_json::from_slice(&text).map_err(|_| foreign())?;
    serde_json::to_value(After { after }).map(Position).map_err(|_| foreign())
}

/// The key of a position.
///
/// Errors: [`StoreErrorKind::Permanent`] if it is none of this store's.
pub(super) fn read_position(position: &Position) -> StoreResult<Item> {
    let After { after } = After::deserialize(&position.0).map_err(|_| foreign())?;
    let line = format!("{{\"Item\":{after}}}");
    read_item(&mut Tape::deep(), line.as_bytes()).map_err(|_| foreign())
}

/// The failure of a part or position that this adapter did not make.
pub(super) fn foreign() -> StoreError {
    StoreError::new(StoreErrorKind::Permanent, "The position is not one of this table's")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_outlives_the_process() {
        let key = br#"{"Item":{"pk":{"S":"Order:\"1\""},"sk":{"N":"12345678901234567890"}}}"#;
        let key = read_item(&mut Tape::deep(), key).unwrap();
        let position = write_position(&key).unwrap();
        let text = serde_json::to_string(&position).unwrap();
        assert_eq!(text, r#"{"after":{"pk":{"S":"Order:\"1\""},"sk":{"N":"12345678901234567890"}}}"#);
        assert_eq!(read_position(&serde_json::from_str(&text).unwrap()).unwrap(), key);
        assert!(read_position(&Position("x".into())).is_err());
    }
}
