//! Every code that a result can hold is provoked by a test, and those that no other test provokes are here.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rekey::check::Reason;
use rekey::document::StoreKind;
use rekey::report::{FindingCode, NoticeCode};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::doctor::codes;
use crate::generated::{Generated, Stream};
use crate::intruder::Intruder;
use crate::scene::Scene;

const STORE: StoreKind = StoreKind::CosmosDb;

fn moved() -> (Scene, Generated) {
    let (scene, generated) = (Scene::new(STORE), Generated::events(STORE, 20));
    scene.moved(&generated);
    (scene, generated)
}

fn has(result: &Value, of: &str, code: &str) {
    assert!(codes(result, of).contains(&code.to_owned()), "no {code}: {result}");
}

#[test]
fn a_document_that_is_missing_spoils_its_tenants_counts_and_the_frameworks_read() {
    let (scene, _) = moved();
    let intruder = Intruder::open(&scene, "moved.db", "moved", "events");
    let stream = Stream::new(5);
    intruder.delete(&intruder.rekeyed(&stream.event(STORE, 0), stream.tenant()));
    drop(intruder);
    has(&scene.verify(&["rekeyed.ndjson"], "moved.db", "moved", &[]).ended(1), "findings", "query-differs");
    let counts = scene.verify(&["rekeyed.ndjson.manifest.json"], "moved.db", "moved", &[]).ended(1);
    has(&counts, "findings", "counts-differ");
}

#[test]
fn a_document_that_differs_spoils_its_tenants_digest() {
    let (scene, _) = moved();
    let intruder = Intruder::open(&scene, "moved.db", "moved", "events");
    let stream = Stream::new(5);
    let line = intruder.stored(&intruder.rekeyed(&stream.event(STORE, 0), stream.tenant()));
    intruder.replace(&line, &line.replacen("eyJhbW91", "eyJhbW92", 1));
    drop(intruder);
    let counts = scene.verify(&["rekeyed.ndjson.manifest.json"], "moved.db", "moved", &[]).ended(1);
    assert_eq!(codes(&counts, "findings"), ["content-differs"]);
}

#[test]
fn a_legacy_document_in_a_place_of_its_own_trips_the_frameworks_probe() {
    let (scene, generated) = moved();
    let intruder = Intruder::open(&scene, "moved.db", "moved", "events");
    intruder.create(&generated.lines[0]);
    drop(intruder);
    let result = scene.verify(&["rekeyed.ndjson"], "moved.db", "moved", &[]).ended(1);
    has(&result, "findings", "legacy");
    has(&result, "findings", "probe-tripped");
}

#[test]
fn a_legacy_archive_that_holds_other_content_than_was_rewritten_is_found() {
    let (scene, _) = moved();
    // Somebody has put both right: the archive's digest stands in the rekeyed one's manifest.
    let changed = scene.text("legacy.ndjson").replacen("eyJhbW91", "eyJhbW92", 1);
    scene.write("changed.ndjson", &changed);
    let mut manifest = scene.json("rekeyed.ndjson.manifest.json");
    manifest["rekey"]["input_sha256"] = hex::encode(Sha256::digest(&changed)).into();
    scene.write("rekeyed.ndjson.manifest.json", manifest.to_string());
    let result =
        scene.verify(&["rekeyed.ndjson"], "moved.db", "moved", &["--legacy", "changed.ndjson"]).ended(1);
    // The document is another one, and the one of the key map is not there.
    assert_eq!(codes(&result, "findings"), ["changed-besides-key"; 2]);
}

#[test]
fn what_is_worth_knowing_of_a_source_is_told() {
    let scene = Scene::new(STORE);
    let generated = Generated::events(STORE, 2);
    scene.put(&generated.lines[..1], "events", "shop.db", "shop");
    Intruder::open(&scene, "shop.db", "shop", "events").delete(&generated.lines[0]);
    let result = scene.export("shop.db", "shop", "events", "empty.ndjson");
    has(&result, "notices", "empty-source");
    has(&result, "notices", "not-consistent");

    // An escape record is what BSON holds and Extended JSON does not: here it could be either.
    let scene = Scene::new(StoreKind::MongoDb);
    let mut bson = vec![0; 4];
    for (name, value) in [("_id", "x"), ("streamId", "A-1"), ("aggregateType", "Order")] {
        bson.push(2);
        bson.extend([name.as_bytes(), b"\0"].concat());
        bson.extend(i32::try_from(value.len() + 1).unwrap().to_le_bytes());
        bson.extend([value.as_bytes(), b"\0"].concat());
    }
    bson.extend(b"\x12version\0\0\0\0\0\0\0\0\0\0");
    let length = i32::try_from(bson.len()).unwrap().to_le_bytes();
    bson[..4].copy_from_slice(&length);
    let record = format!(r#"{{"$rawBson":"{}"}}"#, STANDARD.encode(&bson));
    scene.put(&[record], "events", "shop.db", "shop");
    has(&scene.export("shop.db", "shop", "events", "escaped.ndjson"), "notices", "escape-records");
}

/// Events whose metadata name their tenant, but for those that `spoil` picks by their version.
fn with_tenants(spoil: impl Fn(usize) -> bool) -> Vec<String> {
    let stream = Stream::new(1);
    let named = STANDARD.encode(r#"{"tenantId":"acme"}"#);
    let other = STANDARD.encode("no JSON at all");
    let event = |version: usize| {
        let mut event: Value = serde_json::from_str(&stream.event(STORE, version)).unwrap();
        event["metadata"] = (if spoil(version) { &other } else { &named }).as_str().into();
        event.to_string()
    };
    (0..3).map(event).collect()
}

#[test]
fn what_is_worth_knowing_of_a_rewrite_is_told() {
    let scene = Scene::new(STORE);
    let generated = Generated::events(STORE, 20);
    scene.seed(&generated, "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    scene.write("map.csv", format!("{}Order:nobody,acme\n", generated.map));
    has(&scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]), "notices", "unused-rows");

    let by_field = |lines: &[String], more: &[&str]| {
        scene.write("fields.ndjson", lines.join("\n") + "\n");
        let count = lines.len().to_string();
        let rekey = ["rekey", "fields.ndjson", "--layout", "cosmosdb-events", "--expect-documents", &count];
        let rule = ["--tenant-field", "metadata#/tenantId", "--escaping", "raw", "--out", "out.ndjson"];
        scene.done(&[&rekey[..], &rule, more].concat())
    };
    has(&by_field(&with_tenants(|version| version == 1), &[]), "notices", "not-json");
    has(&by_field(&with_tenants(|_| false)[1..], &["--allow-gaps"]), "notices", "gaps");
}

#[test]
fn that_streams_were_sampled_is_told() {
    let (scene, _) = moved();
    let result = scene.verify(&["rekeyed.ndjson"], "moved.db", "moved", &["--probe-streams", "3"]).ended(0);
    has(&result, "notices", "sampled");
}

/// What the tests say: their sources, and the reasons that the hostile fixtures expect.
fn tests() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders: Vec<PathBuf> = vec![root.join("tests/it")];
    let mut all = String::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                all.push_str(&std::fs::read_to_string(path).unwrap());
            }
        }
    }
    let hostile = std::fs::read_to_string(root.join("fixtures/hostile/expected.csv")).unwrap();
    let reasons: BTreeSet<_> = hostile.lines().skip(1).filter_map(|row| row.rsplit(',').next()).collect();
    all.extend(reasons.into_iter().map(|reason| format!("\"{reason}\"\n")));
    all
}

#[test]
fn every_code_is_expected_by_a_test() {
    let tests = tests();
    let reasons = Reason::ALL.iter().map(|it| ("reason", it.code()));
    let findings = FindingCode::ALL.iter().map(|it| ("finding", it.code()));
    let notices = NoticeCode::ALL.iter().map(|it| ("notice", it.code()));
    let unexpected: Vec<_> = reasons
        .chain(findings)
        .chain(notices)
        .filter(|(_, code)| !tests.contains(&format!("\"{code}\"")))
        .collect();
    assert!(unexpected.is_empty(), "no test expects {unexpected:?}");
}
