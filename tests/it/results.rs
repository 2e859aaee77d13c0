//! Results and manifests say what happened, and nothing else.

use rekey::document::StoreKind;
use serde_json::{Value, json};

use crate::scene::{Ran, Scene};

/// An event as Cosmos DB holds it; `more` is added to its members.
fn event(id: &str, version: u32, more: &str) -> String {
    format!(
        r#"{{"id":"Order:{id}:{version}","streamId":"Order:{id}","eventId":"{id}-{version}","aggregateId":"{id}","aggregateType":"Order","eventType":"E","version":{version},"timestamp":"2026-01-02T03:04:05.6780000+00:00","eventData":"e30=","metadata":null{more}}}"#
    )
}

/// A saga as Cosmos DB holds it, which names its owner.
fn saga(id: &str, owner: &str) -> String {
    format!(
        r#"{{"id":"{id}","sagaId":"{id}","sagaType":"S","tenantId":"{owner}","stateJson":"{{}}","isCompleted":false,"version":1}}"#
    )
}

struct Legacy {
    scene: Scene,
    kind: &'static str,
    documents: String,
}

impl Legacy {
    fn new(kind: &'static str, lines: &[String]) -> Self {
        let scene = Scene::new(StoreKind::CosmosDb);
        scene.write("old", lines.join("\n") + "\n");
        Self { scene, kind, documents: lines.len().to_string() }
    }

    fn rewrite(&self, more: &[&str]) -> Ran {
        let layout = self.scene.layout(self.kind);
        let given =
            ["rekey", "old", "--layout", &layout, "--expect-documents", &self.documents, "--out", "new"];
        self.scene.result(&[&given, more].concat())
    }

    fn manifest(&self) -> Value {
        self.scene.json("new.manifest.json")
    }

    fn map(&self, rows: &str) {
        self.scene.write("map.csv", format!("key,tenant\n{rows}"));
    }
}

fn notices(result: &Value) -> Vec<&str> {
    result["notices"].as_array().unwrap().iter().map(|it| it["code"].as_str().unwrap()).collect()
}

#[test]
fn overlapping_tenants_are_a_reason_and_findings_and_a_notice_where_allowed() {
    let legacy = Legacy::new("events", &[event("a", 0, ""), event("b", 0, ""), event("c", 0, "")]);
    legacy.map("Order:a,acme\nOrder:b,acme:eu\nOrder:c,globex\n");
    let how = ["--tenant-map", "map.csv", "--escaping", "raw"];
    let result = legacy.rewrite(&how).ended(5);
    assert_eq!((&result["refused"], &result["reasons"]), (&json!(2), &json!({ "prefix-tenants": 2 })));
    assert_eq!(result["rekeyed"], 1);
    assert_eq!(result["findings"][0]["code"], "prefix-tenants");
    assert_eq!(result["findings"][0]["tenant"], "acme:eu");
    let result = legacy.rewrite(&[&how[..], &["--allow-prefix-tenants"]].concat()).ended(0);
    assert_eq!(notices(&result), ["prefix-tenants"]);
    assert_eq!(legacy.manifest()["notices"], json!({ "prefix-tenants": 1 }));
}

#[test]
fn the_escaping_is_recorded_where_it_matters_alone() {
    let legacy = Legacy::new("events", &[event("a", 0, ""), event("b:1", 0, "")]);
    legacy.map("Order:a,acme\nOrder:b:1,globex\n");
    let how = ["--tenant-map", "map.csv", "--escaping", "escaped"];
    let escaping = || legacy.manifest()["rekey"]["escaping"].clone();
    let result = legacy.rewrite(&how).ended(0);
    assert_eq!((&result["escaping"], escaping()), (&json!("escaped"), json!("escaped")));
    let result = legacy.rewrite(&[&how[..], &["--only-tenants", "acme"]].concat()).ended(0);
    assert_eq!((&result["escaping"], escaping()), (&json!("unneeded"), json!("unneeded")));
    let result = legacy.rewrite(&how[..2]).ended(5);
    assert_eq!(
        (&result["escaping"], &result["reasons"]),
        (&json!("not stated"), &json!({"escaping-needed": 1}))
    );
}

#[test]
fn replaced_owners_are_counted_in_a_notice() {
    let legacy = Legacy::new("sagas", &[saga("1", "acme"), saga("2", "globex"), saga("3", "globex")]);
    let result = legacy.rewrite(&["--tenant", "acme", "--stored-owner", "replace"]).ended(0);
    assert_eq!(notices(&result), ["owners-replaced"]);
    assert!(result["notices"][0]["message"].as_str().unwrap().starts_with("2 documents"), "{result}");
    assert_eq!(legacy.manifest()["notices"], json!({ "owners-replaced": 1 }));
    assert_eq!(notices(&legacy.rewrite(&["--tenant", "acme"]).ended(5)), [""; 0]);
}

/// The set-aside of one stream, or two streams that meet, take another pass over the documents.
#[test]
fn documents_without_json_are_counted_once() {
    let with = r#","note":"{\"tenant\":\"acme\"}""#;
    let mut lines = vec![event("a", 0, with), event("a", 1, r#","note":"no JSON""#), event("b", 0, with)];
    // It lacks its type, and names the stream that another line is of.
    lines.push(event("b", 1, with).replacen("\"aggregateType\":\"Order\",", "", 1));
    let legacy = Legacy::new("events", &lines);
    let how = ["--tenant-field", "note#/tenant", "--on-refused", "set-aside"];
    let result = legacy.rewrite(&how).ended(3);
    let message = result["notices"][0]["message"].as_str().unwrap();
    assert!(message.starts_with("1 document holds no JSON"), "{message}");
}

#[test]
fn the_list_of_refusals_goes_where_findings_says() {
    let legacy = Legacy::new("events", &[event("a", 0, ""), event("b", 1, "")]);
    let how = ["--tenant", "acme", "--findings", "list.ndjson"];
    let ran = legacy.rewrite(&how);
    let result = ran.ended(5);
    assert_eq!(result["findings_file"], "list.ndjson");
    assert!(ran.stderr.contains("list.ndjson") && !legacy.scene.path("new.refused.ndjson").exists());
    let result = legacy.rewrite(&[&how[..], &["--on-refused", "set-aside"]].concat()).ended(3);
    assert_eq!(result["set_aside_file"], "list.ndjson");
    assert!(legacy.scene.lines("list.ndjson")[0].contains("\"document\""));
}

#[test]
fn the_screen_names_the_causes_and_counts_what_follows() {
    let mut lines: Vec<_> = (0..30).map(|version| event("a", version, "")).collect();
    lines.push(event("b", 0, "").replacen("\"eventType\"", "\"version\":7,\"eventType\"", 1));
    lines.push(event("a", 31, ""));
    let legacy = Legacy::new("events", &lines);
    let layout = legacy.scene.layout("events");
    let given = ["rekey", "old", "--layout", &layout, "--expect-documents", &legacy.documents];
    let ran = legacy.scene.run(&[&given[..], &["--out", "new", "--tenant", "acme"]].concat());
    ran.ended_with(5);
    let shown = String::from_utf8(ran.stdout).unwrap();
    let (_, findings) = shown.split_once("32 findings\n").expect("a list");
    assert!(findings.contains("version-gap") && findings.contains("duplicate-name"), "{findings}");
    assert!(!findings.contains("\nstream-refused"), "{findings}");
    assert!(findings.contains("30 of them the other documents of refused streams"), "{findings}");
}

#[test]
fn what_is_imported_as_it_is_although_somebody_should_know_is_a_notice() {
    let legacy =
        Legacy::new("events", &[event("a", 0, r#","n":9007199254740993"#), event("b", 0, r#","n":7"#)]);
    let _ = legacy.rewrite(&["--tenant", "acme"]).ended(0);
    let result = legacy.scene.import("new", "s.redb", "events", &["--create-target"]);
    assert_eq!(notices(&result), ["large-integer"]);
    assert!(result["notices"][0]["message"].as_str().unwrap().starts_with("1 document holds integers"));

    let scene = Scene::new(StoreKind::Firestore);
    let fields = r#""streamId":{"stringValue":"Order:a"},"eventId":{"stringValue":"a-0"},"aggregateId":{"stringValue":"a"},"aggregateType":{"stringValue":"Order"},"version":{"integerValue":"0"},"of":{"referenceValue":"projects/p/databases/d/documents/users/1"}"#;
    let name = "projects/p/databases/(default)/documents/events/Order:a:0";
    scene.write("old", format!("{{\"name\":\"{name}\",\"fields\":{{{fields}}}}}\n"));
    let given = ["rekey", "old", "--layout", "firestore-events", "--expect-documents", "1"];
    let _ = scene.done(&[&given[..], &["--tenant", "acme", "--out", "new"]].concat());
    assert_eq!(notices(&scene.import("new", "s.redb", "events", &["--create-target"])), ["references"]);
}
