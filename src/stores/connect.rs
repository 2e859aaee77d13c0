//! The one place that turns an address into a collection, and so the one that knows every store.

use std::time::Duration;

use super::address::{EmbeddedAddress, StoreAddress};
#[cfg(feature = "cosmosdb")]
use super::cosmosdb::CosmosDbCollection;
#[cfg(feature = "dynamodb")]
use super::dynamodb::DynamoDbCollection;
use super::embedded::{Access, EmbeddedCollection};
#[cfg(feature = "firestore")]
use super::firestore::FirestoreCollection;
#[cfg(feature = "mongodb")]
use super::mongodb::MongoDbCollection;
use super::retry::Retry;
use super::throttle::Throttle;
use super::waits::{RetryPolicy, Waits};
use super::{Collection, CollectionReader, CollectionSpec, Rates};
use crate::signal::StopSignal;
use crate::{Error, Result};

/// How long a store may take to answer questions about itself; a fifth of it may nobody be there at all.
const PATIENCE: Duration = Duration::from_secs(20);

/// A collection, table or container and how fast it may be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreOptions {
    /// Where the store is.
    pub address: StoreAddress,
    /// The collection, table or container.
    pub collection: String,
    /// How fast the store may be used.
    pub rates: Rates,
}

/// Tells whether there is what a collection would be made in: the file of embedded storage may not be, a database is.
#[must_use]
pub fn place_exists(address: &StoreAddress) -> bool {
    match address {
        StoreAddress::Embedded(address) => address.file().exists(),
        _ => true,
    }
}

/// Stands in for a collection that does not exist yet, empty and in memory, so that its rules can be asked; `None` for
/// a database, which is asked itself.
///
/// Errors: a usage error for a name that no collection may have.
pub async fn imagine(
    store: &StoreOptions,
    spec: &CollectionSpec,
) -> Result<Option<Box<dyn CollectionReader>>> {
    let StoreAddress::Embedded(address) = &store.address else { return Ok(None) };
    check_embedded_name(address, store)?;
    Ok(Some(Box::new(EmbeddedCollection::imagine(address, &store.collection, spec).await?)))
}

/// Opens a collection for reading; nothing in the store changes.
///
/// Errors: a usage error for a place that does not exist and for a store without an adapter in this build,
/// a store error for one that cannot be reached. Whether the *collection* is there, its description tells. When the run
/// is asked to stop, every call fails with [`StoreErrorKind::Interrupted`](super::StoreErrorKind::Interrupted), opening
/// too.
pub async fn open_reader(store: &StoreOptions, stop: &StopSignal) -> Result<Box<dyn CollectionReader>> {
    let waits = Waits::new(stop, retry_policy());
    let reader: Box<dyn CollectionReader> = waits.until(connect(store, Access::Read, &waits)).await??;
    Ok(Box::new(Retry::new(reader, waits)))
}

/// Opens a collection to ask what it is and what we may do there; a store that is not there is not waited for long.
///
/// Errors: as [`open_reader`].
pub async fn open_to_examine(store: &StoreOptions, stop: &StopSignal) -> Result<Box<dyn CollectionReader>> {
    let policy = retry_policy();
    let waits = Waits::new(stop, RetryPolicy::with_allowance(policy.allowance.min(PATIENCE)));
    let reader: Box<dyn CollectionReader> = waits.until(connect(store, Access::Read, &waits)).await??;
    Ok(Box::new(Retry::new(reader, waits)))
}

/// Opens a collection for reading and writing. With `create` a place that does not exist is made (the file
/// of embedded storage); the collection itself is made by its
/// [`create_collection`](super::CollectionWriter::create_collection).
///
/// Errors: as [`open_reader`].
pub async fn open(store: &StoreOptions, create: bool, stop: &StopSignal) -> Result<Box<dyn Collection>> {
    let access = if create { Access::Create } else { Access::Write };
    let waits = Waits::new(stop, retry_policy());
    let opened = waits.until(connect(store, access, &waits)).await??;
    let throttled = match store.rates.max_writes_per_second.filter(|_| !keeps_its_own_pace(&store.address)) {
        Some(rate) => Box::new(Throttle::new(opened, rate, waits.clone())) as Box<dyn Collection>,
        None => opened,
    };
    Ok(Box::new(Retry::new(throttled, waits)))
}

/// Whether the adapter itself holds its writes to the rate, since the service asks for more than a cap.
fn keeps_its_own_pace(address: &StoreAddress) -> bool {
    matches!(address, StoreAddress::Firestore(_))
}

/// Connects to the store. An adapter has an arm of its own here, behind its cargo feature.
#[cfg_attr(
    not(any(feature = "dynamodb", feature = "firestore", feature = "cosmosdb")),
    allow(unused_variables, reason = "who waits by itself takes it")
)]
async fn connect(store: &StoreOptions, access: Access, waits: &Waits) -> Result<Box<dyn Collection>> {
    Ok(match &store.address {
        StoreAddress::Embedded(address) => Box::new(embedded(address, store, access).await?),
        #[cfg(feature = "mongodb")]
        StoreAddress::MongoDb(address) => {
            Box::new(MongoDbCollection::open(address, &store.collection).await?)
        }
        #[cfg(not(feature = "mongodb"))]
        StoreAddress::MongoDb(_) => return Err(without_adapter(&store.address)),
        #[cfg(feature = "dynamodb")]
        StoreAddress::DynamoDb(address) => {
            // The SDK's requests are large; boxed, they do not make every command's future large.
            Box::new(
                Box::pin(DynamoDbCollection::open(address, &store.collection, store.rates, waits)).await?,
            )
        }
        #[cfg(not(feature = "dynamodb"))]
        StoreAddress::DynamoDb(_) => return Err(without_adapter(&store.address)),
        #[cfg(feature = "firestore")]
        StoreAddress::Firestore(address) => Box::new(
            Box::pin(FirestoreCollection::open(address, &store.collection, store.rates, waits)).await?,
        ),
        #[cfg(not(feature = "firestore"))]
        StoreAddress::Firestore(_) => return Err(without_adapter(&store.address)),
        #[cfg(feature = "cosmosdb")]
        StoreAddress::CosmosDb(address) => Box::new(
            Box::pin(CosmosDbCollection::open(address, &store.collection, store.rates, waits)).await?,
        ),
        #[cfg(not(feature = "cosmosdb"))]
        StoreAddress::CosmosDb(_) => return Err(without_adapter(&store.address)),
    })
}

async fn embedded(
    address: &EmbeddedAddress,
    store: &StoreOptions,
    access: Access,
) -> Result<EmbeddedCollection> {
    check_embedded_name(address, store)?;
    EmbeddedCollection::open(address, &store.collection, access).await.map_err(|error| {
        let error = Error::from(error);
        match access {
            _ if address.file().exists() => error,
            Access::Read => error.hint("Check the path; what is read is never made."),
            Access::Write => error.hint("Pass --create-target to make the file."),
            // It was to be made, and the error says why it could not be.
            Access::Create => error,
        }
    })
}

fn check_embedded_name(address: &EmbeddedAddress, store: &StoreOptions) -> Result<()> {
    EmbeddedCollection::check_name(address.stands_for(), &store.collection)
        .map_err(|error| Error::from(error).hint("Choose another name."))
}

/// How long a store may take; a test of a store that takes nothing does not wait for minutes.
fn retry_policy() -> RetryPolicy {
    #[cfg(feature = "faults")]
    if let Some(allowance) =
        std::env::var("REKEY_FAULTS_ALLOWANCE_MS").ok().and_then(|text| text.parse().ok())
    {
        return RetryPolicy::with_allowance(Duration::from_millis(allowance));
    }
    RetryPolicy::default()
}

/// The error of a store whose adapter this build does not have.
#[cfg(not(all(feature = "mongodb", feature = "dynamodb", feature = "firestore", feature = "cosmosdb")))]
fn without_adapter(address: &StoreAddress) -> Error {
    let kind = address.kind();
    Error::usage(format!(
        "This build of rekey has no adapter for {}, so {address} cannot be opened",
        kind.title()
    ))
    .hint(format!(
        "Work on archives, or rehearse on embedded storage that stands for it: embedded:FILE?as={kind}."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    fn store(address: &str) -> StoreOptions {
        let address = StoreAddress::parse(address).unwrap();
        StoreOptions { address, collection: "events".to_owned(), rates: Rates::default() }
    }

    #[tokio::test]
    async fn a_file_that_is_not_there_is_a_usage_error_unless_it_is_to_be_made() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.redb").display().to_string();
        let (store, stop) = (store(&format!("embedded:{file}?as=mongodb")), StopSignal::new());
        for error in [open_reader(&store, &stop).await.err(), open(&store, false, &stop).await.err()] {
            let error = error.unwrap();
            assert_eq!(error.kind(), ErrorKind::Usage);
            assert!(error.to_string().contains(&file), "{error}");
            assert_eq!(error.hints().len(), 1);
        }
        let made = open(&store, true, &stop).await.unwrap();
        made.create_collection(&CollectionSpec::default()).await.unwrap();
        assert!(open_reader(&store, &stop).await.unwrap().describe().await.is_ok());
    }

    #[cfg(not(feature = "mongodb"))]
    #[tokio::test]
    async fn a_store_without_an_adapter_is_a_usage_error_that_shows_no_secret() {
        let (store, stop) = (store("mongodb://ops:S3CRET@db/excalibur"), StopSignal::new());
        for error in [open_reader(&store, &stop).await.err(), open(&store, true, &stop).await.err()] {
            let error = error.unwrap();
            assert_eq!(error.kind(), ErrorKind::Usage);
            assert!(error.to_string().contains("MongoDB") && !format!("{error:?}").contains("S3CRET"));
        }
    }
}
