//! The adapter under the suite that every store runs, on both servers.

use async_trait::async_trait;
use rekey::document::StoreKind;
use rekey::stores::Rates;
use rekey::stores::dynamodb::DynamoDbCollection;
use rekey::stores::retry::Retry;
use rekey::stores::waits::Waits;
use rekey::stores::{Collection, CollectionSpec, CollectionWriter as _};

use super::server::{Server, fresh_name};
use crate::conformance::{Factory, suite};

impl Server {
    fn collection(self) -> DynamoDbCollection {
        DynamoDbCollection::new(
            self.client(),
            &fresh_name("suite"),
            &self.endpoint(),
            Rates::default(),
            &Waits::default(),
        )
    }
}

#[async_trait]
impl Factory for Server {
    fn kind(&self) -> StoreKind {
        StoreKind::DynamoDb
    }

    async fn fresh(&self, spec: &CollectionSpec) -> Box<dyn Collection> {
        let collection = self.collection();
        collection.create_collection(spec).await.expect("made");
        Box::new(Retry::new(Box::new(collection) as Box<dyn Collection>, Waits::default()))
    }

    async fn missing(&self) -> Box<dyn Collection> {
        Box::new(self.collection())
    }
}

suite!(dynoxide, Server::Dynoxide);
suite!(dynalite, Server::Dynalite);
