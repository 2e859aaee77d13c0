//! Request units are held to the rate, by what the host says was consumed, and foretold by a dry run.
//!
//! `REKEY_COSMOSDB_SECONDS` is how long the write rate is watched; its first twelfth is left out.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::server::Place;
use crate::generated::Generated;
use crate::scene::size;

const UNITS: usize = 1_000;
/// What the host charges for one of the events.
const EVENT: usize = 9;

fn consumed(tally: &Value) -> f64 {
    tally["consumed"].as_f64().unwrap()
}

#[test]
fn writes_hold_to_the_rate_within_a_tenth() {
    let seconds = size("REKEY_COSMOSDB_SECONDS", 6);
    let place = Place::new();
    let scene = &place.scene;
    // More than can be written in that time.
    let events = UNITS / EVENT * (seconds + 4);
    let generated = Generated::events(scene.store, events.div_ceil(10).next_multiple_of(2));
    scene.seed(&generated, "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    let (to, moved, rate) =
        (scene.address("moved.db"), scene.collection("moved.db", "moved"), UNITS.to_string());
    let import = ["import", "rekeyed.ndjson", "--to", &to, "--collection", &moved, "--max-ru", &rate];
    let import = [&import[..], &["--create-target", "--subscribers-handled"]].concat();
    let mut child = scene.command(&import).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while place.tally(&moved)["writes"] == 0 {
        assert_eq!(child.try_wait().unwrap(), None, "it ended early");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_secs(seconds as u64) / 12);
    let (begin, before) = (Instant::now(), consumed(&place.tally(&moved)));
    std::thread::sleep(Duration::from_secs(seconds as u64) * 11 / 12);
    let (after, time) = (consumed(&place.tally(&moved)), begin.elapsed());
    assert_eq!(child.try_wait().unwrap(), None, "it ended early");
    child.kill().unwrap();
    let _ = child.wait().unwrap();
    let rate = (after - before) / time.as_secs_f64();
    println!("--max-ru {UNITS}: {rate:.1} units a second over {:.1} s", time.as_secs_f64());
    assert!((900.0..=1100.0).contains(&rate), "{rate}");
}

#[test]
fn a_dry_run_tells_the_units_and_writes_nothing() {
    let place = Place::new();
    let scene = &place.scene;
    let generated = Generated::events(scene.store, 10);
    scene.seed(&generated, "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    let shop = scene.collection("shop.db", "shop");
    place.plan(&shop, &json!({}));
    let result = scene.import("rekeyed.ndjson", "shop.db", "shop", &["--dry-run", "--max-ru", "400"]);
    let count = generated.lines.len();
    assert_eq!((&result["written"], &place.tally(&shop)["writes"]), (&count.into(), &0.into()));
    let notices = result["notices"].as_array().unwrap();
    let capacity = notices.iter().find(|it| it["code"] == "capacity").unwrap()["message"].as_str().unwrap();
    // Each is looked for, since the container holds something, and then created.
    assert!(capacity.contains(&format!("at least {} request units", count * (1 + 5))), "{capacity}");
    assert!(capacity.contains("at --max-ru 400"), "{capacity}");
}
