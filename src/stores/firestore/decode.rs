//! Lines as documents, in any of the spellings that the REST API takes.

use std::collections::HashMap;

use firestore::gcloud_sdk::google::firestore::v1::value::ValueType;
use firestore::gcloud_sdk::google::firestore::v1::{ArrayValue, MapValue, Value};
use firestore::gcloud_sdk::google::r#type::LatLng;
use firestore::gcloud_sdk::prost_types::Timestamp;

use crate::document::decimal::Decimal;
use crate::document::json::{Kind, Member, Tape};
use crate::document::text::unescape;
use crate::document::{base64_text, document_id, double, timestamp};

/// What of a line is written: project, database and collection are the target's own.
#[derive(Debug)]
pub(super) struct Parsed {
    /// The document id: the last segment of the name.
    pub id: String,
    /// The fields.
    pub fields: HashMap<String, Value>,
}

/// Reads a line with a tape that records everything ([`Tape::deep`]); the error is a sentence that names the field
/// and none of its content.
pub(super) fn read_document(tape: &mut Tape, line: &[u8]) -> Result<Parsed, String> {
    tape.read(line).map_err(|error| format!("The line is no document: {error}"))?;
    let frame = "The line is not of the form {\"name\":…,\"fields\":{…}}";
    let id = document_id(tape, line).ok_or(frame)?.into_owned();
    let reader = Reader { tape, line };
    let mut fields = HashMap::new();
    for member in tape.members(None) {
        match (&*member.name(line), member.kind) {
            ("name" | "createTime" | "updateTime", Kind::String) => {}
            ("fields", Kind::Object) => {
                let read = reader.fields(member);
                fields = read.map_err(|Wrong { path, what }| format!("The field {path:?} {what}"))?;
            }
            (name, _) => return Err(format!("The line holds {name:?}, which no document has in that form")),
        }
    }
    Ok(Parsed { id, fields })
}

/// Reads one value that stands alone, as in a position.
pub(super) fn read_value(text: &str) -> Option<Value> {
    let line = format!("{{\"value\":{text}}}");
    let mut tape = Tape::deep();
    tape.read(line.as_bytes()).ok()?;
    let member = tape.find(line.as_bytes(), None, "value")?;
    Reader { tape: &tape, line: line.as_bytes() }.value(member).ok()
}

/// Reads a time of RFC 3339, cut to the microseconds that Firestore keeps.
pub(super) fn read_time(text: &str) -> Option<Timestamp> {
    timestamp::normalised(text)?.parse().ok()
}

/// What is wrong with a value, and the path that leads to it.
struct Wrong {
    path: String,
    what: &'static str,
}

type Read<T> = Result<T, Wrong>;

fn wrong<T>(what: &'static str) -> Read<T> {
    Err(Wrong { path: String::new(), what })
}

/// Reads the values of one line.
#[derive(Clone, Copy)]
struct Reader<'t> {
    tape: &'t Tape,
    line: &'t [u8],
}

impl<'t> Reader<'t> {
    fn fields(self, map: &'t Member) -> Read<HashMap<String, Value>> {
        let mut fields = HashMap::new();
        for member in self.tape.members(Some(map)) {
            let name = member.name(self.line);
            let value = self.value(member).map_err(|wrong| wrong.within(&name))?;
            if fields.insert(name.to_string(), value).is_some() {
                return Err(Wrong { path: name.into_owned(), what: "stands twice in one map" });
            }
        }
        Ok(fields)
    }

    fn value(self, value: &'t Member) -> Read<Value> {
        use ValueType::{
            BooleanValue, BytesValue, DoubleValue, GeoPointValue, IntegerValue, NullValue, ReferenceValue,
            StringValue, TimestampValue,
        };
        let typed = self.tape.only_child(value).filter(|_| value.kind == Kind::Object);
        let Some(typed) = typed else { return wrong("is no Firestore value") };
        let raw = typed.raw(self.line);
        let value_type = match (&*typed.name(self.line), typed.kind) {
            ("nullValue", Kind::Null) => NullValue(0),
            ("nullValue", Kind::String) if raw == br#""NULL_VALUE""# => NullValue(0),
            ("booleanValue", Kind::Bool) => BooleanValue(raw == b"true"),
            ("integerValue", Kind::String | Kind::Number) => IntegerValue(self.integer(typed)?),
            ("doubleValue", Kind::String | Kind::Number) => DoubleValue(self.double(typed)?),
            ("stringValue", Kind::String) => StringValue(self.text(typed)),
            ("referenceValue", Kind::String) => ReferenceValue(self.text(typed)),
            ("bytesValue", Kind::String) => match base64_text::decode(&self.text(typed)) {
                Some(bytes) => BytesValue(bytes),
                None => return wrong("is no base64"),
            },
            ("timestampValue", Kind::String) => match read_time(&self.text(typed)) {
                Some(time) => TimestampValue(time),
                None => return wrong("is no time of the years 1 to 9999"),
            },
            ("geoPointValue", Kind::Object) => GeoPointValue(self.point(typed)?),
            ("arrayValue", Kind::Object) => ValueType::ArrayValue(self.array(typed)?),
            ("mapValue", Kind::Object) => ValueType::MapValue(self.map(typed)?),
            _ => return wrong("is a Firestore value of a type that is not known"),
        };
        Ok(Value { value_type: Some(value_type) })
    }

    fn array(self, array: &'t Member) -> Read<ArrayValue> {
        let mut values = Vec::new();
        for member in self.tape.members(Some(array)) {
            if !(member.is_named(self.line, "values") && member.kind == Kind::Array) {
                return wrong("is no Firestore value");
            }
            for (at, element) in self.tape.members(Some(member)).enumerate() {
                values.push(self.value(element).map_err(|wrong| wrong.within(&at.to_string()))?);
            }
        }
        Ok(ArrayValue { values })
    }

    fn map(self, map: &'t Member) -> Read<MapValue> {
        let mut fields = HashMap::new();
        for member in self.tape.members(Some(map)) {
            if !(member.is_named(self.line, "fields") && member.kind == Kind::Object) {
                return wrong("is no Firestore value");
            }
            fields = self.fields(member)?;
        }
        Ok(MapValue { fields })
    }

    /// A point; a coordinate that is left out is 0.
    fn point(self, point: &'t Member) -> Read<LatLng> {
        let mut read = LatLng::default();
        for member in self.tape.members(Some(point)) {
            let place = match &*member.name(self.line) {
                "latitude" => &mut read.latitude,
                "longitude" => &mut read.longitude,
                _ => return wrong("is no Firestore value"),
            };
            *place = self.double(member)?;
        }
        Ok(read)
    }

    fn integer(self, number: &Member) -> Read<i64> {
        match Decimal::parse(&self.text(number)).and_then(Decimal::to_integer) {
            Some(integer) => Ok(integer),
            None => wrong("is no integer of 64 bits"),
        }
    }

    fn double(self, number: &Member) -> Read<f64> {
        match double::parse(&self.text(number)) {
            Some(double) => Ok(double),
            None => wrong("is no double"),
        }
    }

    /// The text of a string, or of a number as it stands.
    fn text(self, value: &Member) -> String {
        let raw = value.raw(self.line);
        match value.kind {
            Kind::String => unescape(raw).into_owned(),
            _ => String::from_utf8_lossy(raw).into_owned(),
        }
    }
}

impl Wrong {
    /// The same value seen from one level further out.
    fn within(self, step: &str) -> Self {
        let Self { path, what } = self;
        Self { path: if path.is_empty() { step.to_owned() } else { format!("{step}.{path}") }, what }
    }
}

#[cfg(test)]
mod tests {
    use firestore::gcloud_sdk::google::firestore::v1::Document;

    use super::super::encode::line_of;
    use super::*;

    fn read(line: &str) -> Result<Parsed, String> {
        read_document(&mut Tape::deep(), line.as_bytes())
    }

    fn written(parsed: Parsed) -> String {
        let document =
            Document { name: parsed.id, fields: parsed.fields, create_time: None, update_time: None };
        String::from_utf8(line_of(&document).unwrap().into()).unwrap()
    }

    #[test]
    fn every_type_comes_back_as_it_was() {
        let line = r#"{"name":"x","fields":{"":{"stringValue":""},"a":{"arrayValue":{"values":[{"nullValue":null},{"mapValue":{"fields":{"`a.b c`":{"integerValue":"1"}}}}]}},"b":{"booleanValue":true},"bin":{"bytesValue":"AP8+Pw=="},"d":{"doubleValue":1.0},"g":{"geoPointValue":{"latitude":-0.0,"longitude":180.0}},"huge":{"doubleValue":1.7976931348623157e308},"i":{"integerValue":"-9223372036854775808"},"inf":{"doubleValue":"-Infinity"},"nan":{"doubleValue":"NaN"},"r":{"referenceValue":"projects/q/databases/(default)/documents/c/é"},"s":{"stringValue":"\u0000\"é􏿿"},"t":{"timestampValue":"0001-01-01T00:00:00Z"},"t2":{"timestampValue":"9999-12-31T23:59:59.999999Z"},"tiny":{"doubleValue":5e-324},"v":{"mapValue":{"fields":{"__type__":{"stringValue":"__vector__"},"value":{"arrayValue":{"values":[{"doubleValue":0.1}]}}}}},"z":{"doubleValue":-0.0}}}"#;
        let parsed =
            read(&line.replacen("\"x\"", "\"projects/p/databases/d/documents/events/x\"", 1)).unwrap();
        assert_eq!(written(parsed), line);
    }

    #[test]
    fn the_spellings_of_one_value_are_one_value() {
        for (spelling, canonical) in [
            (r#"{"integerValue":7}"#, r#"{"integerValue":"7"}"#),
            (r#"{"doubleValue":7}"#, r#"{"doubleValue":7.0}"#),
            (r#"{"doubleValue":"1e3"}"#, r#"{"doubleValue":1000.0}"#),
            (r#"{"nullValue":"NULL_VALUE"}"#, r#"{"nullValue":null}"#),
            (r#"{"arrayValue":{}}"#, r#"{"arrayValue":{"values":[]}}"#),
            (r#"{"mapValue":{}}"#, r#"{"mapValue":{"fields":{}}}"#),
            (r#"{"geoPointValue":{"longitude":1}}"#, r#"{"geoPointValue":{"latitude":0.0,"longitude":1.0}}"#),
            (r#"{"bytesValue":"_-8"}"#, r#"{"bytesValue":"/+8="}"#),
            (
                r#"{"timestampValue":"2026-01-02T04:04:05.1234567+01:00"}"#,
                r#"{"timestampValue":"2026-01-02T03:04:05.123456Z"}"#,
            ),
        ] {
            let value = read_value(spelling).unwrap();
            let document = Document {
                name: "x".to_owned(),
                fields: HashMap::from([("f".to_owned(), value)]),
                create_time: None,
                update_time: None,
            };
            let line = String::from_utf8(line_of(&document).unwrap().into()).unwrap();
            assert_eq!(line, format!(r#"{{"name":"x","fields":{{"f":{canonical}}}}}"#));
        }
    }

    #[test]
    fn what_is_no_document_is_refused_by_name_and_without_its_content() {
        for (fields, path) in [
            (r#"{"a":{"integerValue":"S3CRET"}}"#, "a"),
            (r#"{"a":{"integerValue":"9223372036854775808"}}"#, "a"),
            (r#"{"a":{"doubleValue":"1e999"}}"#, "a"),
            (r#"{"a":{"bytesValue":"S3CRET!"}}"#, "a"),
            (r#"{"a":{"timestampValue":"10000-01-01T00:00:00Z"}}"#, "a"),
            (
                r#"{"a":{"arrayValue":{"values":[{"mapValue":{"fields":{"x":{"pipelineValue":{}}}}}]}}}"#,
                "a.0.x",
            ),
            (
                r#"{"a":{"mapValue":{"fields":{"x":{"mapValue":{"fields":{"n":{"nullValue":null},"n":{"nullValue":null}}}}}}}}"#,
                "a.x.n",
            ),
            (r#"{"a":"S3CRET"}"#, "a"),
        ] {
            let error = read(&format!(r#"{{"name":"x","fields":{fields}}}"#)).unwrap_err();
            assert!(error.starts_with(&format!("The field {path:?} ")), "{error}");
            assert!(!error.contains("S3CRET"), "{error}");
        }
        for line in ["x", r#"{"fields":{}}"#, r#"{"name":"x","fields":[]}"#, r#"{"name":"x","else":1}"#] {
            assert!(read(line).is_err(), "{line}");
        }
    }
}
