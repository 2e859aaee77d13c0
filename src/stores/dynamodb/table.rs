//! What every request to a table needs: the client, the key, the requests in flight and the capacity.

use std::future::Future;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{ConsumedCapacity, TableDescription};
use tokio::sync::{OnceCell, SemaphorePermit};

use super::error::{Effect, store_error};
use super::schema::KeySchema;
use crate::stores::Rates;
use crate::stores::capacity::{Admitted, Capacity};
use crate::stores::requests::InFlight;
use crate::stores::waits::Waits;
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
    requests: InFlight,
    batch: BatchLimits,
    /// What every wait for the table ends by.
    pub waits: Waits,
    /// Read capacity.
    pub reads: Capacity,
    /// Write capacity.
    pub writes: Capacity,
}

impl Table {
    pub(super) fn new(client: Client, name: String, location: String, rates: Rates, waits: &Waits) -> Self {
        // Under a cap a batch lasts about a second, so that an interrupted run soon ends.
        let capped = rates.max_wcu.and_then(|it| usize::try_from(it.get()).ok());
        Self {
            client,
            name,
            location,
            schema: OnceCell::new(),
            requests: InFlight::new(rates, REQUESTS),
            batch: BATCH.capped(capped),
            waits: waits.clone(),
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

    /// Waits until a request is admitted within its capacity, and one more may be in flight.
    ///
    /// Errors: [`StoreErrorKind::Interrupted`] once the run is asked to stop.
    pub(super) async fn enter(
        &self,
        admission: impl Future<Output = Admitted>,
    ) -> StoreResult<(Admitted, Option<SemaphorePermit<'_>>)> {
        self.waits.until(async { (admission.await, self.request().await) }).await
    }

    /// Waits until one more request may be in flight.
    pub(super) async fn request(&self) -> Option<SemaphorePermit<'_>> {
        self.requests.enter().await
    }

    /// Asks the service what the table is.
    pub(super) async fn description(&self) -> StoreResult<TableDescription> {
        let answer = self.client.describe_table().table_name(&self.name).send().await;
        let answer = answer.map_err(|error| store_error("DescribeTable", Effect::Reads, &error))?;
        answer.table.ok_or_else(|| {
            StoreError::new(StoreErrorKind::Permanent, "DynamoDB described no table in its answer")
        })
    }

    /// Keeps the table's key, so that it need not be asked for again.
    pub(super) fn remember(&self, schema: &KeySchema) {
        // One that is known already stays.
        let _known = self.schema.set(schema.clone());
    }

    /// The table's key, if it was asked for already.
    pub(super) fn known_schema(&self) -> Option<&KeySchema> {
        self.schema.get()
    }

    /// The table's key, asked for once.
    ///
    /// Errors: [`StoreErrorKind::NotFound`] if there is no such table.
    pub(super) async fn schema(&self) -> StoreResult<&KeySchema> {
        let ask = || async { KeySchema::of(&self.description().await?) };
        self.schema.get_or_try_init(ask).await
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
