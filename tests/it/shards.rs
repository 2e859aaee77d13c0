//! Four shards in four processes, and what they come to together: the same as one run.

use std::collections::BTreeSet;
use std::process::Stdio;

use rekey::document::StoreKind;
use serde_json::Value;

use crate::generated::Generated;
use crate::scene::{Scene, sums_up};

const SHARDS: [&str; 4] = ["1/4", "2/4", "3/4", "4/4"];

fn part(name: &str, shard: &str) -> String {
    format!("{name}-{}.ndjson", &shard[..1])
}

/// Runs the command of each shard in a process of its own, all at one time.
fn side_by_side(scene: &Scene, command: impl Fn(&str) -> Vec<String>) {
    let started: Vec<_> = SHARDS
        .iter()
        .map(|shard| {
            let words = command(shard);
            scene
                .command(&words.iter().map(String::as_str).collect::<Vec<_>>())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for process in started {
        let output = process.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// A manifest without what no two runs have alike.
fn manifest(scene: &Scene, archive: &str) -> Value {
    let mut manifest = scene.json(&format!("{archive}.manifest.json"));
    for times in ["started", "ended", "archive"] {
        assert!(manifest.as_object_mut().unwrap().remove(times).is_some());
    }
    manifest
}

fn assert_same_archive(scene: &Scene, combined: &str, whole: &str) {
    assert!(scene.read(combined) == scene.read(whole), "{combined} has other bytes than {whole}");
    assert_eq!(manifest(scene, combined), manifest(scene, whole));
}

/// The parts have each line of the whole once, and no stream twice.
fn assert_disjoint(scene: &Scene, name: &str, whole: &str) {
    let mut lines = Vec::new();
    for shard in SHARDS {
        let of_part = scene.lines(&part(name, shard));
        assert!(!of_part.is_empty(), "{name} {shard}");
        lines.extend(of_part);
    }
    assert_eq!(lines.len(), scene.lines(whole).len());
    assert_eq!(lines.iter().collect::<BTreeSet<_>>().len(), lines.len());
}

fn rekey(archive: &str, out: &str, more: &[&str]) -> Vec<String> {
    words(
        &[&["rekey", archive, "--out", out, "--tenant-map", "map.csv", "--escaping", "escaped"], more]
            .concat(),
    )
}

fn combine(scene: &Scene, name: &str, out: &str, more: &[&str]) {
    let parts = SHARDS.map(|shard| part(name, shard));
    let parts: Vec<_> = parts.iter().map(String::as_str).collect();
    let _ = scene.done(&[&["combine"], &parts[..], &["--out", out], more].concat());
}

/// The road by shards: from the store, in the archives, into the store and back out of it.
fn walk(generated: &Generated) {
    let scene = Scene::new(generated.store);
    let from = scene.address("shop.db");
    scene.seed(generated, "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", generated.kind, "legacy.ndjson");
    for shard in SHARDS {
        let out = part("legacy", shard);
        let export = ["export", "--from", &from, "--collection", "shop", "--layout", generated.kind];
        let exported = scene.done(&[&export[..], &["--out", &out, "--shard", shard]].concat());
        assert_eq!(exported["shard"], shard);
    }
    assert_disjoint(&scene, "legacy", "legacy.ndjson");
    combine(&scene, "legacy", "together.ndjson", &[]);
    assert_same_archive(&scene, "together.ndjson", "legacy.ndjson");

    // Of the whole archive, and of the parts.
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    side_by_side(&scene, |shard| rekey("legacy.ndjson", &part("rekeyed", shard), &["--shard", shard]));
    assert_disjoint(&scene, "rekeyed", "rekeyed.ndjson");
    side_by_side(&scene, |shard| rekey(&part("legacy", shard), &part("moved", shard), &[]));
    combine(&scene, "rekeyed", "whole.ndjson", &[]);
    combine(&scene, "moved", "moved.ndjson", &["--legacy", "together.ndjson"]);
    for combined in ["whole.ndjson", "moved.ndjson"] {
        assert_same_archive(&scene, combined, "rekeyed.ndjson");
        let rows = |archive: &str| scene.read(&format!("{archive}.keys.ndjson"));
        assert!(rows(combined) == rows("rekeyed.ndjson"), "another key map");
    }
    into_the_store(&scene, generated);
}

fn of_both_kinds(store: StoreKind) {
    walk(&Generated::events(store, 40));
    walk(&Generated::sagas(store, 80));
}

/// Imports two shards from the whole archive and two from their parts; each is proven by itself, and all together.
fn into_the_store(scene: &Scene, generated: &Generated) {
    let in_place = generated.store == StoreKind::MongoDb && generated.kind == "events";
    let flags: &[&str] = if in_place { &["--in-place"] } else { &[] };
    let mut documents = 0;
    for (at, shard) in SHARDS.into_iter().enumerate() {
        let of_part = part("rekeyed", shard);
        let (archive, asked) =
            if at < 2 { ("rekeyed.ndjson", &["--shard", shard][..]) } else { (&*of_part, &[][..]) };
        let imported = scene.import(archive, "shop.db", "shop", &[flags, asked].concat());
        assert_eq!((&imported["shard"], &imported["written"]), (&shard.into(), &imported["documents"]));
        documents += usize::try_from(imported["documents"].as_u64().unwrap()).unwrap();
        // Of the shards that are still to come nothing is said, and of this one all.
        let proven =
            scene.verify(&[archive], "shop.db", "shop", &[asked, &["--legacy", "legacy.ndjson"]].concat());
        let proven = proven.ended(0);
        assert_eq!((&proven["verdict"], &proven["shard"]), (&"match".into(), &shard.into()));
        assert_eq!(proven["totals"]["found"], imported["documents"]);
    }
    assert_eq!(documents, generated.lines.len());
    let all = scene.verify(&["whole.ndjson"], "shop.db", "shop", &["--legacy", "legacy.ndjson"]).ended(0);
    assert_eq!(all.get("shard"), None);
    let parts = SHARDS.map(|shard| part("rekeyed", shard));
    let _ = scene.verify(&parts.each_ref().map(String::as_str), "shop.db", "shop", &[]).ended(0);

    let mut pruned = 0;
    for (at, shard) in SHARDS.into_iter().enumerate() {
        let of_part = part("rekeyed", shard);
        let (rekeyed, asked) =
            if at < 2 { ("rekeyed.ndjson", &["--shard", shard][..]) } else { (&*of_part, &[][..]) };
        let from = scene.address("shop.db");
        let prune = ["prune", "legacy.ndjson", "--rekeyed", rekeyed, "--from", &from, "--collection", "shop"];
        let result = scene.done(&[&prune[..], asked].concat());
        sums_up(
            &result,
            ["deleted", "gone", "kept"],
            usize::try_from(result["documents"].as_u64().unwrap()).unwrap(),
        );
        assert_eq!((&result["kept"], &result["shard"]), (&0.into(), &shard.into()));
        pruned += usize::try_from(result["documents"].as_u64().unwrap()).unwrap();
    }
    assert_eq!(pruned, generated.lines.len());
    let _ = scene.verify(&["rekeyed.ndjson"], "shop.db", "shop", &["--pruned"]).ended(0);
}

#[test]
fn four_shards_are_the_whole_on_mongodb() {
    of_both_kinds(StoreKind::MongoDb);
}

#[test]
fn four_shards_are_the_whole_on_dynamodb() {
    of_both_kinds(StoreKind::DynamoDb);
}

#[test]
fn four_shards_are_the_whole_on_firestore() {
    of_both_kinds(StoreKind::Firestore);
}

#[test]
fn four_shards_are_the_whole_on_cosmosdb() {
    of_both_kinds(StoreKind::CosmosDb);
}

/// What the manifests of several parts say is heeded as that of one is: kind, source, and how keys are to be read.
#[test]
fn parts_are_imported_and_taken_back_by_what_their_manifests_say() {
    for store in [StoreKind::MongoDb, StoreKind::DynamoDb] {
        let generated = Generated::events(store, 40);
        let scene = Scene::new(store);
        scene.seed(&generated, "shop.db", "shop");
        let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
        let parts = SHARDS.map(|shard| part("part", shard));
        let parts = parts.each_ref().map(String::as_str);
        for (shard, out) in SHARDS.into_iter().zip(parts) {
            let _ = scene.rekey("legacy.ndjson", out, &["--shard", shard]);
        }
        let import = |archives: &[&str], file: &str| {
            let to = scene.address(file);
            let to = ["--to", &to, "--collection", "shop", "--create-target"];
            scene.result(&[&["import"], archives, &to].concat())
        };
        let mixed = import(&[&parts[..2], &["legacy.ndjson"]].concat(), "moved.db");
        assert!(
            mixed.stderr.contains("legacy.ndjson.manifest.json\" says that its archive is a legacy"),
            "{}",
            mixed.stderr
        );
        mixed.ended_with(2);
        if store == StoreKind::MongoDb {
            let own = import(&parts, "shop.db");
            assert!(
                own.stderr.contains("is the collection the documents were exported from"),
                "{}",
                own.stderr
            );
            own.ended_with(2);
        }
        let written = import(&parts, "moved.db").ended(0);
        assert_eq!(written["written"], generated.lines.len());
        let list = std::fs::read_dir(scene.folder())
            .unwrap()
            .map(|it| it.unwrap().file_name().into_string().unwrap());
        let list = list.into_iter().find(|name| name.ends_with(".undo.ndjson")).unwrap();
        let (from, legacy) = (scene.address("moved.db"), scene.address("shop.db"));
        let undo = ["undo", &list, "--from", &from, "--collection", "shop"];
        let legacy = ["--legacy-in", &legacy, "--legacy-collection", "shop"];
        let undone = scene.done(&[&undo[..], &legacy].concat());
        assert_eq!(undone["removed"], generated.lines.len());
    }
}

/// A document that a shard misses is found by its verification, and by no other shard's.
#[test]
fn verify_finds_what_a_shard_misses_and_what_is_there_besides() {
    let generated = Generated::events(StoreKind::DynamoDb, 40);
    let scene = Scene::new(StoreKind::DynamoDb);
    scene.moved(&generated);
    let lines = scene.lines("rekeyed.ndjson");
    scene.put(&lines[1..], "events", "holed.db", "shop");
    let mut mismatches = 0;
    for shard in SHARDS {
        let verdict = scene.verify(&["rekeyed.ndjson"], "holed.db", "shop", &["--shard", shard]);
        let mismatch = verdict.code == Some(1);
        let result = verdict.ended(i32::from(mismatch));
        assert_eq!(result["totals"]["missing"], u64::from(mismatch), "{shard}");
        mismatches += u32::from(mismatch);
    }
    assert_eq!(mismatches, 1);
}

/// A line of which nobody can tell the stream is every shard's concern: whose stream it would leave with a hole?
#[test]
fn a_line_of_no_shard_is_set_aside_by_each_and_once_in_all() {
    let generated = Generated::events(StoreKind::DynamoDb, 40);
    let scene = Scene::new(StoreKind::DynamoDb);
    scene.write("map.csv", &generated.map);
    let broken = r#"{"Item":{"pk":{"S":"Order:x"},"sk":{"N":"zero"}}}"#;
    scene.write("mixed.ndjson", [generated.lines.join("\n"), broken.to_owned(), String::new()].join("\n"));
    let count = (generated.lines.len() + 1).to_string();
    let input = ["--layout", "dynamodb-events", "--expect-documents", &count, "--on-refused", "set-aside"];
    let whole = rekey("mixed.ndjson", "rekeyed.ndjson", &input);
    let whole = scene.result(&whole.iter().map(String::as_str).collect::<Vec<_>>()).ended(3);
    for shard in SHARDS {
        let words = rekey("mixed.ndjson", &part("part", shard), &[&input[..], &["--shard", shard]].concat());
        let result = scene.result(&words.iter().map(String::as_str).collect::<Vec<_>>()).ended(3);
        assert!(result["set_aside"].as_u64().unwrap() >= 1, "{shard}");
    }
    combine(&scene, "part", "whole.ndjson", &[]);
    assert_same_archive(&scene, "whole.ndjson", "rekeyed.ndjson");
    let list = |archive: &str| {
        let mut list = scene.lines(&format!("{archive}.refused.ndjson"));
        list.sort();
        list
    };
    assert_eq!(list("whole.ndjson"), list("rekeyed.ndjson"));
    assert_eq!(list("whole.ndjson").len() as u64, whole["set_aside"].as_u64().unwrap());

    // In a store there is what nobody can tell the stream of, too.
    let foreign = r#"{"Item":{"pk":{"S":"x"},"sk":{"N":"0"}}}"#;
    scene.put(&[foreign.to_owned()], "events", "shop.db", "shop");
    let from = scene.address("shop.db");
    let export =
        ["export", "--from", &from, "--collection", "shop", "--layout", "events", "--out", "no.ndjson"];
    let refused = scene.result(&[&export[..], &["--shard", "1/2"]].concat());
    assert!(refused.stderr.contains("Nobody can tell the shard"), "{}", refused.stderr);
    refused.ended_with(5);
    assert!(!scene.path("no.ndjson").exists());
}

/// The lists of all shards of an archive are found by the archive's name.
#[test]
fn what_was_imported_by_shards_is_taken_back_by_the_name_of_the_archive() {
    let generated = Generated::events(StoreKind::CosmosDb, 40);
    let scene = Scene::new(StoreKind::CosmosDb);
    scene.seed(&generated, "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    for shard in SHARDS {
        let _ = scene.import("rekeyed.ndjson", "shop.db", "shop", &["--shard", shard]);
    }
    let undone =
        scene.done(&["undo", "rekeyed.ndjson", "--from", &scene.address("shop.db"), "--collection", "shop"]);
    assert_eq!(undone["removed"], generated.lines.len());
}

/// What is no whole division is not taken for one.
#[test]
fn combine_refuses_what_is_not_every_shard_of_one_run() {
    let generated = Generated::events(StoreKind::CosmosDb, 40);
    let scene = Scene::new(StoreKind::CosmosDb);
    scene.seed(&generated, "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    for shard in SHARDS {
        let _ = scene.rekey("legacy.ndjson", &part("part", shard), &["--shard", shard]);
    }
    let _ = scene.rekey("legacy.ndjson", "third.ndjson", &["--shard", "3/3"]);
    let [one, two, three, four] = SHARDS.map(|shard| part("part", shard));
    let (one, two, three, four) = (one.as_str(), two.as_str(), three.as_str(), four.as_str());
    let cases: [(&[&str], &str); 4] = [
        (&[one, two, four], "The shards 3 are missing"),
        (&[one, two, three, four, "rekeyed.ndjson"], "is of a whole archive"),
        (&[one, two, "third.ndjson"], "parts of different divisions"),
        (&[one, two, three, "legacy.ndjson"], "is of a whole archive"),
    ];
    for (parts, why) in cases {
        let refused = scene.result(&[&["combine"], parts, &["--out", "no.ndjson"]].concat());
        assert!(refused.stderr.contains(why), "{parts:?}: {}", refused.stderr);
        refused.ended_with(2);
        assert!(!scene.path("no.ndjson").exists());
    }
    // A part says which shard it is; another one is not to be had from it.
    let refused =
        scene.result(&["rekey", one, "--out", "no.ndjson", "--tenant-map", "map.csv", "--shard", "2/4"]);
    assert!(refused.stderr.contains("is the shard 1/4, and --shard asks for 2/4"), "{}", refused.stderr);
    refused.ended_with(2);
    let bytes = scene.read(two);
    scene.write(two, &bytes[..bytes.len() - 100]);
    let damaged = scene.result(&["combine", one, two, three, four, "--out", "no.ndjson"]);
    damaged.ended_with(74);
    assert!(!scene.path("no.ndjson").exists());
}
