//! The suite that every store passes, on a replica set and on a standalone.

use async_trait::async_trait;
use rekey::document::StoreKind;
use rekey::signal::StopSignal;
use rekey::stores::Rates;
use rekey::stores::connect::{self, StoreOptions};
use rekey::stores::{Collection, CollectionSpec, StoreAddress};

use super::server::{Place, Server, unlike_any};
use crate::conformance::{Factory, suite};

struct Genuine(Place);

impl Genuine {
    fn on(server: Server) -> Self {
        Self(Place::new(server))
    }
}

#[async_trait]
impl Factory for Genuine {
    fn kind(&self) -> StoreKind {
        StoreKind::MongoDb
    }

    async fn fresh(&self, spec: &CollectionSpec) -> Box<dyn Collection> {
        let collection = self.missing().await;
        collection.create_collection(spec).await.expect("made");
        collection
    }

    async fn missing(&self) -> Box<dyn Collection> {
        let address = StoreAddress::parse(&self.0.address()).expect("an address");
        let store = StoreOptions { address, collection: unlike_any(), rates: Rates::default() };
        connect::open(&store, false, &StopSignal::new()).await.expect("opened")
    }
}

suite!(replica_set, Genuine::on(Server::ReplicaSet));
suite!(standalone, Genuine::on(Server::Standalone));
