//! Which fields of a document a question or an index reads.

use super::order;
use crate::document::bson::Outline;
use crate::document::json::Tape;
use crate::document::{DOCUMENT_ID, StoreKind, document_id, find_field, text_field};
use crate::stores::{StoreError, StoreErrorKind, StoreResult};

/// Reads a string field, `@id` too; `None` if it is not there or of another type.
pub(super) fn text<'a>(
    kind: StoreKind,
    tape: &Tape,
    line: &'a [u8],
    name: &str,
) -> Option<std::borrow::Cow<'a, str>> {
    if kind == StoreKind::Firestore && name == DOCUMENT_ID {
        return document_id(tape, line);
    }
    text_field(kind, tape, line, name)
}

/// Appends the ordered form of fields, one after the other.
pub(in crate::stores) fn write_ordered<'n>(
    kind: StoreKind,
    tape: &Tape,
    line: &[u8],
    names: impl IntoIterator<Item = &'n str>,
    out: &mut Vec<u8>,
) {
    if let Ok(Some(outline)) = Outline::of(kind, tape, line) {
        return write_ordered(kind, &outline.tape, &outline.line, names, out);
    }
    for name in names {
        if kind == StoreKind::Firestore && name == DOCUMENT_ID {
            order::write_text(&document_id(tape, line).unwrap_or_default(), out);
            continue;
        }
        let value = find_field(kind, tape, line, name).ok().flatten();
        order::write_value(kind, tape, line, value, out);
    }
}

/// Reads a stored line. One that cannot be read was changed behind the tool's back.
pub(super) fn read_stored(tape: &mut Tape, line: &[u8]) -> StoreResult<()> {
    tape.read(line).map_err(|error| {
        StoreError::new(StoreErrorKind::File, "Embedded storage holds a damaged document").with_source(error)
    })
}
