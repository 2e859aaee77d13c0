//! The adapter under the suite that every store runs.

use async_trait::async_trait;
use azure_core::credentials::Secret;
use rekey::document::StoreKind;
use rekey::stores::Rates;
use rekey::stores::cosmosdb::{CosmosDbCollection, Credentials};
use rekey::stores::retry::Retry;
use rekey::stores::waits::Waits;
use rekey::stores::{Collection, CollectionSpec, CollectionWriter as _};

use super::server::{address, fresh_name, key, parsed};
use crate::conformance::{Factory, suite};

struct Account;

/// A container that is not there yet, in a database of its own.
pub async fn collection() -> CosmosDbCollection {
    let (address, credentials) = (parsed(&address(&fresh_name("d"))), Credentials::Key(Secret::from(key())));
    let name = fresh_name("suite");
    CosmosDbCollection::open_with(&address, &credentials, &name, Rates::default(), &Waits::default())
        .await
        .expect("a connection")
}

#[async_trait]
impl Factory for Account {
    fn kind(&self) -> StoreKind {
        StoreKind::CosmosDb
    }

    async fn fresh(&self, spec: &CollectionSpec) -> Box<dyn Collection> {
        let collection = collection().await;
        collection.create_collection(spec).await.expect("made");
        Box::new(Retry::new(Box::new(collection) as Box<dyn Collection>, Waits::default()))
    }

    async fn missing(&self) -> Box<dyn Collection> {
        Box::new(collection().await)
    }
}

suite!(host, Account);
