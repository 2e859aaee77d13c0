//! Whatever line a tape accepts, everything that reads it copes with, for every store.

use proptest::prelude::*;
use sha2::{Digest as _, Sha256};

use super::StoreKind;
use super::canonical::{DocumentDigest, Scratch, differing_fields, digest, write_canonical};
use super::json::{MAX_DEPTH, Tape};
use super::size::{size_bound, stored_size};

/// Reads a line in every way; the line must be one that a tape accepts.
fn read_in_every_way(kind: StoreKind, line: &[u8]) {
    let mut tape = Tape::new();
    tape.read(line).unwrap();
    let mut form = Vec::new();
    write_canonical(kind, line, &["a".to_owned()], &mut form).unwrap();
    let mut again = Vec::new();
    write_canonical(kind, &form, &["a".to_owned()], &mut again).unwrap();
    assert_eq!(String::from_utf8_lossy(&again), String::from_utf8_lossy(&form));
    let digest = digest(kind, &tape, line, &["a".to_owned()], &mut Scratch::default());
    assert_eq!(digest, DocumentDigest(Sha256::digest(&form).into()));
    assert_eq!(differing_fields(kind, line, line), [""; 0]);
    assert!(stored_size(kind, &tape, line) <= size_bound(kind, line.len()));
    let _ = kind.check_lossless(&tape, line);
    for member in kind.fields(&tape, line).map(|fields| tape.members(fields)).into_iter().flatten() {
        let _ = kind.text(&tape, line, member);
        let _ = kind.integer(&tape, line, member);
        let _ = kind.is_null(&tape, line, member);
        let _ = kind.embedded_json(&tape, line, member);
    }
}

/// Objects made of the words that the stores' forms give a meaning, in and out of place.
fn any_object() -> impl Strategy<Value = serde_json::Value> {
    let words = || {
        prop::sample::select(
            &[
                "Item",
                "fields",
                "name",
                "S",
                "N",
                "B",
                "NULL",
                "BOOL",
                "SS",
                "NS",
                "BS",
                "L",
                "M",
                "a",
                "_ts",
                "",
                "$",
                "$oid",
                "$date",
                "$numberLong",
                "$numberInt",
                "$numberDouble",
                "$numberDecimal",
                "$binary",
                "base64",
                "subType",
                "$code",
                "$scope",
                "$timestamp",
                "$regularExpression",
                "$dbPointer",
                "$ref",
                "$rawBson",
                "$uuid",
                "stringValue",
                "integerValue",
                "doubleValue",
                "timestampValue",
                "bytesValue",
                "nullValue",
                "booleanValue",
                "referenceValue",
                "geoPointValue",
                "latitude",
                "arrayValue",
                "values",
                "mapValue",
            ][..],
        )
    };
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        prop::sample::select(
            &["", "1", "-0", "1e5", "AA==", "NaN", "2026-01-02T03:04:05.6Z", "é", "{\"a\":1}", "a/b"][..]
        )
        .prop_map(Into::into),
    ];
    let value = leaf.prop_recursive(6, 40, 3, move |inner| {
        let members = prop::collection::btree_map(words().prop_map(str::to_owned), inner.clone(), 0..3);
        prop_oneof![
            1 => prop::collection::vec(inner, 0..4).prop_map(Into::into),
            4 => members.prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    });
    let members = prop::collection::btree_map(words().prop_map(str::to_owned), value, 0..4);
    members.prop_map(|map| serde_json::Value::Object(map.into_iter().collect()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn lines_with_words_out_of_place_are_read(object in any_object()) {
        for kind in StoreKind::ALL {
            read_in_every_way(kind, &serde_json::to_vec(&object).unwrap());
            read_in_every_way(kind, &serde_json::to_vec_pretty(&object).unwrap());
        }
    }
}

#[test]
fn the_deepest_lines_are_read_on_an_ordinary_stack() {
    let nested = |frame: &str, opening: &str, levels: usize| {
        let closing: String = opening
            .chars()
            .rev()
            .filter_map(|c| {
                Some(match c {
                    '{' => '}',
                    '[' => ']',
                    _ => return None,
                })
            })
            .collect();
        let start = format!("{frame}{}", opening.repeat(levels));
        let ends = frame.bytes().filter(|byte| *byte == b'{').count();
        format!("{start}{}{}", closing.repeat(levels), "}".repeat(ends)).replace(":}", ":null}")
    };
    let levels = usize::from(MAX_DEPTH);
    let deepest = [
        (StoreKind::MongoDb, nested("{\"a\":", "[", levels - 1)),
        (StoreKind::MongoDb, nested("{\"a\":", "{\"a\":", levels - 1)),
        (StoreKind::DynamoDb, nested("{\"Item\":{\"a\":", "{\"M\":{\"a\":", levels / 2 - 1)),
        (StoreKind::DynamoDb, nested("{\"Item\":{\"a\":", "{\"L\":[", levels / 2 - 1)),
        (
            StoreKind::Firestore,
            nested("{\"fields\":{\"a\":", "{\"arrayValue\":{\"values\":[", levels / 3 - 1),
        ),
        (
            StoreKind::Firestore,
            nested("{\"fields\":{\"a\":", "{\"mapValue\":{\"fields\":{\"a\":", levels / 3 - 1),
        ),
        (StoreKind::CosmosDb, nested("{\"a\":", "{\"a\":", levels - 1)),
    ];
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(move || {
        for (kind, line) in &deepest {
            read_in_every_way(*kind, line.as_bytes());
        }
    });
    thread.unwrap().join().unwrap();
}
