//! Creates items: by conditional puts that never replace, or in batches where nothing was.

use std::collections::BTreeSet;
use std::sync::Arc;

use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::types::{
    PutRequest, ReturnConsumedCapacity, ReturnValuesOnConditionCheckFailure, WriteRequest,
};

use super::error::{Effect, store_error};
use super::item::{Item, line_of, read_item};
use super::schema::{KeySchema, places};
use super::table::{Table, units, units_of_all};
use crate::document::json::Tape;
use crate::document::{Lines, StoreKey};
use crate::stores::answers::Answers;
use crate::stores::capacity::Admitted;
use crate::stores::requests::side_by_side;
use crate::stores::{Created, StoreError, StoreErrorKind, StoreResult};

/// The most items of one batch call.
const BATCH_ITEMS: usize = 25;
/// The most bytes of one batch call, as lines; the service takes 16 MB of its own measure.
const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// One document on its way.
struct Write {
    at: usize,
    item: Item,
    /// About the units it costs, from the length of its line.
    units: f64,
    bytes: usize,
}

/// Creates documents, never replacing one.
pub(super) async fn create(table: &Arc<Table>, lines: &Lines) -> Vec<Created> {
    let mut answers = Answers::new(lines.len());
    match table.schema().await {
        Ok(_) => {
            let writes = parse(lines, &mut answers);
            put_all(table, writes, &mut answers).await;
        }
        Err(error) => return Created::all_failed(lines.len(), &error),
    }
    answers.finish()
}

/// Creates documents in a table that held nothing, many in a call. Two documents with one key are not put
/// into one call, which the service would refuse, nor is the second one ever written over the first.
pub(super) async fn create_in_empty(table: &Arc<Table>, lines: &Lines) -> Vec<Created> {
    let mut answers = Answers::new(lines.len());
    let schema = match table.schema().await {
        Ok(schema) => schema,
        Err(error) => return Created::all_failed(lines.len(), &error),
    };
    let (mut batches, mut alone) = (vec![Batch::default()], Vec::new());
    let mut keys = BTreeSet::new();
    for write in parse(lines, &mut answers) {
        match schema.key_of(&write.item) {
            Some(key) if keys.insert(key.clone()) => add_to_batches(&mut batches, write, key),
            _ => alone.push(write),
        }
    }
    let sent = batches.into_iter().filter(|batch| !batch.keys.is_empty()).map(|batch| {
        let table = table.clone();
        async move { batch.send(&table).await }
    });
    for (writes, answer) in side_by_side(sent.collect::<Vec<_>>()).await {
        match answer {
            Ok(unprocessed) => answer_batch(schema, &writes, &unprocessed, &mut answers),
            // One item that the service will never take fails its whole call; alone, it fails alone.
            Err(error) if error.kind == StoreErrorKind::Permanent => {
                alone.extend(writes.into_iter().map(|it| it.0));
            }
            Err(error) => {
                let places: Vec<usize> = writes.iter().map(|(write, _)| write.at).collect();
                answers.fail(&places, &error);
            }
        }
    }
    put_all(table, alone, &mut answers).await;
    answers.finish()
}

async fn put_all(table: &Arc<Table>, writes: Vec<Write>, answers: &mut Answers<Created>) {
    let places: Vec<usize> = writes.iter().map(|write| write.at).collect();
    let puts = writes.into_iter().map(|write| {
        let table = table.clone();
        async move { put(&table, write.item, write.units).await }
    });
    for (at, answer) in places.into_iter().zip(side_by_side(puts.collect::<Vec<_>>()).await) {
        answers.put(at, answer);
    }
}

/// Puts one item where there is none; the answer holds what is there otherwise.
async fn put(table: &Table, item: Item, about_units: f64) -> Created {
    match table.enter(table.writes.admit(about_units)).await {
        Ok((admitted, _request)) => put_admitted(table, item, admitted).await,
        Err(error) => error.into(),
    }
}

/// As [`put`], also when the run was asked to stop.
pub(super) async fn put_at_last(table: &Table, item: Item, about_units: f64) -> Created {
    let admitted = table.writes.admit(about_units).await;
    let _request = table.request().await;
    put_admitted(table, item, admitted).await
}

async fn put_admitted(table: &Table, item: Item, admitted: Admitted) -> Created {
    let schema = match table.schema().await {
        Ok(schema) => schema,
        Err(error) => return error.into(),
    };
    let request = table
        .client()
        .put_item()
        .table_name(table.name())
        .set_item(Some(item))
        .condition_expression("attribute_not_exists(#key)")
        .expression_attribute_names("#key", schema.partition_key())
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
        .return_consumed_capacity(ReturnConsumedCapacity::Total);
    let error = match request.send().await {
        Ok(answer) => {
            table.writes.consumed(admitted, units(answer.consumed_capacity()));
            table.waits.wrote();
            return Created::Written;
        }
        Err(error) => error,
    };
    // A condition that fails costs as much as the write would have; nothing else does.
    if let Some(PutItemError::ConditionalCheckFailedException(failed)) = error.as_service_error() {
        let stored = failed.item().filter(|item| !item.is_empty()).map(line_of);
        return match stored.transpose() {
            Ok(stored) => Created::Exists(stored),
            Err(error) => error.into(),
        };
    }
    table.writes.refused(admitted);
    store_error("PutItem", Effect::Writes, &error).into()
}

/// Items that go in one call.
#[derive(Default)]
struct Batch {
    writes: Vec<Write>,
    keys: Vec<StoreKey>,
    bytes: usize,
}

fn add_to_batches(batches: &mut Vec<Batch>, write: Write, key: StoreKey) {
    let is_full = |batch: &Batch| {
        batch.keys.len() >= BATCH_ITEMS || (batch.bytes > 0 && batch.bytes + write.bytes > BATCH_BYTES)
    };
    if batches.last().is_none_or(is_full) {
        batches.push(Batch::default());
    }
    if let Some(batch) = batches.last_mut() {
        batch.bytes += write.bytes;
        batch.writes.push(write);
        batch.keys.push(key);
    }
}

impl Batch {
    /// Sends the items; tells which of them the service left for later.
    async fn send(self, table: &Table) -> (Vec<(Write, StoreKey)>, StoreResult<Vec<Item>>) {
        let unprocessed = self.write(table).await;
        (self.writes.into_iter().zip(self.keys).collect(), unprocessed)
    }

    async fn write(&self, table: &Table) -> StoreResult<Vec<Item>> {
        let requests = self.writes.iter().map(|write| {
            let put = PutRequest::builder().set_item(Some(write.item.clone())).build();
            let put =
                put.map_err(|_| StoreError::new(StoreErrorKind::Permanent, "BatchWriteItem lacks an item"))?;
            Ok(WriteRequest::builder().put_request(put).build())
        });
        let requests = requests.collect::<StoreResult<Vec<_>>>()?;
        let units: f64 = self.writes.iter().map(|write| write.units).sum();
        let (admitted, _request) = table.enter(table.writes.admit(units)).await?;
        let request = table.client().batch_write_item().request_items(table.name(), requests);
        match request.return_consumed_capacity(ReturnConsumedCapacity::Total).send().await {
            Ok(answer) => {
                table.writes.consumed(admitted, units_of_all(answer.consumed_capacity()));
                let mut unprocessed = answer.unprocessed_items.unwrap_or_default();
                let unprocessed = unprocessed.remove(table.name()).unwrap_or_default();
                Ok(unprocessed.into_iter().filter_map(|request| Some(request.put_request?.item)).collect())
            }
            Err(error) => {
                table.writes.refused(admitted);
                Err(store_error("BatchWriteItem", Effect::Writes, &error))
            }
        }
    }
}

/// Reads the lines; what is no item has its answer at once.
fn parse(lines: &Lines, answers: &mut Answers<Created>) -> Vec<Write> {
    let mut tape = Tape::deep();
    let mut writes = Vec::with_capacity(lines.len());
    for (at, line) in lines.iter().enumerate() {
        match read_item(&mut tape, line) {
            Ok(item) => writes.push(Write { at, item, units: write_units(line.len()), bytes: line.len() }),
            Err(what) => answers.put(at, StoreError::new(StoreErrorKind::Permanent, what).into()),
        }
    }
    writes
}

/// What the service left of a batch is turned down for now; the rest of it is written.
fn answer_batch(
    schema: &KeySchema,
    writes: &[(Write, StoreKey)],
    unprocessed: &[Item],
    answers: &mut Answers<Created>,
) {
    let left = places(unprocessed.iter().filter_map(|item| schema.key_of(item)));
    for (write, key) in writes {
        let answer = if left.contains_key(key) {
            StoreError::new(StoreErrorKind::Throttled(None), "DynamoDB left the item for later").into()
        } else {
            Created::Written
        };
        answers.put(write.at, answer);
    }
}

/// About the units that a write costs: one for each KB. The line is longer than what the service counts.
pub(super) fn write_units(line: usize) -> f64 {
    let kilobytes = line.div_ceil(1024).max(1);
    f64::from(u32::try_from(kilobytes).unwrap_or(u32::MAX))
}
