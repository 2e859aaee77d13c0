//! What every request to a table needs: the client, the key, the requests in flight and the capacity.

use std::future::Future;
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{ConsumedCapacity, TableDescription};
use tokio::sync::{OnceCell, Semaphore, SemaphorePermit};

use super::capacity::Capacity;
use super::error::{Effect, store_error};
use super::schema::KeySchema;
use crate::stores::connect::Rates;
use crate::stores::{BatchLimits, StoreError, StoreErrorKind, StoreResult};

/// Requests in flight at one time, if nobody says.
const REQUESTS: usize = 32;
/// A batch is many requests side by side; what it notes in the journal is one.
const BATCH: BatchLimits = BatchLimits { documents: 400, bytes: 4 * 1024 * 1024 };
/// What an item of 1 KB costs to read consistently, and to write.
const READ_UNITS: f64 = 0.25;
const WRITE_UNITS: f64 = 1.0;

/// One table of a client.
pub(super) struct Table {
    client: Client,
    name: String,
    location: String,
    schema: OnceCell<KeySchema>,
    requests: Semaphore,
    batch: BatchLimits,
    /// Read capacity.
    pub reads: Capacity,
    /// Write capacity.
    pub writes: Capacity,
}

impl Table {
    pub(super) fn new(client: Client, name: String, location: String, rates: Rates) -> Self {
        let requests = rates.concurrency.and_then(|it| usize::try_from(it.get()).ok()).unwrap_or(REQUESTS);
        // Under a cap a batch lasts about a second, so that an interrupted run soon ends.
        let capped = rates.max_wcu.and_then(|it| usize::try_from(it.get()).ok());
        let documents = capped.map_or(BATCH.documents, |most| most.clamp(1, BATCH.documents));
        Self {
            client,
            name,
            location,
            schema: OnceCell::new(),
            requests: Semaphore::new(requests.min(Semaphore::MAX_PERMITS)),
            batch: BatchLimits { documents, ..BATCH },
            reads: Capacity::new(rates.max_rcu, READ_UNITS),
            writes: Capacity::new(rates.max_wcu, WRITE_UNITS),
        }
    }

    /// The SDK's client.
    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// The table's name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Where the table is, for a person.
    pub(super) fn location(&self) -> &str {
        &self.location
    }

    /// How much one call takes.
    pub(super) fn batch_limits(&self) -> BatchLimits {
        self.batch
    }

    /// Waits until one more request may be in flight.
    pub(super) async fn request(&self) -> Option<SemaphorePermit<'_>> {
        // It is never closed, so there is always a permit.
        self.requests.acquire().await.ok()
    }

    /// Asks the service what the table is.
    pub(super) async fn description(&self) -> StoreResult<TableDescription> {
        let answer = self.client.describe_table().table_name(&self.name).send().await;
        let answer = answer.map_err(|error| store_error("DescribeTable", Effect::Reads, &error))?;
        answer.table.ok_or_else(|| {
            StoreError::new(StoreErrorKind::Permanent, "DynamoDB described no table in its answer")
        })
    }

    /// The table's key, asked for once.
    ///
    /// Errors: [`StoreErrorKind::NotFound`] if there is no such table.
    pub(super) async fn schema(&self) -> StoreResult<&KeySchema> {
        let ask = || async { KeySchema::of(&self.description().await?) };
        self.schema.get_or_try_init(ask).await
    }
}

/// How often one of several requests that make a whole is sent again before the whole fails, to begin anew later.
const IDLE_ROUNDS: u32 = 5;
/// The first and the longest pause between two rounds.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The pauses of a request that is one of several: where each fifth is turned down, a whole that begins anew at
/// every refusal would never end.
pub(super) struct Patience {
    idle: u32,
    pause: Duration,
}

impl Patience {
    pub(super) fn new() -> Self {
        Self { idle: 0, pause: FIRST_PAUSE }
    }

    /// Notes that the service did something.
    pub(super) fn progress(&mut self) {
        *self = Self::new();
    }

    /// Waits before the next round.
    ///
    /// Errors: `failure`, if it is none that passes, or has not passed for too long.
    pub(super) async fn pause(&mut self, failure: StoreError) -> StoreResult<()> {
        self.idle += 1;
        if self.idle > IDLE_ROUNDS || !failure.kind.is_retryable() {
            return Err(failure);
        }
        tokio::time::sleep(self.pause).await;
        self.pause = LONGEST_PAUSE.min(self.pause * 2);
        Ok(())
    }
}

/// The units that an answer says were consumed.
pub(super) fn units(capacity: Option<&ConsumedCapacity>) -> Option<f64> {
    capacity.and_then(ConsumedCapacity::capacity_units)
}

/// The units that the answer to a batch says were consumed.
pub(super) fn units_of_all(capacity: &[ConsumedCapacity]) -> Option<f64> {
    (!capacity.is_empty()).then(|| capacity.iter().filter_map(ConsumedCapacity::capacity_units).sum())
}

/// Runs requests side by side on all cores; the answers have the order of the requests.
pub(super) async fn side_by_side<T, F>(requests: impl IntoIterator<Item = F>) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let running: Vec<_> = requests.into_iter().map(tokio::spawn).collect();
    let mut answers = Vec::with_capacity(running.len());
    for request in running {
        match request.await {
            Ok(answer) => answers.push(answer),
            // Nothing cancels the task, so it has panicked.
            Err(stopped) => std::panic::resume_unwind(stopped.into_panic()),
        }
    }
    answers
}
