//! Typed values of the four stores, read from and written to their JSON forms.

use std::borrow::Cow;

use super::decimal::Decimal;
use super::json::{Kind, Member, Tape};
use super::text::{unescape, write_quoted};
use super::{StoreKind, base64_text, timestamp};
use crate::check::{Reason, Refusal};

impl StoreKind {
    /// Finds the object that holds the document's fields; `None` is the line's own object.
    ///
    /// That is the line itself on MongoDB and Cosmos DB, `Item` on DynamoDB, `fields` on Firestore. A line
    /// without it is [`Reason::NotLossless`].
    pub fn fields<'t>(self, tape: &'t Tape, line: &[u8]) -> Result<Option<&'t Member>, Refusal> {
        let name = match self {
            Self::MongoDb | Self::CosmosDb => return Ok(None),
            Self::DynamoDb => "Item",
            Self::Firestore => "fields",
        };
        match tape.find(line, None, name) {
            Some(fields) if fields.kind == Kind::Object => Ok(Some(fields)),
            _ => Err(Refusal::new(
                Reason::NotLossless,
                format!("The line has no object {name:?}, which a {} document has.", self.title()),
            )),
        }
    }

    /// Reads a string: `"x"`, `{"S":"x"}` or `{"stringValue":"x"}`; `None` if the value has another type.
    pub fn text<'a>(self, tape: &Tape, line: &'a [u8], value: &Member) -> Option<Cow<'a, str>> {
        let string = match self {
            Self::MongoDb | Self::CosmosDb => value,
            Self::DynamoDb => wrapped(tape, line, value, "S")?,
            Self::Firestore => wrapped(tape, line, value, "stringValue")?,
        };
        (string.kind == Kind::String).then(|| unescape(string.raw(line)))
    }

    /// Reads an integer of the store's integer type; `None` if the value has another type or does not fit.
    ///
    /// | store | read |
    /// |---|---|
    /// | MongoDB | `{"$numberLong":"7"}`, `{"$numberInt":"7"}` |
    /// | DynamoDB | `{"N":"7"}`, by value: `7.0` and `70E-1` too |
    /// | Firestore | `{"integerValue":"7"}`, also as a number |
    /// | Cosmos DB | a number, by value |
    pub fn integer(self, tape: &Tape, line: &[u8], value: &Member) -> Option<i64> {
        match self {
            Self::MongoDb => {
                let number = wrapped(tape, line, value, "$numberLong")
                    .or_else(|| wrapped(tape, line, value, "$numberInt"))?;
                let text = string(line, number)?;
                let canonical = !text.starts_with('+');
                canonical.then(|| text.parse().ok()).flatten()
            }
            Self::DynamoDb => integer_text(&string(line, wrapped(tape, line, value, "N")?)?),
            Self::Firestore => {
                let number = wrapped(tape, line, value, "integerValue")?;
                match number.kind {
                    Kind::String => integer_text(&string(line, number)?),
                    _ => bare_integer(line, number),
                }
            }
            Self::CosmosDb => bare_integer(line, value),
        }
    }

    /// Reads a truth value: `true`, `{"BOOL":true}` or `{"booleanValue":true}`; `None` if the value has another type.
    pub fn boolean(self, tape: &Tape, line: &[u8], value: &Member) -> Option<bool> {
        let value = match self {
            Self::MongoDb | Self::CosmosDb => value,
            Self::DynamoDb => wrapped(tape, line, value, "BOOL")?,
            Self::Firestore => wrapped(tape, line, value, "booleanValue")?,
        };
        match value.raw(line) {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }

    /// Reads a time as the framework writes it, in seconds since 1970; `None` if the value is none.
    ///
    /// | store | read |
    /// |---|---|
    /// | MongoDB | `{"$date":{"$numberLong":"1767323045678"}}`, `{"$date":"2026-01-02T03:04:05.678Z"}` |
    /// | DynamoDB, Cosmos DB | a string in RFC 3339 |
    /// | Firestore | `{"timestampValue":"2026-01-02T03:04:05.678Z"}` |
    pub fn time(self, tape: &Tape, line: &[u8], value: &Member) -> Option<i64> {
        let text = match self {
            Self::MongoDb => {
                let date = wrapped(tape, line, value, "$date")?;
                if let Some(milliseconds) = self.integer(tape, line, date) {
                    return Some(milliseconds.div_euclid(1_000));
                }
                string(line, date)?
            }
            Self::DynamoDb | Self::CosmosDb => self.text(tape, line, value)?,
            Self::Firestore => string(line, wrapped(tape, line, value, "timestampValue")?)?,
        };
        timestamp::parse(&text).map(|(seconds, _)| seconds)
    }

    /// Whether the value is null: `null`, `{"NULL":true}` or `{"nullValue":null}`.
    pub fn is_null(self, tape: &Tape, line: &[u8], value: &Member) -> bool {
        match self {
            Self::MongoDb | Self::CosmosDb => value.kind == Kind::Null,
            Self::DynamoDb => {
                wrapped(tape, line, value, "NULL").is_some_and(|null| null.raw(line) == b"true")
            }
            Self::Firestore => {
                wrapped(tape, line, value, "nullValue").is_some_and(|null| null.kind == Kind::Null)
            }
        }
    }

    /// Appends the typed form of a string.
    pub fn write_text(self, text: &str, out: &mut Vec<u8>) {
        let opening: &[u8] = match self {
            Self::MongoDb | Self::CosmosDb => return write_quoted(text, out),
            Self::DynamoDb => br#"{"S":"#,
            Self::Firestore => br#"{"stringValue":"#,
        };
        out.extend_from_slice(opening);
        write_quoted(text, out);
        out.push(b'}');
    }

    /// Reads the bytes of the JSON object that a value holds: as text, as base64 text or as binary.
    ///
    /// `None` if it holds none, as a null, a binary of another subtype than 0 or a serializer's envelope.
    /// That the bytes are one whole JSON object is for the caller's [`Tape`] to check.
    pub fn embedded_json<'a>(self, tape: &Tape, line: &'a [u8], value: &Member) -> Option<Cow<'a, [u8]>> {
        let bytes = match self.text(tape, line, value) {
            Some(text) if begins_object(text.as_bytes()) => match text {
                Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            },
            Some(text) => Cow::Owned(base64_text::decode(&text)?),
            None => Cow::Owned(base64_text::decode(&self.binary(tape, line, value)?)?),
        };
        begins_object(&bytes).then_some(bytes)
    }

    /// The base64 text of a binary value of the ordinary kind.
    fn binary<'a>(self, tape: &Tape, line: &'a [u8], value: &Member) -> Option<Cow<'a, str>> {
        match self {
            Self::MongoDb => {
                let binary = wrapped(tape, line, value, "$binary")?;
                let subtype = string(line, tape.find(line, Some(binary), "subType")?)?;
                let ordinary = matches!(&*subtype, "00" | "0");
                string(line, tape.find(line, Some(binary), "base64").filter(|_| ordinary)?)
            }
            Self::DynamoDb => string(line, wrapped(tape, line, value, "B")?),
            Self::Firestore => string(line, wrapped(tape, line, value, "bytesValue")?),
            Self::CosmosDb => None,
        }
    }
}

/// The value inside a type wrapper, an object whose only member is called `name`.
fn wrapped<'t>(tape: &'t Tape, line: &[u8], value: &Member, name: &str) -> Option<&'t Member> {
    if value.kind != Kind::Object {
        return None;
    }
    tape.only_child(value).filter(|child| child.is_named(line, name))
}

/// The text of a string member.
fn string<'a>(line: &'a [u8], member: &Member) -> Option<Cow<'a, str>> {
    (member.kind == Kind::String).then(|| unescape(member.raw(line)))
}

/// An integer that stands as a number outside quotes.
fn bare_integer(line: &[u8], member: &Member) -> Option<i64> {
    if member.kind != Kind::Number {
        return None;
    }
    integer_text(std::str::from_utf8(member.raw(line)).ok()?)
}

/// The integer that a decimal text denotes, if it denotes one: `7`, `7.0`, `70E-1`.
fn integer_text(text: &str) -> Option<i64> {
    match text.parse() {
        Ok(integer) if !text.starts_with('+') => Some(integer),
        _ => Decimal::parse(text)?.to_integer(),
    }
}

/// Whether the first byte that is not white space opens an object.
fn begins_object(bytes: &[u8]) -> bool {
    bytes.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) == Some(&b'{')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Applies `read` to the field `f` of a line.
    fn field<T>(kind: StoreKind, line: &str, read: impl Fn(&Tape, &Member) -> T) -> T {
        let mut tape = Tape::new();
        tape.read(line.as_bytes()).unwrap();
        let fields = kind.fields(&tape, line.as_bytes()).unwrap();
        let member = tape.find(line.as_bytes(), fields, "f").unwrap();
        read(&tape, member)
    }

    fn line(kind: StoreKind, value: &str) -> String {
        match kind {
            StoreKind::MongoDb | StoreKind::CosmosDb => format!(r#"{{"f":{value}}}"#),
            StoreKind::DynamoDb => format!(r#"{{"Item":{{"f":{value}}}}}"#),
            StoreKind::Firestore => format!(r#"{{"name":"a/b","fields":{{"f":{value}}}}}"#),
        }
    }

    fn text(kind: StoreKind, value: &str) -> Option<String> {
        let line = line(kind, value);
        field(kind, &line, |tape, member| kind.text(tape, line.as_bytes(), member).map(Cow::into_owned))
    }

    fn integer(kind: StoreKind, value: &str) -> Option<i64> {
        let line = line(kind, value);
        field(kind, &line, |tape, member| kind.integer(tape, line.as_bytes(), member))
    }

    fn embedded(kind: StoreKind, value: &str) -> Option<String> {
        let line = line(kind, value);
        field(kind, &line, |tape, member| {
            let bytes = kind.embedded_json(tape, line.as_bytes(), member)?;
            Some(String::from_utf8(bytes.into_owned()).unwrap())
        })
    }

    #[test]
    fn strings_are_read_and_written_in_each_form() {
        for kind in StoreKind::ALL {
            let mut value = Vec::new();
            kind.write_text("a:\"é", &mut value);
            assert_eq!(text(kind, std::str::from_utf8(&value).unwrap()).as_deref(), Some("a:\"é"), "{kind}");
        }
        assert_eq!(text(StoreKind::DynamoDb, r#"{"S":"x","N":"1"}"#), None);
        assert_eq!(text(StoreKind::Firestore, r#"{"integerValue":"1"}"#), None);
        assert_eq!(text(StoreKind::MongoDb, r#"{"$symbol":"x"}"#), None);
    }

    #[test]
    fn integers_are_read_by_value_and_only_from_integer_types() {
        use StoreKind::{CosmosDb, DynamoDb, Firestore, MongoDb};
        let cases = [
            (MongoDb, r#"{"$numberLong":"-9223372036854775808"}"#, Some(i64::MIN)),
            (MongoDb, r#"{"$numberInt":"7"}"#, Some(7)),
            (MongoDb, r#"{"$numberDouble":"7.0"}"#, None),
            (MongoDb, r#"{"$numberLong":"+7"}"#, None),
            (MongoDb, "7", None),
            (DynamoDb, r#"{"N":"1E1"}"#, Some(10)),
            (DynamoDb, r#"{"N":"1.50"}"#, None),
            (DynamoDb, r#"{"N":"9223372036854775808"}"#, None),
            (DynamoDb, r#"{"S":"7"}"#, None),
            (Firestore, r#"{"integerValue":"7"}"#, Some(7)),
            (Firestore, r#"{"integerValue":7}"#, Some(7)),
            (Firestore, r#"{"doubleValue":7}"#, None),
            (CosmosDb, "638676324052177536", Some(638_676_324_052_177_536)),
            (CosmosDb, "1.0", Some(1)),
            (CosmosDb, "1e999999999", None),
            (CosmosDb, "\"7\"", None),
        ];
        for (kind, value, expected) in cases {
            assert_eq!(integer(kind, value), expected, "{kind} {value}");
        }
    }

    #[test]
    fn truth_values_are_read_only_from_their_own_type() {
        let cases = [
            (StoreKind::MongoDb, "true", Some(true)),
            (StoreKind::CosmosDb, "false", Some(false)),
            (StoreKind::CosmosDb, "\"true\"", None),
            (StoreKind::CosmosDb, "1", None),
            (StoreKind::DynamoDb, r#"{"BOOL":true}"#, Some(true)),
            (StoreKind::DynamoDb, "true", None),
            (StoreKind::Firestore, r#"{"booleanValue":false}"#, Some(false)),
        ];
        for (kind, value, expected) in cases {
            let line = line(kind, value);
            let read = field(kind, &line, |tape, member| kind.boolean(tape, line.as_bytes(), member));
            assert_eq!(read, expected, "{kind} {value}");
        }
    }

    #[test]
    fn times_are_read_as_the_framework_writes_them() {
        let at = Some(1_767_323_045);
        let cases = [
            (StoreKind::MongoDb, r#"{"$date":{"$numberLong":"1767323045678"}}"#, at),
            (StoreKind::MongoDb, r#"{"$date":{"$numberLong":"-1"}}"#, Some(-1)),
            (StoreKind::MongoDb, r#"{"$date":"2026-01-02T03:04:05.678Z"}"#, at),
            (StoreKind::DynamoDb, r#"{"S":"2026-01-02T03:04:05.6780000+00:00"}"#, at),
            (StoreKind::CosmosDb, r#""2026-01-02T04:04:05.678+01:00""#, at),
            (StoreKind::Firestore, r#"{"timestampValue":"2026-01-02T03:04:05.678Z"}"#, at),
            (StoreKind::Firestore, r#"{"stringValue":"2026-01-02T03:04:05.678Z"}"#, None),
            (StoreKind::CosmosDb, "null", None),
            (StoreKind::CosmosDb, r#""yesterday""#, None),
        ];
        for (kind, value, expected) in cases {
            let line = line(kind, value);
            let read = field(kind, &line, |tape, member| kind.time(tape, line.as_bytes(), member));
            assert_eq!(read, expected, "{kind} {value}");
        }
    }

    #[test]
    fn nulls_are_told_from_other_values() {
        let cases = [
            (StoreKind::MongoDb, "null", true),
            (StoreKind::CosmosDb, "false", false),
            (StoreKind::DynamoDb, r#"{"NULL":true}"#, true),
            (StoreKind::DynamoDb, r#"{"NULL":false}"#, false),
            (StoreKind::Firestore, r#"{"nullValue":null}"#, true),
            (StoreKind::Firestore, r#"{"stringValue":"null"}"#, false),
        ];
        for (kind, value, expected) in cases {
            let line = line(kind, value);
            let null = field(kind, &line, |tape, member| kind.is_null(tape, line.as_bytes(), member));
            assert_eq!(null, expected, "{kind} {value}");
        }
    }

    #[test]
    fn embedded_json_is_found_as_text_base64_and_binary() {
        use StoreKind::{CosmosDb, DynamoDb, Firestore, MongoDb};
        let found = Some(r#"{"a":1}"#.to_owned());
        let cases = [
            (CosmosDb, r#""{\"a\":1}""#, &found),
            (CosmosDb, r#""eyJhIjoxfQ==""#, &found),
            (DynamoDb, r#"{"S":"eyJhIjoxfQ"}"#, &found),
            (DynamoDb, r#"{"B":"eyJhIjoxfQ=="}"#, &found),
            (Firestore, r#"{"bytesValue":"eyJhIjoxfQ=="}"#, &found),
            (MongoDb, r#"{"$binary":{"base64":"eyJhIjoxfQ==","subType":"00"}}"#, &found),
            (MongoDb, r#"{"$binary":{"base64":"eyJhIjoxfQ==","subType":"04"}}"#, &None),
            (MongoDb, r#"{"$binary":{"base64":"AXsx","subType":"00"}}"#, &None),
            (MongoDb, "null", &None),
            (CosmosDb, r#""plain text""#, &None),
        ];
        for (kind, value, expected) in cases {
            assert_eq!(&embedded(kind, value), expected, "{kind} {value}");
        }
    }

    #[test]
    fn a_line_without_the_stores_frame_is_not_lossless() {
        let mut tape = Tape::new();
        for (kind, line) in [
            (StoreKind::DynamoDb, r#"{"pk":{"S":"a"}}"#),
            (StoreKind::Firestore, r#"{"name":"a","fields":[]}"#),
        ] {
            tape.read(line.as_bytes()).unwrap();
            assert_eq!(kind.fields(&tape, line.as_bytes()).unwrap_err().reason, Reason::NotLossless);
        }
    }
}
