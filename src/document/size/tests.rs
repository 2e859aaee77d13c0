use StoreKind::{CosmosDb, DynamoDb, Firestore, MongoDb};

use super::*;

fn size(kind: StoreKind, line: &str) -> u64 {
    let mut tape = Tape::new();
    tape.read(line.as_bytes()).unwrap();
    let size = stored_size(kind, &tape, line.as_bytes());
    assert!(size <= size_bound(kind, line.len()), "{kind} {line}: {size}");
    size
}

#[test]
fn the_documented_example_of_firestore_is_counted() {
    // The example of the storage size page: 147 bytes.
    let line = r#"{"name":"projects/p/databases/(default)/documents/users/jeff/tasks/my_task_id","fields":{
        "type":{"stringValue":"Personal"},"done":{"booleanValue":false},"priority":{"integerValue":"1"},
        "description":{"stringValue":"Learn Cloud Firestore"}}}"#;
    assert_eq!(size(Firestore, line), 147);
}

#[test]
fn firestore_values_are_counted_by_type() {
    let value =
        |value: &str| size(Firestore, &format!(r#"{{"name":"c/d","fields":{{"f":{value}}}}}"#)) - 20 - 32 - 2;
    for (text, bytes) in [
        (r#"{"nullValue":null}"#, 1),
        (r#"{"doubleValue":"NaN"}"#, 8),
        (r#"{"timestampValue":"2026-01-02T12:00:00Z"}"#, 8),
        (r#"{"geoPointValue":{}}"#, 16),
        (r#"{"stringValue":"é"}"#, 3),
        (r#"{"bytesValue":"AP8+Pw=="}"#, 4),
        (r#"{"referenceValue":"projects/p/databases/d/documents/a/bc"}"#, 2 + 3 + 16),
        (r#"{"arrayValue":{}}"#, 0),
        (r#"{"arrayValue":{"values":[{"integerValue":"1"},{"booleanValue":true}]}}"#, 9),
        (r#"{"mapValue":{"fields":{"ab":{"integerValue":"1"}}}}"#, 32 + 3 + 8),
    ] {
        assert_eq!(value(text), bytes, "{text}");
    }
}

#[test]
fn dynamodb_values_are_counted_by_type() {
    let value = |value: &str| size(DynamoDb, &format!(r#"{{"Item":{{"né":{value}}}}}"#)) - 3;
    for (text, bytes) in [
        (r#"{"S":""}"#, 0),
        (r#"{"S":"é\n"}"#, 3),
        (r#"{"B":"AP8+Pw=="}"#, 4),
        (r#"{"BOOL":true}"#, 1),
        (r#"{"NULL":true}"#, 1),
        (r#"{"N":"0"}"#, 1),
        (r#"{"N":"100"}"#, 2),
        (r#"{"N":"-1234.50"}"#, 5),
        (r#"{"N":"99999999999999999999999999999999999999"}"#, 20),
        (r#"{"L":[]}"#, 3),
        (r#"{"L":[{"S":"ab"},{"L":[{"NULL":true}]}]}"#, 3 + 3 + 1 + 3 + 1 + 1),
        (r#"{"M":{"ab":{"S":"c"}}}"#, 3 + 1 + 2 + 1),
        (r#"{"SS":["a","bc"]}"#, 3 + 2 + 3),
    ] {
        assert_eq!(value(text), bytes, "{text}");
    }
}

#[test]
fn mongodb_documents_are_counted_as_bson() {
    let value = |value: &str| size(MongoDb, &format!(r#"{{"né":{value}}}"#)) - 5 - 5;
    assert_eq!(size(MongoDb, "{}"), 5);
    for (text, bytes) in [
        ("null", 0),
        ("true", 1),
        (r#""é""#, 7),
        (r#"{"$numberInt":"1"}"#, 4),
        (r#"{"$numberLong":"1"}"#, 8),
        (r#"{"$numberDouble":"NaN"}"#, 8),
        (r#"{"$numberDecimal":"1"}"#, 16),
        (r#"{"$oid":"65a0f1c2d3e4f5a6b7c8d9e0"}"#, 12),
        (r#"{"$date":{"$numberLong":"1"}}"#, 8),
        (r#"{"$timestamp":{"t":1,"i":2}}"#, 8),
        (r#"{"$minKey":1}"#, 0),
        (r#"{"$undefined":true}"#, 0),
        (r#"{"$binary":{"base64":"AP8+Pw==","subType":"00"}}"#, 9),
        (r#"{"$binary":{"base64":"AP8+Pw==","subType":"02"}}"#, 13),
        (r#"{"$uuid":"6f9619ff-8b86-d011-b42d-00c04fc964ff"}"#, 21),
        (r#"{"$regularExpression":{"pattern":"a+","options":"i"}}"#, 5),
        (r#"{"$symbol":"a"}"#, 6),
        (r#"{"$code":"a"}"#, 6),
        (r#"{"$code":"a","$scope":{}}"#, 4 + 6 + 5),
        (r#"{"$dbPointer":{"$ref":"a.b","$id":{"$oid":"65a0f1c2d3e4f5a6b7c8d9e0"}}}"#, 8 + 12),
        ("[]", 5),
        (r#"["","",[{"a":null}]]"#, 5 + 8 + 8 + 3 + 5 + 3 + 5 + 3),
        (r#"{"a":{"$type":"x"}}"#, 5 + 3 + 5 + 7 + 6),
    ] {
        assert_eq!(value(text), bytes, "{text}");
    }
    assert_eq!(size(MongoDb, r#"{"$rawBson":"BQAAAAA="}"#), 5);
    let nulls = format!(r#"{{"a":[{}]}}"#, vec!["null"; 101].join(","));
    assert_eq!(size(MongoDb, &nulls), 5 + 3 + 5 + 10 * 3 + 90 * 4 + 5);
}

#[test]
fn cosmosdb_items_are_counted_as_compact_json() {
    for (line, compact) in [
        (r#"{"a":1.50,"_ts":5,"b":[1,{"c":"é"}]}"#, r#"{"a":1.50,"b":[1,{"c":"é"}]}"#),
        (
            r#" { "a" : [ ] , "b" : { } , "c" : [ 1 , [ "\u0041\/" , null ] , { "x" : true, "y": {"z":[[[1 , 2]]]} } ] } "#,
            r#"{"a":[],"b":{},"c":[1,["A/",null],{"x":true,"y":{"z":[[[1,2]]]}}]}"#,
        ),
        (r#"{"_etag":"x"}"#, "{}"),
    ] {
        assert_eq!(size(CosmosDb, line), compact.len() as u64, "{line}");
    }
}

#[test]
fn the_bound_holds_for_the_densest_documents() {
    let many = |value: &str| vec![value; 20_000].join(",");
    for value in [r#""""#, "[]", "{}", "null", "true", r#"{"$minKey":1}"#, r#"{"$numberInt":"1"}"#] {
        let _ = size(MongoDb, &format!(r#"{{"a":[{}]}}"#, many(value)));
    }
    for value in [r#"{"NULL":true}"#, r#"{"L":[]}"#, r#"{"M":{}}"#, r#"{"N":"1"}"#, r#"{"N":"-1"}"#] {
        let _ = size(DynamoDb, &format!(r#"{{"Item":{{"a":{{"L":[{}]}}}}}}"#, many(value)));
    }
    for value in [r#""""#, r#""1""#, r#""-1""#] {
        let _ = size(DynamoDb, &format!(r#"{{"Item":{{"a":{{"SS":[{}]}}}}}}"#, many(value)));
        let _ = size(DynamoDb, &format!(r#"{{"Item":{{"a":{{"NS":[{}]}}}}}}"#, many(value)));
    }
    for value in
        [r#"{"mapValue":{}}"#, r#"{"geoPointValue":{}}"#, r#"{"doubleValue":1}"#, r#"{"referenceValue":""}"#]
    {
        let line =
            format!(r#"{{"name":"","fields":{{"a":{{"arrayValue":{{"values":[{}]}}}}}}}}"#, many(value));
        let _ = size(Firestore, &line);
    }
}
