//! Cosmos DB (NoSQL): one container, read and written by parallel requests within its request units.
//!
//! What the service cannot do shapes the adapter: it has no snapshot, so a scan is not of one moment, and its
//! count is checked by a second read of the ids; its numbers are doubles, so texts are sent and kept as they
//! are; a partition key cannot be changed, so a document moves by a create and, later, a delete by its mark.

mod ask;
mod connect;
mod container;
mod credentials;
mod delete;
mod describe;
mod error;
mod examine;
mod item;
mod key;
mod question;
mod read;
mod scan;
mod write;

use std::sync::Arc;

use async_trait::async_trait;

use self::container::Container;
pub use self::credentials::Credentials;
use self::key::{ItemKey, key_of};
use super::Rates;
use super::address::CosmosDbAddress;
use super::item_key;
use super::waits::Waits;
use super::{
    Activity, BatchLimits, CollectionReader, CollectionSpec, CollectionWriter, Created, Description,
    Examination, FrameworkQuery, Guarded, LegacyProbe, Page, Position, ScanPart, Snapshot, StoreResult,
};
use crate::check::{Reason, Refusal};
use crate::document::json::Tape;
use crate::document::{Lines, StoreKey, StoreKind, text_field};
use crate::{Error, Result};

/// One container. Clones share the connection and the units.
#[derive(Clone)]
pub struct CosmosDbCollection {
    container: Arc<Container>,
}

impl CosmosDbCollection {
    /// Connects to an address with the credentials of the environment and names a container there, which need
    /// not be there yet.
    ///
    /// Errors: a usage error for an impossible name or credentials, a store error if the account cannot be
    /// reached or refuses.
    pub async fn open(
        address: &CosmosDbAddress,
        container: &str,
        rates: Rates,
        waits: &Waits,
    ) -> Result<Self> {
        Self::open_with(address, &Credentials::from_environment(address)?, container, rates, waits).await
    }

    /// As [`open`](Self::open), with these credentials.
    pub async fn open_with(
        address: &CosmosDbAddress,
        credentials: &Credentials,
        container: &str,
        rates: Rates,
        waits: &Waits,
    ) -> Result<Self> {
        check_name("container", container)?;
        check_name("database", &address.database)?;
        let place = format!("Cosmos DB at {}, database {:?}", shown_host(address), address.database);
        let client = connect::connect(address, credentials, &place).await?;
        let (database, name) = (address.database.clone(), container.to_owned());
        let container = Container::new(client, database, name, &place, credentials.clone(), rates, waits);
        Ok(Self { container: Arc::new(container) })
    }
}

fn shown_host(address: &CosmosDbAddress) -> String {
    address.port.map_or_else(|| address.host.clone(), |port| format!("{}:{port}", address.host))
}

fn check_name(noun: &str, name: &str) -> Result<()> {
    if (1..=255).contains(&name.len()) && !name.contains(['/', '\\', '?', '#']) {
        return Ok(());
    }
    Err(Error::usage(format!("{name:?} is no valid name of a Cosmos DB {noun}; nothing was done"))
        .hint("Pass a name of 1 to 255 characters without / \\ ? and #."))
}

#[async_trait]
impl CollectionReader for CosmosDbCollection {
    fn kind(&self) -> StoreKind {
        StoreKind::CosmosDb
    }

    fn name(&self) -> &str {
        self.container.name()
    }

    fn location(&self) -> &str {
        self.container.location()
    }

    async fn collections(&self) -> StoreResult<Vec<String>> {
        describe::container_names(&self.container).await
    }

    async fn describe(&self) -> StoreResult<Description> {
        describe::describe(&self.container).await
    }

    async fn examine(&self) -> StoreResult<Examination> {
        examine::examine(&self.container).await
    }

    async fn count(&self, _snapshot: Option<&Snapshot>) -> StoreResult<Option<u64>> {
        scan::count(&self.container).await.map(Some)
    }

    async fn activity(&self) -> StoreResult<Option<Activity>> {
        Ok(None)
    }

    async fn snapshot(&self) -> StoreResult<Option<Snapshot>> {
        Ok(None)
    }

    /// As many as there are physical partitions, however many are wanted.
    async fn parts(&self, _wanted: usize) -> StoreResult<Vec<ScanPart>> {
        scan::parts(&self.container).await
    }

    async fn page(
        &self,
        part: &ScanPart,
        from: Option<&Position>,
        limit: usize,
        _snapshot: Option<&Snapshot>,
    ) -> StoreResult<Page> {
        scan::page(&self.container, part, from, limit).await
    }

    async fn read(&self, keys: &[StoreKey]) -> StoreResult<Vec<Option<Box<[u8]>>>> {
        read::by_keys(&self.container, keys).await
    }

    async fn probe(&self, probe: &LegacyProbe) -> StoreResult<Vec<String>> {
        question::probe(&self.container, probe).await
    }

    async fn query(&self, query: &FrameworkQuery, from: Option<&Position>) -> StoreResult<Page> {
        question::query(&self.container, query, from).await
    }

    /// The service's limits of id, partition key and size; while the partition key's paths are not known, those
    /// of the id and the size.
    fn check(&self, tape: &Tape, line: &[u8]) -> std::result::Result<(), Refusal> {
        item::check_size(tape, line)?;
        let Some(paths) = self.container.known_paths() else {
            let id = text_field(StoreKind::CosmosDb, tape, line, "id");
            return id.map_or(Ok(()), |id| item_key::check_id(&id));
        };
        let key = key_of(paths, tape, line)?;
        let key = ItemKey::parse(&key, paths.len())
            .map_err(|error| Refusal::new(Reason::FieldType, error.message))?;
        key.check()
    }
}

#[async_trait]
impl CollectionWriter for CosmosDbCollection {
    fn batch_limits(&self) -> BatchLimits {
        self.container.batch_limits()
    }

    async fn create_collection(&self, spec: &CollectionSpec) -> StoreResult<()> {
        describe::create(&self.container, spec).await
    }

    async fn create(&self, lines: &Lines) -> Vec<Created> {
        write::create(&self.container, lines).await
    }

    async fn delete(&self, keys: &[StoreKey], expected: &Lines) -> Vec<Guarded> {
        delete::delete(&self.container, keys, expected).await
    }
}
