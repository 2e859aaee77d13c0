//! Killed at any moment and run again, a command ends where an uninterrupted run ends.
//!
//! `REKEY_DYNAMODB_KILLS` sets how often each command is killed, `REKEY_DYNAMODB_KILL_STREAMS` how much it has to do.

use rekey::document::StoreKind;

use super::server::{Server, items, scene_at, wait};
use crate::generated::{Generated, Random};
use crate::killed::{killed_and_run_again, report, timed};
use crate::scene::{Scene, size, sums_up};

fn events() -> Generated {
    Generated::events(StoreKind::DynamoDb, size("REKEY_DYNAMODB_KILL_STREAMS", 40))
}

fn kills() -> usize {
    size("REKEY_DYNAMODB_KILLS", 2)
}

/// A scene whose archives are ready.
fn prepared() -> (Scene, usize) {
    let scene = scene_at(&Server::Dynoxide.endpoint());
    let generated = events();
    scene.seed(&generated, "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    (scene, generated.lines.len())
}

#[test]
fn an_export_that_was_killed() {
    let (scene, count) = prepared();
    let (from, table) = (scene.address("shop.db"), scene.collection("shop.db", "shop"));
    let export =
        ["export", "--from", &from, "--collection", &table, "--layout", "events", "--out", "again.ndjson"];
    let (_, whole) = timed(&scene, &export);
    let (mut random, mut hits) = (Random::seeded(4), 0);
    while hits < kills() {
        std::fs::remove_file(scene.path("again.ndjson")).unwrap();
        let (result, hit) = killed_and_run_again(&scene, &export, whole, &mut random);
        hits += usize::from(hit);
        assert_eq!(result["documents"], count);
        assert!(scene.read("again.ndjson") == scene.read("legacy.ndjson"));
    }
    report("export", hits, whole);
}

#[test]
fn an_import_that_was_killed() {
    let (scene, count) = prepared();
    let client = Server::Dynoxide.client();
    let to = scene.address("moved.db");
    let command = |name: &str| {
        let table = scene.collection("moved.db", name);
        ["import", "rekeyed.ndjson", "--to", &to, "--collection", &table, "--create-target"]
            .map(str::to_owned)
    };
    let first = command("whole");
    let (_, whole) = timed(&scene, &first.each_ref().map(String::as_str));
    let expected = wait(items(&client, &first[5]));
    let (mut random, mut hits, mut runs) = (Random::seeded(5), 0, 0);
    while hits < kills() {
        runs += 1;
        let command = command(&format!("killed-{runs}"));
        let (result, hit) =
            killed_and_run_again(&scene, &command.each_ref().map(String::as_str), whole, &mut random);
        hits += usize::from(hit);
        sums_up(&result, ["written", "identical"], count);
        assert!(wait(items(&client, &command[5])) == expected);
    }
    report("import", hits, whole);
}

#[test]
fn a_prune_that_was_killed() {
    let (scene, count) = prepared();
    let client = Server::Dynoxide.client();
    let generated = events();
    let prune = |name: &str| {
        scene.put(&generated.lines, "events", "shop.db", name);
        let _ = scene.import("rekeyed.ndjson", "shop.db", name, &[]);
        let (from, table) = (scene.address("shop.db"), scene.collection("shop.db", name));
        ["prune", "legacy.ndjson", "--rekeyed", "rekeyed.ndjson", "--from", &from, "--collection", &table]
            .map(str::to_owned)
    };
    let first = prune("whole");
    let (_, whole) = timed(&scene, &first.each_ref().map(String::as_str));
    let expected = wait(items(&client, &first[7]));
    assert_eq!(expected.len(), count);
    let (mut random, mut hits, mut runs) = (Random::seeded(6), 0, 0);
    while hits < kills() {
        runs += 1;
        let command = prune(&format!("killed-{runs}"));
        let (result, hit) =
            killed_and_run_again(&scene, &command.each_ref().map(String::as_str), whole, &mut random);
        hits += usize::from(hit);
        sums_up(&result, ["deleted", "gone"], count);
        assert!(wait(items(&client, &command[7])) == expected);
    }
    report("prune", hits, whole);
}
