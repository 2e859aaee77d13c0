//! The integration tests: one binary, a module for each subject.

mod cli;
mod docs;
mod fixtures;

#[cfg(all(feature = "mongodb", feature = "dynamodb", feature = "firestore", feature = "cosmosdb"))]
mod tls;
mod vectors;
