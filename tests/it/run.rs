//! `run` and `status --project`: every store through all states, stopped anywhere and gone on with.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rekey::document::StoreKind;
use serde_json::{Value, json};

use crate::generated::{Generated, Random, Stream};
use crate::intruder::Intruder;
use crate::scene::{STORES, Scene, listing, size, without_system_fields};

const RUN: [&str; 2] = ["run", "--yes"];

/// The table of one store: beside its legacy documents (MongoDB: in a collection of its own).
fn table(store: StoreKind, more: &str) -> String {
    let target = if store == StoreKind::MongoDb {
        "target-collection = \"moved\"\ncreate-target = true\n"
    } else {
        ""
    };
    format!(
        "\n[stores.on-{store}]\nsource = \"embedded:{store}.db?as={store}\"\ncollection = \"shop\"\n\
         layout = \"events\"\ntenant-map = \"{store}.csv\"\n{target}{more}"
    )
}

/// Legacy documents of each of these stores, and a project of all of them.
pub fn project_of(stores: &[StoreKind], streams: usize, more: &str) -> (Scene, usize) {
    let scene = Scene::new(stores[0]);
    let mut text = "[defaults]\nescaping = \"escaped\"\n".to_owned();
    let mut documents = 0;
    for store in stores {
        let seeding = Scene::new(*store);
        let generated = Generated::events(*store, streams);
        documents = generated.lines.len();
        seeding.seed(&generated, &format!("{store}.db"), "shop");
        seeding.copy("map.csv", &format!("{store}.csv"));
        std::fs::remove_file(seeding.path("map.csv")).unwrap();
        seeding.copy_into(&scene);
        text += &table(*store, more);
    }
    scene.write("rekey.toml", text);
    (scene, documents)
}

/// What a collection of a store's file holds.
fn contents(scene: &Scene, store: StoreKind, collection: &str) -> Vec<Value> {
    let from = format!("embedded:{store}.db?as={store}");
    let export = [
        "export",
        "--from",
        &from,
        "--collection",
        collection,
        "--layout",
        "events",
        "--out",
        "contents.ndjson",
    ];
    let _ = scene.done(&export);
    let documents = without_system_fields(&scene.lines("contents.ndjson"));
    for name in ["contents.ndjson", "contents.ndjson.manifest.json"] {
        std::fs::remove_file(scene.path(name)).unwrap();
    }
    documents
}

fn target_of(store: StoreKind) -> &'static str {
    if store == StoreKind::MongoDb { "moved" } else { "shop" }
}

fn state_of(result: &Value, store: StoreKind) -> &Value {
    &result["stores"][format!("on-{store}")]["state"]
}

fn kept(result: &Value, store: StoreKind) -> Vec<bool> {
    let states = &result["stores"][format!("on-{store}")]["states"];
    let order = ["exported", "rekeyed", "imported", "verified", "pruned"];
    order.iter().filter_map(|state| states[state]["kept"].as_bool()).collect()
}

#[test]
fn four_stores_are_moved_kept_and_pruned() {
    let (scene, documents) = project_of(&STORES, 10, "");
    let ask = ["status", "--project", "rekey.toml"];
    let before = scene.done(&ask);
    for store in STORES {
        assert_eq!(before["stores"][format!("on-{store}")]["next"], format!("rekey run --store on-{store}"));
    }
    assert!(!scene.path("on-mongodb").exists(), "asking made a folder");

    let first = scene.done(&RUN);
    let again = scene.done(&RUN);
    for store in STORES {
        assert_eq!(state_of(&first, store), "verified");
        let states = &first["stores"][format!("on-{store}")]["states"];
        assert_eq!(states["imported"]["result"]["written"], documents);
        assert_eq!(states["verified"]["result"]["verdict"], "match");
        assert_eq!((kept(&first, store), kept(&again, store)), (vec![false; 4], vec![true; 4]));
        let evidence = scene.json(&format!("on-{store}/verified.json"));
        assert_eq!((&evidence["status"], &evidence["exit_code"]), (&json!("done"), &json!(0)));
    }
    let between = scene.done(&ask);
    for store in STORES {
        let it = &between["stores"][format!("on-{store}")];
        assert_eq!((&it["state"], &it["documents"]), (&json!("verified"), &json!(documents)));
        assert_eq!(it["next"], format!("rekey run --store on-{store} --prune"));
    }
    let pruned = scene.done(&["run", "--yes", "--prune"]);
    for store in STORES {
        assert_eq!(state_of(&pruned, store), "pruned");
        assert_eq!(pruned["stores"][format!("on-{store}")]["next"], Value::Null);
        assert_eq!(contents(&scene, store, target_of(store)).len(), documents, "{store}");
    }
    assert_eq!(scene.done(&["run", "--yes", "--prune"])["exit_code"], 0);
}

#[test]
fn stores_side_by_side_come_to_the_same() {
    let (scene, documents) = project_of(&STORES, 10, "");
    let result = scene.done(&["run", "--yes", "--prune", "--parallel", "3"]);
    let names: Vec<_> = result["stores"].as_object().unwrap().keys().collect();
    assert_eq!(names.len(), 4);
    for store in STORES {
        assert_eq!(state_of(&result, store), "pruned");
        assert_eq!(contents(&scene, store, target_of(store)).len(), documents, "{store}");
    }
}

#[test]
fn where_nobody_can_be_asked_nothing_is_done_without_a_yes() {
    let (scene, _) = project_of(&[StoreKind::Firestore], 2, "");
    let ran = scene.run(&["run"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("import must be confirmed") && ran.stderr.contains("--yes"),
        "{}",
        ran.stderr
    );
    assert!(!scene.path("on-firestore/exported.json").exists());
    let _ = scene.done(&RUN);
    // Nothing is left to confirm but the prune.
    let _ = scene.done(&["run"]);
    let ran = scene.run(&["run", "--prune"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("prune must be confirmed"), "{}", ran.stderr);
}

#[test]
fn a_conflict_stops_its_store_alone_and_is_gone_on_with() {
    let stores = [StoreKind::DynamoDb, StoreKind::CosmosDb];
    let (scene, documents) = project_of(&stores, 4, "target-collection = \"moved\"\ncreate-target = true\n");
    // Somebody else's document stands under a new key.
    let from = "embedded:dynamodb.db?as=dynamodb";
    let export =
        ["export", "--from", from, "--collection", "shop", "--layout", "events", "--out", "a.ndjson"];
    let _ = scene.done(&export);
    let map = ["--tenant-map", "dynamodb.csv", "--escaping", "escaped"];
    let _ = scene.done(&[&["rekey", "a.ndjson", "--out", "b.ndjson"], &map[..]].concat());
    let other = scene.lines("b.ndjson")[0].replacen("eyJhbW91", "eyJhbW92", 1);
    scene.put(std::slice::from_ref(&other), "events", "dynamodb.db", "moved");

    let ran = scene.result(&RUN).ended(1);
    assert_eq!(state_of(&ran, StoreKind::DynamoDb), "rekeyed");
    assert_eq!(state_of(&ran, StoreKind::CosmosDb), "verified");
    assert_eq!(ran["stores"]["on-dynamodb"]["exit_code"], 1);
    let imported = scene.json("on-dynamodb/imported.json");
    assert_eq!((&imported["status"], &imported["result"]["conflict"]), (&json!("stopped"), &json!(1)));
    let status = scene.done(&["status", "--project", "rekey.toml"]);
    assert_eq!(status["stores"]["on-dynamodb"]["stopped_before"], "imported");
    assert_eq!(status["stores"]["on-dynamodb"]["next"], "rekey run --store on-dynamodb");

    let intruder = Intruder::open(&scene, "dynamodb.db", "moved", "events");
    intruder.delete(&intruder.stored(&other));
    drop(intruder);
    let ran = scene.done(&RUN);
    assert_eq!(kept(&ran, StoreKind::DynamoDb), [true, true, false, false]);
    assert_eq!(kept(&ran, StoreKind::CosmosDb), [true; 4]);
    assert_eq!(contents(&scene, StoreKind::DynamoDb, "moved").len(), documents);
}

#[test]
fn a_change_of_the_map_goes_through_everything_after_it_again() {
    let (scene, documents) = project_of(&[StoreKind::MongoDb], 4, "");
    let _ = scene.done(&RUN);
    let map = scene.text("mongodb.csv");
    scene.write("mongodb.csv", map.replace("initech", "initech2"));
    let status = scene.done(&["status", "--project", "rekey.toml"]);
    assert_eq!(status["stores"]["on-mongodb"]["state"], "exported");
    assert_eq!(status["stores"]["on-mongodb"]["problem"], "what it rests on has changed since");
    // The documents under the other tenant are in the way; nothing is overwritten.
    let ran = scene.result(&RUN).ended(1);
    assert_eq!(kept(&ran, StoreKind::MongoDb), [true, false, false]);
    scene.write("mongodb.csv", map);
    let ran = scene.done(&RUN);
    assert_eq!(kept(&ran, StoreKind::MongoDb), [true, false, false, false]);
    assert_eq!(contents(&scene, StoreKind::MongoDb, "moved").len(), documents);
}

#[test]
fn a_source_that_was_written_since_is_exported_again() {
    let (scene, documents) = project_of(&[StoreKind::MongoDb], 4, "");
    // A run that was stopped before the import.
    let map = scene.text("mongodb.csv");
    scene.write("mongodb.csv", "key,tenant\nanother,acme\n");
    let _ = scene.result(&RUN).ended(5);
    scene.write("mongodb.csv", map);
    let late = Stream::new(1).event(StoreKind::MongoDb, Stream::new(1).length());
    let intruder = Intruder::open(&scene, "mongodb.db", "shop", "events");
    intruder.create(&late);
    drop(intruder);
    let ran = scene.done(&RUN);
    assert_eq!(kept(&ran, StoreKind::MongoDb), [false; 4]);
    assert_eq!(ran["stores"]["on-mongodb"]["notices"][0]["code"], "source-changed");
    assert_eq!(contents(&scene, StoreKind::MongoDb, "moved").len(), documents + 1);
}

#[test]
fn a_source_that_was_written_after_a_refused_import_is_exported_again() {
    let (scene, documents) = project_of(&[StoreKind::Firestore], 4, "target-collection = \"moved\"\n");
    let project = scene.text("rekey.toml");
    // Only MongoDB's events are moved in place.
    scene.write("rekey.toml", project.replace("target-collection", "in-place = true\ntarget-collection"));
    let ran = scene.result(&RUN);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert_eq!(scene.json("on-firestore/imported.json")["status"], "stopped");
    scene.write("rekey.toml", project);
    let stream = Stream::new(1);
    let intruder = Intruder::open(&scene, "firestore.db", "shop", "events");
    intruder.create(&stream.event(StoreKind::Firestore, stream.length()));
    drop(intruder);
    let ran = scene.done(&RUN);
    assert_eq!(kept(&ran, StoreKind::Firestore), [false; 4]);
    assert_eq!(contents(&scene, StoreKind::Firestore, "moved").len(), documents + 1);
}

#[test]
fn a_store_that_cannot_be_reached_leaves_the_result_of_the_others() {
    let (scene, _) = project_of(&[StoreKind::CosmosDb, StoreKind::Firestore], 2, "");
    std::fs::remove_file(scene.path("cosmosdb.db")).unwrap();
    let result = scene.result(&RUN).ended(2);
    let missing = &result["stores"]["on-cosmosdb"];
    assert_eq!((&missing["state"], &missing["states"]["exported"]["exit_code"]), (&Value::Null, &2.into()));
    assert_eq!(scene.json("on-cosmosdb/exported.json")["status"], "stopped");
    assert_eq!(state_of(&result, StoreKind::Firestore), "verified");
}

#[test]
fn a_run_anew_begins_with_the_export() {
    let (scene, _) = project_of(&[StoreKind::CosmosDb], 2, "");
    let _ = scene.done(&RUN);
    // Beside their twins the legacy documents are exported with them, so the rewrite is told to keep those.
    scene.write("rekey.toml", scene.text("rekey.toml") + "already-rekeyed = \"keep\"\n");
    let ran = scene.done(&["run", "--yes", "--anew"]);
    assert_eq!(kept(&ran, StoreKind::CosmosDb), [false; 4]);
}

#[test]
fn one_store_is_chosen_by_its_name_and_another_name_is_refused() {
    let (scene, _) = project_of(&[StoreKind::CosmosDb, StoreKind::Firestore], 2, "");
    let ran = scene.done(&["run", "--yes", "--store", "on-firestore"]);
    assert_eq!(ran["stores"].as_object().unwrap().keys().collect::<Vec<_>>(), ["on-firestore"]);
    let ran = scene.run(&["run", "--yes", "--store", "on-firestor"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("Try --store on-firestore"), "{}", ran.stderr);
}

#[test]
fn what_a_command_would_refuse_of_the_project_is_refused_before_anything_is_done() {
    let (scene, _) = project_of(&[StoreKind::CosmosDb, StoreKind::Firestore], 2, "");
    let text = scene.text("rekey.toml").replace("tenant-map = \"firestore.csv\"\n", "");
    scene.write("rekey.toml", text);
    let ran = scene.run(&RUN);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("The store on-firestore cannot be moved as it is"), "{}", ran.stderr);
    assert!(ran.stderr.contains("--single-tenant"), "{}", ran.stderr);
    assert!(!scene.path("on-cosmosdb/exported.json").exists());
}

#[test]
fn in_a_pipe_there_are_whole_lines_and_no_escape_codes() {
    let (scene, _) = project_of(&STORES, 2, "");
    let ran = scene.run(&RUN);
    let out = String::from_utf8(ran.stdout).unwrap();
    assert!(!out.contains('\x1b') && !ran.stderr.contains('\x1b'));
    let rows: Vec<_> = out.lines().filter(|line| line.starts_with("on-")).collect();
    assert_eq!(rows.len(), 4, "{out}");
    assert!(rows.iter().all(|row| row.contains("verified")), "{out}");
    assert!(out.contains("  rekey run --store on-mongodb --prune"), "{out}");
}

#[test]
fn a_run_at_work_is_seen_alone_in_its_folder_and_goes_on_after_an_interrupt() {
    let (scene, documents) =
        project_of(&[StoreKind::DynamoDb], 20, "max-writes-per-second = 40\nconcurrency = 1\n");
    let mut child = scene.command(&RUN).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let status = || scene.done(&["status", "--project", "rekey.toml"])["stores"]["on-dynamodb"].clone();
    while !scene.path("on-dynamodb/imported.json").exists() {
        assert_eq!(child.try_wait().unwrap(), None, "it ended before it could be looked at");
        std::thread::sleep(Duration::from_millis(20));
    }
    let told = status();
    assert_eq!((&told["state"], &told["stopped_before"]), (&json!("rekeyed"), &json!("imported")));
    assert!(told["problem"].as_str().unwrap().starts_with("a run works on it now"), "{told}");
    let second = scene.run(&RUN);
    assert_eq!(second.code, Some(2), "{}", second.stderr);
    assert!(second.stderr.contains("Another run works in"), "{}", second.stderr);

    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let mut said = String::new();
    let _ = child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said}");
    let told = status();
    assert_eq!((&told["state"], &told["next"]), (&json!("rekeyed"), &json!("rekey run --store on-dynamodb")));
    let project = scene.text("rekey.toml").replace("max-writes-per-second = 40\n", "");
    scene.write("rekey.toml", project);
    let result = scene.done(&RUN);
    assert_eq!(kept(&result, StoreKind::DynamoDb), [true, true, false, false]);
    assert_eq!(result["stores"]["on-dynamodb"]["states"]["imported"]["result"]["written"], documents);
}

/// What a run to the end leaves in the stores of a scene.
fn end(scene: &Scene) -> BTreeMap<&'static str, Vec<Value>> {
    let of = |store: StoreKind| (store.name(), contents(scene, store, target_of(store)));
    STORES
        .iter()
        .filter(|store| scene.path(&format!("{store}.db")).exists())
        .map(|store| of(*store))
        .collect()
}

/// The scene in another folder.
fn copy(scene: &Scene) -> Scene {
    let copy = Scene::new(scene.store);
    scene.copy_into(&copy);
    copy
}

const TO_THE_END: [&str; 3] = ["run", "--yes", "--prune"];

fn nothing_is_left_lying(scene: &Scene) {
    let left: Vec<PathBuf> = listing(scene.folder())
        .into_keys()
        .filter(|name| name.to_string_lossy().ends_with(".part"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn killed_at_any_moment_and_run_again_it_ends_the_same() {
    let (scene, _) = project_of(&STORES, size("REKEY_KILL_STREAMS", 20), "");
    let whole = copy(&scene);
    let started = Instant::now();
    let _ = whole.done(&TO_THE_END);
    let uninterrupted = started.elapsed();
    let expected = end(&whole);
    let mut random = Random(8);
    for _ in 0..size("REKEY_KILLS", 6) {
        let scene = copy(&scene);
        // Killed twice: the second time on the way that the first one left.
        for _ in 0..2 {
            let share = u32::try_from(random.below(1000)).unwrap();
            let mut child =
                scene.command(&TO_THE_END).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(uninterrupted * share / 1000);
            child.kill().unwrap();
            let _ = child.wait().unwrap();
        }
        let result = scene.done(&TO_THE_END);
        assert!(STORES.iter().all(|store| state_of(&result, *store) == "pruned"), "{result}");
        assert!(end(&scene) == expected, "another end state");
        nothing_is_left_lying(&scene);
    }
}

#[cfg(feature = "faults")]
#[test]
fn stopped_at_every_point_of_every_state_and_run_again_it_ends_the_same() {
    for store in STORES {
        let (scene, _) = project_of(&[store], size("REKEY_CRASH_STREAMS", 6), "");
        let whole = copy(&scene);
        let trace = whole.path("trace");
        whole.result_with(&TO_THE_END, &[("REKEY_FAILPOINT_TRACE", trace.to_str().unwrap())]).ended_with(0);
        let mut passes: BTreeMap<String, usize> = BTreeMap::new();
        for line in std::fs::read_to_string(&trace).unwrap().lines() {
            *passes.entry(line.to_owned()).or_default() += 1;
        }
        std::fs::remove_file(trace).unwrap();
        let expected = end(&whole);
        for (point, count) in passes {
            let mut at = vec![1, count / 2 + 1, count];
            at.dedup();
            for pass in at {
                let scene = copy(&scene);
                let plan = format!("{point}:{pass}:abort");
                let stopped = scene.result_with(&TO_THE_END, &[("REKEY_FAILPOINT", &plan)]);
                assert_eq!(stopped.code, None, "{plan} on {store}: {}", stopped.stderr);
                let result = scene.done(&TO_THE_END);
                assert_eq!(state_of(&result, store), "pruned", "{plan} on {store}");
                assert!(end(&scene) == expected, "{plan} on {store}: another end state");
                nothing_is_left_lying(&scene);
            }
        }
    }
}
