//! `import --move`: each document is created under its new key and deleted under the old one in one step.

use std::collections::HashMap;

use firestore::gcloud_sdk::google::firestore::v1::Value;
use firestore::gcloud_sdk::google::firestore::v1::value::ValueType;
use firestore::gcloud_sdk::tonic::Code;
use rekey::document::StoreKind;
use serde_json::json;

use super::server::{Database, emulator, prepared, wait};
use super::service::{Fate, Service};
use crate::generated::Generated;
use crate::scene::sums_up;

fn moves_all(generated: &Generated, host: &str) {
    let scene = prepared(generated, host);
    let count = generated.lines.len();
    let foreseen = scene.import("rekeyed.ndjson", "shop.db", "shop", &["--move", "--dry-run"]);
    assert_eq!(foreseen["written"], count);
    let result = scene.import("rekeyed.ndjson", "shop.db", "shop", &["--move"]);
    sums_up(&result, ["written", "identical"], count);
    let verdict = scene.verify(&["rekeyed.ndjson"], "shop.db", "shop", &["--pruned"]).ended(0);
    assert_eq!((&verdict["verdict"], &verdict["totals"]["legacy"]), (&json!("match"), &json!(0)));
    let again = scene.import("rekeyed.ndjson", "shop.db", "shop", &["--move"]);
    assert_eq!((&again["written"], &again["identical"]), (&json!(0), &json!(count)));
    assert_eq!(scene.prune("shop.db", "shop").ended(0)["gone"], count);
    // The way back puts the legacy documents there again.
    let (to, name) = (scene.address("shop.db"), scene.collection("shop.db", "shop"));
    let restore = ["restore", "legacy.ndjson", "--to", &to, "--collection", &name, "--subscribers-handled"];
    sums_up(&scene.done(&restore), ["written", "identical"], count);
    assert_eq!(wait(async { Database::of(&to).await.documents(&name).await }).len(), 2 * count);
}

#[test]
fn events_and_sagas_move_where_they_are() {
    moves_all(&Generated::events(StoreKind::Firestore, 20), &emulator());
    moves_all(&Generated::sagas(StoreKind::Firestore, 40), &emulator());
}

#[test]
fn a_service_that_loses_answers_and_turns_moves_down_ends_in_the_same_state() {
    let service = Service::before(&emulator(), |method, number, _| match (method, number % 5) {
        ("Commit", 1) => Fate::Lose,
        ("Commit", 3) => Fate::Status(Code::Aborted, "Too much contention"),
        _ => Fate::Pass,
    });
    moves_all(&Generated::events(StoreKind::Firestore, 6), service.host());
    assert!(service.fates().len() == 2, "{:?}", service.fates());
}

#[test]
fn what_changed_since_it_was_exported_stays_and_is_told() {
    let generated = Generated::events(StoreKind::Firestore, 10);
    let scene = prepared(&generated, &emulator());
    let (at, name) = (scene.address("shop.db"), scene.collection("shop.db", "shop"));
    let changed = wait(async {
        let database = Database::of(&at).await;
        let (id, mut document) = database.documents(&name).await.into_iter().next().unwrap();
        let text = Value { value_type: Some(ValueType::StringValue("changed".to_owned())) };
        let _ = document.fields.insert("eventData".to_owned(), text);
        database.put(&format!("{name}/{id}"), document.fields).await;
        id
    });
    let import =
        ["import", "rekeyed.ndjson", "--to", &at, "--collection", &name, "--subscribers-handled", "--move"];
    let result = scene.result(&import).ended(1);
    assert_eq!((&result["written"], &result["conflict"]), (&json!(generated.lines.len() - 1), &json!(1)));
    assert_eq!(result["findings"][0]["fields"], json!(["eventData"]), "{result}");
    let left = wait(async { Database::of(&at).await.documents(&name).await });
    assert_eq!(left.len(), generated.lines.len());
    let legacy: Vec<_> = left.keys().filter(|id| !id.starts_with("t:")).collect();
    assert_eq!(legacy, [&changed]);
}

#[test]
fn documents_move_only_in_the_collection_that_they_came_from() {
    let generated = Generated::events(StoreKind::Firestore, 2);
    let scene = prepared(&generated, &emulator());
    let (at, name) = (scene.address("moved.db"), scene.collection("moved.db", "moved"));
    let import =
        ["import", "rekeyed.ndjson", "--to", &at, "--collection", &name, "--subscribers-handled", "--move"];
    let ran = scene.run(&import);
    ran.ended_with(2);
    assert!(ran.stderr.contains("--move"), "{}", ran.stderr);
    let stored: HashMap<_, _> =
        wait(async { Database::of(&at).await.documents(&name).await }).into_iter().collect();
    assert!(stored.is_empty());
}
