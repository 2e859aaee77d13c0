//! A dry run leaves every file as it was, and tells what the run would do.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::generated::Generated;
use crate::scene::{STORES, Scene, listing};

/// Runs and compares names, sizes and contents of everything in the folder, before and after.
fn leaves_all_as_it_was(scene: &Scene, arguments: &[&str], code: i32) -> (Value, BTreeMap<PathBuf, Vec<u8>>) {
    let before = listing(scene.folder());
    let result = scene.result(arguments).ended(code);
    assert_eq!(result["dry_run"], true, "{arguments:?}");
    let mut after = listing(scene.folder());
    for (name, bytes) in before {
        let now = after.remove(&name).unwrap_or_else(|| panic!("{arguments:?} took {name:?} away"));
        assert!(now == bytes, "{arguments:?} changed {name:?}");
    }
    (result, after)
}

fn assert_nothing_new(new: &BTreeMap<PathBuf, Vec<u8>>, what: &str) {
    assert!(new.is_empty(), "{what} left {:?}", new.keys());
}

#[test]
fn rekey_tells_what_it_would_do_and_writes_only_the_preview() {
    for generated in
        STORES.into_iter().flat_map(|store| [Generated::events(store, 40), Generated::sagas(store, 40)])
    {
        let scene = Scene::new(generated.store);
        scene.seed(&generated, "shop.db", "shop");
        let _ = scene.export("shop.db", "shop", generated.kind, "legacy.ndjson");
        let rule = ["--tenant-map", "map.csv", "--escaping", "escaped"];
        let dry = [&["rekey", "legacy.ndjson", "--dry-run"], &rule[..]].concat();
        let (result, new) = leaves_all_as_it_was(&scene, &dry, 0);
        assert_nothing_new(&new, "rekey --dry-run");
        assert_eq!(result["rekeyed"], generated.lines.len());

        let (_, new) = leaves_all_as_it_was(&scene, &[&dry[..], &["--preview", "preview.csv"]].concat(), 0);
        assert_eq!(new.into_keys().collect::<Vec<_>>(), [PathBuf::from("preview.csv")]);
        let mut preview = csv::Reader::from_path(scene.path("preview.csv")).unwrap();
        let columns = "layout,tenant,old_key,new_key,stream,version,status,reason";
        assert_eq!(preview.headers().unwrap().iter().collect::<Vec<_>>().join(","), columns);

        // The rows say of every document what the rewrite then does.
        let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
        let mut foretold: Vec<[String; 4]> = Vec::new();
        for row in preview.records() {
            let row = row.unwrap();
            assert_eq!((&row[0], &row[6], &row[7]), (scene.layout(generated.kind).as_str(), "rekey", ""));
            assert!(!row[4].is_empty());
            foretold.push([2, 3, 1, 5].map(|column| row[column].to_owned()));
        }
        let mut done: Vec<[String; 4]> = scene
            .lines("rekeyed.ndjson.keys.ndjson")
            .iter()
            .map(|line| {
                let row: Value = serde_json::from_str(line).unwrap();
                ["old", "new", "tenant", "version"].map(|name| match &row[name] {
                    Value::String(text) => text.clone(),
                    Value::Null => String::new(),
                    other => other.to_string(),
                })
            })
            .collect();
        foretold.sort();
        done.sort();
        assert_eq!(foretold, done, "{}", scene.layout(generated.kind));
    }
}

#[test]
fn rekey_shows_what_it_would_refuse_or_leave_out() {
    for store in STORES {
        let scene = Scene::new(store);
        let generated = Generated::events(store, 40);
        scene.seed(&generated, "shop.db", "shop");
        let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
        // The last row of the map is that of a stream of one tenant; without it the stream has none.
        let (rows, _) = generated.map.trim_end().rsplit_once('\n').unwrap();
        scene.write("short.csv", format!("{rows}\n"));
        let dry = [
            "rekey",
            "legacy.ndjson",
            "--tenant-map",
            "short.csv",
            "--escaping",
            "escaped",
            "--only-tenants",
            "acme",
            "--dry-run",
            "--preview",
            "preview.csv",
        ];
        let (result, new) = leaves_all_as_it_was(&scene, &dry, 5);
        assert_eq!(new.into_keys().collect::<Vec<_>>(), [PathBuf::from("preview.csv")]);
        let mut counts: BTreeMap<(String, String), u64> = BTreeMap::new();
        for row in csv::Reader::from_path(scene.path("preview.csv")).unwrap().records() {
            let row = row.unwrap();
            *counts.entry((row[6].to_owned(), row[7].to_owned())).or_default() += 1;
        }
        let count = |status: &str| -> u64 {
            counts.iter().filter(|((it, _), _)| it == status).map(|(_, count)| count).sum()
        };
        assert_eq!(result["rekeyed"], count("rekey"), "{store}");
        assert_eq!(result["out_of_scope"], count("out-of-scope"), "{store}");
        assert_eq!(result["refused"], count("refused"), "{store}");
        assert!(count("rekey") > 0 && count("out-of-scope") > 0 && count("refused") > 0, "{counts:?}");
        for (reason, expected) in result["reasons"].as_object().unwrap() {
            assert_eq!(counts[&("refused".to_owned(), reason.clone())], *expected, "{store} {reason}");
        }
    }
}

#[test]
fn import_restore_and_prune_tell_what_they_would_do_and_write_nothing() {
    for generated in
        STORES.into_iter().flat_map(|store| [Generated::events(store, 40), Generated::sagas(store, 40)])
    {
        let scene = Scene::new(generated.store);
        let count = generated.lines.len();
        scene.seed(&generated, "shop.db", "shop");
        let _ = scene.export("shop.db", "shop", generated.kind, "legacy.ndjson");
        let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
        let (shop, moved) = (scene.address("shop.db"), scene.address("moved.db"));

        let import = ["import", "rekeyed.ndjson", "--to", &moved, "--collection", "moved", "--dry-run"];
        let (result, new) = leaves_all_as_it_was(&scene, &[&import[..], &["--create-target"]].concat(), 0);
        assert_nothing_new(&new, "import --dry-run into what is not there");
        assert_eq!((&result["written"], &result["identical"]), (&json!(count), &json!(0)));
        let _ = scene.import("rekeyed.ndjson", "moved.db", "moved", &["--create-target"]);
        let (result, new) = leaves_all_as_it_was(&scene, &import, 0);
        assert_nothing_new(&new, "import --dry-run of what is there");
        assert_eq!((&result["written"], &result["identical"]), (&json!(0), &json!(count)));

        let restore = ["restore", "legacy.ndjson", "--to", &shop, "--collection", "shop", "--dry-run"];
        let (result, new) = leaves_all_as_it_was(&scene, &restore, 0);
        assert_nothing_new(&new, "restore --dry-run");
        assert_eq!((&result["written"], &result["identical"]), (&json!(0), &json!(count)));

        let undo = [
            "undo",
            "rekeyed.ndjson",
            "--from",
            &moved,
            "--collection",
            "moved",
            "--legacy-in",
            &shop,
            "--legacy-collection",
            "shop",
            "--dry-run",
        ];
        let (result, new) = leaves_all_as_it_was(&scene, &undo, 0);
        assert_nothing_new(&new, "undo --dry-run");
        assert_eq!((&result["removed"], &result["left"]), (&json!(count), &json!(0)));

        let prune = [
            "prune",
            "legacy.ndjson",
            "--rekeyed",
            "rekeyed.ndjson",
            "--from",
            &shop,
            "--collection",
            "shop",
            "--twins-in",
            &moved,
            "--twins-collection",
            "moved",
            "--dry-run",
        ];
        let (result, new) = leaves_all_as_it_was(&scene, &prune, 0);
        assert_nothing_new(&new, "prune --dry-run");
        assert_eq!((&result["deleted"], &result["kept"]), (&json!(count), &json!(0)));
    }
}

#[test]
fn an_import_that_would_find_conflicts_says_so_and_leaves_no_file() {
    for store in STORES {
        let scene = Scene::new(store);
        let generated = Generated::events(store, 20);
        scene.moved(&generated);
        // The same documents with other payloads: each is in conflict with what is there.
        let changed: Vec<_> =
            generated.lines.iter().map(|line| line.replacen("eyJhbW91", "eyJhbW92", 1)).collect();
        let generated = Generated { lines: changed, ..generated };
        scene.seed(&generated, "other.db", "shop");
        let _ = scene.export("other.db", "shop", "events", "other.ndjson");
        let _ = scene.rekey("other.ndjson", "conflicts.ndjson", &[]);
        let to = scene.address("moved.db");
        let import = ["import", "conflicts.ndjson", "--to", &to, "--collection", "moved", "--dry-run"];
        let (result, new) = leaves_all_as_it_was(&scene, &import, 1);
        assert_nothing_new(&new, "import --dry-run of conflicts");
        assert_eq!(result["conflict"], generated.lines.len(), "{store}");
    }
}
