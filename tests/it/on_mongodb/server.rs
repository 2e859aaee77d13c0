//! The servers of the tests, and databases of their own on them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use std::collections::BTreeMap;

use futures::TryStreamExt as _;
use mongodb::Client;
use mongodb::bson::{Document, RawDocumentBuf, doc};
use rekey::document::StoreKind;

use crate::scene::{self, Scene};

/// A kind of deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    ReplicaSet,
    Standalone,
    Auth,
}

/// A database that no other test uses.
pub struct Place {
    /// The server's connection string, up to the database.
    server: String,
    options: String,
    pub database: String,
}

impl Place {
    pub fn new(server: Server) -> Self {
        let variable = match server {
            Server::ReplicaSet => "REKEY_TEST_MONGODB_REPLICA_SET",
            Server::Standalone => "REKEY_TEST_MONGODB_STANDALONE",
            Server::Auth => "REKEY_TEST_MONGODB_AUTH",
        };
        let address = std::env::var(variable).unwrap_or_else(|_| {
            panic!("{variable} is not set: start the servers with scripts/servers/mongodb.sh start DIR, or run scripts/test.sh")
        });
        let (address, options) = address.split_once('?').unwrap_or((&address, ""));
        let (server, _) = address.rsplit_once('/').expect("an address with a database");
        Self { server: server.to_owned(), options: options.to_owned(), database: unlike_any() }
    }

    /// The database's address.
    pub fn address(&self) -> String {
        self.address_of(&self.database)
    }

    /// Another database's address on the same server.
    pub fn address_of(&self, database: &str) -> String {
        let question = if self.options.is_empty() { "" } else { "?" };
        format!("{}/{database}{question}{}", self.server, self.options)
    }

    /// The address with one option more.
    pub fn with_option(&self, option: &str) -> String {
        let address = self.address();
        let sign = if address.contains('?') { '&' } else { '?' };
        format!("{address}{sign}{option}")
    }

    /// The address with another user.
    pub fn as_user(&self, user: &str, password: &str) -> String {
        let (scheme, rest) = self.server.split_once("://").expect("a scheme");
        let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
        format!("{scheme}://{user}:{password}@{host}/{}?authSource={}", self.database, self.database)
    }

    pub async fn client(&self) -> Client {
        Client::with_uri_str(self.address()).await.expect("a client")
    }

    pub async fn run(&self, command: Document) -> Document {
        let database = self.client().await.database(&self.database);
        database.run_command(command).await.expect("an answer")
    }

    pub async fn admin(&self, command: Document) -> Document {
        self.client().await.database("admin").run_command(command).await.expect("an answer")
    }

    pub async fn collection(&self, name: &str) -> mongodb::Collection<RawDocumentBuf> {
        self.client().await.database(&self.database).collection(name)
    }

    /// A scene whose collections are in this database.
    pub fn scene(&self) -> Scene {
        // Of a replica set it cannot be seen whether somebody reads its changes.
        let replicated = self.options.contains("replicaSet");
        let server = scene::Server {
            address: self.address(),
            environment: Vec::new(),
            prefix: "c".to_owned(),
            writing: if replicated { &["--subscribers-handled"] } else { &[] },
        };
        Scene::on(StoreKind::MongoDb, server)
    }

    /// Every document of a collection, by the driver, as bytes and by the bytes of its `_id`.
    pub async fn documents(&self, collection: &str) -> BTreeMap<Vec<u8>, Vec<u8>> {
        let collection = self.collection(collection).await;
        let found: Vec<RawDocumentBuf> =
            collection.find(doc! {}).await.expect("a cursor").try_collect().await.expect("documents");
        let key = |document: &RawDocumentBuf| {
            let mut elements = rekey::document::bson::Elements::of(document.as_bytes()).expect("BSON");
            let id = elements.next().expect("a field").expect("BSON");
            assert_eq!(id.name, b"_id");
            id.whole.to_vec()
        };
        found.iter().map(|document| (key(document), document.as_bytes().to_vec())).collect()
    }
}

/// Waits for what a test asks the driver.
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

/// A name that no other test and no earlier run has.
pub fn unlike_any() -> String {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let now =
        SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_nanos() % 1_000_000_000_000;
    format!("t{}-{now}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed))
}
