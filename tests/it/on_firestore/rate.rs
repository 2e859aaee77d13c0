//! Writes hold to the rate, over all requests together.

use std::time::{Duration, Instant};

use rekey::document::StoreKind;

use super::server::{emulator, scene_at};
use crate::generated::Generated;

#[test]
fn writes_and_deletes_hold_to_the_rate() {
    let scene = scene_at(&emulator());
    let generated = Generated::events(StoreKind::Firestore, 40);
    scene.seed(&generated, "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    let (at, name) = (scene.address("shop.db"), scene.collection("shop.db", "shop"));
    let place = ["--collection", &name, "--max-writes-per-second", "200"];
    let import = ["import", "rekeyed.ndjson", "--subscribers-handled", "--to", &at];
    let prune = ["prune", "legacy.ndjson", "--rekeyed", "rekeyed.ndjson", "--from", &at];
    for command in [&import[..], &prune[..]] {
        let started = Instant::now();
        let result = scene.done(&[command, &place].concat());
        let taken = started.elapsed();
        // 400 documents in requests of 20: the last one is sent after 380.
        assert_eq!(generated.lines.len(), 400);
        assert!(taken >= Duration::from_millis(1890), "{taken:?}: {result}");
        assert!(taken < Duration::from_secs(10), "{taken:?}: {result}");
    }
}
