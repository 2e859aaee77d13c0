//! A MongoDB event says whose it is in its key alone. Where raw tenants hold `:` such a key can be read in more
//! than one way, and then the key map says which one is right.

use rekey::document::StoreKind;
use serde_json::{Value, json};

use crate::generated::Stream;
use crate::scene::Scene;

/// Two streams for each of these tenants, moved with raw terms.
fn moved(tenants: &[&str], more: &[&str]) -> Scene {
    let scene = Scene::new(StoreKind::MongoDb);
    let streams: Vec<_> = [0, 1, 2, 4, 6, 8].map(Stream::new).into_iter().take(2 * tenants.len()).collect();
    let lines: Vec<_> = streams
        .iter()
        .flat_map(|it| (0..it.length()).map(|version| it.event(scene.store, version)))
        .collect();
    let rows = streams.iter().enumerate().map(|(at, it)| format!("{},{}\n", it.id(), tenants[at / 2]));
    scene.write("map.csv", format!("key,tenant\n{}", rows.collect::<String>()));
    scene.write("legacy.ndjson", lines.join("\n") + "\n");
    let count = lines.len().to_string();
    let from = ["rekey", "legacy.ndjson", "--layout", "mongodb-events", "--expect-documents", &count];
    let how = ["--out", "rekeyed.ndjson", "--tenant-map", "map.csv", "--escaping", "raw"];
    let _ = scene.done(&[&from, &how, more].concat());
    let _ = scene.import("rekeyed.ndjson", "moved.db", "moved", &["--create-target"]);
    scene
}

/// Tenant → events found, as a verification that must match says.
fn found(scene: &Scene, more: &[&str]) -> Value {
    let result = scene.verify(&["rekeyed.ndjson"], "moved.db", "moved", more).ended(0);
    assert_eq!(result["verdict"], "match");
    result["tenants"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["tenant"].clone(), it["events_found"].clone()))
        .fold(json!({}), |mut all, (tenant, found)| {
            all[tenant.as_str().unwrap()] = found;
            all
        })
}

fn lengths(numbers: [usize; 2]) -> usize {
    numbers.map(|number| Stream::new(number).length()).iter().sum()
}

#[test]
fn a_raw_tenant_with_a_colon_is_told_by_its_prefix() {
    let scene = moved(&["acme:eu", "globex"], &[]);
    let expected = json!({ "acme:eu": lengths([0, 1]), "globex": lengths([2, 4]) });
    assert_eq!(found(&scene, &["--probe-streams", "all"]), expected);
    let counts = scene.verify(&["rekeyed.ndjson.manifest.json"], "moved.db", "moved", &[]).ended(0);
    assert_eq!(counts["level"], "counts");
}

#[test]
fn overlapping_tenants_are_told_by_the_key_map() {
    let scene = moved(&["acme", "acme:eu", "acme:eu:west"], &["--allow-prefix-tenants"]);
    let expected =
        json!({ "acme": lengths([0, 1]), "acme:eu": lengths([2, 4]), "acme:eu:west": lengths([6, 8]) });
    assert_eq!(found(&scene, &["--probe-streams", "all"]), expected);
    assert_eq!(found(&scene, &["--only-tenants", "acme:eu"]), json!({ "acme:eu": lengths([2, 4]) }));
}

#[test]
fn without_the_key_map_overlapping_tenants_are_not_guessed() {
    let scene = moved(&["acme", "acme:eu"], &["--allow-prefix-tenants"]);
    for arguments in [&["rekeyed.ndjson.manifest.json"][..], &["rekeyed.ndjson", "--counts-only"]] {
        let ran = scene.verify(&arguments[..1], "moved.db", "moved", &arguments[1..]);
        ran.ended_with(2);
        assert!(ran.stderr.contains("acme:eu") && ran.stderr.contains("key map"), "{}", ran.stderr);
    }
    std::fs::remove_file(scene.path("rekeyed.ndjson.keys.ndjson")).unwrap();
    let ran = scene.verify(&["rekeyed.ndjson"], "moved.db", "moved", &[]);
    ran.ended_with(74);
    assert!(ran.stderr.contains("rekeyed.ndjson.keys.ndjson"), "{}", ran.stderr);
}
