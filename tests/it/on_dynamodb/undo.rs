//! What an import into the servers wrote is taken back.

use rekey::document::StoreKind;

use super::server::{Server, scene_at};
use crate::generated::Generated;
use crate::undo::there_and_back;

#[test]
fn an_import_is_taken_back_on_dynoxide() {
    there_and_back(&scene_at(&Server::Dynoxide.endpoint()), &Generated::events(StoreKind::DynamoDb, 20));
    there_and_back(&scene_at(&Server::Dynoxide.endpoint()), &Generated::sagas(StoreKind::DynamoDb, 40));
}

#[test]
fn an_import_is_taken_back_on_dynalite() {
    there_and_back(&scene_at(&Server::Dynalite.endpoint()), &Generated::events(StoreKind::DynamoDb, 20));
}
