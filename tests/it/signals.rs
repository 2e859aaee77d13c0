//! A first signal interrupts every wait, says so at once and how to go on; the run that follows goes on.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rekey::document::StoreKind;
use serde_json::Value;

use crate::generated::Generated;
use crate::scene::{STORES, Scene};

const STOPPING: &str = "stopping: finishing what is under way; again to end at once";
/// How long a command that would wait for a minute, an hour or for ever may take to end.
const SOON: Duration = Duration::from_secs(6);
/// After so long a command that is going to wait does.
const STUCK: Duration = Duration::from_millis(1_500);

/// A signal and the exit code of a run that it ended.
#[derive(Clone, Copy, Debug)]
pub struct Signal(&'static str, i32);

pub const SIGINT: Signal = Signal("-INT", 130);
pub const SIGTERM: Signal = Signal("-TERM", 143);

impl Signal {
    fn send(self, child: &Child) {
        assert!(Command::new("kill").args([self.0, &child.id().to_string()]).status().unwrap().success());
    }
}

/// Stops a command that waits; tells what it said. It must say at once that it stops, end soon, and say how to go on.
pub fn stopped(command: &mut Command, signal: Signal) -> Vec<String> {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines();
    sleep(STUCK);
    if let Some(status) = child.try_wait().unwrap() {
        panic!("{command:?} has ended before the signal: {status}\n{:?}", stderr.collect::<Vec<_>>());
    }
    signal.send(&child);
    let sent = Instant::now();
    let mut said = Vec::new();
    let mut answered = None;
    for line in stderr.by_ref().map(Result::unwrap) {
        if line == STOPPING {
            answered = Some(sent.elapsed());
        }
        said.push(line);
    }
    let status = child.wait().unwrap();
    let took = sent.elapsed();
    assert_eq!(status.code(), Some(signal.1), "{command:?}: {said:#?}");
    assert!(answered.is_some_and(|answered| answered < Duration::from_secs(1)), "{answered:?}: {said:#?}");
    assert!(took < SOON, "{command:?} took {took:?}: {said:#?}");
    assert!(said.iter().any(|line| line.contains("same command again")), "{command:?}: {said:#?}");
    said
}

/// A collection `shop` that holds legacy documents and those that take their place, with both archives.
#[cfg_attr(not(any(feature = "dynamodb", feature = "firestore", feature = "cosmosdb")), allow(dead_code))]
pub fn prepare(scene: &Scene, streams: usize) -> usize {
    let generated = Generated::events(scene.store, streams);
    scene.seed(&generated, "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    let _ = scene.import("rekeyed.ndjson", "shop.db", "shop", &[]);
    generated.lines.len()
}

/// The commands that read the collection, and those that write it.
#[cfg_attr(not(any(feature = "dynamodb", feature = "firestore", feature = "cosmosdb")), allow(dead_code))]
pub fn commands(scene: &Scene) -> (Vec<Vec<String>>, Vec<Vec<String>>) {
    let (at, name) = (scene.address("shop.db"), scene.collection("shop.db", "shop"));
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let export = words(&format!("export --from {at} --collection {name} --layout events --out again.ndjson"));
    let verify = words(&format!("verify rekeyed.ndjson --against {at} --collection {name}"));
    let prune =
        words(&format!("prune legacy.ndjson --rekeyed rekeyed.ndjson --from {at} --collection {name}"));
    let mut import = words(&format!("import rekeyed.ndjson --to {at} --collection {name}"));
    import.extend(scene.writing().iter().map(|&word| word.to_owned()));
    (vec![export, verify, prune.clone()], vec![import, prune])
}

/// Stops every command that waits for a store that turns down reads, or writes.
#[cfg_attr(not(any(feature = "dynamodb", feature = "firestore", feature = "cosmosdb")), allow(dead_code))]
pub fn each_stops(scene: &Scene, commands: &[Vec<String>], more: &[&str]) {
    for (arguments, signal) in commands.iter().zip([SIGTERM, SIGINT].into_iter().cycle()) {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).chain(more.iter().copied()).collect();
        let said = stopped(&mut scene.command(&arguments), signal);
        println!("{} {more:?}: {said:?}", arguments[0]);
        assert!(!scene.path("again.ndjson").exists());
    }
}

/// Runs the commands that write to their end.
#[cfg_attr(not(any(feature = "dynamodb", feature = "firestore", feature = "cosmosdb")), allow(dead_code))]
pub fn each_goes_on(scene: &Scene, writing: &[Vec<String>], count: usize) {
    for arguments in writing {
        let result = scene.done(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        let of = |name: &str| result[name].as_u64().unwrap_or_default();
        let settled = of("written") + of("identical") + of("deleted") + of("gone");
        assert_eq!(settled, count as u64, "{result}");
    }
    let verdict = scene.verify(&["rekeyed.ndjson"], "shop.db", "shop", &["--legacy", "legacy.ndjson"]);
    assert_eq!(verdict.ended(0)["verdict"], "match");
}

#[test]
fn a_pace_is_interrupted_whatever_shows_the_progress_and_the_import_goes_on() {
    for (store, progress) in STORES.into_iter().zip(["json", "plain", "bar", "none"]) {
        let scene = Scene::new(store);
        let generated = Generated::events(store, 20);
        scene.seed(&generated, "shop.db", "shop");
        let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
        let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
        let to = scene.address("moved.db");
        let import = ["import", "rekeyed.ndjson", "--to", &to, "--collection", "moved", "--create-target"];
        let mut slowly = Command::new(assert_cmd::cargo::cargo_bin!("rekey"));
        let _ = slowly.current_dir(scene.folder()).stdin(Stdio::null()).args(import);
        let said = stopped(slowly.args(["--max-writes-per-second", "1", "--progress", progress]), SIGINT);
        let lines: Vec<_> = said.iter().filter(|line| line.starts_with('{')).collect();
        assert_eq!(lines.is_empty(), progress != "json", "{said:#?}");
        for line in lines {
            assert!(serde_json::from_str::<Value>(line).is_ok(), "{line}");
        }
        let result = scene.done(&import);
        assert!(result["notices"].as_array().unwrap().iter().any(|it| it["code"] == "resumed"), "{result}");
        assert_eq!(result["documents"], generated.lines.len());
        let verdict = scene.verify(&["rekeyed.ndjson"], "moved.db", "moved", &[]);
        assert_eq!(verdict.ended(0)["verdict"], "match");
    }
}

#[test]
fn quiet_or_not_the_signal_is_answered() {
    let scene = Scene::new(StoreKind::CosmosDb);
    let generated = Generated::events(StoreKind::CosmosDb, 20);
    scene.seed(&generated, "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    let to = scene.address("moved.db");
    let import = ["import", "rekeyed.ndjson", "--to", &to, "--collection", "moved", "--create-target"];
    let slowly = [&import[..], &["--max-writes-per-second", "1", "--quiet", "--output", "json"]].concat();
    let _ = stopped(&mut scene.command(&slowly), SIGTERM);
}
