//! `plan` and `apply`: exactly what was planned, or a refusal with its own reason for each difference.

use rekey::document::StoreKind;
use serde_json::Value;

use crate::generated::Stream;
use crate::intruder::Intruder;
use crate::run::project_of;
use crate::scene::{STORES, Scene, listing};

/// A project of one store whose rekeyed documents go to a collection of their own, so that it can be planned twice.
fn project(store: StoreKind) -> (Scene, usize) {
    let more = if store == StoreKind::MongoDb {
        ""
    } else {
        "target-collection = \"moved\"\ncreate-target = true\n"
    };
    project_of(&[store], 10, more)
}

/// The codes of what is not as planned.
fn differences(result: &Value) -> Vec<&str> {
    result["findings"].as_array().unwrap().iter().map(|it| it["code"].as_str().unwrap()).collect()
}

/// Applies a plan that must be refused, before anything is written.
fn refused(scene: &Scene) -> Value {
    let before = listing(scene.folder());
    let result = scene.result(&["apply", "plan.json", "--yes"]).ended(5);
    for (name, bytes) in listing(scene.folder()) {
        if name.extension().is_some_and(|it| it == "db") {
            assert!(before[&name] == bytes, "{} was written", name.display());
        }
    }
    result
}

#[test]
fn a_plan_says_what_will_happen_and_apply_does_it() {
    let (scene, documents) = project_of(&STORES, 10, "max-writes-per-second = 5000\n");
    let stores: Vec<_> = STORES.iter().map(|store| scene.read(&format!("{store}.db"))).collect();
    let planned = scene.done(&["plan"]);
    let plan = &planned["plan"];
    assert_eq!((&plan["basis"], &planned["file"]), (&"stores".into(), &"plan.json".into()));
    for (store, before) in STORES.iter().zip(stores) {
        assert!(scene.read(&format!("{store}.db")) == before, "planning wrote to {store}");
    }
    for (store, kind) in plan["stores"].as_array().unwrap().iter().zip(STORES) {
        assert_eq!(store["store"], format!("on-{kind}"));
        assert_eq!(store["documents"], documents);
        assert_eq!((&store["import"]["write"], &store["import"]["seconds"]), (&documents.into(), &1.into()));
        let tenants = store["tenants"].as_object().unwrap();
        let sum = |member: &str| tenants.values().map(|it| it[member].as_u64().unwrap()).sum::<u64>();
        assert_eq!((sum("documents"), sum("bytes")), (documents as u64, store["bytes"].as_u64().unwrap()));
        assert!(store["longest_key"].as_u64().unwrap() > 10);
        assert_eq!(store["key_limit"].is_null(), kind == StoreKind::MongoDb);
        assert!(store["samples"][0]["new_key"].as_str().unwrap().starts_with("t:"));
        assert!(!scene.path(&format!("on-{kind}/plan.tmp")).exists());
        assert!(!scene.path(&format!("on-{kind}/legacy.ndjson.zst")).exists());
    }
    let applied = scene.done(&["apply", "plan.json", "--yes"]);
    for store in STORES {
        let store = &applied["stores"][format!("on-{store}")];
        assert_eq!(
            (&store["state"], &store["next"]),
            (&"verified".into(), &"rekey apply plan.json --prune".into())
        );
    }
    let evidence = scene.json("on-cosmosdb/imported.json");
    assert_eq!(evidence["outputs"]["plan"], plan["digest"]);
    let pruned = scene.done(&["apply", "plan.json", "--yes", "--prune"]);
    assert!(STORES.iter().all(|store| pruned["stores"][format!("on-{store}")]["state"] == "pruned"));
}

#[test]
fn a_plan_from_archives_binds_their_documents() {
    let (scene, documents) = project(StoreKind::DynamoDb);
    let ran = scene.run(&["plan", "--archives"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("has no legacy archive to plan from"), "{}", ran.stderr);
    let _ = scene.done(&["export", "--store", "on-dynamodb"]);
    let plan = scene.done(&["plan", "--archives"])["plan"].clone();
    assert_eq!((&plan["basis"], &plan["max_growth"]), (&"archives".into(), &0.into()));
    assert_eq!(plan["stores"][0]["archives"].as_object().unwrap().len(), 3);
    let applied = scene.done(&["apply", "plan.json", "--yes"]);
    let states = &applied["stores"]["on-dynamodb"]["states"];
    assert_eq!(
        (&states["exported"]["kept"], &states["imported"]["result"]["written"]),
        (&true.into(), &documents.into())
    );
    let told = scene.done(&["status", "--project", "rekey.toml"]);
    assert_eq!(told["stores"]["on-dynamodb"]["state"], "verified");
}

#[test]
fn one_document_that_changed_since_is_refused() {
    let (scene, _) = project(StoreKind::MongoDb);
    let export = ["export", "--store", "on-mongodb"];
    let _ = scene.done(&export);
    let _ = scene.done(&["plan", "--archives"]);
    let intruder = Intruder::open(&scene, "mongodb.db", "shop", "events");
    intruder.create(&Stream::new(1).event(StoreKind::MongoDb, Stream::new(1).length()));
    drop(intruder);
    let _ = scene.done(&export);
    assert_eq!(differences(&refused(&scene)), ["plan-documents"]);
    std::fs::remove_file(scene.path("on-mongodb/legacy.ndjson.zst")).unwrap();
    assert_eq!(differences(&refused(&scene)), ["plan-documents"]);
}

/// Puts the digest of a plan right, as whoever edits one on purpose would.
fn with_digest(mut plan: Value, edit: impl FnOnce(&mut Value)) -> String {
    edit(&mut plan);
    // The digest is over the members in their own order, which a generic value does not keep.
    serde_json::to_string(&plan).unwrap()
}

#[test]
fn each_change_of_the_project_has_its_own_reason() {
    let (scene, _) = project(StoreKind::MongoDb);
    scene.write("layout.toml", rekey_layout());
    let _ = scene.done(&["plan"]);
    let project = scene.text("rekey.toml");
    let map = scene.text("mongodb.csv");
    let changes: [(&str, &str, &[&str]); 6] = [
        ("tenant-map = \"mongodb.csv\"", "tenant = \"acme\"", &["plan-tenant-rule", "plan-tenant-rule"]),
        ("layout = \"events\"", "layout = \"layout.toml\"", &["plan-layout"]),
        ("target-collection = \"moved\"", "target-collection = \"elsewhere\"", &["plan-target"]),
        ("collection = \"shop\"", "collection = \"other\"", &["plan-source"]),
        ("create-target = true", "create-target = true\nallow-gaps = true", &["plan-options"]),
        ("create-target = true", "create-target = true\nmax-writes-per-second = 5", &["plan-limits"]),
    ];
    for (was, is, codes) in changes {
        scene.write("rekey.toml", project.replacen(was, is, 1));
        let mut found = differences(&refused(&scene)).iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        found.sort();
        assert_eq!(found, codes, "{is}");
    }
    scene.write("rekey.toml", &project);
    // One row of the map.
    scene.write("mongodb.csv", map.replacen("initech", "globex", 1));
    assert_eq!(differences(&refused(&scene)), ["plan-tenant-rule"]);
    scene.write("mongodb.csv", map);
    let _ = scene.done(&["apply", "plan.json", "--yes"]);
}

/// The built-in layout with one difference.
fn rekey_layout() -> String {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/layouts/mongodb-events.toml");
    std::fs::read_to_string(file).unwrap().replace("16_777_216", "16_777_215")
}

#[test]
fn a_plan_that_was_edited_is_refused() {
    let (scene, _) = project(StoreKind::Firestore);
    let planned = scene.done(&["plan"]);
    let edited = with_digest(planned["plan"].clone(), |plan| plan["max_growth"] = 1000.into());
    scene.write("plan.json", edited);
    let ran = scene.run(&["apply", "plan.json", "--yes"]);
    assert_eq!(ran.code, Some(5));
    assert!(ran.stderr.contains("is not as it was made"), "{}", ran.stderr);
}

#[test]
fn a_plan_by_other_rules_is_refused() {
    let (scene, _) = project(StoreKind::CosmosDb);
    let _ = scene.done(&["plan"]);
    let mut plan = rekey::plan::Plan::load(&scene.path("plan.json")).unwrap();
    for store in &mut plan.stores {
        let _ = store.settings.insert("rules".into(), "0".into());
    }
    let rules = rekey::plan::Plan::new(plan.basis, plan.project, plan.max_growth, plan.stores).unwrap();
    rules.write(&scene.path("plan.json")).unwrap();
    assert_eq!(differences(&refused(&scene)), ["plan-rules"]);
}

/// A plan made from the store, and one more document in it since.
fn grown(line: &str, max_growth: &str) -> Scene {
    let (scene, _) = project(StoreKind::MongoDb);
    scene.write("rekey.toml", scene.text("rekey.toml") + "on-refused = \"set-aside\"\n");
    let _ = scene.done(&["plan", "--max-growth", max_growth]);
    let intruder = Intruder::open(&scene, "mongodb.db", "shop", "events");
    intruder.create(line);
    drop(intruder);
    scene
}

#[test]
fn growth_is_taken_within_its_bound() {
    let next = Stream::new(1).event(StoreKind::MongoDb, Stream::new(1).length());
    let scene = grown(&next, "10");
    let _ = scene.done(&["apply", "plan.json", "--yes"]);
    let scene = grown(&next, "0");
    assert_eq!(differences(&refused(&scene)), ["plan-growth"]);
    assert!(!scene.path("on-mongodb/imported.json").exists());
}

#[test]
fn a_new_tenant_and_a_new_reason_are_refused() {
    let stream = Stream::new(0);
    let first = stream.event(StoreKind::MongoDb, 0);
    let id = serde_json::from_str::<Value>(&first).unwrap()["streamId"].as_str().unwrap().to_owned();
    // A stream of a tenant that was not there.
    let other = first.replace(&id, "B-1").replace("\"_id\":", "\"_id\": ");
    let other = unlike(&other);
    let scene = grown(&other, "50");
    scene.write("mongodb.csv", scene.text("mongodb.csv"));
    // No row covers it.
    let result = refused(&scene);
    assert_eq!(differences(&result), ["plan-new-reason"]);

    let (scene, _) = project(StoreKind::MongoDb);
    scene.write("mongodb.csv", scene.text("mongodb.csv") + "B-1,latecomer\n");
    let _ = scene.done(&["plan", "--max-growth", "50"]);
    let intruder = Intruder::open(&scene, "mongodb.db", "shop", "events");
    intruder.create(&other);
    drop(intruder);
    let result = refused(&scene);
    assert_eq!(differences(&result), ["plan-new-tenant"]);
    assert_eq!(result["findings"][0]["tenant"], "latecomer");
}

/// The same event with an id of its own.
fn unlike(line: &str) -> String {
    let mut value: Value = serde_json::from_str(line).unwrap();
    let id = &mut value["_id"]["$oid"];
    *id = format!("{}f", &id.as_str().unwrap()[..23]).into();
    if value["eventId"].is_string() {
        value["eventId"] = "ffffffff-0000-0000-0000-00000000000f".into();
    }
    value.to_string()
}

#[test]
fn a_plan_names_what_is_in_the_way() {
    let (scene, _) = project(StoreKind::MongoDb);
    let text = scene.text("mongodb.csv");
    let rows: Vec<_> = text.lines().collect();
    scene.write("mongodb.csv", rows[..rows.len() - 1].join("\n") + "\n");
    let planned = scene.result(&["plan"]).ended(5);
    let store = &planned["plan"]["stores"][0];
    assert!(store["refused"].as_u64().unwrap() > 0);
    assert!(store["stops"][0].as_str().unwrap().starts_with("rekey will refuse"), "{store}");
    assert!(store["documents"].as_u64().unwrap() > 0, "the rest is planned");
    assert!(scene.path("plan.json").exists());
    let ran = scene.run(&["plan"]);
    let out = String::from_utf8(ran.stdout).unwrap();
    assert!(out.contains("  would stop: rekey will refuse") && !out.contains('\x1b'), "{out}");
}
