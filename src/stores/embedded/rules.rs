//! What a store accepts: keys and documents, by its own documented limits.

use crate::check::{Reason, Refusal};
use crate::document::json::{Kind, Member, Tape};
use crate::document::size::{size_bound, stored_size};
use crate::document::text::unescape;
use crate::document::{StoreKey, StoreKind};
use crate::stores::{CollectionSpec, KeyField, collection_noun, document_id, item_key, store_key_fields};

use super::order;

/// The largest document in bytes, as the store counts them.
pub(super) fn max_document(kind: StoreKind) -> u64 {
    match kind {
        StoreKind::MongoDb => 16 * 1024 * 1024,
        StoreKind::DynamoDb => 400 * 1024,
        StoreKind::Firestore => 1024 * 1024,
        StoreKind::CosmosDb => 2 * 1024 * 1024,
    }
}

/// Checks that a line is a document of the store, and its size.
pub(super) fn check_document(kind: StoreKind, tape: &Tape, line: &[u8]) -> Result<(), Refusal> {
    kind.check_lossless(tape, line)?;
    let limit = max_document(kind);
    if size_bound(kind, line.len()) <= limit {
        return Ok(());
    }
    let size = stored_size(kind, tape, line);
    if size <= limit {
        return Ok(());
    }
    let detail = format!("The document has {size} bytes; {} stores {limit} at most.", kind.title());
    Err(Refusal::new(Reason::DocumentTooLarge, detail))
}

/// Checks a collection's name and key fields; the error is a sentence.
pub(super) fn check_spec(kind: StoreKind, name: &str, spec: &CollectionSpec) -> Result<(), String> {
    let (least, most) = match kind {
        StoreKind::MongoDb | StoreKind::Firestore => (0, 0),
        StoreKind::DynamoDb => (1, 2),
        StoreKind::CosmosDb => (1, 3),
    };
    let fields = spec.key_fields.len();
    if !(least..=most).contains(&fields) {
        return Err(format!("A {} key has {least} to {most} fields, not {fields}", kind.title()));
    }
    let typed = |field: &KeyField| matches!(field.kind.as_deref(), Some("S" | "N" | "B"));
    if kind == StoreKind::DynamoDb && !spec.key_fields.iter().all(typed) {
        return Err("A DynamoDB key field has the type S, N or B".to_owned());
    }
    check_name(kind, name)
}

/// Writes Cosmos DB's partition key paths without their first `/`.
pub(super) fn without_slashes(spec: &CollectionSpec) -> CollectionSpec {
    let mut spec = spec.clone();
    for field in &mut spec.key_fields {
        field.name = field.name.trim_start_matches('/').to_owned();
    }
    spec
}

/// Checks a collection's name; the error is a sentence.
pub(super) fn check_name(kind: StoreKind, name: &str) -> Result<(), String> {
    let valid = match kind {
        StoreKind::MongoDb => !name.is_empty() && !name.contains(['$', '\0']) && !name.starts_with("system."),
        StoreKind::DynamoDb => {
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
            (3..=255).contains(&name.len()) && name.bytes().all(allowed)
        }
        // Below a document the path has an odd number of segments.
        StoreKind::Firestore => {
            name.split('/').count() % 2 == 1 && name.split('/').all(|part| !part.is_empty())
        }
        StoreKind::CosmosDb => (1..=255).contains(&name.len()) && !name.contains(['/', '\\', '?', '#']),
    };
    let noun = collection_noun(kind);
    let rule = match kind {
        StoreKind::MongoDb => "not empty, without $ and not begun with system.",
        StoreKind::DynamoDb => "3 to 255 letters, digits, _, - and .",
        StoreKind::Firestore => "an odd number of parts, none of them empty, with / between them",
        StoreKind::CosmosDb => "1 to 255 characters without / \\ ? #",
    };
    if valid { Ok(()) } else { Err(format!("{name:?} is no name of a {} {noun}: {rule}", kind.title())) }
}

/// Checks a store key against the store's limits and gives its ordered form, under which the document lies.
pub(super) fn ordered_key(
    kind: StoreKind,
    key_fields: &[KeyField],
    key: &StoreKey,
) -> Result<Vec<u8>, Refusal> {
    let line = format!("{{\"k\":{key}}}");
    let line = line.as_bytes();
    let malformed = || Refusal::new(Reason::Malformed, format!("{key} is not a store key."));
    let mut tape = Tape::new();
    tape.read(line).map_err(|_| malformed())?;
    let array = tape.find(line, None, "k").filter(|array| array.kind == Kind::Array).ok_or_else(malformed)?;
    let expected = store_key_fields(kind, key_fields).len();
    if tape.members(Some(array)).count() != expected {
        return Err(malformed());
    }
    // Ids and partition key values of Firestore and Cosmos DB are plain JSON in a store key.
    let plain = if kind == StoreKind::Firestore { StoreKind::CosmosDb } else { kind };
    let mut ordered = Vec::with_capacity(line.len());
    let mut partition_bytes = 0;
    for (at, value) in tape.members(Some(array)).enumerate() {
        match kind {
            StoreKind::MongoDb => {}
            StoreKind::DynamoDb => check_dynamodb(key_fields, at, &tape, line, value)?,
            StoreKind::Firestore => document_id::check(&text(line, value).ok_or_else(malformed)?)?,
            StoreKind::CosmosDb => check_cosmosdb(at + 1 == expected, &mut partition_bytes, line, value)?,
        }
        order::write_value(plain, &tape, line, Some(value), &mut ordered);
    }
    Ok(ordered)
}

fn text(line: &[u8], value: &Member) -> Option<String> {
    (value.kind == Kind::String).then(|| unescape(value.raw(line)).into_owned())
}

fn check_dynamodb(
    key_fields: &[KeyField],
    at: usize,
    tape: &Tape,
    line: &[u8],
    value: &Member,
) -> Result<(), Refusal> {
    let (name, expected) = key_fields
        .get(at)
        .map_or(("", ""), |field| (field.name.as_str(), field.kind.as_deref().unwrap_or_default()));
    let typed = tape.only_child(value).filter(|typed| typed.is_named(line, expected));
    let Some(content) = typed.and_then(|typed| text(line, typed)) else {
        let detail = format!("The key attribute {name:?} is not of the table's type {expected}.");
        return Err(Refusal::new(Reason::FieldType, detail));
    };
    if expected == "N" {
        return check_number(name, &content);
    }
    let bytes = if expected == "B" { content.trim_end_matches('=').len() * 3 / 4 } else { content.len() };
    if bytes == 0 {
        return Err(Refusal::new(Reason::KeyForbidden, format!("The key attribute {name:?} is empty.")));
    }
    let limit = if at == 0 { 2048 } else { 1024 };
    at_most(name, bytes, limit)
}

fn check_number(name: &str, text: &str) -> Result<(), Refusal> {
    let number = crate::document::decimal::Decimal::parse(text);
    let fits = number.is_some_and(|number| {
        number.significant_digits() <= 38 && (number.is_zero() || (-129..=126).contains(&number.point()))
    });
    if fits {
        return Ok(());
    }
    let detail =
        format!("The key attribute {name:?} is no number of at most 38 digits from 1E-130 to 9.99E+125.");
    Err(Refusal::new(Reason::KeyForbidden, detail))
}

/// Checks the id; before it stand the components of the partition key, which add up.
fn check_cosmosdb(
    is_id: bool,
    partition_bytes: &mut usize,
    line: &[u8],
    value: &Member,
) -> Result<(), Refusal> {
    let text = text(line, value);
    if !is_id {
        *partition_bytes += text.map_or(0, |text| text.len());
        return item_key::check_partition_key(*partition_bytes);
    }
    let id = text.ok_or_else(|| Refusal::new(Reason::FieldType, "The field \"id\" is not a string."))?;
    item_key::check_id(&id)
}

fn at_most(name: &str, bytes: usize, limit: usize) -> Result<(), Refusal> {
    if bytes <= limit {
        return Ok(());
    }
    let detail = format!("The key {name:?} has {bytes} bytes; the store allows {limit}.");
    Err(Refusal::new(Reason::KeyTooLong, detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(fields: &[(&str, &str)]) -> Vec<KeyField> {
        let field = |(name, kind): &(&str, &str)| KeyField {
            name: (*name).to_owned(),
            kind: (!kind.is_empty()).then(|| (*kind).to_owned()),
        };
        fields.iter().map(field).collect()
    }

    fn check(kind: StoreKind, key: &str) -> Result<Vec<u8>, Reason> {
        let key_fields = match kind {
            StoreKind::DynamoDb => fields(&[("pk", "S"), ("sk", "N")]),
            StoreKind::CosmosDb => fields(&[("streamId", "")]),
            StoreKind::MongoDb | StoreKind::Firestore => Vec::new(),
        };
        ordered_key(kind, &key_fields, &StoreKey(key.into())).map_err(|refusal| refusal.reason)
    }

    #[test]
    fn keys_at_the_limit_pass_and_one_byte_more_is_refused() {
        let long = |bytes| "k".repeat(bytes);
        let cases = [
            (StoreKind::DynamoDb, format!(r#"[{{"S":"{}"}},{{"N":"0"}}]"#, long(2048)), true),
            (StoreKind::DynamoDb, format!(r#"[{{"S":"{}"}},{{"N":"0"}}]"#, long(2049)), false),
            (StoreKind::Firestore, format!("[\"{}\"]", long(1500)), true),
            (StoreKind::Firestore, format!("[\"{}é\"]", long(1499)), false),
            (StoreKind::CosmosDb, format!(r#"["{}","{}"]"#, long(2048), long(1023)), true),
            (StoreKind::CosmosDb, format!(r#"["s","{}"]"#, long(1024)), false),
            (StoreKind::CosmosDb, format!(r#"["{}","i"]"#, long(2049)), false),
            (StoreKind::MongoDb, format!("[\"{}\"]", long(5000)), true),
        ];
        for (kind, key, fits) in cases {
            assert_eq!(check(kind, &key).err(), (!fits).then_some(Reason::KeyTooLong), "{kind}");
        }
    }

    #[test]
    fn forbidden_keys_are_refused() {
        let firestore = |id: &str| check(StoreKind::Firestore, &format!("[{id:?}]")).err();
        for id in ["", ".", "..", "a/b", "__x__", "____", "__id007__"] {
            assert_eq!(firestore(id), Some(Reason::KeyForbidden), "{id:?}");
        }
        for id in ["__id7__", "___", "__a", "a__", "...", "t:__default__:x", "%2F"] {
            assert_eq!(firestore(id), None, "{id:?}");
        }
        let cosmosdb = |id: &str| check(StoreKind::CosmosDb, &format!("[\"s\",{id:?}]")).err();
        for id in ["", "a/b", "a\\b", "a?b", "a#b"] {
            assert_eq!(cosmosdb(id), Some(Reason::KeyForbidden), "{id:?}");
        }
        assert_eq!(check(StoreKind::CosmosDb, "[\"s\",1]"), Err(Reason::FieldType));
        assert_eq!(cosmosdb("Order:A 1:zażółć"), None);
        let dynamodb = |pk: &str, sk: &str| check(StoreKind::DynamoDb, &format!("[{pk},{sk}]")).err();
        assert_eq!(dynamodb(r#"{"S":""}"#, r#"{"N":"0"}"#), Some(Reason::KeyForbidden));
        assert_eq!(dynamodb(r#"{"N":"1"}"#, r#"{"N":"0"}"#), Some(Reason::FieldType));
        assert_eq!(dynamodb(r#"{"S":"a"}"#, r#"{"S":"0"}"#), Some(Reason::FieldType));
        assert_eq!(dynamodb(r#"{"S":"a"}"#, r#"{"N":"1E126"}"#), Some(Reason::KeyForbidden));
        assert_eq!(dynamodb(r#"{"S":"a"}"#, r#"{"N":"1E-130"}"#), None);
    }

    #[test]
    fn a_key_of_another_shape_is_refused() {
        for key in ["[]", "[\"a\",\"b\",\"c\"]", "{}", "x"] {
            assert_eq!(check(StoreKind::CosmosDb, key), Err(Reason::Malformed), "{key}");
        }
    }

    #[test]
    fn names_follow_the_stores_rules() {
        assert!(check_name(StoreKind::DynamoDb, "Events").is_ok());
        assert!(check_name(StoreKind::DynamoDb, "ab").is_err());
        assert!(check_name(StoreKind::Firestore, "tenants/a/events").is_ok());
        assert!(check_name(StoreKind::Firestore, "tenants/a").is_err());
        assert!(check_name(StoreKind::MongoDb, "event_store_events").is_ok());
        assert!(check_name(StoreKind::CosmosDb, "a/b").is_err());
    }
}
