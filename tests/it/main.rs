//! The integration tests: one binary, a module for each subject.

mod docs;

#[cfg(all(feature = "mongodb", feature = "dynamodb", feature = "firestore", feature = "cosmosdb"))]
mod tls;
mod vectors;
