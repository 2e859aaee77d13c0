//! What cannot be moved is set aside by whole stream, and everything else is moved: nothing is lost, and no
//! stream has a hole.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use rekey::document::StoreKind;
use rekey::document::json::Tape;
use rekey::key::Escaping;
use rekey::layout::{Identity, Inspector, Layout};
use serde_json::{Value, json};

use crate::generated::{Generated, Stream};
use crate::scene::{STORES, Scene, listing};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// The documents of each stream or saga, by aggregate type and id, with their versions.
fn streams(layout: &str, lines: &[String]) -> BTreeMap<(String, String), BTreeSet<Option<i64>>> {
    let layout = Layout::builtin(layout).unwrap();
    let mut inspector = Inspector::new(&layout, Some(Escaping::Escaped));
    let (mut tape, mut identity) = (Tape::new(), Identity::default());
    let mut streams: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for line in lines {
        tape.read(line.as_bytes()).unwrap();
        inspector.inspect(&tape, line.as_bytes(), &mut identity).unwrap();
        let stream = (identity.type_name.clone(), identity.id.clone());
        let is_new = streams.entry(stream).or_default().insert(identity.version);
        assert!(is_new, "{line} is there twice");
    }
    streams
}

/// The refused lines of a list, with the reason of each.
fn refused(scene: &Scene, list: &str) -> BTreeMap<u64, String> {
    let entries = scene.lines(list).into_iter().map(|entry| serde_json::from_str::<Value>(&entry).unwrap());
    entries.map(|it| (it["line"].as_u64().unwrap(), it["reason"].as_str().unwrap().to_owned())).collect()
}

/// Every document went one way.
fn assert_adds_up(result: &Value) {
    let count = |name: &str| result[name].as_u64().unwrap();
    let ways = ["rekeyed", "already_rekeyed", "out_of_scope", "set_aside"];
    assert_eq!(count("documents"), ways.map(count).iter().sum::<u64>(), "{result}");
}

/// The good documents of a layout followed by the hostile ones, and a rule for both.
fn mixed(scene: &Scene, layout: &str) -> (Vec<String>, u64, Vec<&'static str>) {
    let read = |name: String| fs::read_to_string(fixtures().join(name)).unwrap();
    let good: Vec<_> = read(format!("{layout}.ndjson")).lines().map(str::to_owned).collect();
    let hostile = fs::read(fixtures().join(format!("hostile/{layout}.ndjson"))).unwrap();
    let hostile_lines = hostile.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count() as u64;
    let mut archive = good.join("\n").into_bytes();
    archive.push(b'\n');
    archive.extend_from_slice(&hostile);
    scene.write("mixed.ndjson", archive);
    let rule = if layout == "cosmosdb-events" {
        let map = read(format!("{layout}.tenants.csv"));
        let tenants: BTreeSet<_> = map.lines().skip(1).filter_map(|row| row.rsplit(',').next()).collect();
        let tenants: Vec<_> = tenants.into_iter().collect();
        scene.write("known.txt", read(format!("hostile/{layout}.known.txt")) + "\n" + &tenants.join("\n"));
        vec!["--tenant-field", "metadata#/tenantId", "--known-tenants", "known.txt"]
    } else {
        let mut rows = csv::WriterBuilder::new().from_path(scene.path("map.csv")).unwrap();
        rows.write_record(["key", "tenant", "type", "match"]).unwrap();
        for name in [format!("{layout}.tenants.csv"), format!("hostile/{layout}.tenants.csv")] {
            let mut map = csv::Reader::from_path(fixtures().join(name)).unwrap();
            let columns = map.headers().unwrap().clone();
            for row in map.records() {
                let row = row.unwrap();
                let column = |name: &str| {
                    columns.iter().position(|it| it == name).map_or("", |at| row.get(at).unwrap())
                };
                rows.write_record(["key", "tenant", "type", "match"].map(column)).unwrap();
            }
        }
        rows.flush().unwrap();
        vec!["--tenant-map", "map.csv"]
    };
    (good, hostile_lines, rule)
}

#[test]
fn hostile_documents_among_good_ones_stop_everything_or_are_set_aside_alone() {
    for layout in ["mongodb-events", "dynamodb-sagas", "firestore-events", "cosmosdb-events"] {
        let scene = Scene::new(layout.split('-').next().unwrap().parse::<Kind>().unwrap().0);
        let (good, hostile, rule) = mixed(&scene, layout);
        let documents = (good.len() as u64 + hostile).to_string();
        let rekey = [
            &[
                "rekey",
                "mixed.ndjson",
                "--layout",
                layout,
                "--expect-documents",
                &documents,
                "--out",
                "out.ndjson",
            ],
            &rule[..],
        ]
        .concat();

        let before = listing(scene.folder());
        let result = scene.result(&rekey).ended(5);
        let left: Vec<_> =
            listing(scene.folder()).into_keys().filter(|name| !before.contains_key(name)).collect();
        assert_eq!(left, [PathBuf::from("out.ndjson.refused.ndjson")], "{layout}");
        let own: u64 = result["reasons"].as_object().unwrap().values().map(|it| it.as_u64().unwrap()).sum();
        assert_eq!(result["refused"], own, "{layout}");

        let result = scene.result(&[&rekey[..], &["--on-refused", "set-aside"]].concat()).ended(3);
        assert_adds_up(&result);
        let list = refused(&scene, "out.ndjson.refused.ndjson");
        assert_eq!(result["set_aside"], list.len(), "{layout}");
        let hostile_refused = list.keys().filter(|line| **line > good.len() as u64).count() as u64;
        assert_eq!(hostile_refused, hostile, "{layout}: {list:?}");
        // A good document is refused only where a hostile one is of its stream; the others come whole.
        let out = scene.lines("out.ndjson");
        let (moved, expected) = (streams(layout, &out), streams(layout, &good));
        for (stream, versions) in &moved {
            assert_eq!(versions, &expected[stream], "{layout} {stream:?} has a hole");
        }
        let with_refusals: BTreeSet<_> = (1..)
            .zip(&good)
            .filter(|(line, _)| list.contains_key(line))
            .flat_map(|(_, line)| streams(layout, std::slice::from_ref(line)).into_keys())
            .collect();
        for stream in expected.keys() {
            assert_ne!(moved.contains_key(stream), with_refusals.contains(stream), "{layout} {stream:?}");
        }
        assert!(!moved.is_empty());
        println!("{layout}: {hostile} hostile documents set aside, {} of {} moved", out.len(), good.len());
    }
}

/// A store kind by its short name.
struct Kind(StoreKind);

impl std::str::FromStr for Kind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        STORES.into_iter().find(|it| it.to_string() == name).map(Self).ok_or_else(|| name.to_owned())
    }
}

/// Ways to spoil one document of a good stream. The last one leaves nothing that says which stream it was.
fn spoil(line: &str, way: usize) -> String {
    match way {
        0 => line.replacen("\"aggregateType\"", "\"aggregateTypo\"", 1),
        1 => line.replacen("\"version\"", "\"versions\"", 1),
        2 => line.replacen("\"aggregateType\"", "\"version\":1,\"aggregateType\"", 1),
        _ => line[..line.len() / 2].to_owned(),
    }
}

#[test]
fn one_spoilt_document_takes_its_whole_stream_along_and_no_other() {
    for store in STORES {
        for way in 0..4 {
            for position in ["first", "middle", "last"] {
                spoilt_stream_is_set_aside(store, way, position);
            }
        }
    }
}

fn spoilt_stream_is_set_aside(store: StoreKind, way: usize, position: &str) {
    let what = format!("{store}, way {way}, the {position} document");
    let scene = Scene::new(store);
    let stream = Stream::new(1);
    let version = match position {
        "first" => 0,
        "middle" => stream.length() / 2,
        _ => stream.length() - 1,
    };
    let spoilt_line = stream.event(store, version);
    let mut generated = Generated::events(store, 6);
    for line in &mut generated.lines {
        if *line == spoilt_line {
            *line = spoil(line, way);
        }
    }
    scene.write("legacy.ndjson", generated.lines.join("\n") + "\n");
    scene.write("map.csv", &generated.map);
    let (layout, count) = (scene.layout("events"), generated.lines.len().to_string());
    let result = scene.result(&[
        "rekey",
        "legacy.ndjson",
        "--layout",
        &layout,
        "--expect-documents",
        &count,
        "--out",
        "out.ndjson",
        "--tenant-map",
        "map.csv",
        "--escaping",
        "escaped",
        "--on-refused",
        "set-aside",
    ]);
    let result = result.ended(3);
    assert_adds_up(&result);
    let out = scene.lines("out.ndjson");
    for ((_, id), versions) in streams(&layout, &out) {
        let whole = (0..6).map(Stream::new).find(|it| it.id() == id).unwrap();
        assert_eq!(versions.len(), whole.length(), "{what}: {id} has a hole");
        assert_ne!(id, stream.id(), "{what}: the spoilt stream was moved");
    }
    assert_eq!(result["set_aside"], stream.length(), "{what}");
    let spoilt = (1..).zip(&generated.lines).find(|(_, line)| **line == spoil(&spoilt_line, way)).unwrap().0;
    let list = refused(&scene, "out.ndjson.refused.ndjson");
    assert!(list.contains_key(&spoilt), "{what}: {list:?}");
}

#[test]
fn streams_set_aside_can_be_moved_later_from_the_list() {
    let store = StoreKind::CosmosDb;
    let scene = Scene::new(store);
    let generated = Generated::events(store, 20);
    scene.seed(&generated, "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let (rows, row) = generated.map.trim_end().rsplit_once('\n').unwrap();
    scene.write("short.csv", format!("{rows}\n"));
    let rule = ["--tenant-map", "short.csv", "--escaping", "escaped", "--on-refused", "set-aside"];
    let result =
        scene.result(&[&["rekey", "legacy.ndjson", "--out", "out.ndjson"], &rule[..]].concat()).ended(3);
    assert_adds_up(&result);
    let length = Stream::new(19).length();
    assert_eq!(result["set_aside"], length);
    assert_eq!(result["reasons"], json!({ "tenant-missing": 1, "stream-refused": length - 1 }));
    assert_eq!(refused(&scene, "out.ndjson.refused.ndjson").len(), length);

    // The documents stand whole in the list: with the missing row they are moved, and the parts make a whole.
    let documents = scene.lines("out.ndjson.refused.ndjson").into_iter().map(|entry| {
        let entry: Value = serde_json::from_str(&entry).unwrap();
        entry["document"].to_string()
    });
    scene.write("rest.ndjson", documents.collect::<Vec<_>>().join("\n") + "\n");
    scene.write("rest.csv", format!("key,tenant\n{row}\n"));
    let count = length.to_string();
    let _ = scene.done(&[
        "rekey",
        "rest.ndjson",
        "--layout",
        "cosmosdb-events",
        "--expect-documents",
        &count,
        "--out",
        "rest-out.ndjson",
        "--tenant-map",
        "rest.csv",
        "--escaping",
        "escaped",
    ]);
    for archive in ["out.ndjson", "rest-out.ndjson"] {
        let _ = scene.import(archive, "moved.db", "moved", &["--create-target"]);
    }
    let verdict = scene.verify(&["out.ndjson", "rest-out.ndjson"], "moved.db", "moved", &[]).ended(0);
    assert_eq!(verdict["totals"]["found"], generated.lines.len());
}
