//! Through a network and a service that turn down, leave, lose and fail, the end state is the same.
//!
//! `REKEY_DYNAMODB_FAULTY_STREAMS` (ten events each) sets how much is taken through the worst of them.

use std::collections::BTreeMap;

use rekey::document::StoreKind;

use super::proxy::{Plan, Proxy};
use super::server::{Server, address, items, scene_at, wait};
use crate::generated::Generated;
use crate::scene::{Scene, size, sums_up};

/// What the service may do at its worst.
const WORST: Plan =
    Plan { throttle_every: 5, lose_every: 20, fail_every: 33, halve_batches: true, ahead: 0, denies: None };

fn events(streams: usize) -> Generated {
    Generated::events(StoreKind::DynamoDb, streams)
}

type Items = BTreeMap<String, std::collections::HashMap<String, aws_sdk_dynamodb::types::AttributeValue>>;

/// Seeds a table directly and takes it along the road through `endpoint`: the new table and the old one.
fn travelled(generated: &Generated, endpoint: &str) -> (Items, Items) {
    let server = Server::Dynoxide;
    let mut scene = scene_at(&server.endpoint());
    scene.seed(generated, "shop.db", "shop");
    scene.lead_to(address(endpoint));
    let count = generated.lines.len();
    let _ = scene.export("shop.db", "shop", generated.kind, "legacy.ndjson");
    assert_eq!(scene.lines("legacy.ndjson").len(), count);
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    sums_up(
        &scene.import("rekeyed.ndjson", "moved.db", "moved", &["--create-target"]),
        ["written", "identical"],
        count,
    );
    sums_up(&scene.import("rekeyed.ndjson", "shop.db", "shop", &[]), ["written", "identical"], count);
    for (file, collection) in [("moved.db", "moved"), ("shop.db", "shop")] {
        let verdict = scene.verify(&["rekeyed.ndjson"], file, collection, &["--legacy", "legacy.ndjson"]);
        assert_eq!(verdict.ended(0)["verdict"], "match");
    }
    sums_up(&scene.prune("shop.db", "shop").ended(0), ["deleted", "gone"], count);
    let stored = |file, name: &str| wait(items(&server.client(), &scene.collection(file, name)));
    (stored("moved.db", "moved"), stored("shop.db", "shop"))
}

#[test]
fn the_worst_service_ends_in_the_same_state_item_for_item() {
    let generated = events(size("REKEY_DYNAMODB_FAULTY_STREAMS", 40));
    let expected = travelled(&generated, &Server::Dynoxide.endpoint());
    let proxy = Proxy::start(&Server::Dynoxide.endpoint(), WORST);
    let found = travelled(&generated, proxy.endpoint());
    assert!(expected.0 == expected.1 && expected.0.len() == generated.lines.len());
    assert!(found == expected, "another end state");
    let seen = proxy.tally();
    assert!(seen.throttled > 0 && seen.lost > 0 && seen.failed > 0 && seen.halved > 0);
    println!(
        "{} events through {} refusals, {} halved batches, {} lost answers and {} failures: the same end state",
        generated.lines.len(),
        seen.throttled,
        seen.halved,
        seen.lost,
        seen.failed
    );
}

/// Writes items to a table that holds one already, so that every write is conditional.
fn import_command<'a>(to: &'a str, table: &'a str) -> Vec<&'a str> {
    vec!["import", "rekeyed.ndjson", "--to", to, "--collection", table, "--concurrency", "4"]
}

fn prepared(scene: &Scene) -> (String, usize) {
    let generated = events(40);
    scene.seed(&generated, "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    (scene.collection("shop.db", "shop"), generated.lines.len())
}

#[test]
fn a_service_that_takes_nothing_any_more_ends_the_run_which_goes_on_later() {
    let proxy = Proxy::start(&Server::Dynoxide.endpoint(), Plan::default());
    let scene = scene_at(proxy.endpoint());
    let (table, count) = prepared(&scene);
    let to = scene.address("shop.db");
    let import = import_command(&to, &table);
    proxy.refuse_writes(true);
    let output = scene.command(&import).env("REKEY_FAULTS_ALLOWANCE_MS", "300").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("ProvisionedThroughputExceededException"), "{said}");
    assert!(said.contains("was not written") && said.contains("same command again"), "{said}");
    proxy.refuse_writes(false);
    let result = scene.done(&import);
    assert!(result["notices"].as_array().unwrap().iter().any(|it| it["code"] == "resumed"), "{result}");
    assert_eq!(result["written"], count);
}
