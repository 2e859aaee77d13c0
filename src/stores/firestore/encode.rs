//! Documents as lines: the REST API's `Document`, fields sorted by the bytes of their names.
//!
//! The service keeps no order of fields, so the order is made here; a value without a known type is an error.

use firestore::gcloud_sdk::prost_types::Timestamp;

use super::wire::{Malformed, StoredDocument, Wire, WireFields, map_entry, sort_fields, text, timestamp};
use crate::document::text::write_quoted;
use crate::document::{base64_text, double, timestamp as rfc3339};
use crate::stores::{StoreError, StoreErrorKind, StoreResult};

/// Appends a document as a line.
///
/// Errors: [`StoreErrorKind::Permanent`] if a value has a type that did not exist when this was written.
pub(super) fn write_document(document: &StoredDocument<'_>, out: &mut Vec<u8>) -> StoreResult<()> {
    out.extend_from_slice(b"{\"name\":");
    write_quoted(document.name, out);
    out.extend_from_slice(b",\"fields\":");
    write_fields(&document.fields, out).map_err(|Unknown(path)| {
        let message = format!(
            "The field {path:?} of the document {:?} has a type that this version of rekey does not know",
            document.name
        );
        StoreError::new(StoreErrorKind::Permanent, message)
    })?;
    for (name, time) in [("createTime", document.created), ("updateTime", document.changed)] {
        if let Some(time) = time {
            let time = timestamp(time)?;
            out.extend_from_slice(b",\"");
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b"\":");
            write_time(time, out)?;
        }
    }
    out.push(b'}');
    Ok(())
}

/// A document, as it stands on the wire, as a line of its own.
pub(super) fn line_of(document: &[u8]) -> StoreResult<Box<[u8]>> {
    let mut line = Vec::with_capacity(1024);
    write_document(&StoredDocument::read(document)?, &mut line)?;
    Ok(line.into())
}

/// One value as text, as in a position.
pub(super) fn write_value_text(value: &[u8]) -> StoreResult<String> {
    let mut out = Vec::new();
    let written = write_value(value, &mut out).ok().and_then(|()| String::from_utf8(out).ok());
    written.ok_or_else(|| {
        StoreError::new(
            StoreErrorKind::Permanent,
            "A value has a type that this version of rekey does not know",
        )
    })
}

/// Appends a time as the REST API spells it: in UTC, with no, three, six or nine digits of a second's fraction.
fn write_time(time: Timestamp, out: &mut Vec<u8>) -> Result<(), Malformed> {
    out.push(b'"');
    rfc3339::append(time.seconds, time.nanos, out).ok_or(Malformed)?;
    out.push(b'"');
    Ok(())
}

/// A value of a type that is not known, by the path that leads to it.
struct Unknown(String);

impl Unknown {
    /// The same value seen from one level further out.
    fn within(self, step: &str) -> Self {
        let Self(path) = self;
        Self(if path.is_empty() { step.to_owned() } else { format!("{step}.{path}") })
    }
}

impl From<Malformed> for Unknown {
    fn from(_: Malformed) -> Self {
        Self(String::new())
    }
}

/// Appends fields that are sorted by their names.
fn write_fields(fields: &[(&str, &[u8])], out: &mut Vec<u8>) -> Result<(), Unknown> {
    out.push(b'{');
    for (at, (name, value)) in fields.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write_quoted(name, out);
        out.push(b':');
        write_value(value, out).map_err(|unknown| unknown.within(name))?;
    }
    out.push(b'}');
    Ok(())
}

/// Appends a `Value` in its type wrapper, as
/// [`Value`](https://firebase.google.com/docs/firestore/reference/rest/v1/Value) is spelled.
///
/// [The numbers of its fields](https://github.com/googleapis/googleapis/blob/master/google/firestore/v1/document.proto).
fn write_value(value: &[u8], out: &mut Vec<u8>) -> Result<(), Unknown> {
    let mut fields = WireFields(value);
    // Nothing at all is a type that the build does not know, as is a second one.
    let Some(typed) = fields.next() else { return Err(Malformed.into()) };
    match typed? {
        (11, Wire::Varint(0)) => out.extend_from_slice(b"{\"nullValue\":null"),
        (1, Wire::Varint(0)) => out.extend_from_slice(b"{\"booleanValue\":false"),
        (1, Wire::Varint(1)) => out.extend_from_slice(b"{\"booleanValue\":true"),
        (2, Wire::Varint(integer)) => {
            out.extend_from_slice(b"{\"integerValue\":\"");
            out.extend_from_slice(itoa::Buffer::new().format(integer.cast_signed()).as_bytes());
            out.push(b'"');
        }
        (3, Wire::Fixed64(bits)) => {
            out.extend_from_slice(b"{\"doubleValue\":");
            write_double(f64::from_bits(bits), out);
        }
        (10, Wire::Bytes(time)) => {
            out.extend_from_slice(b"{\"timestampValue\":");
            write_time(timestamp(time)?, out)?;
        }
        (17, Wire::Bytes(string)) => {
            out.extend_from_slice(b"{\"stringValue\":");
            write_quoted(text(string)?, out);
        }
        (18, Wire::Bytes(bytes)) => {
            out.extend_from_slice(b"{\"bytesValue\":\"");
            base64_text::append(bytes, out);
            out.push(b'"');
        }
        (5, Wire::Bytes(name)) => {
            out.extend_from_slice(b"{\"referenceValue\":");
            write_quoted(text(name)?, out);
        }
        (8, Wire::Bytes(point)) => write_point(point, out)?,
        (9, Wire::Bytes(array)) => write_array(array, out)?,
        (6, Wire::Bytes(map)) => write_map(map, out)?,
        // Parts of queries, which no document holds, and whatever the service has learnt since.
        _ => return Err(Malformed.into()),
    }
    out.push(b'}');
    if fields.next().is_some() { Err(Malformed.into()) } else { Ok(()) }
}

fn write_point(point: &[u8], out: &mut Vec<u8>) -> Result<(), Malformed> {
    let (mut latitude, mut longitude) = (0.0, 0.0);
    for field in WireFields(point) {
        match field? {
            (1, Wire::Fixed64(bits)) => latitude = f64::from_bits(bits),
            (2, Wire::Fixed64(bits)) => longitude = f64::from_bits(bits),
            _ => return Err(Malformed),
        }
    }
    out.extend_from_slice(b"{\"geoPointValue\":{\"latitude\":");
    write_double(latitude, out);
    out.extend_from_slice(b",\"longitude\":");
    write_double(longitude, out);
    out.push(b'}');
    Ok(())
}

fn write_array(array: &[u8], out: &mut Vec<u8>) -> Result<(), Unknown> {
    out.extend_from_slice(b"{\"arrayValue\":{\"values\":[");
    for (at, element) in WireFields(array).enumerate() {
        let (1, Wire::Bytes(element)) = element? else { return Err(Malformed.into()) };
        if at > 0 {
            out.push(b',');
        }
        write_value(element, out).map_err(|unknown| unknown.within(&at.to_string()))?;
    }
    out.extend_from_slice(b"]}");
    Ok(())
}

fn write_map(map: &[u8], out: &mut Vec<u8>) -> Result<(), Unknown> {
    let mut fields = Vec::new();
    for entry in WireFields(map) {
        let (1, Wire::Bytes(entry)) = entry? else { return Err(Malformed.into()) };
        fields.push(map_entry(entry)?);
    }
    sort_fields(&mut fields)?;
    out.extend_from_slice(b"{\"mapValue\":{\"fields\":");
    write_fields(&fields, out)?;
    out.push(b'}');
    Ok(())
}

/// Appends a double as a number, or as a string if it is none.
fn write_double(number: f64, out: &mut Vec<u8>) {
    if number.is_finite() {
        return double::write(number, out);
    }
    out.push(b'"');
    double::write(number, out);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use firestore::gcloud_sdk::google::firestore::v1 as pb;
    use firestore::gcloud_sdk::google::firestore::v1::value::ValueType;
    use firestore::gcloud_sdk::prost::Message as _;

    use super::*;

    fn document(fields: impl IntoIterator<Item = (&'static str, Option<ValueType>)>) -> pb::Document {
        let fields = fields.into_iter().map(|(name, value_type)| (name.to_owned(), pb::Value { value_type }));
        pb::Document { name: "n".to_owned(), fields: fields.collect(), create_time: None, update_time: None }
    }

    fn line(document: &pb::Document) -> StoreResult<String> {
        Ok(String::from_utf8(line_of(&document.encode_to_vec())?.into()).unwrap())
    }

    #[test]
    fn fields_are_sorted_by_bytes_at_every_level() {
        let inner =
            document([("b", Some(ValueType::NullValue(0))), ("B", Some(ValueType::BooleanValue(true)))]);
        let mut outer = document([
            ("é", Some(ValueType::IntegerValue(i64::MIN))),
            ("z", Some(ValueType::MapValue(pb::MapValue { fields: inner.fields }))),
            ("a.b", Some(ValueType::ArrayValue(pb::ArrayValue { values: Vec::new() }))),
        ]);
        outer.update_time = Some(Timestamp { seconds: 1, nanos: 5_000 });
        let expected = r#"{"name":"n","fields":{"a.b":{"arrayValue":{"values":[]}},"z":{"mapValue":{"fields":{"B":{"booleanValue":true},"b":{"nullValue":null}}}},"é":{"integerValue":"-9223372036854775808"}},"updateTime":"1970-01-01T00:00:01.000005Z"}"#;
        assert_eq!(line(&outer).unwrap(), expected);
    }

    #[test]
    fn a_type_that_is_not_known_is_an_error_with_its_path() {
        let values = vec![
            pb::Value { value_type: Some(ValueType::NullValue(0)) },
            pb::Value {
                value_type: Some(ValueType::MapValue(pb::MapValue {
                    fields: document([("x", None)]).fields,
                })),
            },
        ];
        let odd = document([("list", Some(ValueType::ArrayValue(pb::ArrayValue { values })))]);
        let error = line(&odd).unwrap_err();
        assert_eq!(error.kind, StoreErrorKind::Permanent);
        assert!(error.message.contains("\"list.1.x\""), "{error}");
        let query = ValueType::FieldReferenceValue("f".to_owned());
        assert!(line(&document([("q", Some(query))])).is_err());
        let beyond = Timestamp { seconds: i64::MAX, nanos: 0 };
        assert!(line(&document([("t", Some(ValueType::TimestampValue(beyond)))])).is_err());
    }
}
