//! Byte strings that sort and compare as a store's values do, for keys and indexes.
//!
//! ```text
//! 01                                              null, or no such field
//! 02 sign, power of ten (2 bytes), digits 00      a number, by value
//! 03 text 00 00                                   a string, by its UTF-8 bytes; a zero inside is 00 FF
//! 04 compact JSON 00 00                           anything else
//! ```
//!
//! No value's bytes begin another's, so values stand one after the other in a composite key.

use std::borrow::Cow;
use std::ops::Bound;

use crate::document::decimal::Decimal;
use crate::document::json::{Kind, Member, Tape};
use crate::document::text::unescape;
use crate::document::{StoreKind, write_compact};
use crate::key::order as terminated;

const NULL: u8 = 1;
const NUMBER: u8 = 2;
const TEXT: u8 = 3;
const OTHER: u8 = 4;

/// Appends a field's value, `None` for a field that is not there.
pub(super) fn write_value(
    kind: StoreKind,
    tape: &Tape,
    line: &[u8],
    value: Option<&Member>,
    out: &mut Vec<u8>,
) {
    let Some(value) = value.filter(|value| !kind.is_null(tape, line, value)) else {
        return out.push(NULL);
    };
    if let Some(text) = kind.text(tape, line, value) {
        return write_text(&text, out);
    }
    let number = number_text(kind, tape, line, value);
    if number.is_some_and(|text| write_number(&text, out)) {
        return;
    }
    let mut compact = Vec::new();
    write_compact(value.raw(line), &mut compact);
    out.push(OTHER);
    terminated::write_text(&compact, out);
}

/// Appends a string.
pub(super) fn write_text(text: &str, out: &mut Vec<u8>) {
    out.push(TEXT);
    terminated::write_text(text.as_bytes(), out);
}

/// The range of the byte strings that begin with `prefix`.
pub(super) fn beginning_with(prefix: &[u8]) -> (Bound<&[u8]>, Bound<Vec<u8>>) {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if last < u8::MAX {
            end.push(last + 1);
            return (Bound::Included(prefix), Bound::Excluded(end));
        }
    }
    (Bound::Included(prefix), Bound::Unbounded)
}

/// The decimal text of a value of one of the store's number types.
fn number_text<'a>(kind: StoreKind, tape: &Tape, line: &'a [u8], value: &Member) -> Option<Cow<'a, str>> {
    let names: &[&str] = match kind {
        StoreKind::CosmosDb => return bare_number(line, value),
        StoreKind::MongoDb => &["$numberLong", "$numberInt", "$numberDouble", "$numberDecimal"],
        StoreKind::DynamoDb => &["N"],
        StoreKind::Firestore => &["integerValue", "doubleValue"],
    };
    let typed = (value.kind == Kind::Object).then(|| tape.only_child(value)).flatten()?;
    if !names.iter().any(|name| typed.is_named(line, name)) {
        return None;
    }
    match typed.kind {
        Kind::String => Some(unescape(typed.raw(line))),
        _ => bare_number(line, typed),
    }
}

fn bare_number<'a>(line: &'a [u8], value: &Member) -> Option<Cow<'a, str>> {
    let text = (value.kind == Kind::Number).then(|| std::str::from_utf8(value.raw(line)).ok()).flatten();
    text.map(Cow::Borrowed)
}

/// Appends a number by value; `false`, and nothing appended, for what is none (`NaN`) or out of any store's range.
fn write_number(text: &str, out: &mut Vec<u8>) -> bool {
    let Some(number) = Decimal::parse(text) else { return false };
    let Ok(point) = i16::try_from(number.point()) else { return false };
    out.push(NUMBER);
    if number.is_zero() {
        out.push(1);
        return true;
    }
    out.push(if number.is_negative() { 0 } else { 2 });
    let start = out.len();
    out.extend_from_slice(&(point ^ i16::MIN).to_be_bytes());
    out.extend(number.digits().map(|digit| digit - b'0' + 1));
    out.push(0);
    if number.is_negative() {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(kind: StoreKind, value: &str) -> Vec<u8> {
        let line = format!("{{\"v\":{value}}}");
        let mut tape = Tape::new();
        tape.read(line.as_bytes()).unwrap();
        let mut out = Vec::new();
        let member = tape.find(line.as_bytes(), None, "v");
        write_value(kind, &tape, line.as_bytes(), member, &mut out);
        out
    }

    #[test]
    fn numbers_sort_by_value() {
        let texts = [
            "-1e30", "-10", "-9.5", "-9", "-1", "-0.25", "-1e-9", "0", "1e-9", "0.25", "1", "1.5", "2", "9",
            "10", "11", "99", "100", "1e30",
        ];
        let sorted = texts.map(|text| bytes(StoreKind::CosmosDb, text));
        assert!(sorted.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn numbers_of_one_value_are_equal_whatever_their_type_and_spelling() {
        let mongodb = |value| bytes(StoreKind::MongoDb, value);
        assert_eq!(mongodb(r#"{"$numberInt":"1"}"#), mongodb(r#"{"$numberDouble":"1.0"}"#));
        assert_eq!(mongodb(r#"{"$numberLong":"10"}"#), mongodb(r#"{"$numberDecimal":"1E+1"}"#));
        let dynamodb = |value| bytes(StoreKind::DynamoDb, value);
        assert_eq!(dynamodb(r#"{"N":"1"}"#), dynamodb(r#"{"N":"1.00"}"#));
        assert_ne!(dynamodb(r#"{"N":"1"}"#), dynamodb(r#"{"S":"1"}"#));
        let firestore = |value| bytes(StoreKind::Firestore, value);
        assert_eq!(firestore(r#"{"integerValue":"-0"}"#), firestore(r#"{"doubleValue":0}"#));
        assert_ne!(firestore(r#"{"doubleValue":"NaN"}"#), firestore(r#"{"doubleValue":"Infinity"}"#));
    }

    #[test]
    fn null_and_missing_are_equal_and_come_first() {
        let null = bytes(StoreKind::MongoDb, "null");
        let mut missing = Vec::new();
        write_value(StoreKind::MongoDb, &Tape::new(), b"{}", None, &mut missing);
        assert_eq!(null, missing);
        assert!(null < bytes(StoreKind::MongoDb, r#"{"$numberInt":"-5"}"#));
    }

    #[test]
    fn no_value_begins_another() {
        let values = ["\"\"", "\"a\"", "\"a\\u0000\"", "\"a\\u0000b\"", "\"ab\"", "1", "10", "null", "[1]"];
        for a in values {
            for b in values.into_iter().filter(|b| *b != a) {
                assert!(
                    !bytes(StoreKind::CosmosDb, b).starts_with(&bytes(StoreKind::CosmosDb, a)),
                    "{a} {b}"
                );
            }
        }
    }

    #[test]
    fn the_range_of_a_prefix_holds_exactly_what_begins_with_it() {
        use std::collections::BTreeSet;
        let all: BTreeSet<Vec<u8>> =
            [vec![], vec![1], vec![1, 0xFF], vec![1, 0xFF, 7], vec![1, 0xFF, 0xFF], vec![2], vec![0xFF]]
                .into();
        for prefix in &all {
            let (start, end) = beginning_with(prefix);
            let found: Vec<_> = all.range((start.map(<[u8]>::to_vec), end)).collect();
            let expected: Vec<_> = all.iter().filter(|bytes| bytes.starts_with(prefix)).collect();
            assert_eq!(found, expected);
        }
    }
}
