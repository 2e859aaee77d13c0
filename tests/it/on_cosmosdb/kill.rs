//! Killed at any moment and run again, a command ends where an uninterrupted run ends.
//!
//! `REKEY_COSMOSDB_KILLS` sets how often each command is killed, `REKEY_COSMOSDB_KILL_STREAMS` how much it has to do.

use rekey::document::StoreKind;

use super::server::Place;
use crate::generated::{Generated, Random};
use crate::killed::{killed_and_run_again, report, timed};
use crate::scene::{size, sums_up};

fn events() -> Generated {
    Generated::events(StoreKind::CosmosDb, size("REKEY_COSMOSDB_KILL_STREAMS", 30))
}

fn kills() -> usize {
    size("REKEY_COSMOSDB_KILLS", 2)
}

/// A place whose archives are ready.
fn prepared() -> (Place, usize) {
    let place = Place::new();
    let generated = events();
    place.scene.seed(&generated, "shop.db", "shop");
    let _ = place.scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let _ = place.scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    (place, generated.lines.len())
}

#[test]
fn an_export_that_was_killed() {
    let (place, count) = prepared();
    let scene = &place.scene;
    let (from, shop) = (scene.address("shop.db"), scene.collection("shop.db", "shop"));
    let export =
        ["export", "--from", &from, "--collection", &shop, "--layout", "events", "--out", "again.ndjson"];
    let (_, whole) = timed(scene, &export);
    let (mut random, mut hits) = (Random::seeded(14), 0);
    while hits < kills() {
        std::fs::remove_file(scene.path("again.ndjson")).unwrap();
        let (result, hit) = killed_and_run_again(scene, &export, whole, &mut random);
        hits += usize::from(hit);
        assert_eq!(result["documents"], count);
        assert!(scene.read("again.ndjson") == scene.read("legacy.ndjson"));
    }
    report("export", hits, whole);
}

#[test]
fn an_import_that_was_killed() {
    let (place, count) = prepared();
    let scene = &place.scene;
    let to = scene.address("moved.db");
    let command = |name: &str| {
        let container = scene.collection("moved.db", name);
        let import = ["import", "rekeyed.ndjson", "--to", &to, "--collection", &container];
        [&import[..], &["--create-target", "--subscribers-handled"]]
            .concat()
            .into_iter()
            .map(str::to_owned)
            .collect()
    };
    let first: Vec<String> = command("whole");
    let (_, whole) = timed(scene, &words(&first));
    let expected = place.items(&first[5]);
    let (mut random, mut hits, mut runs) = (Random::seeded(15), 0, 0);
    while hits < kills() {
        runs += 1;
        let command: Vec<String> = command(&format!("killed-{runs}"));
        let (result, hit) = killed_and_run_again(scene, &words(&command), whole, &mut random);
        hits += usize::from(hit);
        sums_up(&result, ["written", "identical"], count);
        assert!(place.items(&command[5]) == expected);
    }
    report("import", hits, whole);
}

#[test]
fn a_prune_that_was_killed() {
    let (place, count) = prepared();
    let scene = &place.scene;
    let generated = events();
    // Each run has a container of its own, and so an archive with that container's marks.
    let prune = |name: &str| {
        scene.put(&generated.lines, "events", "shop.db", name);
        let (legacy, rekeyed) = (format!("{name}.legacy.ndjson"), format!("{name}.rekeyed.ndjson"));
        let _ = scene.export("shop.db", name, "events", &legacy);
        let _ = scene.rekey(&legacy, &rekeyed, &[]);
        let _ = scene.import(&rekeyed, "shop.db", name, &[]);
        let (from, container) = (scene.address("shop.db"), scene.collection("shop.db", name));
        ["prune", &legacy, "--rekeyed", &rekeyed, "--from", &from, "--collection", &container]
            .map(str::to_owned)
            .to_vec()
    };
    let first = prune("whole");
    let (_, whole) = timed(scene, &words(&first));
    let expected = place.items(&first[7]);
    assert_eq!(expected.len(), count);
    let (mut random, mut hits, mut runs) = (Random::seeded(16), 0, 0);
    while hits < kills() {
        runs += 1;
        let command = prune(&format!("killed-{runs}"));
        let (result, hit) = killed_and_run_again(scene, &words(&command), whole, &mut random);
        hits += usize::from(hit);
        sums_up(&result, ["deleted", "gone"], count);
        assert!(place.items(&command[7]) == expected);
    }
    report("prune", hits, whole);
}

fn words(command: &[String]) -> Vec<&str> {
    command.iter().map(String::as_str).collect()
}
