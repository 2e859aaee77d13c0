//! Reads by key, and the framework's own read of a stream or saga.

use std::collections::HashMap;
use std::sync::Arc;

use aws_sdk_dynamodb::types::{AttributeValue, KeysAndAttributes, ReturnConsumedCapacity};

use super::error::{Effect, store_error};
use super::item::{Item, line_of, write_item};
use super::position::{next_key, read_position, write_position};
use super::schema::places;
use super::table::{Table, units, units_of_all};
use crate::document::{Lines, StoreKey};
use crate::stores::requests::{Patience, side_by_side};
use crate::stores::{FrameworkQuery, Page, Position, StoreError, StoreErrorKind, StoreResult};

/// The most keys of one call.
const KEYS: usize = 100;
/// Reads documents by key; the answer has the keys' order.
pub(super) async fn by_keys(table: &Arc<Table>, keys: &[StoreKey]) -> StoreResult<Vec<Option<Box<[u8]>>>> {
    let mut found: Vec<Option<Box<[u8]>>> = keys.iter().map(|_| None).collect();
    let schema = table.schema().await?;
    let places = places(keys.iter().cloned());
    // What can be no key of the table is not there.
    let asked: Vec<Item> = places.keys().filter_map(|key| schema.attributes(key).ok()).collect();
    let batches = asked.chunks(KEYS).map(|batch| {
        let (table, batch) = (table.clone(), batch.to_vec());
        async move { get_all(&table, batch).await }
    });
    for items in side_by_side(batches.collect::<Vec<_>>()).await {
        for item in items? {
            let line = line_of(&item)?;
            let key = schema.key_of(&item);
            for at in key.and_then(|key| places.get(&key)).into_iter().flatten() {
                if let Some(place) = found.get_mut(*at) {
                    *place = Some(line.clone());
                }
            }
        }
    }
    Ok(found)
}

/// Asks for keys until each was looked at. Pauses where the service leaves some for later, and fails only
/// where it leaves all of them again and again.
async fn get_all(table: &Table, mut keys: Vec<Item>) -> StoreResult<Vec<Item>> {
    let mut items = Vec::with_capacity(keys.len());
    let mut patience = Patience::new(&table.waits);
    while !keys.is_empty() {
        let before = keys.len();
        let failure = match get(table, keys.clone()).await {
            Ok((some, left)) => {
                items.extend(some);
                keys = left;
                StoreError::new(
                    StoreErrorKind::Throttled(None),
                    "DynamoDB left all keys of BatchGetItem for later",
                )
            }
            Err(error) => error,
        };
        if keys.len() < before {
            patience.progress();
        }
        if !keys.is_empty() {
            patience.pause(failure).await?;
        }
    }
    Ok(items)
}

/// One call: the items, and the keys that the service left for later.
async fn get(table: &Table, keys: Vec<Item>) -> StoreResult<(Vec<Item>, Vec<Item>)> {
    let (admitted, _request) = table.enter(table.reads.admit_documents(keys.len())).await?;
    let asked = keys.len();
    let keys = KeysAndAttributes::builder().set_keys(Some(keys)).consistent_read(true).build();
    let keys = keys.map_err(|_| StoreError::new(StoreErrorKind::Permanent, "BatchGetItem lacks its keys"))?;
    let request = table.client().batch_get_item().request_items(table.name(), keys);
    let answer = request.return_consumed_capacity(ReturnConsumedCapacity::Total).send().await;
    let answer = answer.map_err(|error| {
        table.reads.refused(admitted);
        store_error("BatchGetItem", Effect::Reads, &error)
    })?;
    let units = units_of_all(answer.consumed_capacity());
    table.reads.consumed(admitted, units);
    let mut left = answer.unprocessed_keys.unwrap_or_default();
    let left = left.remove(table.name()).map(|keys| keys.keys).unwrap_or_default();
    table.reads.learn(asked - left.len().min(asked), units);
    let mut items = answer.responses.unwrap_or_default();
    Ok((items.remove(table.name()).unwrap_or_default(), left))
}

/// Reads one page of a stream or saga the way the framework does: a query of the partition, or a read by the
/// whole key, of which what the framework then compares must hold. A partition comes in the order of its sort
/// key; there is no other to ask for.
pub(super) async fn query(
    table: &Table,
    query: &FrameworkQuery,
    from: Option<&Position>,
) -> StoreResult<Page> {
    let schema = table.schema().await?;
    let value = |name: &str| query.equals.iter().find(|(known, _)| known == name).map(|(_, value)| value);
    let partition = (
        schema.partition_key(),
        value(schema.partition_key()).ok_or_else(|| {
            let message =
                format!("A query of this table must name its partition key {:?}", schema.partition_key());
            StoreError::new(StoreErrorKind::Permanent, message)
        })?,
    );
    let (items, next) = match schema.sort_key().map(|name| value(name).map(|value| (name, value))) {
        None => (get_one(table, [partition]).await?, None),
        Some(Some(sort)) => (get_one(table, [partition, sort]).await?, None),
        Some(None) => query_partition(table, partition, from.map(read_position).transpose()?).await?,
    };
    let compared: Vec<_> = query.equals.iter().filter(|(name, _)| !schema.holds(name)).collect();
    let mut lines = Lines::new();
    for item in
        items.iter().filter(|item| compared.iter().all(|(name, value)| is_text(item.get(name), value)))
    {
        let mut written = Ok(());
        lines.push_with(|out| written = write_item(item, out));
        written?;
    }
    Ok(Page { lines, next: next.as_ref().map(write_position).transpose()? })
}

/// The item under a whole key of strings.
async fn get_one<'n>(
    table: &Table,
    key: impl IntoIterator<Item = (&'n str, &'n String)>,
) -> StoreResult<Vec<Item>> {
    let key: HashMap<_, _> =
        key.into_iter().map(|(name, value)| (name.to_owned(), AttributeValue::S(value.clone()))).collect();
    let (admitted, _request) = table.enter(table.reads.admit_documents(1)).await?;
    let request = table.client().get_item().table_name(table.name()).set_key(Some(key)).consistent_read(true);
    let answer = request.return_consumed_capacity(ReturnConsumedCapacity::Total).send().await;
    let answer = answer.map_err(|error| {
        table.reads.refused(admitted);
        store_error("GetItem", Effect::Reads, &error)
    })?;
    table.reads.consumed(admitted, units(answer.consumed_capacity()));
    Ok(answer.item.into_iter().collect())
}

/// A page of a partition, and the key behind which the next one begins.
async fn query_partition(
    table: &Table,
    (name, value): (&str, &String),
    from: Option<Item>,
) -> StoreResult<(Vec<Item>, Option<Item>)> {
    let limit = table.reads.page(usize::MAX);
    let (admitted, _request) = table.enter(table.reads.admit_documents(limit.min(10))).await?;
    let request = table
        .client()
        .query()
        .table_name(table.name())
        .consistent_read(true)
        .key_condition_expression("#partition = :partition")
        .expression_attribute_names("#partition", name)
        .expression_attribute_values(":partition", AttributeValue::S(value.clone()))
        .set_limit(i32::try_from(limit).ok())
        .set_exclusive_start_key(from)
        .return_consumed_capacity(ReturnConsumedCapacity::Total);
    let answer = request.send().await.map_err(|error| {
        table.reads.refused(admitted);
        store_error("Query", Effect::Reads, &error)
    })?;
    table.reads.consumed(admitted, units(answer.consumed_capacity()));
    Ok((answer.items.unwrap_or_default(), next_key(answer.last_evaluated_key)))
}

fn is_text(value: Option<&AttributeValue>, text: &str) -> bool {
    matches!(value, Some(AttributeValue::S(value)) if value == text)
}
