//! Whether a stored document is what a guarded change or delete expects.

use crate::check::{Reason, Refusal};
use crate::document::bson::{self, Outline};
use crate::document::canonical::write_canonical;
use crate::document::json::{JsonError, Member, Tape};
use crate::document::{StoreKind, find_field, integer_field, text_field};

use super::GuardedUpdate;

/// Whether every field that an update names holds the value it expects.
pub fn holds(kind: StoreKind, tape: &Tape, line: &[u8], update: &GuardedUpdate) -> bool {
    let text = |(name, expected): &(String, String)| {
        text_field(kind, tape, line, name).is_some_and(|value| value == *expected)
    };
    let integer = |(name, expected): &(String, i64)| integer_field(kind, tape, line, name) == Some(*expected);
    update.when_text.iter().all(text) && update.when_integer.iter().all(integer)
}

/// Appends the document with one string field set: in its place, or after the last field.
pub fn write_with_text(
    kind: StoreKind,
    tape: &Tape,
    line: &[u8],
    (name, text): (&str, &str),
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    if let Some(outline) = Outline::of(kind, tape, line)? {
        let mut changed = Vec::with_capacity(outline.bson.len() + text.len());
        return match bson::with_text(&outline.bson, name, text, &mut changed) {
            Ok(()) => {
                bson::write_line(&changed, out);
                Ok(())
            }
            Err(error) => Err(Refusal::new(Reason::EscapeRecord, error.to_string())),
        };
    }
    let fields = kind.fields(tape, line)?;
    if let Some(value) = find_field(kind, tape, line, name)? {
        let (before, after) = around(line, value);
        out.extend_from_slice(before);
        kind.write_text(text, out);
        out.extend_from_slice(after);
        return Ok(());
    }
    let object_end = fields.map_or(line.len(), |fields| fields.value.end as usize);
    let (object, after) = line.split_at_checked(object_end).unwrap_or((line, &[]));
    let brace = memchr::memrchr(b'}', object).unwrap_or(object.len());
    let (before, brace) = object.split_at_checked(brace).unwrap_or((object, &[]));
    out.extend_from_slice(before);
    if tape.members(fields).next().is_some() {
        out.push(b',');
    }
    crate::document::text::write_quoted(name, out);
    out.push(b':');
    kind.write_text(text, out);
    out.extend_from_slice(brace);
    out.extend_from_slice(after);
    Ok(())
}

fn around<'a>(line: &'a [u8], value: &Member) -> (&'a [u8], &'a [u8]) {
    let before = line.get(..value.value.start as usize).unwrap_or_default();
    let after = line.get(value.value.end as usize..).unwrap_or_default();
    (before, after)
}

/// Whether two documents are the same in their canonical form, system fields aside.
pub fn is_same(kind: StoreKind, a: &[u8], b: &[u8]) -> Result<bool, JsonError> {
    if a == b {
        return Ok(true);
    }
    let (mut canonical_a, mut canonical_b) = (Vec::new(), Vec::new());
    write_canonical(kind, a, &[], &mut canonical_a)?;
    write_canonical(kind, b, &[], &mut canonical_b)?;
    Ok(canonical_a == canonical_b)
}

/// Whether a stored document was not even written anew since `expected` was read: the same in its canonical form, and
/// with the same change mark (`_etag`, `updateTime`) where `expected` carries one.
pub fn is_unchanged(kind: StoreKind, stored: &[u8], expected: &[u8]) -> Result<bool, JsonError> {
    let mark = match kind {
        StoreKind::MongoDb | StoreKind::DynamoDb => return is_same(kind, stored, expected),
        StoreKind::Firestore => "updateTime",
        StoreKind::CosmosDb => "_etag",
    };
    let (mut stored_tape, mut expected_tape) = (Tape::new(), Tape::new());
    stored_tape.read(stored)?;
    expected_tape.read(expected)?;
    let value = |tape: &Tape, line: &[u8]| {
        let mark = tape.find(line, None, mark)?;
        Some(StoreKind::CosmosDb.text(tape, line, mark)?.into_owned())
    };
    let expected_mark = value(&expected_tape, expected);
    let same_mark = expected_mark.is_none() || expected_mark == value(&stored_tape, stored);
    Ok(same_mark && is_same(kind, stored, expected)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::StoreKey;

    fn with_text(kind: StoreKind, line: &str, name: &str, text: &str) -> String {
        let mut tape = Tape::new();
        tape.read(line.as_bytes()).unwrap();
        let mut out = Vec::new();
        write_with_text(kind, &tape, line.as_bytes(), (name, text), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_field_is_set_in_its_place_or_added_last() {
        let set = |kind, line| with_text(kind, line, "s", "t:\"");
        assert_eq!(set(StoreKind::MongoDb, r#"{ "s" : "x", "a":1}"#), r#"{ "s" : "t:\"", "a":1}"#);
        assert_eq!(set(StoreKind::MongoDb, "{}"), r#"{"s":"t:\""}"#);
        assert_eq!(
            set(StoreKind::DynamoDb, r#"{"Item":{"a":{"N":"1"}}}"#),
            r#"{"Item":{"a":{"N":"1"},"s":{"S":"t:\""}}}"#
        );
        assert_eq!(
            set(StoreKind::Firestore, r#"{"name":"n","fields":{"s":{"stringValue":"x"}},"createTime":"c"}"#),
            r#"{"name":"n","fields":{"s":{"stringValue":"t:\""}},"createTime":"c"}"#
        );
    }

    #[test]
    fn a_guard_holds_when_every_field_has_its_value_and_type() {
        let line = br#"{"_id":"1","streamId":"A","version":{"$numberLong":"3"}}"#;
        let mut tape = Tape::new();
        tape.read(line).unwrap();
        let holds = |text: &str, version| {
            let update = GuardedUpdate {
                key: StoreKey(r#"["1"]"#.into()),
                set: ("streamId".into(), "t:a:A".into()),
                when_text: vec![("streamId".into(), text.into())],
                when_integer: vec![("version".into(), version)],
            };
            super::holds(StoreKind::MongoDb, &tape, line, &update)
        };
        assert!(holds("A", 3));
        assert!(!holds("B", 3) && !holds("A", 4));
    }

    #[test]
    fn a_change_mark_counts_only_where_it_is_expected() {
        let stored = br#"{"id":"a","v":1,"_etag":"2"}"#;
        let unchanged = |expected: &[u8]| is_unchanged(StoreKind::CosmosDb, stored, expected).unwrap();
        assert!(unchanged(br#"{"v":1.0,"id":"a","_etag":"2"}"#));
        assert!(unchanged(br#"{"v":1,"id":"a"}"#));
        assert!(!unchanged(br#"{"v":1,"id":"a","_etag":"1"}"#));
        assert!(!unchanged(br#"{"v":2,"id":"a","_etag":"2"}"#));
    }
}
