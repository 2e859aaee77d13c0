//! Ids, keys and items at every limit and just over it: refused by name before any write.

use azure_data_cosmos::models::{
    ContainerProperties, PartitionKeyDefinition, PartitionKeyVersion, UniqueKey, UniqueKeyPolicy,
};
use serde_json::{Value, json};

use super::server::Place;
use crate::scene::Scene;

fn event(aggregate: &str, version: usize, more: &str) -> String {
    format!(
        r#"{{"id":"Order:{aggregate}:{version}","streamId":"Order:{aggregate}","eventId":"e-{aggregate}-{version}","aggregateId":"{aggregate}","aggregateType":"Order","eventType":"Placed","version":{version},"timestamp":"2026-01-02T03:04:05.678+00:00","eventData":"e30=","metadata":null{more}}}"#
    )
}

/// Writes legacy events as another tool's archive and rewrites them for a tenant: exit code and result.
fn rekey(scene: &Scene, lines: &[String], tenant: &str, code: i32) -> Value {
    scene.write("legacy.ndjson", lines.join("\n") + "\n");
    let count = lines.len().to_string();
    let archive = ["rekey", "legacy.ndjson", "--layout", "cosmosdb-events", "--expect-documents", &count];
    let how = ["--out", "rekeyed.ndjson", "--tenant", tenant, "--allow-gaps"];
    scene.result(&[&archive[..], &how].concat()).ended(code)
}

#[test]
fn keys_and_items_over_a_limit_are_refused_by_the_rewrite() {
    let place = Place::new();
    let scene = &place.scene;
    // The new id is `t:acme:Order:…:0`.
    let longest = 1023 - "t:acme:Order::0".len();
    let fits = event(&"k".repeat(longest), 0, "");
    let _ = rekey(scene, std::slice::from_ref(&fits), "acme", 0);
    let refused = rekey(scene, &[event(&"k".repeat(longest + 1), 0, "")], "acme", 5);
    assert_eq!(refused["reasons"], json!({ "key-too-long": 1 }));
    for tenant in ["a/b", "a\\b", "a?b", "a#b"] {
        let refused = rekey(scene, &[event("A-1", 0, "")], tenant, 5);
        assert_eq!(refused["reasons"], json!({ "key-forbidden": 1 }), "{tenant}");
    }
    // Twice `t:acme:` is what the item grows by.
    let frame = event("A-1", 0, r#","p":"""#).len() + 2 * "t:acme:".len();
    let item = |over: usize| event("A-1", 0, &format!(r#","p":"{}""#, "x".repeat((2 << 20) - frame + over)));
    let _ = rekey(scene, &[item(0)], "acme", 0);
    let _ = scene.import("rekeyed.ndjson", "moved.db", "moved", &["--create-target"]);
    let refused = rekey(scene, &[item(1)], "acme", 5);
    assert_eq!(refused["reasons"], json!({ "document-too-large": 1 }));

    let _ = rekey(scene, &[fits], "acme", 0);
    let _ = scene.import("rekeyed.ndjson", "moved.db", "moved", &[]);
    assert_eq!(place.items(&scene.collection("moved.db", "moved")).len(), 2, "what is at the limit goes in");
}

#[test]
fn what_another_tool_wrote_is_checked_against_the_limits_before_any_write() {
    let place = Place::new();
    let scene = &place.scene;
    let saga = |id: &str, kind: &str| format!(r#"{{"id":"{id}","sagaId":"{id}","sagaType":"{kind}"}}"#);
    let good = saga("a", "S");
    let container = scene.collection("x.db", "x");
    place.make(ContainerProperties::new(container.clone(), "/sagaType".into()));
    for (bad, reason) in [
        (saga(&"k".repeat(1024), "S"), "key-too-long"),
        (saga("a?", "S"), "key-forbidden"),
        (saga("b", &"k".repeat(2049)), "key-too-long"),
    ] {
        scene.write("sagas.ndjson", format!("{good}\n{bad}\n"));
        let to = scene.address("x.db");
        let restore = ["restore", "sagas.ndjson", "--layout", "cosmosdb-sagas", "--expect-documents", "2"];
        let whither = ["--to", &to, "--collection", &container, "--subscribers-handled"];
        let refused = scene.result(&[&restore[..], &whither].concat()).ended(5);
        assert_eq!(refused["reasons"], json!({ reason: 1 }), "{refused}");
        assert!(place.items(&container).is_empty(), "nothing was written");
    }
}

fn definition(version: PartitionKeyVersion) -> PartitionKeyDefinition {
    PartitionKeyDefinition::from("/streamId").with_version(version)
}

#[test]
fn an_old_hash_keeps_long_keys_apart_by_their_first_101_bytes() {
    let place = Place::new();
    let scene = &place.scene;
    let names = [PartitionKeyVersion::V1, PartitionKeyVersion::V2].map(|version| {
        let name = scene.collection("hash.db", &format!("{version:?}"));
        place.make(ContainerProperties::new(name.clone(), definition(version)));
        name
    });
    // The new partition keys are `t:acme:Order:…`: they differ in byte 101, or behind it.
    let beginning = "k".repeat(101 - "t:acme:Order:".len() - 1);
    let (to, old) = (scene.address("hash.db"), &names[0]);
    let import = |container| {
        vec!["import", "rekeyed.ndjson", "--to", &to, "--collection", container, "--subscribers-handled"]
    };
    let apart = ["a", "b"].map(|end| event(&format!("{beginning}{end}"), 0, ""));
    let _ = rekey(scene, &apart, "acme", 0);
    assert_eq!(scene.done(&import(old))["written"], 2);
    let together = ["xa", "xb"].map(|end| event(&format!("{beginning}{end}"), 0, ""));
    let _ = rekey(scene, &together, "acme", 0);
    let refused = scene.result(&import(old)).ended(5);
    assert_eq!(refused["reasons"], json!({ "target-rule": 1 }), "{refused}");
    assert!(refused["findings"][0]["message"].as_str().unwrap().contains("101 bytes"), "{refused}");
    assert_eq!(place.items(old).len(), 2, "nothing was written");
    // One after the other is no better: the first is stored when the second comes.
    let _ = rekey(scene, &together[..1], "acme", 0);
    assert_eq!(scene.done(&import(old))["written"], 1);
    assert_eq!(scene.done(&import(old))["identical"], 1, "no document stands in its own way");
    let _ = rekey(scene, &together[1..], "acme", 0);
    for more in [&["--dry-run"][..], &[]] {
        let refused = scene.result(&[&import(old)[..], more].concat()).ended(5);
        assert_eq!(refused["reasons"], json!({ "target-rule": 1 }), "{refused}");
        assert!(refused["findings"][0]["message"].as_str().unwrap().contains("stored"), "{refused}");
    }
    assert_eq!(place.items(old).len(), 3, "nothing was written");
    let _ = rekey(scene, &together, "acme", 0);
    assert_eq!(scene.done(&import(&names[1]))["written"], 2, "the new hash reads whole keys");
}

#[test]
fn unique_keys_are_kept_before_any_write_and_against_what_is_stored() {
    let place = Place::new();
    let scene = &place.scene;
    let name = scene.collection("unique.db", "events");
    let policy = UniqueKeyPolicy::default().with_unique_key(UniqueKey::default().with_path("/ref"));
    let definition = definition(PartitionKeyVersion::V2);
    place.make(ContainerProperties::new(name.clone(), definition).with_unique_key_policy(policy));
    let to = scene.address("unique.db");
    let import = ["import", "rekeyed.ndjson", "--to", &to, "--collection", &name, "--subscribers-handled"];
    let event = |version: usize, reference: u32| event("A-1", version, &format!(r#","ref":{reference}"#));
    let _ = rekey(scene, &[event(0, 1), event(1, 1)], "acme", 0);
    let refused = scene.result(&import).ended(5);
    assert_eq!(refused["reasons"], json!({ "target-rule": 1 }), "{refused}");
    assert!(place.items(&name).is_empty(), "nothing was written");

    // Its stream is set aside whole, each document under its own reason.
    let aside = scene.result(&[&import[..], &["--on-refused", "set-aside"]].concat()).ended(3);
    assert_eq!((&aside["set_aside"], &aside["written"]), (&json!(2), &json!(0)), "{aside}");
    let set_aside = scene.lines("rekeyed.ndjson.import.refused.ndjson");
    let reason = |line: &String| serde_json::from_str::<Value>(line).unwrap()["reason"].clone();
    let reasons: Vec<Value> = set_aside.iter().map(reason).collect();
    assert_eq!(reasons, ["stream-refused", "target-rule"]);

    let _ = rekey(scene, &[event(0, 1), event(1, 2)], "acme", 0);
    assert_eq!(scene.done(&import)["written"], 2);
    assert_eq!(scene.done(&import)["identical"], 2, "no document stands in its own way");
    // Another event with a value that is stored.
    let _ = rekey(scene, &[event(0, 1), event(2, 2)], "acme", 0);
    let foreseen = scene.result(&[&import[..], &["--dry-run"]].concat()).ended(5);
    let result = scene.result(&import).ended(5);
    for result in [foreseen, result] {
        assert_eq!(result["reasons"], json!({ "target-rule": 1 }), "{result}");
        assert!(result["findings"][0]["message"].as_str().unwrap().contains("stored document"), "{result}");
    }
    assert_eq!(place.items(&name).len(), 2);
}
