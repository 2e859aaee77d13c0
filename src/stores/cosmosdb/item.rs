//! An item's text: what of a line is sent, and its size.

use serde_json::value::RawValue;

use crate::check::{Reason, Refusal};
use crate::document::StoreKind;
use crate::document::json::Tape;
use crate::document::size::{size_bound, stored_size};
use crate::document::system_fields::without_system_fields;

/// The largest item in bytes of its JSON.
const MOST_BYTES: u64 = 2 * 1024 * 1024;

/// Reads a line that is to be an item.
///
/// Errors: a refusal if it is no strict JSON object.
pub(super) fn read(tape: &mut Tape, line: &[u8]) -> Result<(), Refusal> {
    tape.read(line).map_err(|error| Refusal::new(Reason::Malformed, error.to_string()))?;
    StoreKind::CosmosDb.check_lossless(tape, line)
}

/// The text that is sent for a line that a tape has read: what the service sets by itself is not taken from it.
pub(super) fn text(tape: &Tape, line: &[u8]) -> Result<Box<RawValue>, Refusal> {
    let malformed = |what: String| Refusal::new(Reason::Malformed, what);
    let text = without_system_fields(tape, line).into_owned();
    let text = String::from_utf8(text).map_err(|error| malformed(error.to_string()))?;
    RawValue::from_string(text).map_err(|error| malformed(error.to_string()))
}

/// Checks the size of the item that a tape has read.
pub(super) fn check_size(tape: &Tape, line: &[u8]) -> Result<(), Refusal> {
    if size_bound(StoreKind::CosmosDb, line.len()) <= MOST_BYTES {
        return Ok(());
    }
    let size = stored_size(StoreKind::CosmosDb, tape, line);
    if size <= MOST_BYTES {
        return Ok(());
    }
    let detail = format!("The item has {size} bytes; Cosmos DB stores {MOST_BYTES} at most.");
    Err(Refusal::new(Reason::DocumentTooLarge, detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_is_that_of_what_is_sent() {
        let check = |payload: usize| {
            let line = format!(r#"{{"id":"1","p":"{}","_ts":12345}}"#, "x".repeat(payload));
            let mut tape = Tape::new();
            tape.read(line.as_bytes()).unwrap();
            check_size(&tape, line.as_bytes()).map_err(|refusal| refusal.reason)
        };
        let frame = r#"{"id":"1","p":""}"#.len();
        assert_eq!(check((2 << 20) - frame), Ok(()));
        assert_eq!(check((2 << 20) - frame + 1), Err(Reason::DocumentTooLarge));
    }
}
