//! The way back: what an import notes before it writes, and `undo`, which takes exactly that away again.

use std::collections::BTreeSet;

use rekey::document::StoreKind;
use serde_json::Value;

use crate::generated::Generated;
use crate::scene::{STORES, Scene, listing};

/// Events and sagas of every store.
fn all_kinds(count: usize) -> impl Iterator<Item = Generated> {
    STORES
        .into_iter()
        .flat_map(move |store| [Generated::events(store, count), Generated::sagas(store, count)])
}

/// The undo lists of the scene, each with its entries.
fn lists(scene: &Scene) -> Vec<(String, Vec<Value>)> {
    let names = listing(scene.folder()).into_keys().map(|name| name.to_str().unwrap().to_owned());
    let lists = names.filter(|name| name.ends_with(".undo.ndjson"));
    lists
        .map(|name| {
            let mut lines = scene.lines(&name).into_iter().map(|line| serde_json::from_str(&line).unwrap());
            let first: Value = lines.next().unwrap();
            assert!(first["begin"].is_object(), "{name}");
            let entries = lines.collect();
            (name, entries)
        })
        .collect()
}

fn keys(entries: &[Value]) -> BTreeSet<String> {
    entries.iter().map(|entry| entry["key"].to_string()).collect()
}

#[test]
fn an_import_lists_what_it_writes_and_a_second_one_adds_nothing() {
    for generated in all_kinds(40) {
        let scene = Scene::new(generated.store);
        scene.moved(&generated);
        let [(name, entries)] = &lists(&scene)[..] else { panic!("not one list") };
        assert!(name.starts_with("rekeyed.ndjson.import-"), "{name}");
        assert_eq!(entries.len(), generated.lines.len(), "{}", generated.store);
        assert_eq!(keys(entries).len(), entries.len());
        assert!(entries.iter().all(|entry| entry["digest"].as_str().unwrap().len() == 64));
        let before = scene.read(name);
        let again = scene.import("rekeyed.ndjson", "moved.db", "moved", &[]);
        assert_eq!(again["identical"], generated.lines.len());
        assert!(scene.read(name) == before, "a second import added to the list");
    }
}

#[test]
fn what_was_there_beforehand_is_in_no_list() {
    for store in STORES {
        let scene = Scene::new(store);
        let generated = Generated::events(store, 40);
        scene.seed(&generated, "shop.db", "shop");
        let _ = scene.export("shop.db", "shop", generated.kind, "legacy.ndjson");
        let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
        let _ = scene.rekey("legacy.ndjson", "acme.ndjson", &["--only-tenants", "acme"]);
        let first = scene.import("acme.ndjson", "moved.db", "moved", &["--create-target"]);
        let second = scene.import("rekeyed.ndjson", "moved.db", "moved", &[]);
        assert_eq!(second["identical"], first["written"]);
        let [(_, acme), (_, rest)] = &lists(&scene)[..] else { panic!("not two lists") };
        assert_eq!(
            (acme.len() as u64, rest.len() as u64),
            (first["written"].as_u64().unwrap(), second["written"].as_u64().unwrap())
        );
        assert!(keys(acme).is_disjoint(&keys(rest)), "{store}");
    }
}

#[test]
fn an_import_in_place_lists_the_keys_before_and_after() {
    let scene = Scene::new(StoreKind::MongoDb);
    let generated = Generated::events(StoreKind::MongoDb, 40);
    scene.seed(&generated, "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    let _ = scene.import("rekeyed.ndjson", "shop.db", "shop", &["--in-place"]);
    let [(name, entries)] = &lists(&scene)[..] else { panic!("not one list") };
    assert_eq!(entries.len(), generated.lines.len());
    for (entry, row) in entries.iter().zip(scene.lines("rekeyed.ndjson.keys.ndjson")) {
        let row: Value = serde_json::from_str(&row).unwrap();
        for member in ["key", "old", "new", "version"] {
            assert_eq!(entry[member], row[member], "{name}");
        }
    }
}
