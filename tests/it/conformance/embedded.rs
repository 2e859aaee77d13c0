//! Embedded storage under the suite, standing for each of the four.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use rekey::document::StoreKind;
#[cfg(feature = "faults")]
use rekey::signal::StopSignal;
use rekey::stores::address::EmbeddedAddress;
use rekey::stores::embedded::{Access, EmbeddedCollection};
use rekey::stores::{Collection, CollectionSpec, CollectionWriter as _};

use super::documents::{events, holding, scan, scan_part};
use super::{Factory, suite};

/// One file with any number of collections.
pub struct Embedded {
    kind: StoreKind,
    folder: tempfile::TempDir,
    made: AtomicUsize,
}

impl Embedded {
    pub fn new(kind: StoreKind) -> Self {
        Self { kind, folder: tempfile::tempdir().expect("a folder"), made: AtomicUsize::new(0) }
    }

    async fn open(&self) -> EmbeddedCollection {
        let address = EmbeddedAddress::new(self.folder.path().join("store.redb"), self.kind);
        let name = format!("events-{}", self.made.fetch_add(1, Ordering::Relaxed));
        EmbeddedCollection::open(&address, &name, Access::Create).await.expect("opened")
    }
}

#[async_trait]
impl Factory for Embedded {
    fn kind(&self) -> StoreKind {
        self.kind
    }

    async fn fresh(&self, spec: &CollectionSpec) -> Box<dyn Collection> {
        let collection = self.open().await;
        collection.create_collection(spec).await.expect("made");
        Box::new(collection)
    }

    async fn missing(&self) -> Box<dyn Collection> {
        Box::new(self.open().await)
    }
}

suite!(mongodb, Embedded::new(StoreKind::MongoDb));
suite!(dynamodb, Embedded::new(StoreKind::DynamoDb));
suite!(firestore, Embedded::new(StoreKind::Firestore));
suite!(cosmosdb, Embedded::new(StoreKind::CosmosDb));

#[tokio::test]
async fn a_large_collection_is_cut_evenly_by_its_sample() {
    let factory = Embedded::new(StoreKind::DynamoDb);
    let documents = events(StoreKind::DynamoDb, 12_000);
    let collection = holding(&factory, &documents).await;
    let parts = collection.parts(8).await.expect("parts");
    assert_eq!(parts.len(), 8);
    let mut found = 0;
    for part in &parts {
        let documents = scan_part(&*collection, part, None, 1000, None).await.0.len();
        assert!((500..4000).contains(&documents), "{documents} of 12000 in one of eight parts");
        found += documents;
    }
    assert_eq!(found, documents.len());
}

#[tokio::test]
async fn the_same_writes_give_the_same_bytes() {
    for kind in StoreKind::ALL {
        let mut exports = Vec::new();
        for _ in 0..2 {
            let collection = holding(&Embedded::new(kind), &events(kind, 30)).await;
            exports.push(scan(&*collection, 3, 7, None).await);
        }
        assert_eq!(exports[0], exports[1], "{kind}");
    }
}

/// The same through a store that turns down every third call and half of every fifth batch.
#[cfg(feature = "faults")]
mod faulty {
    use std::time::Duration;

    use rekey::stores::faults::{Call, Fault, Faults};
    use rekey::stores::retry::Retry;
    use rekey::stores::waits::{RetryPolicy, Waits};

    use super::*;

    struct Faulty(Embedded);

    fn faulty(inner: Box<dyn Collection>) -> Box<dyn Collection> {
        let faults = Faults::new(inner)
            .every(Call::Create, 3, Fault::Throttled(None))
            .every(Call::Create, 5, Fault::Partial)
            .every(Call::Delete, 3, Fault::Transient)
            .every(Call::Delete, 2, Fault::Partial)
            .every(Call::Update, 2, Fault::Throttled(Some(Duration::from_millis(1))))
            .every(Call::Read, 3, Fault::Transient)
            .every(Call::Page, 4, Fault::LostAnswer)
            .every(Call::Page, 3, Fault::Partial);
        let policy = RetryPolicy { first_delay: Duration::from_micros(10), ..RetryPolicy::default() };
        Box::new(Retry::new(Box::new(faults) as Box<dyn Collection>, Waits::new(&StopSignal::new(), policy)))
    }

    #[async_trait]
    impl Factory for Faulty {
        fn kind(&self) -> StoreKind {
            self.0.kind()
        }

        async fn fresh(&self, spec: &CollectionSpec) -> Box<dyn Collection> {
            faulty(self.0.fresh(spec).await)
        }

        async fn missing(&self) -> Box<dyn Collection> {
            faulty(self.0.missing().await)
        }
    }

    suite!(mongodb, Faulty(Embedded::new(StoreKind::MongoDb)));
    suite!(dynamodb, Faulty(Embedded::new(StoreKind::DynamoDb)));
    suite!(firestore, Faulty(Embedded::new(StoreKind::Firestore)));
    suite!(cosmosdb, Faulty(Embedded::new(StoreKind::CosmosDb)));
}
