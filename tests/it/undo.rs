//! The way back: what an import notes before it writes, and `undo`, which takes exactly that away again.

use std::collections::BTreeSet;

use rekey::document::StoreKind;
use serde_json::{Value, json};

use crate::generated::{Generated, Stream};
use crate::intruder::Intruder;
use crate::scene::{Ran, STORES, Scene, listing, without_system_fields};

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

/// Whether the move is an update of the document where it is.
fn moves_in_place(generated: &Generated) -> bool {
    generated.store == StoreKind::MongoDb && generated.kind == "events"
}

/// What a collection holds, by its own export, in the order of its lines.
fn contents(scene: &Scene, file: &str, collection: &str, kind: &str) -> Vec<Value> {
    let _ = scene.export(file, collection, kind, "contents.ndjson");
    without_system_fields(&scene.lines("contents.ndjson"))
}

/// Takes the import of `rekeyed.ndjson` into a collection back.
fn undo(scene: &Scene, file: &str, collection: &str, more: &[&str]) -> Ran {
    let (from, collection) = (scene.address(file), scene.collection(file, collection));
    let undo = ["undo", "rekeyed.ndjson", "--from", &from, "--collection", &collection];
    scene.result(&[&undo, more].concat())
}

/// What `undo` must say of so many documents; where nothing is taken back, `gone` are not there any more.
fn outcome(generated: &Generated, taken: usize, gone: usize, left: usize) -> Value {
    let (removed, put_back) = if moves_in_place(generated) { (0, taken) } else { (taken, 0) };
    json!({
        "documents": taken + gone + left,
        "removed": removed, "put_back": put_back, "gone": gone, "left": left,
    })
}

fn assert_outcome(result: &Value, expected: &Value, what: &str) {
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&result[name], value, "{what}: {name} of {result}");
    }
}

/// An import that was interrupted, taken back and run again must not pass over what it had written the first time.
#[test]
fn an_interrupted_import_that_was_taken_back_writes_everything_again() {
    for generated in all_kinds(40) {
        let scene = Scene::new(generated.store);
        imported(&scene, &generated);
        let expected = contents(&scene, "shop.db", "shop", generated.kind);
        // As a run leaves it that is killed right before its last line.
        let name = listing(scene.folder()).into_keys().map(|name| name.to_str().unwrap().to_owned());
        let journal =
            name.into_iter().find(|name| name.contains(".import-") && name.ends_with(".journal")).unwrap();
        let unfinished = scene.text(&journal).strip_suffix("\"finished\"\n").unwrap().to_owned();
        scene.write(&journal, unfinished);
        let taken = undo(&scene, "shop.db", "shop", &[]).ended(0);
        assert_outcome(&taken, &outcome(&generated, generated.lines.len(), 0, 0), "undo");
        let flags: &[&str] = if moves_in_place(&generated) { &["--in-place"] } else { &[] };
        let again = scene.import("rekeyed.ndjson", "shop.db", "shop", flags);
        assert_eq!(again["written"], generated.lines.len(), "{again}");
        assert!(contents(&scene, "shop.db", "shop", generated.kind) == expected, "something is missing");
    }
}

/// Exports, rewrites and imports beside the legacy documents, or in place of them.
fn imported(scene: &Scene, generated: &Generated) {
    scene.seed(generated, "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", generated.kind, "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    let flags: &[&str] = if moves_in_place(generated) { &["--in-place"] } else { &[] };
    let _ = scene.import("rekeyed.ndjson", "shop.db", "shop", flags);
}

/// An import after a wrong tenant map is foreseen, taken back and gone: the store is what it was, after `prune` too.
pub fn there_and_back(scene: &Scene, generated: &Generated) {
    let count = generated.lines.len();
    imported(scene, generated);
    let legacy = without_system_fields(&scene.lines("legacy.ndjson"));
    let what = format!("{} {}", generated.store, generated.kind);
    // Whoever sees that the map was wrong makes the archive anew before anything else.
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &["--only-tenants", "acme"]);

    let before = contents(scene, "shop.db", "shop", generated.kind);
    let dry = undo(scene, "shop.db", "shop", &["--dry-run"]).ended(0);
    assert_outcome(&dry, &outcome(generated, count, 0, 0), &what);
    assert!(
        contents(scene, "shop.db", "shop", generated.kind) == before,
        "{what}: a dry run changed something"
    );
    let result = undo(scene, "shop.db", "shop", &[]).ended(0);
    assert_outcome(&result, &outcome(generated, count, 0, 0), &what);
    assert!(contents(scene, "shop.db", "shop", generated.kind) == legacy, "{what} are not as they were");
    let again = undo(scene, "shop.db", "shop", &[]).ended(0);
    assert_outcome(&again, &outcome(generated, 0, count, 0), &what);

    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    if !moves_in_place(generated) {
        let _ = scene.import("rekeyed.ndjson", "shop.db", "shop", &[]);
        assert_eq!(scene.prune("shop.db", "shop").ended(0)["deleted"], count);
        after_the_legacy_documents_went(scene, generated);
    }
}

/// Without legacy documents nothing is taken back; once they are restored, all of it is.
fn after_the_legacy_documents_went(scene: &Scene, generated: &Generated) {
    let (count, what) = (generated.lines.len(), format!("{} {}", generated.store, generated.kind));
    let pruned = contents(scene, "shop.db", "shop", generated.kind);
    let result = undo(scene, "shop.db", "shop", &[]).ended(3);
    assert_outcome(&result, &outcome(generated, 0, 0, count), &what);
    assert_eq!(result["reasons"], json!({ "legacy-missing": count }), "{what}");
    assert!(contents(scene, "shop.db", "shop", generated.kind) == pruned, "{what}: something was taken away");
    let (to, collection) = (scene.address("shop.db"), scene.collection("shop.db", "shop"));
    let restore = ["restore", "legacy.ndjson", "--to", &to, "--collection", &collection];
    assert_eq!(scene.done(&[&restore, scene.writing()].concat())["written"], count);
    let result = undo(scene, "shop.db", "shop", &[]).ended(0);
    assert_outcome(&result, &outcome(generated, count, 0, 0), &what);
    let legacy = without_system_fields(&scene.lines("legacy.ndjson"));
    assert!(contents(scene, "shop.db", "shop", generated.kind) == legacy, "{what} are not as they were");
}

#[test]
fn a_wrong_import_is_taken_back_and_the_store_is_as_it_was() {
    for generated in all_kinds(60) {
        there_and_back(&Scene::new(generated.store), &generated);
    }
}

/// What `import --move` moved is put back by `restore`, and taken back then.
pub fn moved_and_back(scene: &Scene, generated: &Generated) {
    scene.seed(generated, "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", generated.kind, "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    let _ = scene.import("rekeyed.ndjson", "shop.db", "shop", &["--move"]);
    after_the_legacy_documents_went(scene, generated);
}

#[test]
fn what_firestore_moved_comes_back_by_restore_and_undo() {
    moved_and_back(&Scene::new(StoreKind::Firestore), &Generated::events(StoreKind::Firestore, 40));
}

#[test]
fn an_import_into_another_collection_is_taken_back_while_the_legacy_one_stands() {
    for generated in all_kinds(40) {
        let scene = Scene::new(generated.store);
        scene.moved(&generated);
        let count = generated.lines.len();
        let unknown = undo(&scene, "moved.db", "moved", &[]);
        unknown.ended_with(2);
        assert!(unknown.stderr.contains("--legacy-in"), "{}", unknown.stderr);
        let shop = scene.address("shop.db");
        let legacy = ["--legacy-in", &shop, "--legacy-collection", "shop"];
        let result = undo(&scene, "moved.db", "moved", &legacy).ended(0);
        let expected = json!({ "documents": count, "removed": count, "put_back": 0, "gone": 0, "left": 0 });
        assert_outcome(&result, &expected, generated.kind);
        // The way is free for the right map: none of the documents is there any more.
        assert_eq!(scene.import("rekeyed.ndjson", "moved.db", "moved", &[])["written"], count);
    }
}

#[test]
fn copies_of_another_import_are_no_legacy_documents() {
    for generated in all_kinds(10) {
        let scene = Scene::new(generated.store);
        scene.moved(&generated);
        let _ = scene.import("rekeyed.ndjson", "other.db", "other", &["--create-target"]);
        let before = contents(&scene, "moved.db", "moved", generated.kind);
        let other = scene.address("other.db");
        let legacy = ["--legacy-in", &other, "--legacy-collection", "other"];
        let result = undo(&scene, "moved.db", "moved", &legacy).ended(3);
        assert_eq!(result["reasons"], json!({ "legacy-missing": generated.lines.len() }));
        assert!(contents(&scene, "moved.db", "moved", generated.kind) == before);
    }
}

#[test]
fn a_stream_that_was_appended_to_is_left_whole_and_named() {
    for store in STORES {
        let scene = Scene::new(store);
        let generated = Generated::events(store, 30);
        imported(&scene, &generated);
        // The application appends to one stream, under its new key.
        let grown = Stream::new(1);
        scene.write("late.ndjson", grown.event(store, grown.length()) + "\n");
        let layout = scene.layout("events");
        let rekey = [
            "rekey",
            "late.ndjson",
            "--layout",
            &layout,
            "--expect-documents",
            "1",
            "--out",
            "late-new.ndjson",
        ];
        let map = ["--tenant-map", "map.csv", "--escaping", "escaped", "--allow-gaps"];
        let _ = scene.done(&[&rekey[..], &map].concat());
        let late = &scene.lines("late-new.ndjson")[0];
        Intruder::open(&scene, "shop.db", "shop", "events").create(late);

        let (count, left) = (generated.lines.len(), grown.length());
        for dry in [&["--dry-run"][..], &[]] {
            let result = undo(&scene, "shop.db", "shop", dry).ended(3);
            assert_outcome(&result, &outcome(&generated, count - left, 0, left), &layout);
            assert_eq!(result["reasons"], json!({ "unlisted": left }), "{store}");
            let [finding] = &result["findings"].as_array().unwrap()[..] else { panic!("{result}") };
            assert_eq!(finding["code"], "left");
            assert!(late.contains(finding["key"].as_str().unwrap()), "{finding}");
        }
        assert!(scene.path("rekeyed.ndjson.undo.findings.ndjson").exists());
        // Nothing of its own stream was touched, and everything else is back.
        let after = contents(&scene, "shop.db", "shop", "events");
        let in_place = usize::from(store == StoreKind::MongoDb) * left;
        assert_eq!(after.len(), count - in_place + left + 1, "{store}");
        // With the list of whoever wrote it, it would go; by itself it stays.
        let again = undo(&scene, "shop.db", "shop", &[]).ended(3);
        assert_outcome(&again, &outcome(&generated, 0, count - left, left), &layout);
    }
}

#[test]
fn a_document_that_was_saved_since_keeps_its_stream() {
    for generated in STORES.map(|store| Generated::sagas(store, 20)) {
        let scene = Scene::new(generated.store);
        imported(&scene, &generated);
        let intruder = Intruder::open(&scene, "shop.db", "shop", "sagas");
        let saved = intruder.stored(&scene.lines("rekeyed.ndjson")[3]);
        intruder.replace(&saved, &saved.replacen("isCompleted", "isDone", 1));
        drop(intruder);
        let result = undo(&scene, "shop.db", "shop", &[]).ended(3);
        let count = generated.lines.len();
        assert_outcome(&result, &outcome(&generated, count - 1, 0, 1), "saved since");
        assert_eq!(result["reasons"], json!({ "saved-since": 1 }), "{}", generated.store);
    }
}

#[test]
fn an_old_key_that_was_written_to_since_is_not_given_back() {
    let store = StoreKind::MongoDb;
    let scene = Scene::new(store);
    let generated = Generated::events(store, 20);
    imported(&scene, &generated);
    // The old release was not stopped: it appends under the old key.
    let grown = Stream::new(1);
    Intruder::open(&scene, "shop.db", "shop", "events").create(&grown.event(store, grown.length()));
    for dry in [&["--dry-run"][..], &[]] {
        let result = undo(&scene, "shop.db", "shop", dry).ended(3);
        let left = grown.length();
        assert_outcome(&result, &outcome(&generated, generated.lines.len() - left, 0, left), "in place");
        assert_eq!(result["reasons"], json!({ "unlisted": left }));
    }
}

#[test]
fn documents_that_were_there_beforehand_stay() {
    for store in [StoreKind::DynamoDb, StoreKind::Firestore, StoreKind::CosmosDb] {
        let scene = Scene::new(store);
        let generated = Generated::events(store, 40);
        scene.seed(&generated, "shop.db", "shop");
        let _ = scene.export("shop.db", "shop", generated.kind, "legacy.ndjson");
        let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
        let _ = scene.rekey("legacy.ndjson", "acme.ndjson", &["--only-tenants", "acme"]);
        let first = scene.import("acme.ndjson", "shop.db", "shop", &[])["written"].as_u64().unwrap();
        let before = contents(&scene, "shop.db", "shop", "events");
        let second = scene.import("rekeyed.ndjson", "shop.db", "shop", &[])["written"].as_u64().unwrap();
        let result = undo(&scene, "shop.db", "shop", &[]).ended(0);
        assert_eq!((&result["documents"], &result["removed"]), (&json!(second), &json!(second)), "{store}");
        assert!(contents(&scene, "shop.db", "shop", "events") == before, "{store}");
        // The other list takes the rest back; both together would have taken all.
        let _ = scene.import("rekeyed.ndjson", "shop.db", "shop", &[]);
        let result = undo(&scene, "shop.db", "shop", &["acme.ndjson"]).ended(0);
        assert_eq!(result["removed"], first + second, "{store}");
        assert!(
            contents(&scene, "shop.db", "shop", "events")
                == without_system_fields(&scene.lines("legacy.ndjson"))
        );
    }
}

#[test]
fn a_list_of_another_target_a_missing_one_and_two_of_one_name_are_refused() {
    let scene = Scene::new(StoreKind::DynamoDb);
    let generated = Generated::events(StoreKind::DynamoDb, 40);
    imported(&scene, &generated);
    let before = contents(&scene, "shop.db", "shop", "events");
    scene.put(&generated.lines, "events", "other.db", "shop");
    let name = lists(&scene)[0].0.clone();
    let refused = |arguments: &[&str], said: &str| {
        let ran = scene.result(&[&["undo"], arguments].concat());
        ran.ended_with(2);
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
    };
    let (shop, other) = (scene.address("shop.db"), scene.address("other.db"));
    let [from, from_other] =
        [&shop, &other].map(|address| ["--from", address.as_str(), "--collection", "shop"]);
    refused(&[&[name.as_str()][..], &from_other].concat(), "is of an import into");
    refused(&[&["rekeyed.ndjson"][..], &from_other].concat(), "is of another target");
    refused(&[&["nothing.ndjson"][..], &from].concat(), "No undo list of an import");
    // The archive made anew under the same name and imported, too.
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &["--only-tenants", "acme"]);
    let _ = scene.import("rekeyed.ndjson", "shop.db", "shop", &[]);
    refused(&[&["rekeyed.ndjson"][..], &from].concat(), "Pass the list of the one that is meant");
    assert!(contents(&scene, "shop.db", "shop", "events") == before);
    let result = scene.done(&[&["undo", name.as_str()][..], &from].concat());
    assert_eq!(result["removed"], generated.lines.len());
}
