//! Where an address leads, and what an operator is told about it.

use std::collections::HashMap;

use serde_json::Value;

use super::server::{Database, emulator, fresh_project, scene_at, scene_in, wait};
use crate::generated::Generated;
use rekey::document::StoreKind;

fn export<'a>(from: &'a str, collection: &'a str) -> [&'a str; 9] {
    ["export", "--from", from, "--collection", collection, "--layout", "events", "--out", "out.ndjson"]
}

fn notices<'r>(result: &'r Value, code: &str) -> Vec<&'r str> {
    let notices = result["notices"].as_array().unwrap().iter().filter(|it| it["code"] == code);
    notices.map(|it| it["message"].as_str().unwrap()).collect()
}

#[test]
fn the_project_comes_from_the_usual_variables_and_never_from_a_generic_one() {
    let scene = scene_at(&emulator());
    scene.seed(&Generated::events(StoreKind::Firestore, 2), "shop.db", "shop");
    let (address, name) = (scene.address("shop.db"), scene.collection("shop.db", "shop"));
    let project = address.strip_prefix("firestore://").unwrap();
    let run = |variables: &[(&str, &str)]| {
        let mut command = scene.command(&export("firestore://", &name));
        let output = command.envs(variables.iter().copied()).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) =
        run(&[("GOOGLE_CLOUD_PROJECT", project), ("PROJECT_ID", "other"), ("GCP_PROJECT", "other")]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains(&format!("project {project:?}")), "{said}");
    let (code, said) = run(&[("PROJECT_ID", project), ("GCP_PROJECT", project)]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("GOOGLE_CLOUD_PROJECT"), "{said}");
}

#[test]
fn the_endpoint_is_shown_and_credentials_beside_an_emulator_are_told_of() {
    let scene = scene_at(&emulator());
    scene.seed(&Generated::events(StoreKind::Firestore, 2), "shop.db", "shop");
    let (address, name) = (scene.address("shop.db"), scene.collection("shop.db", "shop"));
    let ran = scene.result(&export(&address, &name));
    assert!(ran.stderr.contains(&format!("Firestore emulator at {}", emulator())), "{}", ran.stderr);
    let result = ran.ended(0);
    let told = notices(&result, "emulator");
    assert!(told.len() == 1 && !told[0].contains("credentials"), "{told:?}");
    scene.write("key.json", "{}");
    let mut command = scene.command(&export(&address, &name));
    let output = command
        .args(["--output", "json"])
        .env("GOOGLE_APPLICATION_CREDENTIALS", scene.path("key.json"))
        .output()
        .unwrap();
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    let told = notices(&result, "emulator");
    assert!(told.len() == 1 && told[0].contains("nothing of this run reaches the service"), "{told:?}");
}

#[test]
fn an_emulator_that_does_not_run_is_a_store_error_with_its_address() {
    let scene = scene_in(&format!("firestore://{}", fresh_project()), "127.0.0.1:1", "c");
    let ran = scene.run(&export(&scene.address("shop.db"), "events"));
    ran.ended_with(4);
    assert!(
        ran.stderr.contains("127.0.0.1:1") && ran.stderr.contains("FIRESTORE_EMULATOR_HOST"),
        "{}",
        ran.stderr
    );
}

#[test]
fn an_empty_source_must_be_allowed_and_a_wrong_path_is_refused() {
    let scene = scene_at(&emulator());
    let address = scene.address("shop.db");
    let ran = scene.run(&export(&address, "nothing"));
    ran.ended_with(2);
    assert!(ran.stderr.contains("--allow-empty"), "{}", ran.stderr);
    let result = scene.done(&[&export(&address, "nothing")[..], &["--allow-empty"]].concat());
    assert_eq!(result["documents"], 0);
    scene.run(&export(&address, "tenants/a")).ended_with(2);
}

#[test]
fn sub_collections_below_documents_are_reported_and_stay() {
    let scene = scene_at(&emulator());
    let generated = Generated::events(StoreKind::Firestore, 4);
    scene.seed(&generated, "shop.db", "shop");
    let (address, name) = (scene.address("shop.db"), scene.collection("shop.db", "shop"));
    let result = scene.done(&export(&address, &name));
    assert!(notices(&result, "nested-documents").is_empty(), "{result}");
    let (parent, nested) = wait(async {
        let database = Database::of(&address).await;
        let parent = database.documents(&name).await.into_keys().next().unwrap();
        let nested = format!("{name}/{parent}/notes");
        database.put(&format!("{nested}/1"), HashMap::new()).await;
        // Neighbours by name, which are no business of this collection's.
        database.put(&format!("{name}2/x/notes/1"), HashMap::new()).await;
        database.put(&format!("{name}!/x"), HashMap::new()).await;
        (parent, nested)
    });
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let result = scene.done(&export(&address, &name));
    assert_eq!(result["documents"], generated.lines.len());
    let told = notices(&result, "nested-documents");
    assert!(told.len() == 1 && told[0].contains(&format!("{:?}", format!("{parent}/notes/1"))), "{told:?}");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    let _ = scene.import("rekeyed.ndjson", "shop.db", "shop", &[]);
    let result = scene.prune("shop.db", "shop").ended(0);
    assert_eq!(result["deleted"], generated.lines.len());
    assert_eq!(notices(&result, "nested-documents").len(), 1, "{result}");
    let left = wait(async { Database::of(&address).await.documents(&nested).await });
    assert_eq!(left.len(), 1);
}

#[test]
fn the_indexes_that_the_framework_needs_are_printed_ready_made() {
    let scene = scene_at(&emulator());
    for (generated, fields) in [
        (Generated::events(StoreKind::Firestore, 2), ["streamId", "version"]),
        (Generated::sagas(StoreKind::Firestore, 2), ["tenantId", "completedAt"]),
    ] {
        let kind = generated.kind;
        scene.seed(&generated, "shop.db", kind);
        let _ = scene.export("shop.db", kind, kind, "legacy.ndjson");
        let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
        let result = scene.import("rekeyed.ndjson", "moved.db", kind, &["--dry-run"]);
        let told = notices(&result, "index-needed");
        let definition = told[0].split_once("firestore.indexes.json: ").unwrap().1;
        let definition: Value = serde_json::from_str(definition).unwrap();
        let index = &definition["indexes"][0];
        assert_eq!(index["collectionGroup"], scene.collection("moved.db", kind));
        let found: Vec<_> = (0..2).map(|at| index["fields"][at]["fieldPath"].as_str().unwrap()).collect();
        assert_eq!(found, fields);
    }
}
