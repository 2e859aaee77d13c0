//! Single fields of a document, also of one that stands as an escape record.

use std::borrow::Cow;

use super::bson::Outline;
use super::json::{Member, Tape};
use super::{StoreKind, find_field};

/// Reads a string field; `None` if it is missing or of another type.
pub fn text_field<'a>(kind: StoreKind, tape: &Tape, line: &'a [u8], name: &str) -> Option<Cow<'a, str>> {
    if let Ok(Some(Outline { tape, line, .. })) = Outline::of(kind, tape, line) {
        let value = find(kind, &tape, &line, name)?;
        return kind.text(&tape, &line, value).map(|text| Cow::Owned(text.into_owned()));
    }
    kind.text(tape, line, find(kind, tape, line, name)?)
}

/// Reads an integer field; `None` if it is missing or of another type.
pub fn integer_field(kind: StoreKind, tape: &Tape, line: &[u8], name: &str) -> Option<i64> {
    if let Ok(Some(Outline { tape, line, .. })) = Outline::of(kind, tape, line) {
        return kind.integer(&tape, &line, find(kind, &tape, &line, name)?);
    }
    kind.integer(tape, line, find(kind, tape, line, name)?)
}

/// Reads a truth value; `None` if it is missing or of another type.
pub fn boolean_field(kind: StoreKind, tape: &Tape, line: &[u8], name: &str) -> Option<bool> {
    if let Ok(Some(Outline { tape, line, .. })) = Outline::of(kind, tape, line) {
        return kind.boolean(&tape, &line, find(kind, &tape, &line, name)?);
    }
    kind.boolean(tape, line, find(kind, tape, line, name)?)
}

/// Reads a time in seconds since 1970; `None` if it is missing or of another type.
pub fn time_field(kind: StoreKind, tape: &Tape, line: &[u8], name: &str) -> Option<i64> {
    if let Ok(Some(Outline { tape, line, .. })) = Outline::of(kind, tape, line) {
        return kind.time(&tape, &line, find(kind, &tape, &line, name)?);
    }
    kind.time(tape, line, find(kind, tape, line, name)?)
}

fn find<'t>(kind: StoreKind, tape: &'t Tape, line: &[u8], name: &str) -> Option<&'t Member> {
    find_field(kind, tape, line, name).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_an_escape_record_are_read_like_any_other() {
        // {"s": "A", "v": int64 3, "x": NaN with a payload}
        let bson = b"\x24\0\0\0\x02s\0\x02\0\0\0A\0\x12v\0\x03\0\0\0\0\0\0\0\x01x\0\x01\0\0\0\0\0\xf8\x7f\0";
        let mut line = Vec::new();
        super::super::bson::write_line(bson, &mut line);
        assert!(line.starts_with(b"{\"$rawBson\""));
        let mut tape = Tape::new();
        for line in [&line[..], br#"{"s":"A","v":{"$numberLong":"3"},"x":null}"#] {
            tape.read(line).unwrap();
            let text = |name| text_field(StoreKind::MongoDb, &tape, line, name);
            let integer = |name| integer_field(StoreKind::MongoDb, &tape, line, name);
            assert_eq!((text("s").as_deref(), text("v"), text("y")), (Some("A"), None, None));
            assert_eq!((integer("v"), integer("s"), integer("x")), (Some(3), None, None));
        }
    }
}
