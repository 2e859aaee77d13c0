//! An export while somebody writes is one moment.
//!
//! `REKEY_FIRESTORE_WRITTEN` sets how many documents are rewritten in a loop.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use firestore::gcloud_sdk::google::firestore::v1::Value;
use firestore::gcloud_sdk::google::firestore::v1::value::ValueType;
use serde_json::json;

use super::server::{Database, emulator, scene_at, wait};
use crate::scene::size;

fn fields(at: usize, round: i64) -> HashMap<String, Value> {
    let value = |value_type| Value { value_type: Some(value_type) };
    let text = |text: String| value(ValueType::StringValue(text));
    HashMap::from([
        ("streamId".to_owned(), text(format!("Order:A-{at}"))),
        ("aggregateId".to_owned(), text(format!("A-{at}"))),
        ("aggregateType".to_owned(), text("Order".to_owned())),
        ("eventId".to_owned(), text(format!("e-{at}"))),
        ("eventType".to_owned(), text("Placed".to_owned())),
        ("version".to_owned(), value(ValueType::IntegerValue(0))),
        ("eventData".to_owned(), text("x".repeat(200))),
        ("round".to_owned(), value(ValueType::IntegerValue(round))),
    ])
}

#[test]
fn an_export_is_of_one_moment_while_every_document_is_rewritten() {
    let scene = scene_at(&emulator());
    let (address, name) = (scene.address("shop.db"), scene.collection("shop.db", "shop"));
    let count = size("REKEY_FIRESTORE_WRITTEN", 120);
    let stop = Arc::new(AtomicBool::new(false));
    let rounds = {
        let (address, name, stopped) = (address.clone(), name.clone(), stop.clone());
        let (ready, first) = std::sync::mpsc::channel();
        let writer = std::thread::spawn(move || {
            wait(async {
                let database = Database::of(&address).await;
                let mut round = 0;
                while !stopped.load(Ordering::SeqCst) {
                    let documents =
                        (0..count).map(|at| (format!("{name}/Order:A-{at}:0"), fields(at, round)));
                    // One commit: every reader sees all of a round or nothing of it.
                    database.put_all(documents).await;
                    round += 1;
                    let _ = ready.send(round);
                }
                round
            })
        });
        while first.recv().unwrap() < 3 {}
        for export in 0..3 {
            let out = format!("out-{export}.ndjson");
            let result = scene.export("shop.db", "shop", "events", &out);
            assert_eq!(result["documents"], count);
            assert_eq!(result["consistent"], true);
            let rounds: BTreeSet<String> = scene
                .lines(&out)
                .iter()
                .map(|line| {
                    serde_json::from_str::<serde_json::Value>(line).unwrap()["fields"]["round"].to_string()
                })
                .collect();
            assert_eq!(rounds.len(), 1, "an archive of several moments: {rounds:?}");
            assert_eq!(scene.json(&format!("{out}.manifest.json"))["consistent"], json!(true));
        }
        stop.store(true, Ordering::SeqCst);
        writer.join().unwrap()
    };
    println!("{count} documents rewritten {rounds} times meanwhile; each of three archives is of one round");
}
