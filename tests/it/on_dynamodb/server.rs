//! The servers of the tests and tables of their own on them.

use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};

/// The region that the servers are told they are in.
pub const REGION: &str = "eu-central-1";

/// One of the servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    Dynoxide,
    Dynalite,
}

impl Server {
    /// Where it listens; without it no test of this store means anything, so each fails.
    pub fn endpoint(self) -> String {
        let name = match self {
            Self::Dynoxide => "REKEY_TEST_DYNAMODB_DYNOXIDE",
            Self::Dynalite => "REKEY_TEST_DYNAMODB_DYNALITE",
        };
        std::env::var(name).unwrap_or_else(|_| {
            panic!("{name} is not set: run scripts/test.sh, or start the servers with scripts/servers/dynamodb.sh")
        })
    }

    /// A client of the test's own, to look behind the tool's back.
    pub fn client(self) -> Client {
        client(&self.endpoint())
    }
}

pub fn client(endpoint: &str) -> Client {
    let config = aws_sdk_dynamodb::Config::builder()
        .behavior_version(BehaviorVersion::v2026_01_12())
        .region(Region::new(REGION))
        .endpoint_url(endpoint)
        .credentials_provider(Credentials::new("test", "test", None, None, "test"))
        .retry_config(RetryConfig::disabled())
        .build();
    Client::from_conf(config)
}

/// A table name that no other test has, also none of an earlier run.
pub fn fresh_name(what: &str) -> String {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
    format!("{what}-{}-{now:x}-{}", process::id(), MADE.fetch_add(1, Ordering::Relaxed))
}
