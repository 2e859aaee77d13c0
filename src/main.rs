//! The `rekey` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    install_crypto_provider();
    rekey::cli::main(std::env::args_os())
}

/// Chooses the one crypto provider of the process; the database SDKs would not agree on one.
#[cfg(any(feature = "mongodb", feature = "dynamodb", feature = "firestore", feature = "cosmosdb"))]
fn install_crypto_provider() {
    // It fails only if there is one already, and nothing has run before.
    let _installed = rustls::crypto::aws_lc_rs::default_provider().install_default();
}

/// Without a database SDK there is no TLS.
#[cfg(not(any(feature = "mongodb", feature = "dynamodb", feature = "firestore", feature = "cosmosdb")))]
fn install_crypto_provider() {}
