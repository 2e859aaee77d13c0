//! DynamoDB: one table, read and written by parallel requests within its capacity.
//!
//! What the service cannot do shapes the adapter: there is no snapshot, so a scan is not of one moment; its
//! own item count is hours old, so nothing is counted by it; the fast call to write replaces what is there,
//! so it is used only where nothing was; and a condition cannot say "and no other attribute", so a delete
//! looks at the image it removed and puts it back if it was another than expected.

mod connect;
mod delete;
mod describe;
mod error;
mod examine;
mod item;
mod position;
mod read;
mod scan;
mod scanned;
mod schema;
mod table;
mod write;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::TableDescription;

use self::error::{Effect, store_error};
use self::table::Table;
use super::Rates;
use super::address::DynamoDbAddress;
use super::waits::Waits;
use super::{
    Activity, BatchLimits, CollectionReader, CollectionSpec, CollectionWriter, Created, Description,
    Examination, FrameworkQuery, Guarded, LegacyProbe, Page, Position, ScanPart, Snapshot, StoreError,
    StoreErrorKind, StoreResult,
};
use crate::check::Refusal;
use crate::document::json::Tape;
use crate::document::{Lines, StoreKey, StoreKind};
use crate::{Error, Result};

/// How often the first request is sent, and the first pause between two; each further one is twice as long.
const FIRST_ATTEMPTS: u32 = 6;
const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// One table. Clones share the connection and the capacity.
#[derive(Clone)]
pub struct DynamoDbCollection {
    table: Arc<Table>,
}

impl DynamoDbCollection {
    /// Connects to an address and names a table there, which need not be there yet.
    ///
    /// Errors: a usage error for missing region or credentials and for an impossible name, a store error if
    /// the service cannot be reached or refuses.
    pub async fn open(address: &DynamoDbAddress, table: &str, rates: Rates, waits: &Waits) -> Result<Self> {
        check_name(table)?;
        let connect::Connection { client, place } = connect::connect(address).await?;
        let account = match first_request(&client, table).await {
            Ok(description) => description.and_then(|table| describe::account(table.table_arn()?)),
            Err(FirstFailure::Credentials(error)) => return Err(error),
            Err(FirstFailure::Store(error)) => return Err(cannot_open(error, &place, table)),
        };
        let account = account.map(|account| format!(", account {account}")).unwrap_or_default();
        Ok(Self::new(client, table, &format!("{place}{account}"), rates, waits))
    }

    /// Names a table behind a client; `place` says where that leads, for a person.
    pub fn new(client: Client, table: &str, place: &str, rates: Rates, waits: &Waits) -> Self {
        let location = format!("{place}, table {table:?}");
        Self { table: Arc::new(Table::new(client, table.to_owned(), location, rates, waits)) }
    }
}

/// Why nothing can be asked.
enum FirstFailure {
    Credentials(Error),
    Store(StoreError),
}

/// Tells early whether the service can be reached, and what the table is, if it is there. Only an answer that
/// turns the request down for the moment is asked for again: what cannot be reached is not waited for.
async fn first_request(
    client: &Client,
    table: &str,
) -> std::result::Result<Option<TableDescription>, FirstFailure> {
    let mut pause = FIRST_PAUSE;
    for attempt in 1.. {
        let error = match client.describe_table().table_name(table).send().await {
            Ok(answer) => return Ok(answer.table),
            Err(error) => error,
        };
        if let Some(error) = connect::credentials_error(&error) {
            return Err(FirstFailure::Credentials(error));
        }
        let answered = error.as_service_error().is_some();
        let error = store_error("DescribeTable", Effect::Reads, &error);
        match error.kind {
            StoreErrorKind::NotFound => break,
            kind if answered && kind.is_retryable() && attempt < FIRST_ATTEMPTS => {}
            _ => return Err(FirstFailure::Store(error)),
        }
        tokio::time::sleep(pause).await;
        pause *= 2;
    }
    Ok(None)
}

fn check_name(table: &str) -> Result<()> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if (3..=255).contains(&table.len()) && table.bytes().all(allowed) {
        return Ok(());
    }
    Err(Error::usage(format!("{table:?} is no valid name of a DynamoDB table; nothing was done"))
        .hint("Pass a name of 3 to 255 letters, digits, hyphens, dots and underscores with --table."))
}

fn cannot_open(error: StoreError, place: &str, table: &str) -> Error {
    let hint = match error.kind {
        StoreErrorKind::Denied => {
            "Allow the role dynamodb:DescribeTable and what the command needs (docs/layouts lists it), or choose another profile."
        }
        StoreErrorKind::Transient | StoreErrorKind::Unreachable => {
            "Check region, endpoint and network, then run the same command again."
        }
        _ => "Run the same command again later.",
    };
    Error::from(error)
        .context(format!("{place}, table {table:?} cannot be opened; nothing was done"))
        .hint(hint)
}

#[async_trait]
impl CollectionReader for DynamoDbCollection {
    fn kind(&self) -> StoreKind {
        StoreKind::DynamoDb
    }

    fn name(&self) -> &str {
        self.table.name()
    }

    fn location(&self) -> &str {
        self.table.location()
    }

    async fn collections(&self) -> StoreResult<Vec<String>> {
        describe::table_names(&self.table).await
    }

    async fn describe(&self) -> StoreResult<Description> {
        describe::describe(&self.table).await
    }

    async fn examine(&self) -> StoreResult<Examination> {
        examine::examine(&self.table).await
    }

    /// The service counts items about every six hours.
    async fn count(&self, _snapshot: Option<&Snapshot>) -> StoreResult<Option<u64>> {
        Ok(None)
    }

    async fn activity(&self) -> StoreResult<Option<Activity>> {
        Ok(None)
    }

    async fn snapshot(&self) -> StoreResult<Option<Snapshot>> {
        Ok(None)
    }

    async fn parts(&self, wanted: usize) -> StoreResult<Vec<ScanPart>> {
        scan::parts(&self.table, wanted).await
    }

    async fn page(
        &self,
        part: &ScanPart,
        from: Option<&Position>,
        limit: usize,
        _snapshot: Option<&Snapshot>,
    ) -> StoreResult<Page> {
        scan::page(&self.table, part, from, limit).await
    }

    async fn read(&self, keys: &[StoreKey]) -> StoreResult<Vec<Option<Box<[u8]>>>> {
        read::by_keys(&self.table, keys).await
    }

    async fn probe(&self, probe: &LegacyProbe) -> StoreResult<Vec<String>> {
        scan::probe(&self.table, probe).await
    }

    async fn query(&self, query: &FrameworkQuery, from: Option<&Position>) -> StoreResult<Page> {
        read::query(&self.table, query, from).await
    }

    /// What the key of an index takes; while the table was not described, nothing is known of it.
    fn check(&self, tape: &Tape, line: &[u8]) -> std::result::Result<(), Refusal> {
        self.table.known_schema().map_or(Ok(()), |schema| schema.check_indexed(tape, line))
    }
}

#[async_trait]
impl CollectionWriter for DynamoDbCollection {
    fn batch_limits(&self) -> BatchLimits {
        self.table.batch_limits()
    }

    async fn create_collection(&self, spec: &CollectionSpec) -> StoreResult<()> {
        describe::create_table(&self.table, spec).await
    }

    async fn create(&self, lines: &Lines) -> Vec<Created> {
        write::create(&self.table, lines).await
    }

    async fn create_in_empty(&self, lines: &Lines) -> Vec<Created> {
        write::create_in_empty(&self.table, lines).await
    }

    async fn delete(&self, keys: &[StoreKey], expected: &Lines) -> Vec<Guarded> {
        delete::delete(&self.table, keys, expected).await
    }
}
