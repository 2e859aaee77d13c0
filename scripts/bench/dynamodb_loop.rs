//! The loops one would write with the SDK alone, to compare `rekey` with: the same requests, as many at one time.
//!
//! ```text
//! usage: dynamodb_loop prepare ENDPOINT TABLE...             makes tables that hold one item
//!        dynamodb_loop scan ENDPOINT TABLE                   reads every item, and drops it
//!        dynamodb_loop put ENDPOINT TABLE FILE               puts every line's item where there is none
//! ```

use std::collections::HashMap;
use std::error::Error;
use std::io::{BufRead as _, BufReader};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, KeySchemaElement, KeyType, ReturnConsumedCapacity,
    ReturnValuesOnConditionCheckFailure, ScalarAttributeType,
};
use serde_json::Value;
use tokio::sync::Semaphore;

type Failure = Box<dyn Error + Send + Sync>;

/// What `rekey export` uses if nobody says: readers at one time, segments, items of a page.
const READERS: usize = 4;
const SEGMENTS: i32 = 16;
const PAGE: i32 = 1_000;
/// What `rekey import` uses if nobody says: requests in flight.
const REQUESTS: usize = 32;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["prepare", endpoint, ref tables @ ..] => prepare(&client(endpoint), tables).await,
        ["scan", endpoint, table] => scan(client(endpoint), table).await,
        ["put", endpoint, table, file] => put(client(endpoint), table, file).await,
        _ => Err("usage: dynamodb_loop prepare|scan|put ENDPOINT TABLE [FILE]".into()),
    }
}

fn client(endpoint: &str) -> Client {
    let config = aws_sdk_dynamodb::Config::builder()
        .behavior_version(BehaviorVersion::v2026_01_12())
        .region(Region::new("eu-central-1"))
        .endpoint_url(endpoint)
        .credentials_provider(Credentials::new("bench", "bench", None, None, "bench"))
        .retry_config(RetryConfig::disabled())
        .build();
    Client::from_conf(config)
}

async fn prepare(client: &Client, tables: &[&str]) -> Result<(), Failure> {
    for table in tables {
        let mut create = client.create_table().table_name(*table).billing_mode(BillingMode::PayPerRequest);
        for (name, key, kind) in
            [("pk", KeyType::Hash, ScalarAttributeType::S), ("sk", KeyType::Range, ScalarAttributeType::N)]
        {
            create = create
                .key_schema(KeySchemaElement::builder().attribute_name(name).key_type(key).build()?)
                .attribute_definitions(
                    AttributeDefinition::builder().attribute_name(name).attribute_type(kind).build()?,
                );
        }
        let _ = create.send().await?;
        let first = client.put_item().table_name(*table).item("pk", AttributeValue::S("first".to_owned()));
        let _ = first.item("sk", AttributeValue::N("0".to_owned())).send().await?;
    }
    Ok(())
}

async fn scan(client: Client, table: &str) -> Result<(), Failure> {
    let (next, count) = (Arc::new(AtomicI32::new(0)), Arc::new(AtomicU64::new(0)));
    let readers = (0..READERS).map(|_| {
        let (client, table, next, count) = (client.clone(), table.to_owned(), next.clone(), count.clone());
        tokio::spawn(async move {
            loop {
                let segment = next.fetch_add(1, Ordering::Relaxed);
                if segment >= SEGMENTS {
                    return Ok::<(), Failure>(());
                }
                let mut from = None;
                loop {
                    let scan = client.scan().table_name(&table).consistent_read(true).limit(PAGE);
                    let scan = scan.segment(segment).total_segments(SEGMENTS).set_exclusive_start_key(from);
                    let page = scan.return_consumed_capacity(ReturnConsumedCapacity::Total).send().await?;
                    let _ = count.fetch_add(page.items().len() as u64, Ordering::Relaxed);
                    from = page.last_evaluated_key.filter(|key| !key.is_empty());
                    if from.is_none() {
                        break;
                    }
                }
            }
        })
    });
    for reader in readers.collect::<Vec<_>>() {
        reader.await??;
    }
    println!("{} items", count.load(Ordering::Relaxed));
    Ok(())
}

async fn put(client: Client, table: &str, file: &str) -> Result<(), Failure> {
    let free = Arc::new(Semaphore::new(REQUESTS));
    let mut puts = Vec::new();
    for line in BufReader::new(std::fs::File::open(file)?).lines() {
        let line: Value = serde_json::from_str(&line?)?;
        let item = item(&line["Item"]).ok_or("a line that is no item")?;
        let request = free.clone().acquire_owned().await?;
        let put = client.put_item().table_name(table).set_item(Some(item));
        puts.push(tokio::spawn(async move {
            let put = put
                .condition_expression("attribute_not_exists(#key)")
                .expression_attribute_names("#key", "pk")
                .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
                .return_consumed_capacity(ReturnConsumedCapacity::Total);
            let written = put.send().await;
            drop(request);
            written.map(drop)
        }));
    }
    let count = puts.len();
    for put in puts {
        put.await??;
    }
    println!("{count} items");
    Ok(())
}

/// The types that the bench's events have.
fn item(map: &Value) -> Option<HashMap<String, AttributeValue>> {
    let value = |value: &Value| {
        let (kind, value) = value.as_object()?.iter().next()?;
        Some(match (kind.as_str(), value) {
            ("S", Value::String(text)) => AttributeValue::S(text.clone()),
            ("N", Value::String(text)) => AttributeValue::N(text.clone()),
            ("NULL", Value::Bool(null)) => AttributeValue::Null(*null),
            _ => return None,
        })
    };
    map.as_object()?.iter().map(|(name, it)| Some((name.clone(), value(it)?))).collect()
}
