//! DynamoDB on real servers: dynoxide for everything, dynalite as an independent second opinion on what it does.
//!
//! scripts/servers/dynamodb.sh starts them and names their addresses.

mod adapter;
mod capacity;
mod doctor;
mod faults;
mod items;
mod kill;
mod patience;
mod proxy;
mod road;
mod secrets;
mod server;
mod settings;
mod side_effects;
mod signals;
mod undo;
mod vectors;

/// A scene on its server, for tests of several stores.
#[cfg(all(feature = "mongodb", feature = "dynamodb", feature = "firestore", feature = "cosmosdb"))]
pub fn scene() -> crate::scene::Scene {
    server::scene_at(&server::Server::Dynoxide.endpoint())
}
