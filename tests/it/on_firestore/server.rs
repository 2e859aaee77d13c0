//! The emulator of the tests, and projects of their own in it.

use std::collections::{BTreeMap, HashMap};
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};

use firestore::gcloud_sdk::google::firestore::v1::run_query_request::QueryType;
use firestore::gcloud_sdk::google::firestore::v1::structured_query::CollectionSelector;
use firestore::gcloud_sdk::google::firestore::v1::write::Operation;
use firestore::gcloud_sdk::google::firestore::v1::{
    CommitRequest, Document, RunQueryRequest, StructuredQuery, Value, Write,
};
use firestore::gcloud_sdk::google_cloud_auth::credentials::anonymous;
use firestore::{FirestoreDb, FirestoreDbOptions};
use rekey::document::StoreKind;
use tokio::runtime::Runtime;

use crate::generated::Generated;
use crate::scene::{self, Scene};

/// Where the emulator listens; without it no test of this store means anything, so each fails.
pub fn emulator() -> String {
    std::env::var("REKEY_TEST_FIRESTORE_EMULATOR").unwrap_or_else(|_| {
        panic!("REKEY_TEST_FIRESTORE_EMULATOR is not set: run scripts/test.sh, or start the emulator with scripts/servers/firestore.sh")
    })
}

/// A project that no other test has, also none of an earlier run.
pub fn fresh_project() -> String {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
    format!("demo-{}-{now:x}-{}", process::id(), MADE.fetch_add(1, Ordering::Relaxed))
}

/// A scene whose collections are in a project of its own behind `host`.
pub fn scene_at(host: &str) -> Scene {
    scene_in(&format!("firestore://{}", fresh_project()), host, "c")
}

/// A scene in the database of an address; the names of its collections begin with `prefix`.
pub fn scene_in(address: &str, host: &str, prefix: &str) -> Scene {
    let server = scene::Server {
        address: address.to_owned(),
        environment: vec![("FIRESTORE_EMULATOR_HOST", host.to_owned())],
        prefix: prefix.to_owned(),
        writing: &["--subscribers-handled"],
    };
    Scene::on(StoreKind::Firestore, server)
}

/// A scene seeded directly, whose commands then go through `host`; its archives are ready.
pub fn prepared(generated: &Generated, host: &str) -> Scene {
    let address = format!("firestore://{}", fresh_project());
    let direct = scene_in(&address, &emulator(), "c");
    direct.seed(generated, "shop.db", "shop");
    let _ = direct.export("shop.db", "shop", generated.kind, "legacy.ndjson");
    let _ = direct.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    let scene = scene_in(&address, host, "c");
    direct.copy_into(&scene);
    scene
}

/// A client of the test's own, to look behind the tool's back.
pub struct Database {
    db: FirestoreDb,
}

impl Database {
    /// The database of an address on the emulator.
    pub async fn of(address: &str) -> Self {
        let place = address.strip_prefix("firestore://").unwrap();
        let (project, database) = place.split_once('/').unwrap_or((place, "(default)"));
        let options = FirestoreDbOptions::new(project.to_owned())
            .with_database_id(database.to_owned())
            .with_firebase_api_url(format!("http://{}", emulator()));
        let db = FirestoreDb::with_options_auth(options, anonymous::Builder::new().build()).await.unwrap();
        Self { db }
    }

    /// The full name of a document by its path.
    pub fn name(&self, path: &str) -> String {
        format!("{}/{path}", self.db.get_documents_path())
    }

    /// Writes a document whether or not there is one.
    pub async fn put(&self, path: &str, fields: HashMap<String, Value>) {
        self.put_all([(path.to_owned(), fields)]).await;
    }

    /// Writes documents at one moment, whether or not they are there.
    pub async fn put_all(&self, documents: impl IntoIterator<Item = (String, HashMap<String, Value>)>) {
        let write = |(path, fields): (String, HashMap<String, Value>)| {
            let document = Document { name: self.name(&path), fields, create_time: None, update_time: None };
            Write { operation: Some(Operation::Update(document)), ..Write::default() }
        };
        let writes = documents.into_iter().map(write).collect();
        let database = self.db.get_database_path().clone();
        let request = CommitRequest { database, writes, ..CommitRequest::default() };
        let _ = self.db.client().get().commit(request).await.unwrap();
    }

    /// Every document of a collection by its id, as the emulator tells it.
    pub async fn documents(&self, collection: &str) -> BTreeMap<String, Document> {
        let (parent, id) = match collection.rsplit_once('/') {
            Some((document, id)) => (self.name(document), id),
            None => (self.db.get_documents_path().clone(), collection),
        };
        let from = vec![CollectionSelector { collection_id: id.to_owned(), all_descendants: false }];
        let query = StructuredQuery { from, ..StructuredQuery::default() };
        let query_type = Some(QueryType::StructuredQuery(query));
        let request = RunQueryRequest { parent, query_type, ..RunQueryRequest::default() };
        let mut answer = self.db.client().get().run_query(request).await.unwrap().into_inner();
        let mut found = BTreeMap::new();
        while let Some(part) = answer.message().await.unwrap() {
            if let Some(document) = part.document {
                let id = document.name.rsplit('/').next().unwrap().to_owned();
                assert!(found.insert(id, document).is_none(), "the emulator gave a document twice");
            }
        }
        found
    }

    /// The fields of every document of a collection, with doubles by their bits.
    pub async fn fields(&self, collection: &str) -> BTreeMap<String, BTreeMap<String, String>> {
        let shown = |document: Document| {
            document.fields.into_iter().map(|(name, value)| (name, bits(&value))).collect()
        };
        self.documents(collection).await.into_iter().map(|(id, document)| (id, shown(document))).collect()
    }
}

/// A value as text that is the same for the same protobuf alone: doubles by their bits, maps in order.
pub fn bits(value: &Value) -> String {
    use firestore::gcloud_sdk::google::firestore::v1::value::ValueType::{
        ArrayValue, DoubleValue, GeoPointValue, MapValue,
    };
    match value.value_type.as_ref().expect("a known type") {
        DoubleValue(number) => format!("double {:016x}", number.to_bits()),
        GeoPointValue(point) => {
            format!("point {:016x} {:016x}", point.latitude.to_bits(), point.longitude.to_bits())
        }
        ArrayValue(array) => format!("{:?}", array.values.iter().map(bits).collect::<Vec<_>>()),
        MapValue(map) => {
            let fields: BTreeMap<_, _> = map.fields.iter().map(|(name, value)| (name, bits(value))).collect();
            format!("{fields:?}")
        }
        other => format!("{other:?}"),
    }
}

/// Runs what looks behind the tool's back.
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    Runtime::new().unwrap().block_on(future)
}
