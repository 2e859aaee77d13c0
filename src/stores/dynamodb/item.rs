//! Items as lines and back: `{"Item":{"pk":{"S":"…"},…}}`, every name in its sorted place.
//!
//! The line is that of the service's own table export and import. Numbers stay the text they are; a number
//! that the service would not take is refused here, since its own refusal repeats the value.

use std::collections::HashMap;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;

use crate::document::base64_text;
use crate::document::decimal::Decimal;
use crate::document::json::{Kind, Member, Tape};
use crate::document::text::{unescape, write_quoted};
use crate::stores::{StoreError, StoreErrorKind, StoreResult};

/// An item as the SDK holds it.
pub(super) type Item = HashMap<String, AttributeValue>;

/// The most significant digits of a number.
const DIGITS: usize = 38;

/// Appends an item as a line.
///
/// Errors: [`StoreErrorKind::Permanent`] if an attribute has a type that did not exist when this was written.
pub(super) fn write_item(item: &Item, out: &mut Vec<u8>) -> StoreResult<()> {
    out.extend_from_slice(b"{\"Item\":");
    write_map(item, out)?;
    out.push(b'}');
    Ok(())
}

/// An item as a line of its own.
pub(super) fn line_of(item: &Item) -> StoreResult<Box<[u8]>> {
    let mut line = Vec::with_capacity(512);
    write_item(item, &mut line)?;
    Ok(line.into())
}

/// Appends attributes as an object, sorted by the bytes of their names.
pub(super) fn write_map(map: &Item, out: &mut Vec<u8>) -> StoreResult<()> {
    let mut names: Vec<(u64, &String, &AttributeValue)> =
        map.iter().map(|(name, value)| (first_bytes(name), name, value)).collect();
    names.sort_unstable_by(|(a, a_name, _), (b, b_name, _)| a.cmp(b).then_with(|| a_name.cmp(b_name)));
    out.push(b'{');
    for (at, (_, name, value)) in names.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write_quoted(name, out);
        out.push(b':');
        write_value(value, out).map_err(|()| {
            let message =
                format!("The attribute {name:?} has a type that this version of rekey does not know");
            StoreError::new(StoreErrorKind::Permanent, message)
        })?;
    }
    out.push(b'}');
    Ok(())
}

/// The first eight bytes of a name as a number that has their order, so that few names are compared whole.
pub(super) fn first_bytes(name: &str) -> u64 {
    let mut first = [0; 8];
    for (to, from) in first.iter_mut().zip(name.bytes()) {
        *to = from;
    }
    u64::from_be_bytes(first)
}

/// Appends a value in its type wrapper; the error is a type that is not known.
fn write_value(value: &AttributeValue, out: &mut Vec<u8>) -> Result<(), ()> {
    match value {
        AttributeValue::S(text) => write_typed(out, "S", |out| write_quoted(text, out)),
        AttributeValue::N(text) => write_typed(out, "N", |out| write_quoted(text, out)),
        AttributeValue::B(bytes) => write_typed(out, "B", |out| write_binary(bytes, out)),
        AttributeValue::Bool(value) => write_typed(out, "BOOL", |out| write_bool(*value, out)),
        AttributeValue::Null(value) => write_typed(out, "NULL", |out| write_bool(*value, out)),
        AttributeValue::Ss(set) => write_list(out, "SS", set, |text, out| write_quoted(text, out)),
        AttributeValue::Ns(set) => write_list(out, "NS", set, |text, out| write_quoted(text, out)),
        AttributeValue::Bs(set) => write_list(out, "BS", set, write_binary),
        AttributeValue::L(list) => {
            out.extend_from_slice(b"{\"L\":[");
            for (at, element) in list.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write_value(element, out)?;
            }
            out.extend_from_slice(b"]}");
        }
        AttributeValue::M(map) => {
            out.extend_from_slice(b"{\"M\":");
            write_map(map, out).map_err(|_| ())?;
            out.push(b'}');
        }
        _ => return Err(()),
    }
    Ok(())
}

fn write_typed(out: &mut Vec<u8>, name: &str, write: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(b"{\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
    write(out);
    out.push(b'}');
}

fn write_list<T>(out: &mut Vec<u8>, name: &str, elements: &[T], write: impl Fn(&T, &mut Vec<u8>)) {
    write_typed(out, name, |out| {
        out.push(b'[');
        for (at, element) in elements.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            write(element, out);
        }
        out.push(b']');
    });
}

fn write_binary(bytes: &Blob, out: &mut Vec<u8>) {
    write_quoted(&base64_text::encode(bytes.as_ref()), out);
}

fn write_bool(value: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(if value { b"true" } else { b"false" });
}

/// Reads a line; the error is a sentence that names the attribute and none of its content.
pub(super) fn read_item(tape: &mut Tape, line: &[u8]) -> Result<Item, String> {
    tape.read(line).map_err(|error| format!("The line is no document: {error}"))?;
    let item = tape.find(line, None, "Item").filter(|item| item.kind == Kind::Object);
    let item = item.ok_or("The line is not of the form {\"Item\":{…}}")?;
    ItemReader { tape, line }.map(item).map_err(|(path, what)| format!("The attribute {path:?} {what}"))
}

/// Reads the values of a line. An error is the path of an attribute and what is wrong with it.
#[derive(Clone, Copy)]
pub(super) struct ItemReader<'t> {
    /// What has read the line.
    pub tape: &'t Tape,
    /// The line.
    pub line: &'t [u8],
}

type Read<T> = Result<T, (String, &'static str)>;

impl<'t> ItemReader<'t> {
    fn map(self, map: &'t Member) -> Read<Item> {
        let mut item = Item::new();
        for member in self.tape.members(Some(map)) {
            let name = member.name(self.line);
            let value = self.value(member).map_err(|(path, what)| {
                let path = if path.is_empty() { name.to_string() } else { format!("{name}.{path}") };
                (path, what)
            })?;
            if item.insert(name.to_string(), value).is_some() {
                return Err((name.into_owned(), "stands twice in one map"));
            }
        }
        Ok(item)
    }

    /// Reads one attribute value.
    pub(super) fn value(self, value: &'t Member) -> Read<AttributeValue> {
        let typed = self.tape.only_child(value).filter(|_| value.kind == Kind::Object);
        let Some(typed) = typed else { return wrong("is no attribute value in DynamoDB JSON") };
        Ok(match (&*typed.name(self.line), typed.kind) {
            ("S", Kind::String) => AttributeValue::S(self.text(typed)),
            ("N", Kind::String) => AttributeValue::N(self.number(typed)?),
            ("B", Kind::String) => AttributeValue::B(self.binary(typed)?),
            ("BOOL", Kind::Bool) => AttributeValue::Bool(self.is_true(typed)),
            ("NULL", Kind::Bool) if self.is_true(typed) => AttributeValue::Null(true),
            ("SS", Kind::Array) => AttributeValue::Ss(self.set(typed, |it, text| Ok(it.text(text)))?),
            ("NS", Kind::Array) => AttributeValue::Ns(self.set(typed, Self::number)?),
            ("BS", Kind::Array) => AttributeValue::Bs(self.set(typed, Self::binary)?),
            ("L", Kind::Array) => {
                let elements = self.tape.members(Some(typed)).map(|element| self.value(element));
                AttributeValue::L(elements.collect::<Read<_>>()?)
            }
            ("M", Kind::Object) => AttributeValue::M(self.map(typed)?),
            _ => return wrong("is no attribute value in DynamoDB JSON"),
        })
    }

    fn set<T>(self, set: &'t Member, read: impl Fn(Self, &'t Member) -> Read<T>) -> Read<Vec<T>> {
        let element = |element: &'t Member| match element.kind {
            Kind::String => read(self, element),
            _ => wrong("is no attribute value in DynamoDB JSON"),
        };
        let elements = self.tape.members(Some(set)).map(element).collect::<Read<Vec<_>>>()?;
        if elements.is_empty() { wrong("is an empty set") } else { Ok(elements) }
    }

    fn text(self, value: &Member) -> String {
        unescape(value.raw(self.line)).into_owned()
    }

    fn number(self, value: &Member) -> Read<String> {
        let text = self.text(value);
        if is_number(&text) {
            Ok(text)
        } else {
            wrong("is no number of at most 38 digits from 1E-130 to 9.99E+125")
        }
    }

    fn binary(self, value: &Member) -> Read<Blob> {
        match base64_text::decode(&unescape(value.raw(self.line))) {
            Some(bytes) => Ok(Blob::new(bytes)),
            None => wrong("is no base64"),
        }
    }

    fn is_true(self, value: &Member) -> bool {
        value.raw(self.line) == b"true"
    }
}

fn wrong<T>(what: &'static str) -> Read<T> {
    Err((String::new(), what))
}

/// Whether the service takes a number.
///
/// [Its limits](https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html#HowItWorks.DataTypes.Number).
fn is_number(text: &str) -> bool {
    Decimal::parse(text).is_some_and(|number| {
        number.significant_digits() <= DIGITS && (number.is_zero() || (-129..=126).contains(&number.point()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Item, String> {
        read_item(&mut Tape::deep(), line.as_bytes())
    }

    #[test]
    fn every_type_is_read_and_written_with_sorted_names() {
        let line = r#"{"Item":{"b":{"B":"AP8="},"bs":{"BS":["AA=="]},"e":{"S":""},"eb":{"B":""},"f":{"BOOL":false},"l":{"L":[{"N":"1"},{"L":[]},{"M":{}}]},"m":{"M":{"a":{"M":{"x":{"B":"AQ=="}}},"z":{"S":"é\u0000"}}},"n":{"N":"-12345678901234567890123456789012345678"},"ns":{"NS":["1E-130","9.99E+125"]},"null":{"NULL":true},"pk":{"S":"Order:\"1\""},"ss":{"SS":["b","a"]},"t":{"BOOL":true}}}"#;
        let item = read(line).unwrap();
        assert_eq!(item.len(), 13);
        assert_eq!(String::from_utf8(line_of(&item).unwrap().into_vec()).unwrap(), line);
        // Another order and spelling of the same.
        let item = read(r#"{ "Item" : {"sk":{"N":"1.50"}, "p\u006b":{"S":"\u0041"}}}"#).unwrap();
        assert_eq!(&*line_of(&item).unwrap(), br#"{"Item":{"pk":{"S":"A"},"sk":{"N":"1.50"}}}"#);
    }

    #[test]
    fn what_the_service_would_refuse_is_refused_by_name_and_without_its_content() {
        for (line, path) in [
            (r#"{"Item":{"n":{"N":"S3CRET"}}}"#, "n"),
            (r#"{"Item":{"n":{"N":"1E+126"}}}"#, "n"),
            (r#"{"Item":{"n":{"N":"1E-131"}}}"#, "n"),
            (r#"{"Item":{"n":{"N":"123456789012345678901234567890123456789"}}}"#, "n"),
            (r#"{"Item":{"m":{"M":{"l":{"L":[{"M":{"b":{"B":"S3CRET!"}}}]}}}}}"#, "m.l.b"),
            (r#"{"Item":{"s":{"SS":[]}}}"#, "s"),
            (r#"{"Item":{"s":{"NS":[1]}}}"#, "s"),
            (r#"{"Item":{"z":{"NULL":false}}}"#, "z"),
            (r#"{"Item":{"s":"S3CRET"}}"#, "s"),
            (r#"{"Item":{"s":{"S":"S3CRET","N":"1"}}}"#, "s"),
        ] {
            let error = read(line).unwrap_err();
            assert!(error.starts_with(&format!("The attribute {path:?} ")), "{error}");
            assert!(!error.contains("S3CRET"), "{error}");
        }
        for line in
            [r#"{"pk":{"S":"a"}}"#, r#"{"Item":[]}"#, "x", r#"{"Item":{"a":{"S":"1"},"a":{"S":"2"}}}"#]
        {
            assert!(read(line).is_err(), "{line}");
        }
        assert!(read(r#"{"Item":{"m":{"M":{"x":{"M":{"a":{"S":"1"},"a":{"S":"2"}}}}}}}"#).is_err());
    }

    #[test]
    fn a_type_that_is_not_known_is_an_error() {
        // The SDK's own enum cannot be made with an unknown variant, so the list of the known ones is checked.
        for (value, name) in [
            (AttributeValue::S(String::new()), "S"),
            (AttributeValue::N("0".into()), "N"),
            (AttributeValue::B(Blob::new([])), "B"),
            (AttributeValue::Bool(true), "BOOL"),
            (AttributeValue::Null(true), "NULL"),
            (AttributeValue::L(Vec::new()), "L"),
            (AttributeValue::M(Item::new()), "M"),
            (AttributeValue::Ss(vec!["a".into()]), "SS"),
            (AttributeValue::Ns(vec!["1".into()]), "NS"),
            (AttributeValue::Bs(vec![Blob::new([0])]), "BS"),
        ] {
            let mut out = Vec::new();
            assert_eq!(write_value(&value, &mut out), Ok(()));
            assert!(out.starts_with(format!("{{\"{name}\":").as_bytes()));
        }
    }
}
