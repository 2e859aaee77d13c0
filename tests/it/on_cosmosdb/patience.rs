//! A service that takes nothing is given up in time, however long it asks to wait.

use serde_json::json;

use super::server::Place;
use crate::patience::each_gives_up;
use crate::signals::{commands, prepare};

#[test]
fn a_service_that_turns_everything_down_is_given_up_whatever_it_asks_for() {
    let place = Place::new();
    let scene = &place.scene;
    let _ = prepare(scene, 20);
    let shop = scene.collection("shop.db", "shop");
    let (reading, writing) = commands(scene);
    for (wait, within, words) in [
        (60_000, 0..=2_000, "given up: it asks to wait 1 min 0 s, and of the 3.0 s that"),
        (300, 2_500..=6_000, "given up: "),
    ] {
        place.plan(&shop, &json!({ "throttle_every": 1, "retry_after_ms": wait }));
        each_gives_up(scene, &reading, 3_000, &within, &[words, "429"]);
        place.plan(&shop, &json!({ "refuse_writes": true, "retry_after_ms": wait }));
        each_gives_up(scene, &writing, 3_000, &within, &[words, "429"]);
    }
}
