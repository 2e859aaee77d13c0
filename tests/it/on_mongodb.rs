//! MongoDB on genuine servers, which `scripts/servers/mongodb.sh` starts.

mod access;
mod cases;
mod conformance;
mod failures;
mod patience;
mod road;
mod secrets;
mod server;
mod signals;
mod targets;
mod undo;

/// A scene on its server, for tests of several stores.
#[cfg(all(feature = "mongodb", feature = "dynamodb", feature = "firestore", feature = "cosmosdb"))]
pub fn scene() -> crate::scene::Scene {
    server::Place::new(server::Server::ReplicaSet).scene()
}
