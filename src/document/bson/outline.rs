//! What a layout and a store read of a document that stands as an escape record.

use super::element::{Element, Elements};
use super::extended::write_value;
use super::{RAW_BSON, base64_text};
use crate::check::{Reason, Refusal};
use crate::document::StoreKind;
use crate::document::json::{Kind, Tape};
use crate::document::lossless::is_escape_record;
use crate::document::text::{unescape, write_quoted};

/// The document of an escape record, spelled as a line of its own as far as Extended JSON carries it.
///
/// A field that it does not carry holds `{"$rawBson":"<base64 of a document of that field alone>"}`, so that
/// it is neither a text nor a number; so does one whose name stands twice, once.
#[derive(Clone, Debug)]
pub struct Outline {
    /// The tokens of the line.
    pub tape: Tape,
    /// The line.
    pub line: Vec<u8>,
    /// The document.
    pub bson: Vec<u8>,
    /// The names of its fields that stand twice.
    pub repeated: Vec<String>,
}

impl Outline {
    /// Makes the outline of a line that `tape` has read; `None` if it is no escape record.
    ///
    /// Errors: [`Reason::EscapeRecord`] if it holds no BSON document.
    pub fn of(kind: StoreKind, tape: &Tape, line: &[u8]) -> Result<Option<Self>, Refusal> {
        if kind != StoreKind::MongoDb || !is_escape_record(tape, line) {
            return Ok(None);
        }
        let broken = || Refusal::new(Reason::EscapeRecord, "The \"$rawBson\" record holds no BSON document.");
        let mut members = tape.members(None);
        let raw = members.next().filter(|raw| raw.kind == Kind::String).ok_or_else(broken)?;
        let bson = base64_text::decode(&unescape(raw.raw(line))).filter(|_| members.next().is_none());
        let bson = bson.ok_or_else(broken)?;
        let line = Vec::with_capacity(bson.len() * 2);
        let mut outline = Self { tape: Tape::new(), line, bson, repeated: Vec::new() };
        outline.write().ok_or_else(broken)?;
        Ok(Some(outline))
    }

    fn write(&mut self) -> Option<()> {
        let Self { tape, line, bson, repeated } = self;
        let elements = Elements::of(bson).ok()?.collect::<Result<Vec<_>, _>>().ok()?;
        line.push(b'{');
        for (at, element) in elements.iter().enumerate() {
            // No layout has a field whose name is no text, or the mark of an escape record.
            let name = std::str::from_utf8(element.name).ok().filter(|name| *name != RAW_BSON);
            let Some(name) = name else { continue };
            let twice = |others: &[Element<'_>]| others.iter().any(|other| other.name == element.name);
            let (before, after) = (elements.get(..at), elements.get(at + 1..));
            if before.is_some_and(twice) {
                continue;
            }
            if line.len() > 1 {
                line.push(b',');
            }
            write_quoted(name, line);
            line.push(b':');
            let start = line.len();
            let repeats = after.is_some_and(twice);
            if repeats {
                repeated.push(name.to_owned());
            }
            if repeats || write_value(element, line).is_err() {
                line.truncate(start);
                write_raw_value(element.whole, line);
            }
        }
        line.push(b'}');
        tape.read(line).ok()
    }
}

/// Appends `{"$rawBson":"…"}` for a document of this element alone.
fn write_raw_value(element: &[u8], out: &mut Vec<u8>) {
    let length = u32::try_from(element.len() + 5).unwrap_or(u32::MAX);
    let document = [&length.to_le_bytes(), element, &[0]].concat();
    out.extend_from_slice(b"{\"");
    out.extend_from_slice(RAW_BSON.as_bytes());
    out.extend_from_slice(b"\":\"");
    base64_text::append(&document, out);
    out.extend_from_slice(b"\"}");
}
