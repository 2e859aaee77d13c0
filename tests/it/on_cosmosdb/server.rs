//! The host of the tests, containers of their own on it, and what stands in them.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};

use azure_core::credentials::Secret;
use azure_data_cosmos::clients::ContainerClient;
use azure_data_cosmos::models::ContainerProperties;
use azure_data_cosmos::options::BinaryEncodingOptions;
use azure_data_cosmos::{AccountEndpoint, AccountReference, CosmosClient, FeedScope, RoutingStrategy};
use futures::TryStreamExt as _;
use rekey::document::StoreKind;
use rekey::stores::StoreAddress;
use rekey::stores::address::CosmosDbAddress;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::runtime::Runtime;

use crate::scene::{self, Scene};

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| {
        panic!("{name} is not set: run scripts/test.sh, or start the host with scripts/servers/cosmosdb.sh start DIR")
    })
}

/// Where the host listens; without it no test of this store means anything, so each fails.
pub fn endpoint() -> String {
    variable("REKEY_TEST_COSMOSDB_ENDPOINT")
}

/// The account's key.
pub fn key() -> String {
    variable("REKEY_TEST_COSMOSDB_KEY")
}

/// A database's address as `--from` and `--to` take it.
pub fn address(database: &str) -> String {
    format!("{}/{database}", endpoint().replace("http://", "cosmosdb+http://"))
}

pub fn parsed(address: &str) -> CosmosDbAddress {
    match StoreAddress::parse(address) {
        Ok(StoreAddress::CosmosDb(address)) => address,
        other => panic!("{other:?}"),
    }
}

/// A database that no other test has, with a scene whose containers are in it.
pub struct Place {
    pub database: String,
    pub scene: Scene,
}

impl Place {
    pub fn new() -> Self {
        let database = fresh_name("d");
        let server = scene::Server {
            address: address(&database),
            environment: vec![("COSMOS_KEY", key())],
            prefix: "c".to_owned(),
            writing: &["--subscribers-handled"],
        };
        Self { scene: Scene::on(StoreKind::CosmosDb, server), database }
    }

    /// Makes a container with the SDK, as the tool never makes one.
    pub fn make(&self, properties: ContainerProperties) {
        wait(async {
            let client = client().await;
            if let Err(error) = client.create_database(&self.database, None).await {
                assert!(error.status().is_conflict(), "{error}");
            }
            let database = client.database_client(self.database.clone());
            let _ = database.create_container(properties, None).await.unwrap();
        });
    }

    /// Tells the host what goes wrong with a container from now on; what was seen is forgotten.
    pub fn plan(&self, container: &str, plan: &Value) {
        let _ = self.ask("PUT", container, &plan.to_string());
    }

    /// What the host has seen of a container since.
    pub fn tally(&self, container: &str) -> Value {
        self.ask("GET", container, "")
    }

    fn ask(&self, method: &str, container: &str, body: &str) -> Value {
        let endpoint = endpoint();
        let host = endpoint.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} /__test/{}/{container} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}",
            self.database
        )
        .unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
        serde_json::from_str(body).unwrap()
    }

    pub async fn container(&self, name: &str) -> ContainerClient {
        let database = client().await.database_client(self.database.clone());
        database.container_client(name.to_owned(), None).await.unwrap()
    }

    /// Every item of a container without what the service sets, by its text, in order.
    pub fn items(&self, container: &str) -> BTreeMap<String, Value> {
        let texts = wait(async {
            let container = self.container(container).await;
            let all =
                container.query_items::<Box<RawValue>>("SELECT * FROM c", FeedScope::full_container(), None);
            all.await.unwrap().try_collect::<Vec<_>>().await.unwrap()
        });
        let texts: Vec<String> = texts.iter().map(|text| text.get().to_owned()).collect();
        let items = scene::without_system_fields(&texts);
        let count = items.len();
        let items: BTreeMap<String, Value> = items.into_iter().map(|item| (item.to_string(), item)).collect();
        assert_eq!(items.len(), count, "an item was given twice");
        items
    }
}

/// A client of the test's own, to look behind the tool's back.
pub async fn client() -> CosmosClient {
    let endpoint: AccountEndpoint = format!("{}/", endpoint()).parse().unwrap();
    let account = AccountReference::with_authentication_key(endpoint, Secret::from(key()));
    CosmosClient::builder()
        .with_binary_encoding_options(BinaryEncodingOptions::new().with_enabled(false))
        .build(account, RoutingStrategy::PreferredRegions(Vec::new()))
        .await
        .unwrap()
}

/// Runs what looks behind the tool's back.
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    Runtime::new().unwrap().block_on(future)
}

/// A name that no other test has, also none of an earlier run.
pub fn fresh_name(what: &str) -> String {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
    format!("{what}-{}-{now:x}-{}", process::id(), MADE.fetch_add(1, Ordering::Relaxed))
}
