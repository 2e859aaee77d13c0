//! What an import into the service's engine wrote is taken back.

use rekey::document::StoreKind;
use serde_json::json;

use super::server::Place;
use crate::generated::Generated;
use crate::undo::there_and_back;

#[test]
fn an_import_is_taken_back() {
    there_and_back(&Place::new().scene, &Generated::events(StoreKind::CosmosDb, 20));
    there_and_back(&Place::new().scene, &Generated::sagas(StoreKind::CosmosDb, 40));
}

/// What the undo list takes of a service that counts every request.
#[test]
fn what_an_import_lists_costs_no_request_in_an_empty_container_and_one_read_an_item_beside_others() {
    let place = Place::new();
    let scene = &place.scene;
    let generated = Generated::events(StoreKind::CosmosDb, 40);
    scene.seed(&generated, "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", generated.kind, "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    let count = generated.lines.len() as u64;
    // What is asked besides the items: what the container is, whether it is empty, what its unique keys keep apart.
    let import = |file: &str, collection: &str, more: &[&str]| {
        let name = scene.collection(file, collection);
        place.plan(&name, &json!({}));
        let _ = scene.import("rekeyed.ndjson", file, collection, more);
        let tally = place.tally(&name);
        let of = |member: &str| tally[member].as_u64().unwrap();
        assert_eq!(of("writes"), count, "{tally}");
        of("requests") - of("queries") - of("writes")
    };
    let empty = import("moved.db", "moved", &["--create-target"]);
    let beside = import("shop.db", "shop", &[]);
    println!("{count} items: {empty} other requests into an empty container, {beside} beside others");
    assert!(empty < 40, "{empty}");
    assert!((count..count + 40).contains(&beside), "{beside}");
}
