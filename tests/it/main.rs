//! The integration tests: one binary, a module for each subject.

// A test that cannot go on fails; that is what unwrap is for.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod archives;
mod cli;
mod codes;
mod collision;
mod conformance;
#[cfg(feature = "faults")]
mod crash;
#[cfg(target_os = "linux")]
mod disk;
mod docs;
mod doctor;
mod dry_run;
mod end_state;
mod findings;
mod fixtures;
mod generated;
mod hierarchical;
mod hostile;
mod import_refusals;
mod intruder;
mod kill;
#[cfg(any(feature = "cosmosdb", feature = "dynamodb", feature = "firestore"))]
mod killed;
mod messages;
#[cfg(feature = "cosmosdb")]
mod on_cosmosdb;
#[cfg(feature = "dynamodb")]
mod on_dynamodb;
#[cfg(all(feature = "mongodb", feature = "dynamodb", feature = "firestore", feature = "cosmosdb"))]
mod on_every_store;
#[cfg(feature = "firestore")]
mod on_firestore;
#[cfg(feature = "mongodb")]
mod on_mongodb;
#[cfg(all(feature = "mongodb", feature = "dynamodb", feature = "firestore", feature = "cosmosdb"))]
mod on_spark;
mod overlapping_tenants;
mod package;
#[cfg(any(feature = "mongodb", feature = "dynamodb", feature = "firestore", feature = "cosmosdb"))]
#[cfg_attr(
    not(all(feature = "mongodb", feature = "dynamodb", feature = "firestore", feature = "cosmosdb")),
    allow(dead_code, unused_imports, reason = "each store's tests take what they need of it")
)]
mod patience;
mod plan;
mod project;
mod prune;
mod refusals;
mod regressions;
mod rehearse;
mod reports;
mod results;
mod road;
mod run;
mod sagas;
mod scene;
mod schema;
#[cfg(any(feature = "mongodb", feature = "dynamodb", feature = "firestore", feature = "cosmosdb"))]
mod secrets;
mod shards;
mod signals;
mod status;
mod terminal;

#[cfg(all(feature = "mongodb", feature = "dynamodb", feature = "firestore", feature = "cosmosdb"))]
mod tls;
mod tutorial;
mod undo;
mod vectors;
#[cfg(any(feature = "mongodb", feature = "dynamodb", feature = "firestore"))]
mod wire;
