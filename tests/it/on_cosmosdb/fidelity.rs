//! What every item must keep: members of its own that look like the service's, and the spelling of numbers.

use serde_json::{Value, json};

use super::server::Place;
use crate::scene::Scene;

const ODD: &str = r#""_meta":{"_ts":1,"by":"us"},"__typename":"Saga","one":1,"point":1.0,"exponent":1e3,"beyond":9007199254740993,"small":-0.1,"date":"2026-01-02T03:04:05.6780000+00:00","bare":"2026-01-02","nested":[{"_etag":"mine"},[1.50,null,true]],"empty":{},"text":"a\"\\\u0001\n→🎁""#;

/// A saga that a very old release wrote: without a version.
fn saga(id: &str) -> String {
    format!(
        r#"{{"id":"{id}","sagaId":"{id}","sagaType":"OrderSagaState","tenantId":null,"stateJson":"{{\"completed\":false}}","isCompleted":false,{ODD}}}"#
    )
}

fn exported(scene: &Scene) -> Vec<Value> {
    let lines = scene.lines("legacy.ndjson");
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn sagas_keep_everything_but_their_key() {
    let place = Place::new();
    let scene = &place.scene;
    let ids = ["6f9619ff-8b86-d011-b42d-00c04fc964ff", "7f9619ff-8b86-d011-b42d-00c04fc964ff"];
    scene.put(&ids.map(saga), "sagas", "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "sagas", "legacy.ndjson");
    // The archive has what the service sets, and the texts as it sent them: the host spells doubles its own way.
    for item in exported(scene) {
        assert!(["_rid", "_self", "_etag", "_ts"].iter().all(|name| item.get(name).is_some()), "{item}");
    }
    let legacy = scene.text("legacy.ndjson");
    let sent = r#""one":1,"point":1,"exponent":1000,"beyond":9007199254740993,"small":-0.1,"date""#;
    assert_eq!(legacy.matches(sent).count(), 2, "{legacy}");

    let _ = scene.done(&["rekey", "legacy.ndjson", "--out", "rekeyed.ndjson", "--tenant", "acme"]);
    let rekeyed = scene.text("rekeyed.ndjson");
    assert!(!rekeyed.contains("\"_rid\"") && !rekeyed.contains("\"_self\""), "{rekeyed}");
    for kept in [sent, r#""_meta":{"_ts":1,"by":"us"}"#, r#""__typename":"Saga""#, r#"{"_etag":"mine"}"#] {
        assert_eq!(rekeyed.matches(kept).count(), 2, "{kept} in {rekeyed}");
    }
    let imported = scene.import("rekeyed.ndjson", "shop.db", "shop", &[]);
    let notices = imported["notices"].as_array().unwrap();
    let large = notices.iter().find(|it| it["code"] == "large-integer").expect("what the service may round");
    assert!(large["message"].as_str().unwrap().starts_with("2 documents"), "{large}");
    let verdict = scene.verify(&["rekeyed.ndjson"], "shop.db", "shop", &["--legacy", "legacy.ndjson"]);
    assert_eq!(verdict.ended(0)["verdict"], "match");
    assert_eq!(scene.prune("shop.db", "shop").ended(0)["deleted"], 2);

    let stored = place.items(&scene.collection("shop.db", "shop"));
    let expected = ids.map(|id| {
        let mut saga: Value = serde_json::from_str(&saga(id)).unwrap();
        saga["id"] = format!("t:acme:{id}").into();
        saga["tenantId"] = json!("acme");
        saga["point"] = json!(1);
        saga["exponent"] = json!(1000);
        saga
    });
    let mut stored: Vec<Value> = stored.into_values().collect();
    stored.sort_by_key(|item| item["id"].as_str().unwrap().to_owned());
    assert_eq!(stored, expected);
}
