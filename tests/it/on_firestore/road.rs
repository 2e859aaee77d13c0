//! The whole road through the command.
//!
//! `REKEY_FIRESTORE_STREAMS` (ten events each) and `REKEY_FIRESTORE_SAGAS` set the size.

use rekey::document::StoreKind;
use serde_json::{Value, json};

use super::server::{Database, emulator, fresh_project, scene_at, scene_in, wait};
use crate::generated::Generated;
use crate::road::walk;
use crate::scene::size;

fn events(streams: usize) -> Generated {
    Generated::events(StoreKind::Firestore, size("REKEY_FIRESTORE_STREAMS", streams))
}

#[test]
fn events_are_moved() {
    walk(&scene_at(&emulator()), &events(60), &[]);
}

#[test]
fn sagas_are_moved() {
    let sagas = Generated::sagas(StoreKind::Firestore, size("REKEY_FIRESTORE_SAGAS", 120));
    walk(&scene_at(&emulator()), &sagas, &[]);
}

#[test]
fn events_are_moved_in_a_named_database_and_below_a_document() {
    let address = format!("firestore://{}/second", fresh_project());
    let scene = scene_in(&address, &emulator(), "tenants/a b/c");
    walk(&scene, &events(20), &[]);
    let stored = wait(async { Database::of(&address).await.documents("tenants/a b/c-moved-moved").await });
    assert!(!stored.is_empty());
    let elsewhere = address.replace("/second", "");
    let stored = wait(async { Database::of(&elsewhere).await.documents("tenants/a b/c-moved-moved").await });
    assert!(stored.is_empty(), "the other database is left alone");
}

/// A value of the types that the framework writes, as the REST API spells it.
fn typed(line: &str) -> Value {
    let line: Value = serde_json::from_str(line).unwrap();
    let name = line["name"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    json!({ "id": name, "fields": line["fields"] })
}

#[test]
fn every_vector_stands_in_the_new_collection_as_the_framework_expects() {
    let vectors: Vec<Value> = serde_json::from_str(include_str!("../../vectors/rekey-vectors.json")).unwrap();
    let vectors: Vec<_> =
        vectors.iter().filter(|vector| vector["store"].as_str().unwrap().starts_with("firestore-")).collect();
    assert_eq!(vectors.len(), 13);
    for vector in vectors {
        let of = |name: &str| vector[name].as_str().unwrap();
        let scene = scene_at(&emulator());
        let kind = of("store").trim_start_matches("firestore-");
        scene.put(&[vector["before"].to_string()], kind, "shop.db", "shop");
        let _ = scene.export("shop.db", "shop", kind, "legacy.ndjson");
        let rule = ["--tenant", of("tenant"), "--escaping", of("escaping"), "--allow-gaps"];
        let _ = scene.done(&[&["rekey", "legacy.ndjson", "--out", "rekeyed.ndjson"], &rule[..]].concat());
        let _ = scene.import("rekeyed.ndjson", "moved.db", "moved", &[]);
        let _ = scene.export("moved.db", "moved", kind, "found.ndjson");
        let found: Vec<Value> = scene.lines("found.ndjson").iter().map(|line| typed(line)).collect();
        assert_eq!(found, [typed(&vector["after"].to_string())], "{}, {}", of("store"), of("name"));
    }
}
