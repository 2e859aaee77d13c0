//! The adapter under the suite that every store runs.

use async_trait::async_trait;
use rekey::document::StoreKind;
use rekey::stores::Rates;
use rekey::stores::firestore::{Endpoint, FirestoreCollection};
use rekey::stores::retry::Retry;
use rekey::stores::waits::Waits;
use rekey::stores::{Collection, CollectionSpec};

use super::server::{emulator, fresh_project};
use crate::conformance::{Factory, suite};

/// Collections at the root of a database, or below a document.
struct Emulator(&'static str);

impl Emulator {
    async fn collection(&self) -> Box<dyn Collection> {
        let endpoint = Endpoint::Emulator(format!("http://{}", emulator()));
        let place = (&*fresh_project(), "(default)");
        Box::new(
            FirestoreCollection::open_at(&endpoint, place, self.0, Rates::default(), &Waits::default())
                .await
                .unwrap(),
        )
    }
}

#[async_trait]
impl Factory for Emulator {
    fn kind(&self) -> StoreKind {
        StoreKind::Firestore
    }

    async fn fresh(&self, spec: &CollectionSpec) -> Box<dyn Collection> {
        let collection = self.collection().await;
        collection.create_collection(spec).await.unwrap();
        Box::new(Retry::new(collection, Waits::default()))
    }

    async fn missing(&self) -> Box<dyn Collection> {
        self.collection().await
    }
}

suite!(at_the_root, Emulator("events"));
suite!(below_a_document, Emulator("tenants/a b/events"));
