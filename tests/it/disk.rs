//! A disk that takes no more: exit 74, the file named, nothing half-done under a final name; once there is room, the same
//! command goes on to the end.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Output};

use rekey::document::StoreKind;

use crate::generated::Generated;
use crate::scene::{STORES, Scene, listing, sums_up, without_system_fields};

/// Runs the program where no file may grow beyond 64 KiB; a write beyond it fails instead of ending the process.
fn cramped(scene: &Scene, arguments: &[&str]) -> Output {
    let inner = scene.command(arguments);
    let mut shell = Command::new("/bin/bash");
    let _ = shell.args(["-c", "ulimit -f 64; exec \"$0\" \"$@\""]).arg(inner.get_program());
    let _ = shell.args(inner.get_args()).env_clear().current_dir(scene.folder());
    let variables = inner.get_envs().filter_map(|(name, value)| Some((name, value?)));
    shell.envs(variables).output().unwrap()
}

fn is_an_error_of_a_file(output: &Output, named: &str, what: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(74), "{what}: {said}");
    assert!(said.contains("File too large") && said.contains(named), "{what}: {said}");
}

/// A scene with documents of more than the limit.
fn seeded(store: StoreKind) -> (Scene, usize) {
    let (scene, generated) = (Scene::new(store), Generated::events(store, 40));
    scene.seed(&generated, "shop.db", "shop");
    (scene, generated.lines.len())
}

fn names(scene: &Scene) -> Vec<PathBuf> {
    listing(scene.folder()).into_keys().filter(|name| !name.to_string_lossy().ends_with(".part")).collect()
}

#[test]
fn no_archive_gets_its_name_before_all_of_it_is_on_the_disk() {
    for store in STORES {
        let (scene, count) = seeded(store);
        let from = scene.address("shop.db");
        let at = ["--from", &from, "--collection", "shop", "--layout", "events"];
        let export = [&["export", "--out", "legacy.ndjson"], &at[..]].concat();
        let rule = ["--tenant-map", "map.csv", "--escaping", "escaped"];
        let rekey = [&["rekey", "legacy.ndjson", "--out", "rekeyed.ndjson"], &rule[..]].concat();
        for (command, out, member) in
            [(export, "legacy.ndjson", "documents"), (rekey, "rekeyed.ndjson", "rekeyed")]
        {
            let before = names(&scene);
            is_an_error_of_a_file(&cramped(&scene, &command), out, command[0]);
            assert_eq!(names(&scene), before, "{} on {store}", command[0]);
            assert_eq!(scene.done(&command)[member], count, "{} on {store}", command[0]);
        }
    }
}

#[test]
fn an_import_that_the_disk_stopped_goes_on_when_there_is_room() {
    for store in STORES {
        let (scene, count) = seeded(store);
        let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
        let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
        let to = scene.address("fresh.db");
        let import = ["import", "rekeyed.ndjson", "--to", &to, "--collection", "moved", "--create-target"];
        is_an_error_of_a_file(&cramped(&scene, &import), "fresh.db", "import");
        let result = scene.done(&import);
        sums_up(&result, ["written", "identical"], count);
        let verified = scene.verify(&["rekeyed.ndjson"], "fresh.db", "moved", &[]).ended(0);
        assert_eq!(verified["totals"]["found"], count, "{store}");
    }
}

#[test]
fn what_takes_documents_away_goes_on_when_there_is_room() {
    for store in STORES {
        let (scene, count) = seeded(store);
        let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
        let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
        let flags: &[&str] = if store == StoreKind::MongoDb { &["--in-place"] } else { &[] };
        let _ = scene.import("rekeyed.ndjson", "shop.db", "shop", flags);
        let from = scene.address("shop.db");
        let at = ["--from", &from, "--collection", "shop"];
        let undone = Scene::new(store);
        scene.copy_into(&undone);
        let undo = [&["undo", "rekeyed.ndjson"][..], &at].concat();
        is_an_error_of_a_file(&cramped(&undone, &undo), "shop.db", "undo");
        sums_up(&undone.done(&undo), ["removed", "put_back", "gone"], count);
        let _ = undone.export("shop.db", "shop", "events", "after.ndjson");
        let documents = |name: &str| without_system_fields(&undone.lines(name));
        assert!(documents("after.ndjson") == documents("legacy.ndjson"), "undo on {store}");
        // In place there is nothing left to prune.
        if store != StoreKind::MongoDb {
            let prune = [&["prune", "legacy.ndjson", "--rekeyed", "rekeyed.ndjson"][..], &at].concat();
            is_an_error_of_a_file(&cramped(&scene, &prune), "shop.db", "prune");
            sums_up(&scene.done(&prune), ["deleted", "gone"], count);
        }
    }
}

#[test]
fn a_result_that_cannot_be_written_is_an_error() {
    let (scene, _) = seeded(StoreKind::CosmosDb);
    let from = scene.address("shop.db");
    let export =
        ["export", "--from", &from, "--collection", "shop", "--layout", "events", "--out", "legacy.ndjson"];
    let mut command = scene.command(&[&export[..], &["--output", "json"]].concat());
    let output = command.stdout(File::create("/dev/full").unwrap()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(74), "{said}");
    assert!(said.contains("No space left on device"), "{said}");
}
