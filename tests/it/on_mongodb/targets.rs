//! What a target must be, and what an import says of one that is not it.

use mongodb::bson::{RawDocumentBuf, doc};

use super::road::events;
use super::server::{Place, Server, wait};

#[test]
fn a_capped_collection_would_lose_documents_and_is_refused() {
    let place = Place::new(Server::Standalone);
    let scene = place.scene();
    scene.seed(&events(4), "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    let _ = wait(place.run(doc! { "create": "small", "capped": true, "size": 4096, "max": 3 }));
    let to = place.address();
    let import = ["import", "rekeyed.ndjson", "--to", &to, "--collection", "small"];
    for import in [import.to_vec(), [&import[..], &["--dry-run"]].concat()] {
        let ran = scene.run(&import);
        ran.ended_with(2);
        assert!(
            ran.stderr.contains("capped") && ran.stderr.contains("nothing was written"),
            "{}",
            ran.stderr
        );
    }
    assert!(wait(place.documents("small")).is_empty());
}

#[test]
fn what_stops_for_subscribers_makes_no_collection_and_its_dry_run_ends_alike() {
    let place = Place::new(Server::ReplicaSet);
    let scene = place.scene();
    scene.seed(&events(4), "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    let to = place.address();
    let import = ["import", "rekeyed.ndjson", "--to", &to, "--collection", "fresh", "--create-target"];
    scene.run(&import).ended_with(5);
    let foreseen = scene.result(&[&import[..], &["--dry-run"]].concat()).ended(5);
    assert_eq!((&foreseen["conflict"], &foreseen["set_aside"]), (&0.into(), &0.into()));
    let found = wait(place.run(doc! { "listCollections": 1, "filter": { "name": "fresh" } }));
    assert!(found.get_document("cursor").unwrap().get_array("firstBatch").unwrap().is_empty(), "{found}");
}

/// A shell writes numbers as doubles.
#[test]
fn a_counter_that_a_shell_has_set_is_read_and_raised() {
    let place = Place::new(Server::Standalone);
    let scene = place.scene();
    scene.seed(&events(4), "shop.db", "shop");
    let set = |value: mongodb::bson::Bson| {
        let update = doc! { "q": { "_id": "global_sequence" }, "u": { "$set": { "sequence": value } } };
        let _ = wait(place.run(doc! { "update": "event_store_counters", "updates": [update] }));
    };
    set(100_000.0.into());
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    assert_eq!(scene.json("legacy.ndjson.manifest.json")["counter"]["value"], 100_000);
    set("many".into());
    let from = place.address();
    let export = crate::scene::export_events(&from, "c-shop-shop", "again.ndjson");
    let ran = scene.run(&export);
    ran.ended_with(2);
    assert!(ran.stderr.contains("no integer") && ran.stderr.contains("globalSequence"), "{}", ran.stderr);
}

/// Nothing of what was moved before changes, so none of it is written.
#[test]
fn a_second_import_in_place_writes_nothing_of_what_was_carried_over_either() {
    let place = Place::new(Server::Standalone);
    let scene = place.scene();
    scene.seed(&events(4), "shop.db", "shop");
    let from = place.address();
    let move_all = |legacy: &str, rekeyed: &str| {
        let _ = scene.export("shop.db", "shop", "events", legacy);
        let keep = ["--tenant", "acme", "--already-rekeyed", "keep", "--escaping", "escaped"];
        let _ = scene.done(&[&["rekey", legacy, "--out", rekeyed], &keep[..]].concat());
        scene.done(&["import", rekeyed, "--to", &from, "--collection", "c-shop-shop", "--in-place"])
    };
    let first = move_all("legacy.ndjson", "rekeyed.ndjson");
    assert_eq!(first["written"], first["documents"]);
    let second = move_all("again.ndjson", "kept.ndjson");
    assert_eq!((&second["written"], &second["identical"]), (&0.into(), &first["documents"]));
}

/// What the tool's own export carries, its restore puts back.
#[test]
fn a_document_without_a_key_of_its_layout_goes_back_as_it_was() {
    let place = Place::new(Server::Standalone);
    let scene = place.scene();
    let mut odd = vec![0; 4];
    odd.extend_from_slice(b"\x10_id\0\x01\0\0\0");
    for name in ["A", "B"] {
        odd.extend_from_slice(b"\x02streamId\0\x02\0\0\0");
        odd.extend_from_slice(name.as_bytes());
        odd.push(0);
    }
    odd.push(0);
    let length = i32::try_from(odd.len()).unwrap();
    odd[..4].copy_from_slice(&length.to_le_bytes());
    let document = RawDocumentBuf::from_bytes(odd).unwrap();
    wait(async {
        let _ = place.collection("odd").await.insert_one(&document).await.unwrap();
    });
    let from = place.address();
    let _ = scene.done(&crate::scene::export_events(&from, "odd", "odd.ndjson"));
    let to = ["--to", &from, "--collection", "back", "--create-target"];
    let result = scene.done(&[&["restore", "odd.ndjson"], &to[..]].concat());
    assert_eq!(result["written"], 1);
    assert_eq!(wait(place.documents("back")), wait(place.documents("odd")));
}
