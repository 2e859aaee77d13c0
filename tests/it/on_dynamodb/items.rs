//! What every item must keep: all types, numbers to the last digit, and the limits refused by name.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;

use super::server::{Server, items, scene_at, wait};
use crate::scene::Scene;

/// One stream of two events that hold everything DynamoDB can store.
fn every_type() -> Vec<String> {
    let odd = concat!(
        r#""bin":{"B":"AAH/"},"binEmpty":{"B":""},"textEmpty":{"S":""},"text":{"S":"\u0000 \u2028 é 🎁 \"quoted\""},"#,
        r#""n38":{"N":"-12345678901234567890123456789012345678"},"tiny":{"N":"1E-130"},"huge":{"N":"9.99E+125"},"#,
        r#""yes":{"BOOL":true},"no":{"BOOL":false},"nothing":{"NULL":true},"ss":{"SS":["b","","a"]},"#,
        r#""ns":{"NS":["3","-1.5","1E-130"]},"bs":{"BS":["","AQ==","AA=="]},"emptyList":{"L":[]},"emptyMap":{"M":{}},"#,
        r#""list":{"L":[{"S":"x"},{"N":"0.1"},{"L":[{"NULL":true},{"B":"/w=="}]},{"SS":["s"]}]},"#,
        r#""map":{"M":{"é \"":{"S":"a name"},"deep":{"M":{"b":{"B":"3q2+7w=="},"l":{"L":[{"M":{"n":{"N":"7"}}}]}}}}},"#,
    );
    let event = |version: u32| {
        format!(
            r#"{{"Item":{{"pk":{{"S":"Order:A-1"}},"sk":{{"N":"{version}"}},{odd}"eventId":{{"S":"e{version}"}},"aggregateId":{{"S":"A-1"}},"aggregateType":{{"S":"Order"}},"eventType":{{"S":"Placed"}},"version":{{"N":"{version}"}},"timestamp":{{"S":"2026-01-02T03:04:05.6780000+00:00"}},"eventData":{{"S":"e30="}},"metadata":{{"NULL":true}}}}}}"#
        )
    };
    (0..2).map(event).collect()
}

fn rekey_to_acme(scene: &Scene) {
    let _ = scene.done(&["rekey", "legacy.ndjson", "--out", "rekeyed.ndjson", "--tenant", "acme"]);
}

fn every_type_is_kept(server: Server) {
    let scene = scene_at(&server.endpoint());
    let table = scene.collection("shop.db", "shop");
    scene.put(&every_type(), "events", "shop.db", "shop");
    let before = wait(items(&server.client(), &table));
    assert_eq!(before.len(), 2);
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    rekey_to_acme(&scene);
    let _ = scene.import("rekeyed.ndjson", "shop.db", "shop", &[]);
    let verdict = scene.verify(&["rekeyed.ndjson"], "shop.db", "shop", &["--legacy", "legacy.ndjson"]);
    assert_eq!(verdict.ended(0)["verdict"], "match");
    assert_eq!(scene.prune("shop.db", "shop").ended(0)["deleted"], 2);
    let after = wait(items(&server.client(), &table));
    assert_eq!(after.len(), 2);
    for ((key, mut before), mut after) in before.into_iter().zip(after.into_values()) {
        assert_eq!(before.len(), 27, "{key}");
        let _ = before.insert("pk".to_owned(), AttributeValue::S("t:acme:Order:A-1".to_owned()));
        for item in [&mut before, &mut after] {
            item.values_mut().for_each(sort_sets);
        }
        assert_eq!(before, after, "nothing but the key changes");
        assert_eq!(after["n38"], AttributeValue::N("-12345678901234567890123456789012345678".to_owned()));
        assert_eq!(after["binEmpty"], AttributeValue::B(Blob::new([])));
    }
}

/// A set has no order; some servers keep the one it was sent in.
fn sort_sets(value: &mut AttributeValue) {
    match value {
        AttributeValue::Ss(set) | AttributeValue::Ns(set) => set.sort(),
        AttributeValue::Bs(set) => set.sort_by(|a, b| a.as_ref().cmp(b.as_ref())),
        AttributeValue::L(list) => list.iter_mut().for_each(sort_sets),
        AttributeValue::M(map) => map.values_mut().for_each(sort_sets),
        _ => {}
    }
}

#[test]
fn every_type_is_kept_on_dynoxide() {
    every_type_is_kept(Server::Dynoxide);
}

#[test]
fn every_type_is_kept_on_dynalite() {
    every_type_is_kept(Server::Dynalite);
}

/// One event; its id and its payload make key and item as long as they are.
fn event(id: &str, payload: &str) -> String {
    format!(
        r#"{{"Item":{{"pk":{{"S":"Order:{id}"}},"sk":{{"N":"0"}},"eventId":{{"S":"e"}},"aggregateId":{{"S":"{id}"}},"aggregateType":{{"S":"Order"}},"eventType":{{"S":"Placed"}},"version":{{"N":"0"}},"timestamp":{{"S":"2026-01-02T03:04:05.6780000+00:00"}},"eventData":{{"S":"{payload}"}},"metadata":{{"NULL":true}}}}}}"#
    )
}

#[test]
fn a_key_and_an_item_that_the_prefix_makes_too_large_are_refused_by_name_before_any_write() {
    let scene = scene_at(&Server::Dynoxide.endpoint());
    let long_id = "k".repeat(2048 - "Order:".len());
    // The names and the other values of the item have 164 bytes with this id, the limit is 400 KB.
    let bare = event("A-2", "");
    let payload = |bytes: usize| "x".repeat(bytes);
    let fits = event("A-1", &payload(1000));
    let empty = stored_size(&bare);
    let large = event("A-2", &payload(400 * 1024 - 5 - empty));
    assert_eq!(stored_size(&large), 400 * 1024 - 5);
    scene.put(&[fits, event(&long_id, ""), large], "events", "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let refused = scene.result(&["rekey", "legacy.ndjson", "--out", "rekeyed.ndjson", "--tenant", "acme"]);
    let result = refused.ended(5);
    assert_eq!(result["reasons"], json!({ "key-too-long": 1, "document-too-large": 1 }));
    let keys: Vec<_> = result["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["key"].as_str().unwrap().to_owned())
        .collect();
    assert!(
        keys.iter().any(|key| key.contains(&long_id)) && keys.iter().any(|key| key.contains("A-2")),
        "{keys:?}"
    );
    assert!(!scene.path("rekeyed.ndjson").exists());
}

/// The bytes of an item as the service counts them, for a flat item of strings, one number and one null.
fn stored_size(line: &str) -> usize {
    let value: serde_json::Value = serde_json::from_str(line).unwrap();
    let sizes = value["Item"].as_object().unwrap().iter().map(|(name, value)| {
        let typed = value.as_object().unwrap().iter().next().unwrap();
        name.len()
            + match (typed.0.as_str(), typed.1) {
                ("S", text) => text.as_str().unwrap().len(),
                ("N", text) if text == "0" => 1,
                ("NULL", _) => 1,
                other => panic!("{other:?}"),
            }
    });
    sizes.sum()
}
