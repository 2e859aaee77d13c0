//! What every request to a container needs: the client, the partition key, the requests in flight and the units.

use std::future::Future;

use azure_data_cosmos::clients::{ContainerClient, DatabaseClient};
use azure_data_cosmos::models::ResponseHeaders;
use azure_data_cosmos::{CosmosClient, CosmosError};
use tokio::sync::{OnceCell, SemaphorePermit};

use super::credentials::Credentials;
use super::error::{Effect, charge, store_error};
use crate::stores::Rates;
use crate::stores::capacity::{Admitted, Capacity};
use crate::stores::requests::InFlight;
use crate::stores::waits::Waits;
use crate::stores::{BatchLimits, StoreError, StoreErrorKind, StoreResult};

/// Requests in flight at one time, if nobody says.
const REQUESTS: usize = 32;
/// A batch is many requests side by side; what it notes in the journal is one.
const BATCH: BatchLimits = BatchLimits { documents: 400, bytes: 4 * 1024 * 1024 };
/// What an item of 1 KB costs to read in a query, and to write with a few indexed properties.
const READ_UNITS: f64 = 0.1;
const WRITE_UNITS: f64 = 8.0;

/// One container of an account.
pub(super) struct Container {
    client: CosmosClient,
    database: String,
    name: String,
    location: String,
    credentials: Credentials,
    opened: OnceCell<Opened>,
    requests: InFlight,
    batch: BatchLimits,
    /// What every wait for the container ends by.
    pub waits: Waits,
    /// Request units, of reads and writes together.
    pub units: Capacity,
}

/// The container once it was found.
pub(super) struct Opened {
    /// The SDK's client of it.
    pub client: ContainerClient,
    /// The paths of its partition key without their first `/`, broadest first.
    pub paths: Vec<String>,
}

impl Container {
    pub(super) fn new(
        client: CosmosClient,
        database: String,
        name: String,
        place: &str,
        credentials: Credentials,
        rates: Rates,
        waits: &Waits,
    ) -> Self {
        // Under a cap a batch lasts about a second, so that an interrupted run soon ends.
        let capped = rates.max_ru.map(|most| usize::try_from(most.get() / 8).unwrap_or(usize::MAX));
        let location = format!("{place}, container {name:?}");
        Self {
            client,
            database,
            name,
            location,
            credentials,
            opened: OnceCell::new(),
            requests: InFlight::new(rates, REQUESTS),
            batch: BATCH.capped(capped),
            waits: waits.clone(),
            units: Capacity::new(rates.max_ru, READ_UNITS),
        }
    }

    /// The account's client.
    pub(super) fn client(&self) -> &CosmosClient {
        &self.client
    }

    /// The database's client.
    pub(super) fn database(&self) -> DatabaseClient {
        self.client.database_client(self.database.clone())
    }

    /// The database's name.
    pub(super) fn database_name(&self) -> &str {
        &self.database
    }

    /// The container's name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Where the container is, for a person.
    pub(super) fn location(&self) -> &str {
        &self.location
    }

    /// Whether the account's key is used, without which no container can be made.
    pub(super) fn has_key(&self) -> bool {
        self.credentials.is_key()
    }

    /// Which credentials are used, for a person.
    pub(super) fn shown_credentials(&self) -> String {
        self.credentials.shown()
    }

    /// How much one call takes.
    pub(super) fn batch_limits(&self) -> BatchLimits {
        self.batch
    }

    /// Waits until one more request may be in flight, and is admitted within the units. They are asked for last, so that
    /// what an answer says of them soon counts.
    ///
    /// Errors: [`StoreErrorKind::Interrupted`] once the run is asked to stop.
    pub(super) async fn enter(
        &self,
        admission: impl Future<Output = Admitted>,
    ) -> StoreResult<(Admitted, Option<SemaphorePermit<'_>>)> {
        let entering = async { (self.requests.enter().await, admission.await) };
        let (request, admitted) = self.waits.until(entering).await?;
        Ok((admitted, request))
    }

    /// The container, looked for once.
    ///
    /// Errors: [`StoreErrorKind::NotFound`] if there is no such container, or no such database.
    pub(super) async fn opened(&self) -> StoreResult<&Opened> {
        self.opened.get_or_try_init(|| self.find()).await
    }

    /// The partition key's paths, if the container was looked for already.
    pub(super) fn known_paths(&self) -> Option<&[String]> {
        self.opened.get().map(|opened| opened.paths.as_slice())
    }

    async fn find(&self) -> StoreResult<Opened> {
        let found = async {
            let client = Box::pin(self.database().container_client(self.name.clone(), None)).await?;
            let properties = Box::pin(client.read(None)).await?.into_model()?;
            Ok((client, properties))
        };
        let (client, properties) = found.await.map_err(|error| self.missing_or(&error))?;
        let paths = properties.partition_key.paths().iter();
        Ok(Opened { client, paths: paths.map(|path| path.trim_start_matches('/').to_owned()).collect() })
    }

    /// The failure of a request for the container itself.
    pub(super) fn missing_or(&self, error: &CosmosError) -> StoreError {
        let error = store_error("the container", Effect::Reads, error);
        if error.kind == StoreErrorKind::Denied {
            let message = format!("{}, asked with {}", error.message, self.credentials.shown());
            return StoreError { message, ..error };
        }
        if error.kind != StoreErrorKind::NotFound {
            return error;
        }
        let message = format!("There is no container {:?} in the database {:?}", self.name, self.database);
        StoreError::new(StoreErrorKind::NotFound, message)
    }

    /// Notes the units that an answer says were consumed, and tells them.
    pub(super) fn charge(&self, admitted: Admitted, headers: &ResponseHeaders) -> Option<f64> {
        let units = headers.request_charge().map(|charge| charge.value());
        self.units.consumed(admitted, units);
        units
    }

    /// Notes what a request consumed that failed.
    pub(super) fn charge_failure(&self, admitted: Admitted, error: &CosmosError) {
        // What was turned down cost nothing, or next to nothing.
        self.units.consumed(admitted, Some(charge(error).unwrap_or_default()));
    }
}

/// About the units that a write costs: five for the first KB and half a unit for each further one, and a few for
/// the index.
pub(super) fn write_units(line: usize) -> f64 {
    let further = u32::try_from(line.div_ceil(1024).saturating_sub(1)).unwrap_or(u32::MAX);
    f64::from(further).mul_add(0.5, WRITE_UNITS)
}
