//! A signal ends a run that waits as long as the service asks for, or for its own rate.

use serde_json::json;

use super::server::Place;
use crate::signals::{commands, each_goes_on, each_stops, prepare};

#[test]
fn a_signal_interrupts_the_minute_that_the_service_asks_to_wait() {
    let place = Place::new();
    let scene = &place.scene;
    let count = prepare(scene, 20);
    let shop = scene.collection("shop.db", "shop");
    let (reading, writing) = commands(scene);
    place.plan(&shop, &json!({ "throttle_every": 1, "retry_after_ms": 60_000 }));
    each_stops(scene, &reading, &[]);
    place.plan(&shop, &json!({ "refuse_writes": true, "retry_after_ms": 60_000 }));
    each_stops(scene, &writing, &[]);
    place.plan(&shop, &json!({}));
    each_goes_on(scene, &writing, count);
}

#[test]
fn a_signal_interrupts_the_waits_for_request_units() {
    let place = Place::new();
    let scene = &place.scene;
    let count = prepare(scene, 20);
    let (reading, writing) = commands(scene);
    each_stops(scene, &reading, &["--max-ru", "1"]);
    each_stops(scene, &writing, &["--max-ru", "1"]);
    each_goes_on(scene, &writing, count);
}
