//! What `prune` takes and what it keeps: a stream goes whole or stays whole, and a dry run says which.

use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use rekey::document::StoreKind;
use serde_json::{Value, json};

use crate::generated::{Generated, Stream};
use crate::intruder::Intruder;
use crate::scene::{STORES, Scene};

/// Documents beside their twins in `shop` of `shop.db`, with both archives.
fn beside_their_twins(generated: &Generated) -> Scene {
    let scene = Scene::new(generated.store);
    scene.seed(generated, "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", generated.kind, "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    let _ = scene.import("rekeyed.ndjson", "shop.db", "shop", &[]);
    scene
}

/// The counts of a result with the reasons.
fn counts(result: &Value) -> [&Value; 5] {
    ["documents", "deleted", "gone", "kept", "reasons"].map(|name| &result[name])
}

#[test]
fn a_document_written_anew_with_the_same_content_goes_with_its_stream() {
    let events = STORES[1..].iter().map(|store| Generated::events(*store, 20));
    for generated in events.chain(STORES.map(|store| Generated::sagas(store, 20))) {
        let scene = beside_their_twins(&generated);
        {
            let intruder = Intruder::open(&scene, "shop.db", "shop", generated.kind);
            for line in generated.lines.iter().step_by(7) {
                let stored = intruder.stored(line);
                intruder.delete(&stored);
                intruder.create(&stored);
                let is_marked = matches!(generated.store, StoreKind::Firestore | StoreKind::CosmosDb);
                assert_eq!(intruder.stored(line) != stored, is_marked, "the store marks a write");
            }
        }
        let foreseen = scene.pruned("shop.db", "shop", &["--dry-run"]).ended(0);
        let result = scene.prune("shop.db", "shop").ended(0);
        let count = generated.lines.len();
        assert_eq!(counts(&foreseen), [&json!(count), &json!(count), &json!(0), &json!(0), &json!({})]);
        assert_eq!(counts(&foreseen), counts(&result), "{} {}", generated.store, generated.kind);
    }
}

#[test]
fn a_document_with_another_content_keeps_its_stream_whole() {
    for store in [StoreKind::DynamoDb, StoreKind::Firestore, StoreKind::CosmosDb] {
        let generated = Generated::events(store, 20);
        let scene = beside_their_twins(&generated);
        let stream = Stream::new(5);
        {
            let intruder = Intruder::open(&scene, "shop.db", "shop", "events");
            let line = intruder.stored(&stream.event(store, 3));
            intruder.replace(&line, &line.replacen("eyJhbW91", "eyJhbW92", 1));
        }
        let foreseen = scene.pruned("shop.db", "shop", &["--dry-run"]).ended(3);
        let result = scene.prune("shop.db", "shop").ended(3);
        let (count, kept) = (generated.lines.len(), stream.length());
        let reasons = json!({ "changed": kept });
        assert_eq!(counts(&result), [&json!(count), &json!(count - kept), &json!(0), &json!(kept), &reasons]);
        assert_eq!(counts(&foreseen), counts(&result), "{store}");
    }
}

/// A copy of a scene in which a prune was killed when it had deleted some of the documents.
fn killed_half_way(scene: &Scene, count: usize) -> Scene {
    let (from, rate) = (scene.address("shop.db"), (count / 2).to_string());
    let archives = ["prune", "legacy.ndjson", "--rekeyed", "rekeyed.ndjson", "--from", &from];
    let slowly = ["--collection", "shop", "--max-writes-per-second", &rate, "--concurrency", "1"];
    for tenths in 2.. {
        let copy = Scene::new(scene.store);
        scene.copy_into(&copy);
        let mut prune = copy.command(&[&archives[..], &slowly].concat());
        let mut child = prune.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        sleep(Duration::from_millis(100 * tenths));
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().code(), None, "it ended before it had deleted only some");
        let left = copy.export("shop.db", "shop", "events", "left.ndjson")["documents"].as_u64().unwrap();
        if left < 2 * count as u64 {
            return copy;
        }
    }
    unreachable!("the pauses do not end")
}

#[test]
fn what_was_restored_after_a_prune_was_killed_is_not_passed_over() {
    for store in [StoreKind::DynamoDb, StoreKind::Firestore, StoreKind::CosmosDb] {
        let generated = Generated::events(store, 40);
        let count = generated.lines.len();
        let scene = killed_half_way(&beside_their_twins(&generated), count);
        let to = scene.address("shop.db");
        let _ = scene.done(&["restore", "legacy.ndjson", "--to", &to, "--collection", "shop"]);
        let result = scene.prune("shop.db", "shop").ended(0);
        let expected = [&json!(count), &json!(count), &json!(0), &json!(0), &json!({})];
        assert_eq!(counts(&result), expected, "{store}");
        assert_eq!(scene.export("shop.db", "shop", "events", "left.ndjson")["documents"], count);
    }
}

#[test]
fn a_document_written_to_a_stream_that_is_gone_is_named() {
    for store in [StoreKind::DynamoDb, StoreKind::Firestore, StoreKind::CosmosDb] {
        let generated = Generated::events(store, 20);
        let count = generated.lines.len();
        let scene = beside_their_twins(&generated);
        let _ = scene.prune("shop.db", "shop").ended(0);
        let stream = Stream::new(5);
        Intruder::open(&scene, "shop.db", "shop", "events").create(&stream.event(store, stream.length()));
        let result = scene.prune("shop.db", "shop").ended(3);
        let expected = [&json!(count), &json!(0), &json!(count), &json!(0), &json!({ "extra": 0 })];
        assert_eq!(counts(&result), expected);
        assert_eq!(result["findings"].as_array().unwrap().len(), 1, "{store}: {result}");
    }
}
