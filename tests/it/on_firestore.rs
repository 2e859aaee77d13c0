//! Firestore on Google's own emulator, which `scripts/servers/firestore.sh` starts.
//!
//! The emulator never throttles, never times out and never loses an answer; a proxy before it does.

mod adapter;
mod disturbed;
mod doctor;
mod documents;
mod failures;
mod kill;
mod moved;
mod patience;
mod places;
mod rate;
mod refused;
mod road;
mod secrets;
mod server;
mod service;
mod signals;
mod undo;
mod writer;

/// A scene on its server, for tests of several stores.
#[cfg(all(feature = "mongodb", feature = "dynamodb", feature = "firestore", feature = "cosmosdb"))]
pub fn scene() -> crate::scene::Scene {
    server::scene_at(&server::emulator())
}
