//! Capacity is held to the rate, by what the server reports.
//!
//! `REKEY_DYNAMODB_SECONDS` is how long the write rate is watched; its first twelfth is left out.

use std::process::Stdio;
use std::time::{Duration, Instant};

use rekey::document::StoreKind;

use super::proxy::{Plan, Proxy};
use super::server::{Server, scene_at};
use crate::generated::{Generated, Stream};
use crate::scene::size;

const WRITES: usize = 100;

#[test]
fn writes_hold_to_the_rate_within_a_twentieth() {
    let seconds = size("REKEY_DYNAMODB_SECONDS", 6);
    let proxy = Proxy::start(&Server::Dynoxide.endpoint(), Plan::default());
    let scene = scene_at(proxy.endpoint());
    // More than can be written in that time, into a table that is not empty, so that every write is conditional.
    let generated =
        Generated::events(StoreKind::DynamoDb, (WRITES * (seconds + 3)).div_ceil(10).next_multiple_of(2));
    scene.seed(&generated, "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    scene.put(&[Stream::new(0).event(StoreKind::DynamoDb, 0)], "events", "moved.db", "moved");
    proxy.tally().written.clear();
    let (to, table, rate) =
        (scene.address("moved.db"), scene.collection("moved.db", "moved"), WRITES.to_string());
    let import = ["import", "rekeyed.ndjson", "--to", &to, "--collection", &table, "--max-wcu", &rate];
    let mut child = scene.command(&import).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while proxy.tally().written.iter().all(|(_, units)| *units < 1.0) {
        assert_eq!(child.try_wait().unwrap(), None, "it ended early");
        std::thread::sleep(Duration::from_millis(5));
    }
    let begin = Instant::now();
    std::thread::sleep(Duration::from_secs(seconds as u64));
    assert_eq!(child.try_wait().unwrap(), None, "it ended early");
    child.kill().unwrap();
    let _ = child.wait().unwrap();
    let from = begin + Duration::from_secs(seconds as u64) / 12;
    let to = begin + Duration::from_secs(seconds as u64);
    let consumed = proxy
        .tally()
        .written
        .iter()
        .filter(|(at, _)| (from..to).contains(at))
        .map(|(_, units)| units)
        .sum::<f64>();
    let rate = consumed / (to - from).as_secs_f64();
    println!("--max-wcu {WRITES}: {rate:.1} units a second over {:.1} s", (to - from).as_secs_f64());
    assert!((95.0..=105.0).contains(&rate), "{rate}");
}

#[test]
fn reads_hold_to_the_rate_and_give_the_same_archive() {
    let proxy = Proxy::start(&Server::Dynoxide.endpoint(), Plan::default());
    let scene = scene_at(proxy.endpoint());
    scene.seed(&Generated::events(StoreKind::DynamoDb, 80), "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    proxy.tally().consumed.clear();
    let (from, table) = (scene.address("shop.db"), scene.collection("shop.db", "shop"));
    let started = Instant::now();
    let _ = scene.done(&[
        "export",
        "--from",
        &from,
        "--collection",
        &table,
        "--layout",
        "events",
        "--out",
        "slow.ndjson",
        "--max-rcu",
        "20",
    ]);
    let consumed: f64 = proxy.tally().consumed.iter().map(|(_, units)| units).sum();
    let rate = consumed / started.elapsed().as_secs_f64();
    assert!(consumed > 40.0, "{consumed} units are too few to tell");
    assert!((10.0..=21.0).contains(&rate), "{rate} units a second");
    assert!(scene.read("slow.ndjson") == scene.read("legacy.ndjson"));
}

#[test]
fn a_dry_run_tells_the_units_and_the_time_and_writes_nothing() {
    let proxy = Proxy::start(&Server::Dynoxide.endpoint(), Plan::default());
    let scene = scene_at(proxy.endpoint());
    let generated = Generated::events(StoreKind::DynamoDb, 20);
    scene.seed(&generated, "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    let result = scene.import("rekeyed.ndjson", "shop.db", "shop", &["--dry-run", "--max-wcu", "50"]);
    assert_eq!(result["written"], generated.lines.len());
    let notices = result["notices"].as_array().unwrap();
    let capacity = notices.iter().find(|it| it["code"] == "capacity").unwrap()["message"].as_str().unwrap();
    assert!(
        capacity.contains(&format!(
            "about {0} write capacity units, at least 4.0 s at --max-wcu 50, and {0} read capacity units",
            generated.lines.len()
        )),
        "{capacity}"
    );
    proxy.tally().written.clear();
    proxy.tally().consumed.clear();
    let _ = scene.import("rekeyed.ndjson", "shop.db", "shop", &[]);
    let documents = f64::from(u32::try_from(generated.lines.len()).unwrap());
    let tally = proxy.tally();
    let sum = |units: &[(Instant, f64)]| units.iter().map(|(_, units)| units).sum::<f64>();
    let (written, read) = (sum(&tally.written), sum(&tally.consumed));
    // What was foretold: each item is looked for and written once; and a few units to look at the table.
    assert!((written - documents).abs() < 1.0, "{written} for {documents}");
    assert!((read - documents).abs() < 10.0, "{read} for {documents}");
}
