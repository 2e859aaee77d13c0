//! The whole road through the command, over four physical partitions of which one is split during the export.
//!
//! `REKEY_COSMOSDB_STREAMS` (ten events each) and `REKEY_COSMOSDB_SAGAS` set the size.

use rekey::document::StoreKind;
use serde_json::json;

use super::server::Place;
use crate::generated::Generated;
use crate::road::walk;
use crate::scene::size;

/// Before the export the source is asked once in each partition whether it is empty.
const FIRST_QUERIES: u64 = 4;

#[test]
fn events_are_moved_while_a_partition_is_split() {
    let place = Place::new();
    let source = place.scene.collection("shop.db", "shop");
    // Into the pages of the first export.
    place.plan(&source, &json!({ "split_at_query": FIRST_QUERIES + 3 }));
    let generated = Generated::events(StoreKind::CosmosDb, size("REKEY_COSMOSDB_STREAMS", 40));
    walk(&place.scene, &generated, &[]);
    let tally = place.tally(&source);
    assert_eq!(tally["splits"], 1, "{tally}");
}

#[test]
fn sagas_are_moved() {
    let place = Place::new();
    let generated = Generated::sagas(StoreKind::CosmosDb, size("REKEY_COSMOSDB_SAGAS", 80));
    walk(&place.scene, &generated, &[]);
}
