//! Scans in parallel segments, and the framework's question of the whole table.

use std::sync::Arc;

use aws_sdk_dynamodb::operation::scan::ScanOutput;
use aws_sdk_dynamodb::operation::scan::builders::ScanFluentBuilder;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity};
use serde::{Deserialize, Serialize};

use super::error::{Effect, store_error};
use super::item::Item;
use super::position::{foreign, next_key, read_position, write_position};
use super::scanned::ScannedItems;
use super::table::{Table, units};
use crate::stores::requests::{Patience, side_by_side};
use crate::stores::{LegacyProbe, Page, Position, ScanPart, StoreResult};

/// The most segments that the service cuts a table into.
const MOST_SEGMENTS: usize = 1_000_000;
/// The segments that the framework's question is asked of.
const PROBE_SEGMENTS: i32 = 8;

/// One segment of a scan; a position holds only within its own.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Segment {
    segment: i32,
    segments: i32,
}

/// Cuts a table into as many segments as wanted.
///
/// Errors: [`StoreErrorKind::NotFound`] if there is no such table.
pub(super) async fn parts(table: &Table, wanted: usize) -> StoreResult<Vec<ScanPart>> {
    let _schema = table.schema().await?;
    let segments = i32::try_from(wanted.clamp(1, MOST_SEGMENTS)).unwrap_or(1);
    (0..segments)
        .zip(0..)
        .map(|(segment, number)| {
            let range = serde_json::to_value(Segment { segment, segments }).map_err(|_| foreign())?;
            Ok(ScanPart { number, range })
        })
        .collect()
}

/// Reads a page of a segment, consistently. It may be empty although more follow.
pub(super) async fn page(
    table: &Arc<Table>,
    part: &ScanPart,
    from: Option<&Position>,
    limit: usize,
) -> StoreResult<Page> {
    let segment = Segment::deserialize(&part.range).map_err(|_| foreign())?;
    let from = from.map(read_position).transpose()?;
    let table = table.clone();
    let reading = async move {
        let limit = table.reads.page(limit);
        let request = segment_scan(&table, segment, from).limit(i32::try_from(limit).unwrap_or(i32::MAX));
        let items = ScannedItems::default();
        let answer = send(&table, request, limit, Some(items.clone())).await?;
        let next = next_key(answer.last_evaluated_key).as_ref().map(write_position).transpose()?;
        Ok(Page { lines: items.take()?, next })
    };
    // On a task of its own, so that the pages of several parts are taken apart on all cores.
    side_by_side([reading]).await.pop().unwrap_or_else(|| Err(foreign()))
}

/// Asks every item whether it has a legacy key; the first [`LegacyProbe::ANSWERS`] different ones.
///
/// The framework looks at one page and reads inconsistently; this follows the pages to the end.
pub(super) async fn probe(table: &Arc<Table>, probe: &LegacyProbe) -> StoreResult<Vec<String>> {
    let segments = (0..PROBE_SEGMENTS).map(|segment| {
        let (table, probe) = (table.clone(), probe.clone());
        async move { probe_segment(&table, Segment { segment, segments: PROBE_SEGMENTS }, &probe).await }
    });
    let mut found: Vec<String> = Vec::new();
    for values in side_by_side(segments).await {
        found.extend(values?);
    }
    found.sort_unstable();
    found.dedup();
    found.truncate(LegacyProbe::ANSWERS);
    Ok(found)
}

async fn probe_segment(table: &Table, segment: Segment, probe: &LegacyProbe) -> StoreResult<Vec<String>> {
    let mut found: Vec<String> = Vec::new();
    let mut from = None;
    let mut patience = Patience::new(&table.waits);
    loop {
        let limit = table.reads.page(usize::MAX);
        let mut request = segment_scan(table, segment, from.clone())
            .projection_expression("#key")
            .expression_attribute_names("#key", &probe.field)
            .expression_attribute_values(":rekeyed", AttributeValue::S(probe.rekeyed_prefix.clone()));
        request = if probe.within.is_empty() {
            request.filter_expression("NOT begins_with(#key, :rekeyed)")
        } else {
            request
                .filter_expression("begins_with(#key, :within) AND NOT begins_with(#key, :rekeyed)")
                .expression_attribute_values(":within", AttributeValue::S(probe.within.clone()))
        };
        request = request.set_limit(i32::try_from(limit).ok());
        let answer = match send(table, request, limit.min(1_000), None).await {
            Ok(answer) => answer,
            Err(error) => {
                patience.pause(error).await?;
                continue;
            }
        };
        patience.progress();
        for item in answer.items() {
            if let Some(AttributeValue::S(value)) = item.get(&probe.field)
                && probe.offends(value)
                && !found.contains(value)
            {
                found.push(value.clone());
            }
        }
        from = next_key(answer.last_evaluated_key);
        if from.is_none() || found.len() >= LegacyProbe::ANSWERS {
            return Ok(found);
        }
    }
}

fn segment_scan(table: &Table, segment: Segment, from: Option<Item>) -> ScanFluentBuilder {
    let scan = table.client().scan().table_name(table.name()).consistent_read(true);
    scan.segment(segment.segment).total_segments(segment.segments).set_exclusive_start_key(from)
}

/// Sends a request; the answer comes without its items where they are taken out.
async fn send(
    table: &Table,
    request: ScanFluentBuilder,
    documents: usize,
    items: Option<ScannedItems>,
) -> StoreResult<ScanOutput> {
    let (admitted, _request) = table.enter(table.reads.admit_documents(documents)).await?;
    let request = request.return_consumed_capacity(ReturnConsumedCapacity::Total);
    let sent = match items {
        Some(items) => request.customize().interceptor(items).send().await,
        None => request.send().await,
    };
    match sent {
        Ok(answer) => {
            let units = units(answer.consumed_capacity());
            table.reads.consumed(admitted, units);
            table.reads.learn(usize::try_from(answer.scanned_count()).unwrap_or_default(), units);
            Ok(answer)
        }
        Err(error) => {
            table.reads.refused(admitted);
            Err(store_error("Scan", Effect::Reads, &error))
        }
    }
}
