//! `doctor`: what stands in the way is a finding with what to do, and nothing is changed.

use rekey::document::StoreKind;
use serde_json::Value;

use crate::generated::Generated;
use crate::scene::{Ran, STORES, Scene, listing};

pub fn codes(result: &Value, of: &str) -> Vec<String> {
    let all = result[of].as_array().unwrap().iter();
    all.map(|it| it["code"].as_str().unwrap().to_owned()).collect()
}

/// Looks at a scene's events on a server, which must be as they were afterwards; in all events, `code` is the exit code.
#[cfg(any(feature = "dynamodb", feature = "firestore", feature = "cosmosdb"))]
pub fn of_server(scene: &Scene, more: &[&str], code: i32) -> Value {
    let before = scene.export("shop.db", "shop", "events", "before.ndjson");
    let (from, name) = (scene.address("shop.db"), scene.collection("shop.db", "shop"));
    let arguments = ["doctor", "--from", &from, "--collection", &name];
    let result = scene.result(&[&arguments[..], more].concat()).ended(code);
    let after = scene.export("shop.db", "shop", "events", "after.ndjson");
    assert_eq!(before["sha256"], after["sha256"], "the doctor changed something");
    result
}

/// Which rights are held, in their order.
pub fn held(result: &Value) -> Vec<&str> {
    let permissions = result["stores"][0]["permissions"].as_array().unwrap();
    permissions.iter().map(|it| it["held"].as_str().unwrap()).collect()
}

/// Looks at the source and at a target; nothing in the folder may change.
fn doctor(scene: &Scene, more: &[&str]) -> Ran {
    let before = listing(scene.folder());
    let (from, to) = (scene.address("shop.db"), scene.address("moved.db"));
    let arguments = ["doctor", "--from", &from, "--collection", "shop", "--to", &to, "--collection", "moved"];
    let ran = scene.result(&[&arguments[..], more].concat());
    assert!(listing(scene.folder()) == before, "something was changed");
    ran
}

#[test]
fn a_source_and_a_target_that_is_still_to_be_made_are_in_order() {
    for store in STORES {
        let scene = Scene::new(store);
        let generated = Generated::events(store, 20);
        scene.put(&generated.lines, "events", "shop.db", "shop");
        let result = doctor(&scene, &[]).ended(0);
        assert_eq!(result["healthy"], true);
        assert_eq!(codes(&result, "notices"), ["target-missing"]);
        let source = &result["stores"][0];
        assert_eq!((&source["reached"], &source["documents"]), (&true.into(), &generated.lines.len().into()));
        assert_eq!(held(&result), ["yes"; 5]);
        let machine = &result["machine"];
        assert!(machine["free_bytes"].as_u64().unwrap() > machine["needed_bytes"].as_u64().unwrap());
        assert_eq!(machine["needed_bytes"].as_u64().unwrap(), 3 * source["bytes"].as_u64().unwrap());
    }
}

#[test]
fn a_store_that_is_not_there_does_not_keep_the_others_from_being_looked_at() {
    let scene = Scene::new(StoreKind::CosmosDb);
    scene.put(&Generated::events(StoreKind::CosmosDb, 4).lines, "events", "shop.db", "shop");
    let (there, away) = (scene.address("shop.db"), scene.address("away.db"));
    let stores = ["--from", &away, "--collection", "shop", "--from", &there, "--collection", "shops"];
    let result =
        scene.result(&[&["doctor"], &stores[..], &["--from", &there, "--table", "shop"]].concat()).ended(1);
    assert_eq!(codes(&result, "findings"), ["unreachable", "collection-missing"]);
    let message = |at: usize| result["findings"][at]["message"].as_str().unwrap().to_owned();
    assert!(message(0).contains("away.db") && message(0).contains("Check the path"), "{}", message(0));
    assert!(message(1).contains("Use \"shop\""), "{}", message(1));
    assert_eq!(result["stores"][2]["exists"], true);
}

#[cfg(feature = "faults")] // The disk is a pretended one.
#[test]
fn a_disk_with_too_little_room_is_named_with_what_is_needed() {
    let scene = Scene::new(StoreKind::MongoDb);
    scene.put(&Generated::events(StoreKind::MongoDb, 20).lines, "events", "shop.db", "shop");
    let from = scene.address("shop.db");
    let arguments = ["doctor", "--from", &from, "--collection", "shop"];
    let result = scene.result_with(&arguments, &[("REKEY_FAULTS_FREE_BYTES", "4096")]).ended(1);
    assert_eq!(codes(&result, "findings"), ["disk-too-small"]);
    let message = result["findings"][0]["message"].as_str().unwrap();
    assert!(message.contains("4.10 kB free") && message.contains("--state-dir"), "{message}");
}

#[test]
fn a_low_limit_of_open_files_is_named_with_how_to_raise_it() {
    let scene = Scene::new(StoreKind::MongoDb);
    scene.put(&Generated::events(StoreKind::MongoDb, 4).lines, "events", "shop.db", "shop");
    let doctor = scene.command(&["doctor", "--from", &scene.address("shop.db"), "--collection", "shop"]);
    let words = doctor.get_args().map(|it| format!("'{}'", it.to_str().unwrap()));
    let line = format!(
        "ulimit -n 128; exec '{}' {} --output json",
        doctor.get_program().to_str().unwrap(),
        words.collect::<Vec<_>>().join(" ")
    );
    let run =
        std::process::Command::new("sh").args(["-c", &line]).current_dir(scene.folder()).output().unwrap();
    let result: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((run.status.code(), codes(&result, "findings")), (Some(1), vec!["open-files-low".to_owned()]));
    assert!(result["findings"][0]["message"].as_str().unwrap().contains("ulimit -n"));
}
