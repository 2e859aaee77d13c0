//! MongoDB's BSON as canonical Extended JSON and back, document by document.
//!
//! The text is that of
//! [Extended JSON v2](https://github.com/mongodb/specifications/blob/master/source/extended-json/extended-json.md),
//! which `mongoimport` reads. A document that it cannot carry exactly (a sub-document that looks like a type
//! wrapper, a name that stands twice, invalid UTF-8, a NaN with a payload, …) becomes an escape record:
//! `{"$rawBson":"<base64 of the whole document>"}`.

mod decimal128;
mod edit;
mod element;
mod extended;
mod outline;
mod parse;

use super::base64_text;
pub use edit::{with_text, without};
pub use element::{Element, ElementType, Elements, NotBson};
pub use outline::Outline;
pub use parse::Parser;

/// The name of an escape record's only member, and of a single value's in an [`Outline`].
pub const RAW_BSON: &str = "$rawBson";

/// How the line of an escape record begins, as [`write_line`] writes it.
pub const ESCAPE_RECORD: &[u8] = b"{\"$rawBson\":\"";

/// Appends the line of a document: canonical Extended JSON where that carries it exactly, else an escape record.
///
/// `bson` may be anything; what is no BSON document becomes an escape record, too.
pub fn write_line(bson: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    if extended::write_document(bson, out).is_err() {
        out.truncate(start);
        write_escape_record(bson, out);
    }
}

/// Appends `{"$rawBson":"…"}`.
fn write_escape_record(bson: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(ESCAPE_RECORD);
    base64_text::append(bson, out);
    out.extend_from_slice(b"\"}");
}

#[cfg(test)]
mod tests;
