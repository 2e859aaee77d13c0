//! Lines as documents on the wire, in any of the spellings that the REST API takes.

use std::borrow::Cow;
use std::convert::Infallible;

use firestore::gcloud_sdk::google::firestore::v1::Value;
use firestore::gcloud_sdk::prost::Message as _;
use firestore::gcloud_sdk::prost_types::Timestamp;

use super::path::CollectionPath;
use super::wire::{append_bytes, append_double, append_message, append_varint};
use crate::document::decimal::Decimal;
use crate::document::json::{Kind, Member, Tape};
use crate::document::text::unescape;
use crate::document::{base64_text, document_id, double, timestamp};

/// Appends the `Document` of a line under its id in the collection: project, database and collection of its own
/// name are not the target's.
///
/// The tape records everything ([`Tape::deep`]); the error is a sentence that names the field and none of its content.
pub(super) fn append_document(
    tape: &mut Tape,
    line: &[u8],
    path: &CollectionPath,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    tape.read(line).map_err(|error| format!("The line is no document: {error}"))?;
    let frame = "The line is not of the form {\"name\":…,\"fields\":{…}}";
    let id = document_id(tape, line).ok_or(frame)?;
    append_bytes(out, 1, path.document(&id).as_bytes());
    let writer = Writer { tape, line };
    for member in tape.members(None) {
        match (&*member.name(line), member.kind) {
            ("name" | "createTime" | "updateTime", Kind::String) => {}
            ("fields", Kind::Object) => writer
                .fields(member, 2, out)
                .map_err(|Wrong { path, what }| format!("The field {path:?} {what}"))?,
            (name, _) => return Err(format!("The line holds {name:?}, which no document has in that form")),
        }
    }
    Ok(())
}

/// Reads one value that stands alone, as in a position.
pub(super) fn read_value(text: &str) -> Option<Value> {
    let line = format!("{{\"value\":{text}}}");
    let mut tape = Tape::deep();
    tape.read(line.as_bytes()).ok()?;
    let member = tape.find(line.as_bytes(), None, "value")?;
    let mut message = Vec::new();
    Writer { tape: &tape, line: line.as_bytes() }.value(member, &mut message).ok()?;
    Value::decode(&*message).ok()
}

/// Reads a time of RFC 3339, cut to the microseconds that Firestore keeps.
pub(super) fn read_time(text: &str) -> Option<Timestamp> {
    let (seconds, nanos) = timestamp::parse(text)?;
    Some(Timestamp { seconds, nanos })
}

/// What is wrong with a value, and the path that leads to it.
struct Wrong {
    path: String,
    what: &'static str,
}

type Written = Result<(), Wrong>;

fn wrong<T>(what: &'static str) -> Result<T, Wrong> {
    Err(Wrong { path: String::new(), what })
}

/// Writes the values of one line.
///
/// [The numbers of their fields](https://github.com/googleapis/googleapis/blob/master/google/firestore/v1/document.proto).
#[derive(Clone, Copy)]
struct Writer<'t> {
    tape: &'t Tape,
    line: &'t [u8],
}

impl<'t> Writer<'t> {
    /// Appends the entries of a map, each in a field of that number.
    fn fields(self, map: &'t Member, number: u32, out: &mut Vec<u8>) -> Written {
        if let Some(twice) = self.tape.repeated_name(self.line, map) {
            return wrong("stands twice in one map")
                .map_err(|wrong: Wrong| wrong.within(&twice.name(self.line)));
        }
        for member in self.tape.members(Some(map)) {
            let name = member.name(self.line);
            append_message(out, number, |out| {
                if !name.is_empty() {
                    append_bytes(out, 1, name.as_bytes());
                }
                append_message(out, 2, |out| self.value(member, out))
            })
            .map_err(|wrong: Wrong| wrong.within(&name))?;
        }
        Ok(())
    }

    /// Appends the fields of a `Value`.
    fn value(self, value: &'t Member, out: &mut Vec<u8>) -> Written {
        let typed = self.tape.only_child(value).filter(|_| value.kind == Kind::Object);
        let Some(typed) = typed else { return wrong("is no Firestore value") };
        let raw = typed.raw(self.line);
        match (&*typed.name(self.line), typed.kind) {
            ("nullValue", Kind::Null) => append_varint(out, 11, 0),
            ("nullValue", Kind::String) if raw == br#""NULL_VALUE""# => append_varint(out, 11, 0),
            ("booleanValue", Kind::Bool) => append_varint(out, 1, u64::from(raw == b"true")),
            ("integerValue", Kind::String | Kind::Number) => {
                append_varint(out, 2, self.integer(typed)?.cast_unsigned());
            }
            ("doubleValue", Kind::String | Kind::Number) => append_double(out, 3, self.double(typed)?),
            ("stringValue", Kind::String) => append_bytes(out, 17, unescape(raw).as_bytes()),
            ("referenceValue", Kind::String) => append_bytes(out, 5, unescape(raw).as_bytes()),
            ("bytesValue", Kind::String) => match base64_text::decode(&unescape(raw)) {
                Some(bytes) => append_bytes(out, 18, &bytes),
                None => return wrong("is no base64"),
            },
            ("timestampValue", Kind::String) => match read_time(&unescape(raw)) {
                Some(time) => append_time(out, 10, time),
                None => return wrong("is no time of the years 1 to 9999"),
            },
            ("geoPointValue", Kind::Object) => append_message(out, 8, |out| self.point(typed, out))?,
            ("arrayValue", Kind::Object) => append_message(out, 9, |out| self.array(typed, out))?,
            ("mapValue", Kind::Object) => append_message(out, 6, |out| self.map(typed, out))?,
            _ => return wrong("is a Firestore value of a type that is not known"),
        }
        Ok(())
    }

    fn array(self, array: &'t Member, out: &mut Vec<u8>) -> Written {
        for member in self.tape.members(Some(array)) {
            if !(member.is_named(self.line, "values") && member.kind == Kind::Array) {
                return wrong("is no Firestore value");
            }
            for (at, element) in self.tape.members(Some(member)).enumerate() {
                append_message(out, 1, |out| self.value(element, out))
                    .map_err(|wrong: Wrong| wrong.within(&at.to_string()))?;
            }
        }
        Ok(())
    }

    fn map(self, map: &'t Member, out: &mut Vec<u8>) -> Written {
        for member in self.tape.members(Some(map)) {
            if !(member.is_named(self.line, "fields") && member.kind == Kind::Object) {
                return wrong("is no Firestore value");
            }
            self.fields(member, 1, out)?;
        }
        Ok(())
    }

    /// Appends a point; a coordinate that is left out is 0.
    fn point(self, point: &'t Member, out: &mut Vec<u8>) -> Written {
        for member in self.tape.members(Some(point)) {
            let number = match &*member.name(self.line) {
                "latitude" => 1,
                "longitude" => 2,
                _ => return wrong("is no Firestore value"),
            };
            let coordinate = self.double(member)?;
            // As for every field of this kind, what is left out is zero; minus zero is not.
            if coordinate.to_bits() != 0 {
                append_double(out, number, coordinate);
            }
        }
        Ok(())
    }

    fn integer(self, number: &Member) -> Result<i64, Wrong> {
        match Decimal::parse(&self.number_text(number)).and_then(Decimal::to_integer) {
            Some(integer) => Ok(integer),
            None => wrong("is no integer of 64 bits"),
        }
    }

    fn double(self, number: &Member) -> Result<f64, Wrong> {
        match double::parse(&self.number_text(number)) {
            Some(double) => Ok(double),
            None => wrong("is no double"),
        }
    }

    /// The text of a number, with or without quotes around it.
    fn number_text(self, value: &Member) -> Cow<'t, str> {
        let raw = value.raw(self.line);
        match value.kind {
            Kind::String => unescape(raw),
            _ => String::from_utf8_lossy(raw),
        }
    }
}

fn append_time(out: &mut Vec<u8>, number: u32, time: Timestamp) {
    let write = |out: &mut Vec<u8>| {
        for (number, part) in [(1, time.seconds), (2, i64::from(time.nanos))] {
            if part != 0 {
                append_varint(out, number, part.cast_unsigned());
            }
        }
        Ok::<(), Infallible>(())
    };
    let Ok(()) = append_message(out, number, write);
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

    /// What a line is written as, and the line that it is read as again.
    fn read(line: &str) -> Result<String, String> {
        let path = CollectionPath::new("p", "d", "events").unwrap();
        let mut message = Vec::new();
        append_document(&mut Tape::deep(), line.as_bytes(), &path, &mut message)?;
        assert!(Document::decode(&*message).is_ok(), "the SDK's own reader takes it as well");
        Ok(String::from_utf8(line_of(&message).unwrap().into()).unwrap())
    }

    #[test]
    fn every_type_comes_back_as_it_was() {
        let line = r#"{"name":"x","fields":{"":{"stringValue":""},"a":{"arrayValue":{"values":[{"nullValue":null},{"mapValue":{"fields":{"`a.b c`":{"integerValue":"1"}}}}]}},"b":{"booleanValue":true},"bin":{"bytesValue":"AP8+Pw=="},"d":{"doubleValue":1.0},"g":{"geoPointValue":{"latitude":-0.0,"longitude":180.0}},"huge":{"doubleValue":1.7976931348623157e308},"i":{"integerValue":"-9223372036854775808"},"inf":{"doubleValue":"-Infinity"},"nan":{"doubleValue":"NaN"},"r":{"referenceValue":"projects/q/databases/(default)/documents/c/é"},"s":{"stringValue":"\u0000\"é􏿿"},"t":{"timestampValue":"0001-01-01T00:00:00Z"},"t2":{"timestampValue":"9999-12-31T23:59:59.999999Z"},"tiny":{"doubleValue":5e-324},"v":{"mapValue":{"fields":{"__type__":{"stringValue":"__vector__"},"value":{"arrayValue":{"values":[{"doubleValue":0.1}]}}}}},"z":{"doubleValue":-0.0}}}"#;
        let elsewhere = line.replacen("\"x\"", "\"projects/q/databases/(default)/documents/c/x\"", 1);
        let named = line.replacen("\"x\"", "\"projects/p/databases/d/documents/events/x\"", 1);
        assert_eq!(read(&elsewhere).unwrap(), named);
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
            let line = read(&format!(r#"{{"name":"x","fields":{{"f":{spelling}}}}}"#)).unwrap();
            assert!(read_value(spelling).is_some());
            let name = "projects/p/databases/d/documents/events/x";
            assert_eq!(line, format!(r#"{{"name":"{name}","fields":{{"f":{canonical}}}}}"#));
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
