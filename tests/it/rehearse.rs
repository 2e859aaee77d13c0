//! `rehearse`: the whole run on embedded storage, from the archives alone.

use rekey::document::StoreKind;

use crate::run::project_of;
use crate::scene::{STORES, listing};

#[test]
fn a_rehearsal_needs_no_store_and_changes_nothing_of_the_project() {
    let (scene, documents) = project_of(&STORES, 10, "max-writes-per-second = 1\n");
    for store in STORES {
        let _ = scene.done(&["export", "--store", &format!("on-{store}")]);
        // Nobody may reach the store any more.
        std::fs::remove_file(scene.path(&format!("{store}.db"))).unwrap();
    }
    let before = listing(scene.folder());
    let result = scene.done(&["rehearse"]);
    for store in STORES {
        let report = &result["stores"][format!("on-{store}")];
        assert_eq!((&report["state"], &report["exit_code"]), (&"pruned".into(), &0.into()), "{store}");
        assert_eq!(report["states"]["imported"]["result"]["written"], documents);
        let deleted = &report["states"]["pruned"]["result"]["deleted"];
        assert_eq!(*deleted, documents, "{store}");
    }
    let after = listing(scene.folder());
    for (name, bytes) in &before {
        assert!(after[name] == *bytes, "{} was changed", name.display());
    }
    let new = after.keys().filter(|name| !before.contains_key(*name));
    assert!(new.into_iter().all(|name| name.components().any(|part| part.as_os_str() == "rehearsal")));
    // Once more: what the first one left is not in the way.
    assert_eq!(
        scene.done(&["rehearse", "--store", "on-firestore"])["stores"]["on-firestore"]["state"],
        "pruned"
    );
}

#[test]
fn a_rehearsal_in_place_is_one_in_place() {
    let (scene, documents) = project_of(&[StoreKind::MongoDb], 10, "");
    let text = scene.text("rekey.toml");
    scene.write(
        "rekey.toml",
        text.replace("target-collection = \"moved\"\ncreate-target = true\n", "in-place = true\n"),
    );
    let _ = scene.done(&["export", "--store", "on-mongodb"]);
    let report = scene.done(&["rehearse"])["stores"]["on-mongodb"].clone();
    assert_eq!(report["states"]["imported"]["result"]["written"], documents);
    assert_eq!(report["states"]["pruned"]["result"]["gone"], documents);
}

#[test]
fn a_rehearsal_names_what_the_run_will_meet() {
    let (scene, _) = project_of(&[StoreKind::DynamoDb], 4, "");
    let _ = scene.done(&["export", "--store", "on-dynamodb"]);
    let text = scene.text("dynamodb.csv");
    let rows: Vec<_> = text.lines().collect();
    scene.write("dynamodb.csv", rows[..rows.len() - 1].join("\n") + "\n");
    let result = scene.result(&["rehearse"]).ended(5);
    assert_eq!(result["stores"]["on-dynamodb"]["state"], "exported");
    let met = result["met"].as_array().unwrap();
    assert!(
        met.iter().any(|it| it["code"] == "tenant-missing" && it["state"] == "rekeyed" && it["times"] == 1),
        "{met:?}"
    );
    let ran = scene.run(&["rehearse"]);
    let out = String::from_utf8(ran.stdout).unwrap();
    assert!(out.contains("the real run will meet") && !out.contains('\x1b'), "{out}");
}

#[test]
fn without_an_archive_there_is_no_rehearsal() {
    let (scene, _) = project_of(&[StoreKind::CosmosDb], 2, "");
    let ran = scene.run(&["rehearse"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("Pass --export"), "{}", ran.stderr);
    assert_eq!(scene.done(&["rehearse", "--export"])["stores"]["on-cosmosdb"]["state"], "pruned");
    assert!(!scene.path("on-cosmosdb/exported.json").exists());
}
