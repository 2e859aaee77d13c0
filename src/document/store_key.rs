//! The key under which a store holds a document.

use std::borrow::Cow;

use super::StoreKind;
use super::bson::Outline;
use super::decimal::Decimal;
use super::json::{Kind, Member, Tape};
use super::text::{unescape, write_quoted};
use crate::check::{Reason, Refusal};

/// How the document id of Firestore is called among fields.
pub const DOCUMENT_ID: &str = "@id";

/// The key under which a store holds one document: a compact JSON array of typed value texts.
///
/// | store | example |
/// |---|---|
/// | MongoDB | `[{"$oid":"65a0f1c2d3e4f5a6b7c8d9e0"}]` (the `_id` as canonical Extended JSON) |
/// | DynamoDB | `[{"S":"Order:A-1001"},{"N":"0"}]` (partition key, then sort key; numbers normalised) |
/// | Firestore | `["Order:A-1001:0"]` (document id within its collection) |
/// | Cosmos DB | `["Order:A-1001","Order:A-1001:0"]` (every partition key component, then the id; `{}` for a missing component) |
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StoreKey(pub Box<str>);

impl StoreKey {
    /// Reads the key of a document. `fields` are the key fields in order: `_id`; partition and sort key;
    /// `@id`; the partition key paths and `id`.
    ///
    /// Errors: [`Reason::FieldMissing`], [`Reason::FieldType`] if a field cannot be part of a key.
    pub fn of(kind: StoreKind, fields: &[&str], tape: &Tape, line: &[u8]) -> Result<Self, Refusal> {
        if let Some(outline) = Outline::of(kind, tape, line)? {
            return Self::of(kind, fields, &outline.tape, &outline.line);
        }
        let mut out = Vec::with_capacity(64);
        out.push(b'[');
        for name in fields {
            if out.len() > 1 {
                out.push(b',');
            }
            write_component(kind, name, tape, line, &mut out)?;
        }
        out.push(b']');
        // Made of parts of a valid line, cut at JSON values.
        Ok(Self(String::from_utf8_lossy(&out).into()))
    }
}

impl std::fmt::Display for StoreKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The document id of a Firestore document: the last segment of its name.
pub fn document_id<'a>(tape: &Tape, line: &'a [u8]) -> Option<Cow<'a, str>> {
    let name = tape.find(line, None, "name").filter(|name| name.kind == Kind::String)?;
    Some(id_of_name(name.raw(line)))
}

/// The last segment of a Firestore name, which is given as it stands in the line.
pub(super) fn id_of_name(quoted: &[u8]) -> Cow<'_, str> {
    match unescape(quoted) {
        Cow::Borrowed(name) => Cow::Borrowed(last_segment(name)),
        Cow::Owned(name) => Cow::Owned(last_segment(&name).to_owned()),
    }
}

fn last_segment(name: &str) -> &str {
    memchr::memrchr(b'/', name.as_bytes()).and_then(|slash| name.get(slash + 1..)).unwrap_or(name)
}

/// Finds a field by its name; on Cosmos DB a path (`address/city`) leads into objects.
pub fn find_field<'t>(
    kind: StoreKind,
    tape: &'t Tape,
    line: &[u8],
    name: &str,
) -> Result<Option<&'t Member>, Refusal> {
    let fields = kind.fields(tape, line)?;
    if kind != StoreKind::CosmosDb {
        return Ok(tape.find(line, fields, name));
    }
    let mut segments = name.trim_start_matches('/').split('/');
    let first = segments.next().and_then(|segment| tape.find(line, fields, segment));
    Ok(segments.fold(first, |found, segment| tape.find(line, Some(found?), segment)))
}

/// Appends one component of a key: the typed value of the field called `name`.
///
/// Errors: those of [`StoreKey::of`].
fn write_component(
    kind: StoreKind,
    name: &str,
    tape: &Tape,
    line: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let value = if kind == StoreKind::Firestore { None } else { find_field(kind, tape, line, name)? };
    write_key_value(kind, name, tape, line, value, out)
}

/// Appends one component of a key whose field has been found already (on Firestore it is not asked for).
///
/// Errors: those of [`StoreKey::of`].
pub(crate) fn write_key_value(
    kind: StoreKind,
    name: &str,
    tape: &Tape,
    line: &[u8],
    value: Option<&Member>,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    if kind == StoreKind::Firestore {
        let id = document_id(tape, line).ok_or_else(|| missing("name"))?;
        write_quoted(&id, out);
        return Ok(());
    }
    let value = match value {
        Some(value) => value,
        // A partition key path that a document does not have is a value of its own.
        None if kind == StoreKind::CosmosDb && name != "id" => {
            out.extend_from_slice(b"{}");
            return Ok(());
        }
        None => return Err(missing(name)),
    };
    let written = match kind {
        StoreKind::MongoDb => write_mongodb(tape, line, value, out),
        StoreKind::DynamoDb => write_dynamodb(tape, line, value, out),
        StoreKind::CosmosDb | StoreKind::Firestore => write_scalar(line, value, out),
    };
    written.ok_or_else(|| {
        let detail = format!("The key field {name:?} holds a value that no {} key has.", kind.title());
        Refusal::new(Reason::FieldType, detail)
    })
}

fn missing(name: &str) -> Refusal {
    Refusal::new(Reason::FieldMissing, format!("The key field {name:?} is missing."))
}

/// Any BSON value but an array, a regular expression or undefined.
fn write_mongodb(tape: &Tape, line: &[u8], value: &Member, out: &mut Vec<u8>) -> Option<()> {
    let wrapper = tape.members(Some(value)).next().map(|child| child.name(line));
    let refused = matches!(wrapper.as_deref(), Some("$regularExpression" | "$undefined"));
    if value.kind == Kind::Array || refused {
        return None;
    }
    write_compact(value.raw(line), out);
    Some(())
}

/// A string, a number or a binary value.
fn write_dynamodb(tape: &Tape, line: &[u8], value: &Member, out: &mut Vec<u8>) -> Option<()> {
    let typed = tape.only_child(value).filter(|typed| typed.kind == Kind::String)?;
    let text = unescape(typed.raw(line));
    let name = typed.name(line);
    out.extend_from_slice(b"{\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
    match &*name {
        "S" | "B" => write_quoted(&text, out),
        "N" => {
            out.push(b'"');
            Decimal::parse(&text)?.unsigned_zero().write(out);
            out.push(b'"');
        }
        _ => return None,
    }
    out.push(b'}');
    Some(())
}

/// A plain JSON scalar, numbers by value.
fn write_scalar(line: &[u8], value: &Member, out: &mut Vec<u8>) -> Option<()> {
    let raw = value.raw(line);
    match value.kind {
        Kind::Object | Kind::Array => return None,
        Kind::Number => Decimal::parse(std::str::from_utf8(raw).ok()?)?.unsigned_zero().write(out),
        Kind::String | Kind::Bool | Kind::Null => write_compact(raw, out),
    }
    Some(())
}

/// Appends a valid JSON value without white space and with every string in its canonical escapes.
pub(crate) fn write_compact(value: &[u8], out: &mut Vec<u8>) {
    let mut rest = value;
    while let Some((&byte, after)) = rest.split_first() {
        if byte == b'"' {
            let (string, after) = rest.split_at(string_len(rest));
            write_quoted(&unescape(string), out);
            rest = after;
            continue;
        }
        if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            out.push(byte);
        }
        rest = after;
    }
}

/// The length of the JSON string that `text` begins with, quotes included.
fn string_len(text: &[u8]) -> usize {
    let mut at = 1;
    loop {
        match text.get(at) {
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
            None => return text.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(kind: StoreKind, fields: &[&str], line: &str) -> Result<String, Reason> {
        let mut tape = Tape::new();
        tape.read(line.as_bytes()).unwrap();
        let key = StoreKey::of(kind, fields, &tape, line.as_bytes());
        key.map(|key| key.to_string()).map_err(|refusal| refusal.reason)
    }

    #[test]
    fn each_store_has_its_own_key() {
        use StoreKind::{CosmosDb, DynamoDb, Firestore, MongoDb};
        let cases: [(_, &[&str], _, _); 6] = [
            (MongoDb, &["_id"], r#"{"a":1,"_id" : { "$oid" : "65a0" } }"#, r#"[{"$oid":"65a0"}]"#),
            (MongoDb, &["_id"], r#"{"_id":"A:\u0031"}"#, r#"["A:1"]"#),
            (
                DynamoDb,
                &["pk", "sk"],
                r#"{"Item":{"sk":{"N":"1.50E+1"},"pk":{"S":"Order:\u00e9"}}}"#,
                r#"[{"S":"Order:é"},{"N":"15"}]"#,
            ),
            (
                Firestore,
                &[DOCUMENT_ID],
                r#"{"name":"projects/p/databases/d/documents/events/A:\u0030","fields":{}}"#,
                r#"["A:0"]"#,
            ),
            (CosmosDb, &["a/b", "/c", "id"], r#"{"id":"x","a":{"b":1.0}}"#, r#"[1,{},"x"]"#),
            (CosmosDb, &["streamId", "id"], r#"{"id":"x","streamId":null}"#, r#"[null,"x"]"#),
        ];
        for (kind, fields, line, expected) in cases {
            assert_eq!(key(kind, fields, line).as_deref(), Ok(expected), "{line}");
        }
    }

    #[test]
    fn what_cannot_be_a_key_is_refused() {
        use StoreKind::{CosmosDb, DynamoDb, Firestore, MongoDb};
        let cases: [(_, &[&str], _, _); 8] = [
            (MongoDb, &["_id"], "{}", Reason::FieldMissing),
            (MongoDb, &["_id"], r#"{"_id":[1]}"#, Reason::FieldType),
            (MongoDb, &["_id"], r#"{"_id":{"$regularExpression":{}}}"#, Reason::FieldType),
            (DynamoDb, &["pk"], r#"{"Item":{}}"#, Reason::FieldMissing),
            (DynamoDb, &["pk"], r#"{"Item":{"pk":{"BOOL":true}}}"#, Reason::FieldType),
            (DynamoDb, &["pk"], r#"{"Item":{"pk":{"N":"x"}}}"#, Reason::FieldType),
            (Firestore, &[DOCUMENT_ID], r#"{"fields":{}}"#, Reason::FieldMissing),
            (CosmosDb, &["s", "id"], r#"{"s":"x"}"#, Reason::FieldMissing),
        ];
        for (kind, fields, line, expected) in cases {
            assert_eq!(key(kind, fields, line), Err(expected), "{line}");
        }
    }
}
