//! The integration tests: one binary, a module for each subject.

// A test that cannot go on fails; that is what unwrap is for.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod cli;
mod collision;
mod conformance;
mod docs;
mod fixtures;
mod hostile;
mod regressions;

#[cfg(all(feature = "mongodb", feature = "dynamodb", feature = "firestore", feature = "cosmosdb"))]
mod tls;
mod vectors;
