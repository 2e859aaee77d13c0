//! What an import into genuine servers wrote is taken back.

use rekey::document::StoreKind;

use super::road::events;
use super::server::{Place, Server};
use crate::generated::Generated;
use crate::undo::there_and_back;

#[test]
fn an_import_is_taken_back_on_a_replica_set() {
    // Events in place, two aggregates of one id among them; sagas beside the legacy ones, and after prune and restore.
    there_and_back(&Place::new(Server::ReplicaSet).scene(), &events(40));
    there_and_back(&Place::new(Server::ReplicaSet).scene(), &Generated::sagas(StoreKind::MongoDb, 60));
}

#[test]
fn an_import_is_taken_back_on_a_standalone() {
    there_and_back(&Place::new(Server::Standalone).scene(), &events(20));
}
