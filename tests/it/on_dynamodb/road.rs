//! The whole road through the command on both servers.
//!
//! `REKEY_DYNAMODB_STREAMS` (ten events each), `REKEY_DYNAMODB_SAGAS` and `REKEY_DYNAMODB_SNAPSHOTS` set the size.

use rekey::document::StoreKind;

use super::server::{Server, items, scene_at, wait};
use crate::generated::Generated;
use crate::road::walk;
use crate::scene::size;

fn events() -> Generated {
    Generated::events(StoreKind::DynamoDb, size("REKEY_DYNAMODB_STREAMS", 40))
}

fn sagas() -> Generated {
    Generated::sagas(StoreKind::DynamoDb, size("REKEY_DYNAMODB_SAGAS", 80))
}

/// Snapshots of aggregates, which may share the sagas' table.
fn snapshots() -> Vec<String> {
    let line = |at| {
        format!(
            r#"{{"Item":{{"PK":{{"S":"SNAPSHOT#A-{at}"}},"SK":{{"S":"Order"}},"data":{{"S":"e30="}},"version":{{"N":"{at}"}}}}}}"#
        )
    };
    (0..size("REKEY_DYNAMODB_SNAPSHOTS", 20)).map(line).collect()
}

fn sagas_beside_snapshots(server: Server) {
    let scene = scene_at(&server.endpoint());
    walk(&scene, &sagas(), &snapshots());
    let table = scene.collection("shop.db", "shop");
    let mut stored = wait(items(&server.client(), &table));
    stored.retain(|key, _| key.contains("SNAPSHOT#"));
    assert_eq!(stored.len(), snapshots().len());
    for (key, item) in stored {
        assert_eq!(item.len(), 4, "{key}");
        assert!(key.contains(&format!("SNAPSHOT#A-{}\"", item["version"].as_n().unwrap())), "{key}");
    }
}

#[test]
fn events_are_moved_on_dynoxide() {
    walk(&scene_at(&Server::Dynoxide.endpoint()), &events(), &[]);
}

#[test]
fn events_are_moved_on_dynalite() {
    walk(&scene_at(&Server::Dynalite.endpoint()), &events(), &[]);
}

#[test]
fn sagas_are_moved_beside_snapshots_on_dynoxide() {
    sagas_beside_snapshots(Server::Dynoxide);
}

#[test]
fn sagas_are_moved_beside_snapshots_on_dynalite() {
    sagas_beside_snapshots(Server::Dynalite);
}
