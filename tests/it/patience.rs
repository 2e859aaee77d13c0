//! How long a store may take nothing, or not be there, before a run is given up.

use std::fs;
use std::ops::RangeInclusive;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::scene::Scene;
#[cfg(any(feature = "mongodb", feature = "dynamodb", feature = "firestore"))]
use crate::wire::Wire;

/// Runs a command with an allowance of so many milliseconds: it must end with exit 4 after about so long, and say this.
fn gives_up(mut command: Command, allowance: u64, within: RangeInclusive<u64>, words: &[&str]) {
    let _ = command.env("REKEY_FAULTS_ALLOWANCE_MS", allowance.to_string());
    let started = Instant::now();
    let output = command.output().unwrap();
    let took = u64::try_from(started.elapsed().as_millis()).unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{command:?}: {said}");
    assert!(within.contains(&took), "{command:?} took {took} ms: {said}");
    for words in words {
        assert!(said.contains(words), "{words:?} is missing: {said}");
    }
    println!("{allowance} ms: given up after {took} ms: {}", said.lines().last().unwrap_or_default());
}

/// Runs each command against a store that turns everything down, and asks to wait longer than it may.
#[cfg(any(feature = "dynamodb", feature = "firestore", feature = "cosmosdb"))]
pub fn each_gives_up(
    scene: &Scene,
    commands: &[Vec<String>],
    allowance: u64,
    within: &RangeInclusive<u64>,
    words: &[&str],
) {
    for arguments in commands {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        gives_up(scene.command(&arguments), allowance, within.clone(), words);
    }
}

/// Takes the store away in the middle of a slow import into the collection `moved`, and lets it be given up.
#[cfg(any(feature = "mongodb", feature = "dynamodb", feature = "firestore"))]
pub fn import_loses_its_store(scene: &Scene, to: &str, more: &[&str], wire: &Wire) {
    let name = scene.collection("moved.db", "moved");
    let import = ["import", "rekeyed.ndjson", "--to", to, "--collection", &name, "--concurrency", "1"];
    let import = [&import[..], scene.writing(), &["--max-writes-per-second", "50"], more].concat();
    let mut command = scene.command(&import);
    let _ = command.env("REKEY_FAULTS_ALLOWANCE_MS", "10000").stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    while !has_written(scene) {
        assert!(child.try_wait().unwrap().is_none(), "{:?}", child.wait_with_output());
        sleep(Duration::from_millis(20));
    }
    wire.take_away();
    let started = Instant::now();
    let output = child.wait_with_output().unwrap();
    let (took, said) = (started.elapsed(), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("given up: it could not be reached for 2.0 s"), "{said}");
    assert!(said.contains("same command again"), "{said}");
    assert!((Duration::from_secs(2)..Duration::from_secs(8)).contains(&took), "{took:?}: {said}");
    println!("given up {took:?} after it was taken away: {said}");
}

/// Whether a batch is noted as done in the journal of the import.
#[cfg(any(feature = "mongodb", feature = "dynamodb", feature = "firestore"))]
fn has_written(scene: &Scene) -> bool {
    let names = fs::read_dir(scene.folder()).unwrap().map(|entry| entry.unwrap().path());
    names.filter(|path| path.to_string_lossy().contains(".import-")).any(|path| {
        let is_under_way = |text: String| text.contains("{\"done\":") && !text.contains("\"finished\"");
        fs::read_to_string(path).is_ok_and(is_under_way)
    })
}
