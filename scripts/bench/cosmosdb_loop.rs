//! The loops one would write with the SDK alone, to compare `rekey` with: the same requests, as many at one time.
//!
//! ```text
//! usage: cosmosdb_loop prepare ENDPOINT CONTAINER...        makes containers of events
//!        cosmosdb_loop scan ENDPOINT CONTAINER              reads every item, as a value, and every id; drops them
//!        cosmosdb_loop skim ENDPOINT CONTAINER              the same, but leaves the items texts that nobody looks at
//!        cosmosdb_loop create ENDPOINT CONTAINER FILE       creates every line's item
//! ```
//!
//! The key is taken from `COSMOS_KEY`; the database is `bench`.

use std::error::Error;
use std::io::{BufRead as _, BufReader};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use azure_core::credentials::Secret;
use azure_data_cosmos::clients::ContainerClient;
use azure_data_cosmos::feed::FeedRange;
use azure_data_cosmos::models::ContainerProperties;
use azure_data_cosmos::options::{BinaryEncodingOptions, MaxItemCountHint, QueryOptions};
use azure_data_cosmos::{AccountEndpoint, AccountReference, CosmosClient, FeedScope, RoutingStrategy};
use futures::StreamExt as _;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::Semaphore;

type Failure = Box<dyn Error + Send + Sync>;

const DATABASE: &str = "bench";
/// What `rekey export` uses if nobody says: readers at one time, items and ids of a page.
const READERS: usize = 4;
const PAGE: u32 = 1_000;
const COUNTED: u32 = 5_000;
/// What `rekey import` uses if nobody says: requests in flight.
const REQUESTS: usize = 32;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["prepare", endpoint, ref containers @ ..] => prepare(&client(endpoint).await?, containers).await,
        ["scan", endpoint, container] => scan::<Value>(&client(endpoint).await?, container).await,
        ["skim", endpoint, container] => scan::<Box<RawValue>>(&client(endpoint).await?, container).await,
        ["create", endpoint, container, file] => create(&client(endpoint).await?, container, file).await,
        _ => Err("usage: cosmosdb_loop prepare|scan|skim|create ENDPOINT CONTAINER [FILE]".into()),
    }
}

async fn client(endpoint: &str) -> Result<CosmosClient, Failure> {
    let endpoint: AccountEndpoint = format!("{}/", endpoint.trim_end_matches('/')).parse()?;
    let account =
        AccountReference::with_authentication_key(endpoint, Secret::from(std::env::var("COSMOS_KEY")?));
    let builder = CosmosClient::builder()
        .with_binary_encoding_options(BinaryEncodingOptions::new().with_enabled(false));
    Ok(builder.build(account, RoutingStrategy::PreferredRegions(Vec::new())).await?)
}

async fn prepare(client: &CosmosClient, containers: &[&str]) -> Result<(), Failure> {
    for container in containers {
        let properties = ContainerProperties::new((*container).to_owned(), "/streamId".into());
        let _ = client.database_client(DATABASE).create_container(properties, None).await?;
    }
    Ok(())
}

async fn scan<Item: DeserializeOwned + Send + 'static>(
    client: &CosmosClient,
    container: &str,
) -> Result<(), Failure> {
    let container = client.database_client(DATABASE).container_client(container.to_owned(), None).await?;
    let ranges = container.read_feed_ranges(None).await?;
    let items = read::<Item>(&container, &ranges, "SELECT * FROM c", PAGE).await?;
    let ids = read::<IgnoredAny>(&container, &ranges, "SELECT VALUE c.id FROM c", COUNTED).await?;
    println!("{items} items, {ids} ids");
    Ok(())
}

/// Reads every range to its end, some at one time; how many answers there were.
async fn read<T: DeserializeOwned + Send + 'static>(
    container: &ContainerClient,
    ranges: &[FeedRange],
    query: &'static str,
    page: u32,
) -> Result<usize, Failure> {
    let (next, count) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let readers = (0..READERS).map(|_| {
        let (container, ranges) = (container.clone(), ranges.to_vec());
        let (next, count) = (next.clone(), count.clone());
        tokio::spawn(async move {
            while let Some(range) = ranges.get(next.fetch_add(1, Ordering::Relaxed)) {
                let limit = MaxItemCountHint::Limit(NonZeroU32::new(page).ok_or("a page of nothing")?);
                let options = QueryOptions::default().with_max_item_count(limit);
                let scope = FeedScope::range(range.clone());
                let mut pages = container.query_items::<T>(query, scope, Some(options)).await?.into_pages();
                while let Some(page) = pages.next().await {
                    let _ = count.fetch_add(page?.into_items().len(), Ordering::Relaxed);
                }
            }
            Ok::<(), Failure>(())
        })
    });
    for reader in readers.collect::<Vec<_>>() {
        reader.await??;
    }
    Ok(count.load(Ordering::Relaxed))
}

/// The two fields that say where an event goes.
#[derive(Deserialize)]
struct Key {
    id: String,
    #[serde(rename = "streamId")]
    stream: String,
}

async fn create(client: &CosmosClient, container: &str, file: &str) -> Result<(), Failure> {
    let container = client.database_client(DATABASE).container_client(container.to_owned(), None).await?;
    let free = Arc::new(Semaphore::new(REQUESTS));
    let mut creates = Vec::new();
    for line in BufReader::new(std::fs::File::open(file)?).lines() {
        let item = RawValue::from_string(line?)?;
        let Key { id, stream } = serde_json::from_str(item.get())?;
        let request = free.clone().acquire_owned().await?;
        let container = container.clone();
        creates.push(tokio::spawn(async move {
            let answer = container.create_item(stream, &id, item, None).await;
            drop(request);
            answer.map(drop)
        }));
    }
    let count = creates.len();
    for create in creates {
        create.await??;
    }
    println!("{count} items");
    Ok(())
}
