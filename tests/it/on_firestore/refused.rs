//! What the service would refuse is refused by name before any write, or set aside by whole stream.

use rekey::document::StoreKind;
use serde_json::Value;

use super::server::{Database, emulator, scene_at, wait};
use crate::generated::Generated;
use crate::scene::Scene;

/// An event of a stream of its own; its id and its payload make key and document as long as they are.
fn event(id: &str, version: u32, payload: &str) -> String {
    format!(
        r#"{{"name":"projects/p/databases/(default)/documents/events/Order:{id}:{version}","fields":{{"eventId":{{"stringValue":"{id:.8}-{version}"}},"streamId":{{"stringValue":"Order:{id}"}},"aggregateId":{{"stringValue":"{id}"}},"aggregateType":{{"stringValue":"Order"}},"eventType":{{"stringValue":"Placed"}},"version":{{"integerValue":"{version}"}},"timestamp":{{"stringValue":"2026-01-02T03:04:05.6780000+00:00"}},"eventData":{{"stringValue":"{payload}"}}}}}}"#
    )
}

/// Two streams of two events, of which the second one is within the limits only without a tenant.
fn hostile() -> Vec<String> {
    // `Order:ID:1` has 1,500 bytes, `t:acme:Order:ID:1` more.
    let long = "k".repeat(1500 - "Order::1".len());
    // The document's size without the payload, as the service counts it, leaves the payload the rest.
    let mut payload = 1_048_576;
    let size = |payload: usize| {
        let line = event("B-1", 1, &"x".repeat(payload));
        let mut tape = rekey::document::json::Tape::new();
        tape.read(line.as_bytes()).unwrap();
        rekey::document::size::stored_size(StoreKind::Firestore, &tape, line.as_bytes())
    };
    payload -= usize::try_from(size(payload)).unwrap() - 1_048_576;
    assert_eq!(size(payload), 1_048_576);
    vec![
        event(&long, 0, ""),
        event(&long, 1, ""),
        event("B-1", 0, ""),
        event("B-1", 1, &"x".repeat(payload)),
        event("C-1", 0, ""),
        event("C-1", 1, ""),
    ]
}

fn reasons(result: &Value) -> Vec<(String, u64)> {
    let reasons = result["reasons"].as_object().unwrap();
    reasons.iter().map(|(reason, count)| (reason.clone(), count.as_u64().unwrap())).collect()
}

/// A scene with the lines as a file: the emulator counts a document's bytes in another way than the documentation.
fn scene_with(lines: &[String]) -> Scene {
    let scene = scene_at(&emulator());
    scene.write("by-hand.ndjson", lines.join("\n") + "\n");
    scene
}

#[test]
fn what_is_over_a_limit_only_with_the_tenant_is_refused_by_name() {
    let scene = scene_with(&hostile());
    let read = ["rekey", "by-hand.ndjson", "--layout", "firestore-events", "--expect-documents", "6"];
    let rekey = [&read[..], &["--out", "rekeyed.ndjson", "--tenant", "acme"]].concat();
    let ran = scene.result(&rekey);
    let result = ran.ended(5);
    let expected = [("document-too-large", 1), ("key-too-long", 2), ("stream-refused", 1)]
        .map(|(reason, count)| (reason.to_owned(), count));
    assert_eq!(reasons(&result), expected);
    let named = scene.text("rekeyed.ndjson.refused.ndjson");
    assert!(named.contains("Order:B-1:1") && named.contains("Order:kkkk"), "{named:.500}");
    let result = scene.result(&[&rekey[..], &["--on-refused", "set-aside"]].concat()).ended(3);
    assert_eq!((&result["rekeyed"], &result["set_aside"]), (&2.into(), &4.into()));
}

/// Rewritten by hand, as another tool would.
fn by_hand(line: &str) -> String {
    line.replace("/events/Order:", "/events/t:acme:Order:").replacen(
        r#""streamId":{"stringValue":"Order:"#,
        r#""streamId":{"stringValue":"t:acme:Order:"#,
        1,
    )
}

#[test]
fn what_was_put_into_an_archive_by_hand_is_found_before_any_write_and_set_aside_by_whole_stream() {
    let scene = scene_with(&hostile().iter().map(|line| by_hand(line)).collect::<Vec<_>>());
    let (to, name) = (scene.address("moved.db"), scene.collection("moved.db", "moved"));
    let layout = ["--layout", "firestore-events", "--expect-documents", "6", "--subscribers-handled"];
    let import = [&["import", "by-hand.ndjson", "--to", &to, "--collection", &name], &layout[..]].concat();
    let stored = || wait(async { Database::of(&to).await.documents(&name).await });
    let result = scene.result(&import).ended(5);
    let expected =
        [("document-too-large", 1), ("key-too-long", 2)].map(|(reason, count)| (reason.to_owned(), count));
    assert_eq!(reasons(&result), expected);
    assert!(stored().is_empty(), "nothing is written");
    let result = scene.result(&[&import[..], &["--on-refused", "set-aside"]].concat()).ended(3);
    assert_eq!((&result["written"], &result["set_aside"]), (&2.into(), &4.into()));
    let found: Vec<String> = stored().into_keys().collect();
    assert_eq!(found, ["t:acme:Order:C-1:0", "t:acme:Order:C-1:1"], "no stream with a hole");
}

#[test]
fn a_document_id_that_the_service_forbids_is_refused_by_name_and_never_sent() {
    let scene = scene_at(&emulator());
    let (to, name) = (scene.address("shop.db"), scene.collection("shop.db", "shop"));
    for id in ["__x__", ".", "..", &"é".repeat(751)] {
        let line = format!(
            r#"{{"name":"projects/p/databases/d/documents/events/{id}","fields":{{"streamId":{{"stringValue":"s"}},"version":{{"integerValue":"0"}}}}}}"#
        );
        scene.write("odd.ndjson", line + "\n");
        let restore = ["restore", "odd.ndjson", "--layout", "firestore-events", "--expect-documents", "1"];
        let where_to = ["--to", &to, "--collection", &name, "--subscribers-handled"];
        let result = scene.result(&[&restore[..], &where_to].concat()).ended(5);
        let (reason, count) = reasons(&result).remove(0);
        assert!(["key-forbidden", "key-too-long"].contains(&&*reason) && count == 1, "{id}: {reason}");
    }
    assert!(wait(async { Database::of(&to).await.documents(&name).await }).is_empty());
}

/// Fields that the service takes in no document are told before any write, too.
#[test]
fn a_field_that_the_service_forbids_is_refused_by_name() {
    let scene = scene_at(&emulator());
    let generated = Generated::events(StoreKind::Firestore, 2);
    scene.seed(&generated, "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    let spoilt: Vec<String> = scene
        .lines("rekeyed.ndjson")
        .iter()
        .map(|line| line.replacen(r#""fields":{"#, r#""fields":{"__bad__":{"nullValue":null},"#, 1))
        .collect();
    let count = spoilt.len().to_string();
    scene.write("odd.ndjson", spoilt.join("\n") + "\n");
    let (to, name) = (scene.address("moved.db"), scene.collection("moved.db", "moved"));
    let layout = ["--layout", "firestore-events", "--expect-documents", &count, "--subscribers-handled"];
    let import = ["import", "odd.ndjson", "--to", &to, "--collection", &name];
    let result = scene.result(&[&import[..], &layout].concat()).ended(5);
    assert_eq!(reasons(&result), [("target-rule".to_owned(), spoilt.len() as u64)]);
}
