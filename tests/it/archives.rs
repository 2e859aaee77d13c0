//! An archive is read whole or not at all, however it is cut, packed, split or spelled.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use rekey::document::StoreKind;
use serde_json::Value;

use crate::generated::Generated;
use crate::scene::{Ran, STORES, Scene, listing};

const BY_MAP: [&str; 4] = ["--tenant-map", "map.csv", "--escaping", "escaped"];

/// A scene with an export of some streams in `legacy.ndjson`, and the number of its documents.
fn exported(store: StoreKind) -> (Scene, usize) {
    let scene = Scene::new(store);
    let generated = Generated::events(store, 20);
    scene.seed(&generated, "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    (scene, generated.lines.len())
}

/// Rewrites; whatever goes wrong, no output may be left behind.
fn rekey(scene: &Scene, arguments: &[&str]) -> Ran {
    let before = listing(scene.folder());
    let ran = scene.result(&[&["rekey", "--out", "out.ndjson"], &BY_MAP[..], arguments].concat());
    if ran.code != Some(0) {
        assert!(listing(scene.folder()) == before, "{arguments:?} left something behind");
    }
    ran
}

/// What is damaged, so that the message can be looked at.
fn is_refused(scene: &Scene, arguments: &[&str], code: i32, why: &str) {
    let ran = rekey(scene, arguments);
    ran.ended_with(code);
    assert!(ran.stderr.contains(why), "{arguments:?}: {}", ran.stderr);
}

#[test]
fn an_export_with_its_last_line_cut_off_is_refused_in_every_way() {
    for store in STORES {
        let (scene, count) = exported(store);
        let layout = scene.layout("events");
        let whole = scene.text("legacy.ndjson");
        let (all_but_last, last) = whole.trim_end().rsplit_once('\n').unwrap();
        let (expected, one_less) = (count.to_string(), (count - 1).to_string());
        let cut = [
            format!("{all_but_last}\n"), // the whole last line is gone
            format!("{all_but_last}\n{}", &last[..last.len() / 2]), // half of it is
            format!("{all_but_last}\n{}", &last[..last.len() - 1]), // only its end is
        ];
        // The last line has no line end and is no whole document, or there are too few of them.
        for (text, why) in cut.iter().zip(["alone.ndjson", "cut off", "cut off"]) {
            scene.write("legacy.ndjson", text);
            is_refused(&scene, &["legacy.ndjson"], 74, "legacy.ndjson");
            scene.write("alone.ndjson", text);
            is_refused(&scene, &["alone.ndjson"], 2, "manifest");
            is_refused(&scene, &["alone.ndjson", "--layout", &layout], 2, "--expect-documents");
            let with_count = ["alone.ndjson", "--layout", &layout, "--expect-documents", &expected];
            is_refused(&scene, &with_count, 74, why);
        }
        // A wrong number helps nobody over a line that is cut in itself.
        scene.write("alone.ndjson", &cut[1]);
        let wrong_count = ["alone.ndjson", "--layout", &layout, "--expect-documents", &one_less];
        is_refused(&scene, &wrong_count, 74, "cut off");
    }
}

#[test]
fn every_command_refuses_a_damaged_archive_before_it_touches_the_store() {
    for store in STORES {
        let scene = Scene::new(store);
        let generated = Generated::events(store, 20);
        scene.moved(&generated);
        let legacy = scene.text("legacy.ndjson");
        let rekeyed = scene.text("rekeyed.ndjson");
        let damages: [fn(&str) -> String; 3] = [
            |text| text.trim_end().rsplit_once('\n').unwrap().0.to_owned() + "\n",
            |text| text.replacen("eyJhbW91", "eyJhbW92", 1),
            |text| {
                let mut lines: Vec<_> = text.lines().collect();
                lines.swap(3, 4);
                lines.join("\n") + "\n"
            },
        ];
        let (moved, fresh, shop) =
            (scene.address("moved.db"), scene.address("fresh.db"), scene.address("shop.db"));
        for damage in damages {
            scene.write("legacy.ndjson", damage(&legacy));
            scene.write("rekeyed.ndjson", &rekeyed);
            let restore = ["restore", "legacy.ndjson", "--to", &shop, "--collection", "shop"];
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
            ];
            let verify = [
                "verify",
                "rekeyed.ndjson",
                "--legacy",
                "legacy.ndjson",
                "--against",
                &shop,
                "--collection",
                "shop",
            ];
            for command in [&restore[..], &prune, &verify] {
                refuses_and_changes_nothing(&scene, command);
            }
            scene.write("legacy.ndjson", &legacy);
            scene.write("rekeyed.ndjson", damage(&rekeyed));
            let import = ["import", "rekeyed.ndjson", "--to", &moved, "--collection", "moved"];
            let into_fresh = [
                "import",
                "rekeyed.ndjson",
                "--to",
                &fresh,
                "--collection",
                "moved",
                "--create-target",
                "--dry-run",
            ];
            let verify = ["verify", "rekeyed.ndjson", "--against", &moved, "--collection", "moved"];
            for command in [&import[..], &into_fresh, &verify] {
                refuses_and_changes_nothing(&scene, command);
            }
            // Prune believes the key map and the store, and does not read the rekeyed lines.
            let keys = scene.text("rekeyed.ndjson.keys.ndjson");
            scene.write("rekeyed.ndjson", &rekeyed);
            scene.write("rekeyed.ndjson.keys.ndjson", keys.trim_end().rsplit_once('\n').unwrap().0);
            refuses_and_changes_nothing(&scene, &prune);
            scene.write("rekeyed.ndjson.keys.ndjson", keys);
        }
    }
}

fn refuses_and_changes_nothing(scene: &Scene, command: &[&str]) {
    let before = documents(scene);
    let names: Vec<_> = listing(scene.folder()).into_keys().collect();
    scene.result(command).ended_with(74);
    assert!(documents(scene) == before, "{command:?} changed a store");
    let now: Vec<_> = listing(scene.folder()).into_keys().collect();
    assert_eq!(now, names, "{command:?} left something behind");
}

/// What the stores hold, by their own exports.
fn documents(scene: &Scene) -> Vec<Vec<u8>> {
    let exports = [("shop.db", "shop"), ("moved.db", "moved")].map(|(file, collection)| {
        let from = scene.address(file);
        let ran = scene.run(&[
            "export",
            "--from",
            &from,
            "--collection",
            collection,
            "--layout",
            "events",
            "--out",
            "-",
        ]);
        ran.ended_with(0);
        ran.stdout
    });
    exports.into()
}

#[test]
fn an_unfinished_file_is_refused_by_every_command_under_every_flag() {
    let (scene, count) = exported(StoreKind::CosmosDb);
    scene.copy_archive("legacy.ndjson", "legacy.ndjson.part");
    let count = count.to_string();
    let to = scene.address("shop.db");
    let flags: &[&str] = &["--layout", "cosmosdb-events", "--expect-documents", &count];
    let target: &[&str] = &["--to", &to, "--collection", "shop"];
    let from: &[&str] = &["--from", &to, "--collection", "shop", "--rekeyed", "legacy.ndjson"];
    let against: &[&str] = &["--against", &to, "--collection", "shop"];
    for more in [&[][..], flags, &["--manifest", "legacy.ndjson.manifest.json"]] {
        for (command, options) in
            [("import", target), ("restore", target), ("prune", from), ("verify", against)]
        {
            let ran = scene.run(&[&[command, "legacy.ndjson.part"], options, more].concat());
            ran.ended_with(74);
            assert!(ran.stderr.contains(".part"), "{command}: {}", ran.stderr);
        }
        if more.first() != Some(&"--manifest") {
            is_refused(&scene, &[&["legacy.ndjson.part"], more].concat(), 74, ".part");
        }
    }
    let ran = scene.run(&["rekey", "legacy.ndjson", "--out", "new.ndjson.part", "--tenant", "acme"]);
    ran.ended_with(2);
}

#[test]
fn parts_in_a_folder_and_several_files_are_one_archive() {
    for store in STORES {
        let (scene, count) = exported(store);
        rekey(&scene, &["legacy.ndjson"]).ended_with(0);
        let (whole, keys) = (scene.read("out.ndjson"), scene.read("out.ndjson.keys.ndjson"));
        let lines = scene.lines("legacy.ndjson");
        fs::create_dir(scene.path("parts")).unwrap();
        let mut names = Vec::new();
        for (number, part) in lines.chunks(count / 3 + 1).enumerate() {
            names.push(format!("parts/part-{number}.ndjson"));
            scene.write(&names[number], part.join("\n") + "\n");
        }
        assert_eq!(names.len(), 3);
        let (layout, count) = (scene.layout("events"), count.to_string());
        let flags = ["--layout", &layout, "--expect-documents", &count];
        let files: Vec<_> = names.iter().rev().map(String::as_str).collect();
        for paths in [&["parts"][..], &files] {
            rekey(&scene, &[paths, &flags].concat()).ended_with(0);
            assert!(
                scene.read("out.ndjson") == whole && scene.read("out.ndjson.keys.ndjson") == keys,
                "{paths:?}"
            );
        }
        // A part that is missing, named twice, or unfinished.
        is_refused(&scene, &[&files[1..], &flags].concat(), 74, "documents");
        is_refused(&scene, &[&files[..], &files[..1], &flags].concat(), 2, "twice");
        fs::rename(scene.path(&names[1]), scene.path("parts/part-1.ndjson.part")).unwrap();
        is_refused(&scene, &[&["parts"], &flags[..]].concat(), 74, ".part");
    }
}

#[test]
fn compressed_archives_hold_the_same_lines() {
    for store in STORES {
        let (scene, count) = exported(store);
        rekey(&scene, &["legacy.ndjson"]).ended_with(0);
        let (legacy, rekeyed) = (scene.read("legacy.ndjson"), scene.read("out.ndjson"));
        let sha256 = |name: &str| scene.json(&format!("{name}.manifest.json"))["totals"]["sha256"].clone();
        let recorded = scene.json("legacy.ndjson.manifest.json");
        for (ending, magic) in [("zst", &[0x28, 0xb5, 0x2f, 0xfd][..]), ("gz", &[0x1f, 0x8b])] {
            let (compressed, out) = (format!("legacy.ndjson.{ending}"), format!("out.ndjson.{ending}"));
            let _ = scene.export("shop.db", "shop", "events", &compressed);
            assert_eq!(&scene.read(&compressed)[..magic.len()], magic);
            assert!(scene.read(&compressed).len() < legacy.len() / 2);
            if recorded["totals"].is_object() {
                assert_eq!(sha256(&compressed), sha256("legacy.ndjson"));
            }
            let result = scene.rekey(&compressed, &out, &[]);
            assert_eq!(result["documents"], count);
            let unpacked = scene.done(&[
                "rekey",
                &compressed,
                "--out",
                "plain.ndjson",
                BY_MAP[0],
                BY_MAP[1],
                BY_MAP[2],
                BY_MAP[3],
            ]);
            assert_eq!(unpacked["sha256"], result["sha256"]);
            assert!(scene.read("plain.ndjson") == rekeyed);
            let _ = scene.import(&out, &format!("{ending}.db"), "moved", &["--create-target"]);
            let verdict = scene.verify(&[&out], &format!("{ending}.db"), "moved", &["--legacy", &compressed]);
            assert_eq!(verdict.ended(0)["totals"]["found"], count);
            // Cut off, a compressed file is as little a whole one.
            let bytes = scene.read(&compressed);
            scene.write(&compressed, &bytes[..bytes.len() - 5]);
            is_refused(&scene, &[&compressed], 74, &compressed);
        }
    }
}

#[test]
fn spellings_of_other_tools_make_no_difference() {
    for store in STORES {
        let (scene, count) = exported(store);
        rekey(&scene, &["legacy.ndjson"]).ended_with(0);
        let (whole, keys) = (scene.read("out.ndjson"), scene.read("out.ndjson.keys.ndjson"));
        let text = scene.text("legacy.ndjson");
        let (layout, count) = (scene.layout("events"), count.to_string());
        let spellings = [
            ("a byte order mark", format!("\u{feff}{text}")),
            ("CRLF", text.replace('\n', "\r\n")),
            ("no final newline", text.trim_end().to_owned()),
            ("CRLF and a last CR", text.replace('\n', "\r\n").trim_end_matches('\n').to_owned()),
            ("blank lines", format!("\n \n{}\t\n", text.replace('\n', "\n\r\n"))),
            ("all of it", format!("\u{feff}\r\n{}", text.replace('\n', "\r\n\r\n").trim_end())),
        ];
        for (what, spelled) in spellings {
            assert_ne!(spelled, text);
            scene.write("other.ndjson", spelled);
            rekey(&scene, &["other.ndjson", "--layout", &layout, "--expect-documents", &count]).ended_with(0);
            assert!(scene.read("out.ndjson") == whole, "{store}: {what}");
            assert!(scene.read("out.ndjson.keys.ndjson") == keys, "{store}: {what}");
        }
        scene.write("empty.ndjson", "");
        let empty = ["empty.ndjson", "--layout", &layout, "--expect-documents"];
        assert_eq!(rekey(&scene, &[&empty[..], &["0"]].concat()).ended(0)["documents"], 0);
        assert_eq!(scene.read("out.ndjson"), b"");
        is_refused(&scene, &[&empty[..], &["1"]].concat(), 74, "documents");
        is_refused(&scene, &["empty.ndjson", "--layout", &layout], 2, "--expect-documents");
    }
}

#[test]
fn standard_input_and_output_carry_the_same_lines() {
    let (scene, count) = exported(StoreKind::MongoDb);
    rekey(&scene, &["legacy.ndjson"]).ended_with(0);
    let whole = scene.read("out.ndjson");
    let arguments = [
        &["rekey", "-", "--out", "-", "--layout", "mongodb-events", "--manifest", "piped.manifest.json"],
        &BY_MAP[..],
    ]
    .concat();
    let mut child = scene.command(&arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&scene.read("legacy.ndjson")).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout == whole);
    let manifest = scene.json("piped.manifest.json");
    let written = scene.json("out.ndjson.manifest.json");
    assert_eq!(manifest["rekey"], written["rekey"]);
    assert!(scene.read("piped.keys.ndjson") == scene.read("out.ndjson.keys.ndjson"));
    assert_eq!(scene.lines("piped.keys.ndjson").len(), count);
}

#[test]
fn files_are_readable_by_their_owner_alone_whatever_the_umask() {
    let scene = Scene::new(StoreKind::DynamoDb);
    let generated = Generated::events(StoreKind::DynamoDb, 20);
    scene.write("seed.ndjson", generated.lines.join("\n") + "\n");
    // A map without its last row, so that there are refusals to list.
    scene.write("map.csv", generated.map.trim_end().rsplit_once('\n').unwrap().0);
    let given: Vec<_> = listing(scene.folder()).into_keys().collect();
    let (shop, moved, count) = (scene.address("shop.db"), scene.address("moved.db"), generated.lines.len());
    let shop = format!("{shop} --collection shop");
    let rule = BY_MAP.join(" ");
    let steps = [
        (
            format!(
                "restore seed.ndjson --layout events --expect-documents {count} --to {shop} --create-target \
                 --result restore.json"
            ),
            0,
        ),
        (format!("export --from {shop} --layout events --out legacy.ndjson.zst"), 0),
        (
            "rekey legacy.ndjson.zst --dry-run --preview preview.csv --tenant acme --escaping raw".to_owned(),
            0,
        ),
        (format!("rekey legacy.ndjson.zst --out rekeyed.ndjson --on-refused set-aside {rule}"), 3),
        (format!("import rekeyed.ndjson --to {moved} --collection moved --create-target"), 0),
        (format!("verify rekeyed.ndjson --against {shop}"), 1),
        (
            format!(
                "prune legacy.ndjson.zst --rekeyed rekeyed.ndjson --from {shop} --twins-in {moved} \
                 --twins-collection moved"
            ),
            3,
        ),
    ];
    for (arguments, code) in steps {
        let inner = scene.command(&arguments.split_whitespace().collect::<Vec<_>>());
        let mut command = Command::new("/bin/sh");
        let _ = command.args(["-c", "umask 000; exec \"$0\" \"$@\""]).arg(inner.get_program());
        let _ = command.args(inner.get_args()).env_clear().current_dir(scene.folder());
        let output = command.output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
    }
    let new: Vec<_> = listing(scene.folder()).into_keys().filter(|name| !given.contains(name)).collect();
    let has = |part: &str| new.iter().any(|name| name.to_string_lossy().contains(part));
    let expected = [
        ".zst",
        ".manifest.json",
        ".keys.ndjson",
        ".refused.ndjson",
        ".findings.ndjson",
        ".journal",
        ".db",
        "preview.csv",
        "restore.json",
    ];
    for part in expected {
        assert!(has(part), "no {part} among {new:?}");
    }
    for name in new {
        let mode = fs::metadata(scene.folder().join(&name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{name:?} has the mode {mode:o}");
    }
}

#[test]
fn the_time_zone_and_the_language_change_no_byte() {
    for store in STORES {
        let (scene, _) = exported(store);
        rekey(&scene, &["legacy.ndjson"]).ended_with(0);
        let from = scene.address("shop.db");
        let export =
            ["export", "--from", &from, "--collection", "shop", "--layout", "events", "--out", "far.ndjson"];
        let rewrite = [&["rekey", "far.ndjson", "--out", "far-out.ndjson"], &BY_MAP[..]].concat();
        for arguments in [&export[..], &rewrite] {
            let mut command = scene.command(arguments);
            let _ = command.env("TZ", "Asia/Kolkata").env("LC_ALL", "tr_TR.UTF-8");
            assert_eq!(command.output().unwrap().status.code(), Some(0), "{arguments:?}");
        }
        for (here, far) in [
            ("legacy.ndjson", "far.ndjson"),
            ("out.ndjson", "far-out.ndjson"),
            ("out.ndjson.keys.ndjson", "far-out.ndjson.keys.ndjson"),
        ] {
            assert!(scene.read(here) == scene.read(far), "{store}: {far}");
        }
        let without_times = |name: &str| -> Value {
            let mut manifest = scene.json(name);
            for member in ["started", "ended", "archive"] {
                assert!(manifest.as_object_mut().unwrap().remove(member).is_some());
            }
            manifest
        };
        assert_eq!(without_times("legacy.ndjson.manifest.json"), without_times("far.ndjson.manifest.json"));
    }
}
