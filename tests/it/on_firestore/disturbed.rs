//! Commands that are disturbed at random moments until each was hit often enough.

use std::time::Duration;

use serde_json::Value;

use super::server::{Database, wait};
use crate::generated::Generated;
use crate::killed::timed;
use crate::scene::{Scene, sums_up};

/// Exports, imports and prunes again and again, each time disturbed at some moment of the time that the command takes and
/// run again by `disturbed`, which tells whether it hit a run; how often each of the three was hit, `times` at least. The
/// end state is always the same. The scene's archives are ready.
pub fn end_in_the_same_state(
    scene: &Scene,
    generated: &Generated,
    times: usize,
    mut disturbed: impl FnMut(&[&str], Duration) -> (Value, bool),
) -> [usize; 3] {
    let count = generated.lines.len();
    let (at, source) = (scene.address("shop.db"), scene.collection("shop.db", "shop"));
    let export =
        ["export", "--from", &at, "--collection", &source, "--layout", "events", "--out", "again.ndjson"];
    let mut whole = [timed(scene, &export).1, Duration::ZERO, Duration::ZERO];
    let (mut expected, mut hits, mut runs) = (None, [0; 3], 0);
    while hits.iter().any(|hits| *hits < times) {
        runs += 1;
        assert!(runs < 20 * times + 20, "hardly ever disturbed in time: {hits:?}");
        let _ = std::fs::remove_file(scene.path("again.ndjson"));
        let (result, hit) = disturbed(&export, whole[0]);
        hits[0] += usize::from(hit);
        assert_eq!(result["documents"], count);
        assert!(scene.read("again.ndjson") == scene.read("legacy.ndjson"));

        let name = format!("disturbed-{runs}");
        scene.put(&generated.lines, "events", "shop.db", &name);
        let name = scene.collection("shop.db", &name);
        let import =
            ["import", "rekeyed.ndjson", "--to", &at, "--collection", &name, "--subscribers-handled"];
        let prune =
            ["prune", "legacy.ndjson", "--rekeyed", "rekeyed.ndjson", "--from", &at, "--collection", &name];
        let steps = [(&import[..], ["written", "identical"]), (&prune[..], ["deleted", "gone"])];
        for (step, (command, outcomes)) in (1..).zip(steps) {
            if runs == 1 {
                // The first time tells how long it takes, and how it ends.
                let (result, time) = timed(scene, command);
                sums_up(&result, outcomes, count);
                whole[step] = time;
            } else {
                let (result, hit) = disturbed(command, whole[step]);
                sums_up(&result, outcomes, count);
                hits[step] += usize::from(hit);
            }
        }
        let found = wait(async { Database::of(&at).await.fields(&name).await });
        assert_eq!(found.len(), count);
        assert!(expected.get_or_insert_with(|| found.clone()) == &found, "another end state");
    }
    hits
}
