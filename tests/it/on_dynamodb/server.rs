//! The servers of the tests and tables of their own on them.

use std::collections::{BTreeMap, HashMap};
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_dynamodb::types::AttributeValue;
use rekey::document::StoreKind;
use tokio::runtime::Runtime;

use crate::scene::{self, Scene};

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

/// A scene whose tables are behind an endpoint.
pub fn scene_at(endpoint: &str) -> Scene {
    let server = scene::Server {
        address: address(endpoint),
        environment: environment(),
        prefix: fresh_name("t"),
        writing: &[],
    };
    Scene::on(StoreKind::DynamoDb, server)
}

/// An endpoint as `--from` and `--to` take it.
pub fn address(endpoint: &str) -> String {
    format!("dynamodb://{REGION}?endpoint={endpoint}")
}

/// Credentials, and nothing of whoever runs the tests.
pub fn environment() -> Vec<(&'static str, String)> {
    let nowhere = "/dev/null".to_owned();
    vec![
        ("AWS_ACCESS_KEY_ID", "test".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "test".to_owned()),
        ("AWS_EC2_METADATA_DISABLED", "true".to_owned()),
        ("AWS_CONFIG_FILE", nowhere.clone()),
        ("AWS_SHARED_CREDENTIALS_FILE", nowhere),
    ]
}

/// Runs what looks behind the tool's back.
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    Runtime::new().unwrap().block_on(future)
}

/// Every item of a table, as the server tells it, by its key as text.
pub async fn items(client: &Client, table: &str) -> BTreeMap<String, HashMap<String, AttributeValue>> {
    let mut found = BTreeMap::new();
    let mut from = None;
    loop {
        let scan = client.scan().table_name(table).consistent_read(true).set_exclusive_start_key(from);
        let page = scan.send().await.unwrap();
        for item in page.items() {
            let name = |names: [&str; 2]| names.into_iter().find_map(|name| item.get(name)).cloned();
            let key = format!("{:?} {:?}", name(["pk", "PK"]), name(["sk", "SK"]));
            assert!(found.insert(key, item.clone()).is_none(), "the server gave an item twice");
        }
        from = page.last_evaluated_key.filter(|key| !key.is_empty());
        if from.is_none() {
            return found;
        }
    }
}

/// A table name that no other test has, also none of an earlier run.
pub fn fresh_name(what: &str) -> String {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
    format!("{what}-{}-{now:x}-{}", process::id(), MADE.fetch_add(1, Ordering::Relaxed))
}
