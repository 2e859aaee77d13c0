//! Cosmos DB on the host in `tests/cosmosdb_host`, by the unmodified SDK over HTTP/2.
//!
//! scripts/servers/cosmosdb.sh builds and starts it and names its address. Where the host is laxer than the service
//! (limits, the hash of old containers), the tool checks by itself, and that is what is tested.

mod adapter;
mod doctor;
mod faults;
mod fidelity;
mod hierarchical;
mod kill;
mod limits;
mod patience;
mod prune;
mod road;
mod secrets;
mod server;
mod settings;
mod side_effects;
mod signals;
mod split;
mod undo;
mod units;
mod vectors;

/// A scene on its server, for tests of several stores.
#[cfg(all(feature = "mongodb", feature = "dynamodb", feature = "firestore", feature = "cosmosdb"))]
pub fn scene() -> crate::scene::Scene {
    server::Place::new().scene
}
