//! Killed at any moment and run again, a command ends where an uninterrupted run ends.
//!
//! `REKEY_FIRESTORE_KILLS` sets how often each command is killed, `REKEY_FIRESTORE_KILL_STREAMS` how much it has to do.

use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rekey::document::StoreKind;
use serde_json::Value;

use super::server::{Database, emulator, scene_at, sums_up, wait};
use crate::generated::{Generated, Random};
use crate::scene::{Scene, size};

/// Kills a run of a command at a random moment and runs it again; whether the first run was still under way.
fn killed_and_run_again(
    scene: &Scene,
    arguments: &[&str],
    whole: Duration,
    random: &mut Random,
) -> (Value, bool) {
    let mut child = scene.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    sleep(whole * u32::try_from(random.below(1000)).unwrap() / 1000);
    child.kill().unwrap();
    let was_running = child.wait().unwrap().code().is_none();
    (scene.done(arguments), was_running)
}

#[test]
fn killed_at_any_moment_and_run_again_every_command_ends_in_the_same_state() {
    let generated = Generated::events(StoreKind::Firestore, size("REKEY_FIRESTORE_KILL_STREAMS", 40));
    let (count, kills) = (generated.lines.len(), size("REKEY_FIRESTORE_KILLS", 2));
    let scene = scene_at(&emulator());
    scene.seed(&generated, "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    let (at, source) = (scene.address("shop.db"), scene.collection("shop.db", "shop"));
    let export =
        ["export", "--from", &at, "--collection", &source, "--layout", "events", "--out", "again.ndjson"];
    let started = Instant::now();
    let _ = scene.done(&export);
    let mut whole = [started.elapsed(), Duration::ZERO, Duration::ZERO];
    let (mut random, mut expected, mut hits, mut runs) = (Random(4), None, [0; 3], 0);
    while hits.iter().any(|hits| *hits < kills) {
        runs += 1;
        assert!(runs < 20 * kills + 20, "hardly ever killed in time: {hits:?}");
        std::fs::remove_file(scene.path("again.ndjson")).unwrap();
        let (result, hit) = killed_and_run_again(&scene, &export, whole[0], &mut random);
        hits[0] += usize::from(hit);
        assert_eq!(result["documents"], count);
        assert!(scene.read("again.ndjson") == scene.read("legacy.ndjson"));

        let name = format!("killed-{runs}");
        scene.put(&generated.lines, "events", "shop.db", &name);
        // Its own archives: prune wants the documents unchanged since their own export.
        let (legacy, rekeyed) = (format!("{name}.ndjson"), format!("{name}.rekeyed.ndjson"));
        let _ = scene.export("shop.db", &name, "events", &legacy);
        let _ = scene.rekey(&legacy, &rekeyed, &[]);
        let name = scene.collection("shop.db", &name);
        let import = ["import", &rekeyed, "--to", &at, "--collection", &name, "--subscribers-handled"];
        let prune = ["prune", &legacy, "--rekeyed", &rekeyed, "--from", &at, "--collection", &name];
        for (step, (command, outcomes)) in
            [(&import[..], ["written", "identical"]), (&prune[..], ["deleted", "gone"])]
                .into_iter()
                .enumerate()
        {
            let started = Instant::now();
            if runs == 1 {
                // The first time tells how long it takes, and how it ends.
                sums_up(&scene.done(command), outcomes, count);
                whole[step + 1] = started.elapsed();
            } else {
                let (result, hit) = killed_and_run_again(&scene, command, whole[step + 1], &mut random);
                sums_up(&result, outcomes, count);
                hits[step + 1] += usize::from(hit);
            }
        }
        let found = wait(async { Database::of(&at).await.fields(&name).await });
        assert_eq!(found.len(), count);
        assert!(expected.get_or_insert_with(|| found.clone()) == &found, "another end state");
    }
    println!("export, import and prune killed {hits:?} times within {whole:?}: the same end state");
}
