//! What an import into the service's engine wrote is taken back.

use rekey::document::StoreKind;

use super::server::Place;
use crate::generated::Generated;
use crate::undo::there_and_back;

#[test]
fn an_import_is_taken_back() {
    there_and_back(&Place::new().scene, &Generated::events(StoreKind::CosmosDb, 20));
    there_and_back(&Place::new().scene, &Generated::sagas(StoreKind::CosmosDb, 40));
}
