//! A signal ends a run that waits for its pace, for a server that does not answer, and for one that is not there.

use std::net::TcpListener;

use super::server::{Place, Server};
use crate::generated::Generated;
use crate::scene::Scene;
use crate::signals::{SIGINT, SIGTERM, stopped};

pub fn prepare(scene: &Scene) -> usize {
    let generated = Generated::events(scene.store, 20);
    scene.seed(&generated, "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    generated.lines.len()
}

#[test]
fn a_signal_interrupts_the_pace() {
    let place = Place::new(Server::ReplicaSet);
    let scene = place.scene();
    let count = prepare(&scene);
    let (to, name) = (scene.address("shop.db"), scene.collection("shop.db", "shop"));
    let import = ["import", "rekeyed.ndjson", "--to", &to, "--collection", &name, "--in-place"];
    let import = [&import[..], scene.writing()].concat();
    let slowly = [&import[..], &["--max-writes-per-second", "1"]].concat();
    let _ = stopped(&mut scene.command(&slowly), SIGTERM);
    let result = scene.done(&import);
    let of = |name: &str| result[name].as_u64().unwrap();
    assert_eq!(of("written") + of("identical"), count as u64, "{result}");
    assert_eq!(scene.verify(&["rekeyed.ndjson"], "shop.db", "shop", &[]).ended(0)["verdict"], "match");
}

#[test]
fn a_signal_interrupts_the_search_for_a_server() {
    let place = Place::new(Server::ReplicaSet);
    let scene = place.scene();
    let _ = prepare(&scene);
    // It takes connections and never says a word.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let absent = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for (port, signal) in [(port, SIGINT), (absent, SIGTERM)] {
        let at = format!("mongodb://127.0.0.1:{port}/shop");
        let export =
            ["export", "--from", &at, "--collection", "c", "--layout", "events", "--out", "again.ndjson"];
        let _ = stopped(&mut scene.command(&export), signal);
        let import = ["import", "rekeyed.ndjson", "--to", &at, "--collection", "c", "--subscribers-handled"];
        let _ = stopped(&mut scene.command(&import), signal);
    }
}
