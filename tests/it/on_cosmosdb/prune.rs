//! What becomes of an item that somebody changes while its stream is being deleted.

use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use rekey::document::StoreKind;
use serde_json::{Value, json};

use super::server::{Place, wait};
use crate::generated::Stream;

#[test]
fn an_item_changed_while_its_stream_is_deleted_is_kept_and_named() {
    let place = Place::new();
    let scene = &place.scene;
    let (stream, count) = (Stream::new(1), 100);
    let lines: Vec<String> = (0..count).map(|version| stream.event(StoreKind::CosmosDb, version)).collect();
    scene.put(&lines, "events", "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let _ = scene.done(&["rekey", "legacy.ndjson", "--out", "rekeyed.ndjson", "--tenant", "acme"]);
    let _ = scene.import("rekeyed.ndjson", "shop.db", "shop", &[]);

    let (from, shop) = (scene.address("shop.db"), scene.collection("shop.db", "shop"));
    let prune = ["prune", "legacy.ndjson", "--rekeyed", "rekeyed.ndjson", "--from", &from, "--collection"];
    let slowly = [&prune[..], &[&shop, "--max-ru", "160", "--output", "json"]].concat();
    let child = scene.command(&slowly).stdout(Stdio::piped()).spawn().unwrap();
    while place.items(&shop).len() == 2 * count {
        sleep(Duration::from_millis(20));
    }
    let mut last: Value = serde_json::from_str(&lines[count - 1]).unwrap();
    last["metadata"] = json!("changed");
    let (id, key) = (last["id"].as_str().unwrap().to_owned(), last["streamId"].as_str().unwrap().to_owned());
    wait(async { place.container(&shop).await.upsert_item(key, &id, &last, None).await.map(drop) }).unwrap();

    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    let expected = json!([count, count - 1, 0, 1, { "changed-meanwhile": 1 }]);
    let counts = ["documents", "deleted", "gone", "kept", "reasons"].map(|name| result[name].clone());
    assert_eq!(json!(counts), expected, "{result}");
    assert_eq!((&result["findings"][0]["code"], &result["findings"][0]["key"]), (&json!("kept"), &json!(id)));
    // What is left cannot go without its content, and says so before and after.
    for more in [&["--dry-run"][..], &[]] {
        let again = scene.pruned("shop.db", "shop", more).ended(3);
        assert_eq!((&again["gone"], &again["kept"]), (&json!(count - 1), &json!(1)), "{again}");
        assert_eq!(again["reasons"], json!({ "changed": 1 }), "{again}");
    }
    assert_eq!(place.items(&shop).len(), count + 1);
}
