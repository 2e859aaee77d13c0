//! Every DynamoDB document of `tests/vectors/rekey-vectors.json`, from table to table.

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};

use super::server::{Server, items, scene_at, wait};

/// An attribute value as DynamoDB JSON, of the types that the framework writes.
fn typed(value: &AttributeValue) -> Value {
    match value {
        AttributeValue::S(text) => json!({ "S": text }),
        AttributeValue::N(text) => json!({ "N": text }),
        AttributeValue::Bool(value) => json!({ "BOOL": value }),
        AttributeValue::Null(value) => json!({ "NULL": value }),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_vector_stands_in_the_new_table_as_the_framework_expects() {
    let vectors: Vec<Value> = serde_json::from_str(include_str!("../../vectors/rekey-vectors.json")).unwrap();
    let vectors: Vec<_> =
        vectors.iter().filter(|vector| vector["store"].as_str().unwrap().starts_with("dynamodb-")).collect();
    assert_eq!(vectors.len(), 13);
    for vector in vectors {
        let of = |name: &str| vector[name].as_str().unwrap();
        let scene = scene_at(&Server::Dynoxide.endpoint());
        let kind = of("store").trim_start_matches("dynamodb-");
        scene.put(&[json!({ "Item": vector["before"] }).to_string()], kind, "shop.db", "shop");
        let _ = scene.export("shop.db", "shop", kind, "legacy.ndjson");
        let rule = ["--tenant", of("tenant"), "--escaping", of("escaping"), "--allow-gaps"];
        let rekey = [&["rekey", "legacy.ndjson", "--out", "rekeyed.ndjson"], &rule[..]].concat();
        let _ = scene.done(&rekey);
        let _ = scene.import("rekeyed.ndjson", "moved.db", "moved", &["--create-target"]);
        let stored = wait(items(&Server::Dynoxide.client(), &scene.collection("moved.db", "moved")));
        let stored: Vec<Value> = stored
            .into_values()
            .map(|item| item.iter().map(|(name, value)| (name.clone(), typed(value))).collect())
            .collect();
        assert_eq!(stored, [vector["after"].clone()], "{}, {}", of("store"), of("name"));
    }
}
