//! Killed at any moment and run again, a command ends where an uninterrupted run ends: what the tests on every server
//! share.

use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::generated::Random;
use crate::scene::Scene;

/// The result of a run that is left alone, and how long it took.
pub fn timed(scene: &Scene, arguments: &[&str]) -> (Value, Duration) {
    let started = Instant::now();
    (scene.done(arguments), started.elapsed())
}

/// Kills a run of a command at a random moment and runs it again; whether the first run was still under way.
pub fn killed_and_run_again(
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

/// Says how often a command was killed before it ended, which must have been once at least.
#[cfg(any(feature = "cosmosdb", feature = "dynamodb"))]
pub fn report(what: &str, hits: usize, whole: Duration) {
    assert!(hits > 0, "no run of {what} was killed before it ended");
    println!("{what}: killed {hits} times within {whole:?} and run again, the same end state");
}
