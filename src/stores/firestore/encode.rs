//! Documents as lines: the REST API's `Document`, fields sorted by the bytes of their names.
//!
//! The service keeps no order of fields, and the protobuf types lose what they do not know; so the order is made
//! here, and a value without a known type is an error.

use std::collections::HashMap;

use firestore::gcloud_sdk::google::firestore::v1::value::ValueType;
use firestore::gcloud_sdk::google::firestore::v1::{Document, Value};
use firestore::gcloud_sdk::prost_types::Timestamp;

use crate::document::text::write_quoted;
use crate::document::{base64_text, double};
use crate::stores::{StoreError, StoreErrorKind, StoreResult};

/// Appends a document as a line.
///
/// Errors: [`StoreErrorKind::Permanent`] if a value has a type that did not exist when this was written.
pub(super) fn write_document(document: &Document, out: &mut Vec<u8>) -> StoreResult<()> {
    out.extend_from_slice(b"{\"name\":");
    write_quoted(&document.name, out);
    out.extend_from_slice(b",\"fields\":");
    write_fields(&document.fields, out).map_err(|Unknown(path)| {
        let message = format!(
            "The field {path:?} of the document {:?} has a type that this version of rekey does not know",
            document.name
        );
        StoreError::new(StoreErrorKind::Permanent, message)
    })?;
    write_system_time("createTime", document.create_time, out);
    write_system_time("updateTime", document.update_time, out);
    out.push(b'}');
    Ok(())
}

/// A document as a line of its own.
pub(super) fn line_of(document: &Document) -> StoreResult<Box<[u8]>> {
    let mut line = Vec::with_capacity(1024);
    write_document(document, &mut line)?;
    Ok(line.into())
}

/// One value as text, as in a position.
pub(super) fn write_value_text(value: &Value) -> StoreResult<String> {
    let mut out = Vec::new();
    let written = write_value(value, &mut out).ok().and_then(|()| String::from_utf8(out).ok());
    written.ok_or_else(|| {
        StoreError::new(
            StoreErrorKind::Permanent,
            "A value has a type that this version of rekey does not know",
        )
    })
}

/// A time as the REST API spells it: in UTC, with no, three, six or nine digits of a second's fraction.
pub(super) fn time_text(time: Timestamp) -> String {
    time.to_string()
}

fn write_system_time(name: &str, time: Option<Timestamp>, out: &mut Vec<u8>) {
    let Some(time) = time else { return };
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
    write_quoted(&time_text(time), out);
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

fn write_fields(fields: &HashMap<String, Value>, out: &mut Vec<u8>) -> Result<(), Unknown> {
    let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
    fields.sort_unstable_by_key(|(name, _)| *name);
    out.push(b'{');
    for (at, (name, value)) in fields.into_iter().enumerate() {
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

/// Appends a value in its type wrapper, as
/// [`Value`](https://firebase.google.com/docs/firestore/reference/rest/v1/Value) is spelled.
fn write_value(value: &Value, out: &mut Vec<u8>) -> Result<(), Unknown> {
    use ValueType::{
        ArrayValue, BooleanValue, BytesValue, DoubleValue, FieldReferenceValue, FunctionValue, GeoPointValue,
        IntegerValue, MapValue, NullValue, PipelineValue, ReferenceValue, StringValue, TimestampValue,
        VariableReferenceValue,
    };
    match &value.value_type {
        Some(NullValue(_)) => out.extend_from_slice(b"{\"nullValue\":null"),
        Some(BooleanValue(true)) => out.extend_from_slice(b"{\"booleanValue\":true"),
        Some(BooleanValue(false)) => out.extend_from_slice(b"{\"booleanValue\":false"),
        Some(IntegerValue(integer)) => {
            out.extend_from_slice(b"{\"integerValue\":\"");
            out.extend_from_slice(itoa::Buffer::new().format(*integer).as_bytes());
            out.push(b'"');
        }
        Some(DoubleValue(number)) => {
            out.extend_from_slice(b"{\"doubleValue\":");
            write_double(*number, out);
        }
        Some(TimestampValue(time)) => {
            out.extend_from_slice(b"{\"timestampValue\":");
            write_quoted(&time_text(*time), out);
        }
        Some(StringValue(text)) => {
            out.extend_from_slice(b"{\"stringValue\":");
            write_quoted(text, out);
        }
        Some(BytesValue(bytes)) => {
            out.extend_from_slice(b"{\"bytesValue\":\"");
            base64_text::append(bytes, out);
            out.push(b'"');
        }
        Some(ReferenceValue(name)) => {
            out.extend_from_slice(b"{\"referenceValue\":");
            write_quoted(name, out);
        }
        Some(GeoPointValue(point)) => {
            out.extend_from_slice(b"{\"geoPointValue\":{\"latitude\":");
            write_double(point.latitude, out);
            out.extend_from_slice(b",\"longitude\":");
            write_double(point.longitude, out);
            out.push(b'}');
        }
        Some(ArrayValue(array)) => {
            out.extend_from_slice(b"{\"arrayValue\":{\"values\":[");
            for (at, element) in array.values.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write_value(element, out).map_err(|unknown| unknown.within(&at.to_string()))?;
            }
            out.extend_from_slice(b"]}");
        }
        Some(MapValue(map)) => {
            out.extend_from_slice(b"{\"mapValue\":{\"fields\":");
            write_fields(&map.fields, out)?;
            out.push(b'}');
        }
        // Parts of queries, which no document holds, and whatever the service has learnt since.
        Some(FieldReferenceValue(_) | VariableReferenceValue(_) | FunctionValue(_) | PipelineValue(_))
        | None => {
            return Err(Unknown(String::new()));
        }
    }
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

    use super::*;

    fn document(fields: impl IntoIterator<Item = (&'static str, Option<ValueType>)>) -> Document {
        let fields = fields.into_iter().map(|(name, value_type)| (name.to_owned(), Value { value_type }));
        Document { name: "n".to_owned(), fields: fields.collect(), create_time: None, update_time: None }
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
        assert_eq!(String::from_utf8(line_of(&outer).unwrap().into()).unwrap(), expected);
    }

    #[test]
    fn a_type_that_is_not_known_is_an_error_with_its_path() {
        let values = vec![
            Value { value_type: Some(ValueType::NullValue(0)) },
            Value {
                value_type: Some(ValueType::MapValue(pb::MapValue {
                    fields: document([("x", None)]).fields,
                })),
            },
        ];
        let odd = document([("list", Some(ValueType::ArrayValue(pb::ArrayValue { values })))]);
        let error = line_of(&odd).unwrap_err();
        assert_eq!(error.kind, StoreErrorKind::Permanent);
        assert!(error.message.contains("\"list.1.x\""), "{error}");
        let query = ValueType::FieldReferenceValue("f".to_owned());
        assert!(line_of(&document([("q", Some(query))])).is_err());
    }
}
