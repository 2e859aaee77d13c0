//! Through a service that turns down, fails, loses answers and cuts connections, the end state is the same.
//!
//! `REKEY_COSMOSDB_FAULTY_STREAMS` (ten events each) sets how much is taken through the worst of it.

use std::collections::BTreeMap;

use rekey::document::StoreKind;
use serde_json::{Value, json};

use super::server::Place;
use crate::generated::Generated;
use crate::scene::{size, sums_up};

type Items = BTreeMap<String, Value>;

/// What the service may do at its worst.
fn worst() -> Value {
    json!({ "throttle_every": 5, "retry_after_ms": 2, "lose_every": 20, "cut_every": 90, "fail_every": 33 })
}

/// Takes events along the road, with `plan` on both containers once they are there; the new one and the old one.
fn travelled(generated: &Generated, plan: &Value) -> (Place, Items, Items) {
    let place = Place::new();
    let scene = &place.scene;
    let count = generated.lines.len();
    scene.seed(generated, "shop.db", "shop");
    let (shop, moved) = (scene.collection("shop.db", "shop"), scene.collection("moved.db", "moved"));
    for container in [&shop, &moved] {
        place.plan(container, plan);
    }
    let _ = scene.export("shop.db", "shop", generated.kind, "legacy.ndjson");
    assert_eq!(scene.lines("legacy.ndjson").len(), count);
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    for (file, name) in [("moved.db", "moved"), ("shop.db", "shop")] {
        let imported = scene.import("rekeyed.ndjson", file, name, &["--create-target"]);
        sums_up(&imported, ["written", "identical"], count);
        let verdict = scene.verify(&["rekeyed.ndjson"], file, name, &["--legacy", "legacy.ndjson"]);
        assert_eq!(verdict.ended(0)["verdict"], "match");
    }
    sums_up(&scene.prune("shop.db", "shop").ended(0), ["deleted", "gone"], count);
    let seen = [&shop, &moved].map(|container| place.tally(container));
    for name in ["throttled", "lost", "cut", "failed"] {
        let sum: u64 = seen.iter().map(|it| it[name].as_u64().unwrap()).sum();
        assert_eq!(sum > 0, *plan != json!({}), "{name}: {seen:?}");
    }
    println!("{count} events with {plan}: {seen:?}");
    for container in [&shop, &moved] {
        place.plan(container, &json!({}));
    }
    let (moved, shop) = (place.items(&moved), place.items(&shop));
    (place, moved, shop)
}

#[test]
fn the_worst_service_ends_in_the_same_state_item_for_item() {
    let generated = Generated::events(StoreKind::CosmosDb, size("REKEY_COSMOSDB_FAULTY_STREAMS", 30));
    let (_calm, expected, expected_shop) = travelled(&generated, &json!({}));
    let (_place, found, found_shop) = travelled(&generated, &worst());
    assert!(expected == expected_shop && expected.len() == generated.lines.len());
    assert!(found == expected && found_shop == expected, "another end state");
}

#[test]
fn a_service_that_takes_nothing_any_more_ends_the_run_which_goes_on_later() {
    let place = Place::new();
    let scene = &place.scene;
    let generated = Generated::events(StoreKind::CosmosDb, 20);
    scene.seed(&generated, "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    let (to, shop) = (scene.address("shop.db"), scene.collection("shop.db", "shop"));
    let import = ["import", "rekeyed.ndjson", "--to", &to, "--collection", &shop, "--subscribers-handled"];
    place.plan(&shop, &json!({ "refuse_writes": true, "retry_after_ms": 5 }));
    let output = scene.command(&import).env("REKEY_FAULTS_ALLOWANCE_MS", "300").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("429/3200"), "{said}");
    assert!(said.contains("was not written") && said.contains("same command again"), "{said}");
    place.plan(&shop, &json!({}));
    let result = scene.done(&import);
    assert!(result["notices"].as_array().unwrap().iter().any(|it| it["code"] == "resumed"), "{result}");
    assert_eq!(result["written"], generated.lines.len());
}
