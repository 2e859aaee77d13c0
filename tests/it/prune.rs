//! What `prune` takes and what it keeps: a stream goes whole or stays whole, and a dry run says which.

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
