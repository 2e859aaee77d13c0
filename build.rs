//! Tells the program which versions of the database SDKs it is built with: `rekey doctor` says them.

use std::fs;

const SDKS: [&str; 4] = ["mongodb", "aws-sdk-dynamodb", "firestore", "azure_data_cosmos"];

fn main() {
    println!("cargo::rerun-if-changed=Cargo.lock");
    println!("cargo::rerun-if-changed=build.rs");
    // Built as somebody's dependency, the crate has no lock file of its own.
    let lock = fs::read_to_string("Cargo.lock").unwrap_or_default();
    for sdk in SDKS {
        let name = sdk.to_uppercase().replace('-', "_");
        println!("cargo::rustc-env=REKEY_VERSION_{name}={}", version(&lock, sdk).unwrap_or("unknown"));
    }
}

/// The version of a package in a lock file.
fn version<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let (_, rest) = lock.split_once(&format!("name = \"{package}\"\nversion = \""))?;
    rest.split('"').next()
}
