//! Scans by ranges of document names, all at one moment.
//!
//! A page also asks for what stands below the documents, in sub-collections: it costs nothing where there is none,
//! and an operator must know of what does not move along.

use std::sync::Arc;

use firestore::gcloud_sdk::google::firestore::v1::partition_query_request::QueryType;
use firestore::gcloud_sdk::google::firestore::v1::structured_query::field_filter::Operator;
use firestore::gcloud_sdk::google::firestore::v1::value::ValueType;
use firestore::gcloud_sdk::google::firestore::v1::{
    Cursor, PartitionQueryRequest, StructuredQuery, structured_query::CollectionSelector,
};
use firestore::gcloud_sdk::tonic::Code;
use serde::{Deserialize, Serialize};

use super::encode::write_document;
use super::failure::{Effect, call_error};
use super::query::{all_of, compare, names_only, of_collection, of_everything, snapshot_at, upwards};
use super::service::Service;
use crate::document::{DOCUMENT_ID, Lines};
use crate::stores::requests::side_by_side;
use crate::stores::{Page, Position, ScanPart, Snapshot, StoreError, StoreErrorKind, StoreResult};

/// The most bytes of a page.
pub(super) const PAGE_BYTES: usize = 4 * 1024 * 1024;
/// The most parts of a scan.
const MOST_PARTS: usize = 1_000;
/// How many names are kept to cut a scan by where the service does not cut it; at twice as many every other one goes.
const SAMPLE: usize = 1_024;

/// A part: the documents from one id on up to another one, which does not belong to it.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Range {
    from: Option<String>,
    to: Option<String>,
}

/// Where a page ended: the path after the collection of the last document seen.
#[derive(Debug, Serialize, Deserialize)]
struct After {
    after: String,
}

/// The failure of a part or position that this adapter did not make.
pub(super) fn foreign() -> StoreError {
    StoreError::new(StoreErrorKind::Permanent, "The position is not one of this collection's")
}

/// Cuts a scan into about as many parts as wanted.
pub(super) async fn parts(service: &Service, wanted: usize) -> StoreResult<Vec<ScanPart>> {
    let wanted = wanted.clamp(1, MOST_PARTS);
    let cuts = match wanted {
        1 => Vec::new(),
        _ => match partitions(service, wanted).await? {
            Some(cuts) => cuts,
            None => sample(service, wanted).await?,
        },
    };
    let from = std::iter::once(None).chain(cuts.iter().cloned().map(Some));
    let to = cuts.iter().cloned().map(Some).chain(std::iter::once(None));
    from.zip(to)
        .zip(0..)
        .map(|((from, to), number)| {
            let range = serde_json::to_value(Range { from, to }).map_err(|_| foreign())?;
            Ok(ScanPart { number, range })
        })
        .collect()
}

/// The ids at which the service would cut; `None` where it does not do that, as the emulator.
async fn partitions(service: &Service, wanted: usize) -> StoreResult<Option<Vec<String>>> {
    let query = StructuredQuery {
        // The service cuts groups of collections of one name only.
        from: vec![CollectionSelector { collection_id: service.path.id().to_owned(), all_descendants: true }],
        order_by: vec![upwards(DOCUMENT_ID)],
        ..StructuredQuery::default()
    };
    let mut request = PartitionQueryRequest {
        parent: service.path.root(),
        partition_count: i64::try_from(wanted - 1).unwrap_or(i64::MAX),
        query_type: Some(QueryType::StructuredQuery(query)),
        ..PartitionQueryRequest::default()
    };
    let mut cuts = Vec::new();
    loop {
        let _request = service.request().await?;
        let answer = match service.client().partition_query(request.clone()).await {
            Ok(answer) => answer.into_inner(),
            Err(status) if status.code() == Code::Unimplemented => return Ok(None),
            Err(status) => return Err(call_error("PartitionQuery", Effect::Reads, &status)),
        };
        cuts.extend(answer.partitions.iter().filter_map(|cursor| cut_of(service, cursor)));
        if answer.next_page_token.is_empty() {
            break;
        }
        request.page_token = answer.next_page_token;
    }
    cuts.sort_unstable();
    cuts.dedup();
    Ok(Some(cuts))
}

/// The id that a cursor stands at, if it stands in this collection.
fn cut_of(service: &Service, cursor: &Cursor) -> Option<String> {
    let Some(ValueType::ReferenceValue(name)) = &cursor.values.first()?.value_type else { return None };
    let id = service.path.relative(name)?;
    is_cut(id).then(|| id.to_owned())
}

/// Whether ids may be cut here: in one collection, and where the service's order is that of the bytes, which the
/// numeric ids of Datastore are not in.
fn is_cut(id: &str) -> bool {
    !id.contains('/') && !id.starts_with("__")
}

/// Ids at which the collection is cut evenly, by looking at every name.
async fn sample(service: &Service, wanted: usize) -> StoreResult<Vec<String>> {
    let query = StructuredQuery {
        select: Some(names_only()),
        from: of_collection(service.path.id()),
        order_by: vec![upwards(DOCUMENT_ID)],
        ..StructuredQuery::default()
    };
    let (mut kept, mut seen, mut stride) = (Vec::new(), 0_usize, 1_usize);
    let _moment = service
        .query(service.path.parent(), query, None, |document| {
            if seen.is_multiple_of(stride)
                && let Some(id) = service.path.relative(document.name).filter(|id| is_cut(id))
            {
                kept.push(id.to_owned());
            }
            seen += 1;
            if kept.len() == 2 * SAMPLE {
                let mut at = 0;
                kept.retain(|_| {
                    at += 1;
                    at % 2 == 1
                });
                stride *= 2;
            }
            Ok(true)
        })
        .await?;
    let parts = wanted.min(kept.len());
    Ok((1..parts).filter_map(|part| kept.get(part * kept.len() / parts).cloned()).collect())
}

/// Reads a page of a part. It may be empty although more follow.
pub(super) async fn page(
    service: &Arc<Service>,
    part: &ScanPart,
    from: Option<&Position>,
    limit: usize,
    snapshot: Option<&Snapshot>,
) -> StoreResult<Page> {
    let range = Range::deserialize(&part.range).map_err(|_| foreign())?;
    let after = from.map(|from| After::deserialize(&from.0).map_err(|_| foreign())).transpose()?;
    let (service, snapshot) = (service.clone(), snapshot.cloned());
    let reading = async move {
        // A single document is looked for to see whether there is any, in the collection itself.
        let with_nested = limit > 1 && service.nested.is_looked_for();
        let scan = Scan { range: &range, after: after.as_ref(), limit, snapshot: snapshot.as_ref() };
        match scan.page(&service, with_nested).await {
            Err(error) if with_nested && error.kind == StoreErrorKind::Permanent => {
                let page = scan.page(&service, false).await?;
                service.nested.cannot_be_seen();
                Ok(page)
            }
            page => page,
        }
    };
    // On a task of its own, so that the pages of several parts are taken apart on all cores.
    side_by_side([reading]).await.pop().unwrap_or_else(|| Err(foreign()))
}

/// One page.
struct Scan<'a> {
    range: &'a Range,
    after: Option<&'a After>,
    limit: usize,
    snapshot: Option<&'a Snapshot>,
}

impl Scan<'_> {
    async fn page(&self, service: &Service, with_nested: bool) -> StoreResult<Page> {
        let (mut lines, mut last, mut seen) = (Lines::new(), String::new(), 0);
        let read = service
            .query(service.path.parent(), self.query(service, with_nested), self.snapshot, |document| {
                let path = service.path.relative(document.name).ok_or_else(foreign)?;
                if path.contains('/') {
                    service.nested.see(path);
                } else {
                    let mut written = Ok(());
                    lines.push_with(|out| written = write_document(document, out));
                    written?;
                }
                last.clear();
                last.push_str(path);
                seen += 1;
                Ok(lines.bytes() < PAGE_BYTES)
            })
            .await;
        let is_last = match read {
            Ok(_moment) => seen < self.limit && lines.bytes() < PAGE_BYTES,
            // What was read before the answer broke off is read.
            Err(error) if seen > 0 && error.kind.is_retryable() => false,
            Err(error) => return Err(error),
        };
        let goes_on = seen > 0 && !is_last;
        let next = goes_on.then(|| serde_json::to_value(After { after: last }));
        Ok(Page { lines, next: next.transpose().map_err(|_| foreign())?.map(Position) })
    }

    fn query(&self, service: &Service, with_nested: bool) -> StructuredQuery {
        let path = &service.path;
        let bound = |id: &Option<String>| id.as_ref().map(|id| path.reference(id));
        let (mut from, mut to) = (bound(&self.range.from), bound(&self.range.to));
        if with_nested {
            // Without the name of a collection the bounds alone keep to this one.
            from = from.or_else(|| Some(path.begin()));
            to = to.or_else(|| Some(path.end()));
        }
        let from = from.map(|from| compare(DOCUMENT_ID, Operator::GreaterThanOrEqual, from));
        let to = to.map(|to| compare(DOCUMENT_ID, Operator::LessThan, to));
        StructuredQuery {
            from: if with_nested { of_everything() } else { of_collection(path.id()) },
            r#where: all_of(from.into_iter().chain(to).collect()),
            order_by: vec![upwards(DOCUMENT_ID)],
            start_at: self
                .after
                .map(|After { after }| Cursor { values: vec![path.reference(after)], before: false }),
            limit: Some(i32::try_from(self.limit).unwrap_or(i32::MAX)),
            ..StructuredQuery::default()
        }
    }
}

/// The moment that is now for the service; it also shows whether the database is there and may be read.
pub(super) async fn snapshot(service: &Service) -> StoreResult<Option<Snapshot>> {
    let query = StructuredQuery {
        select: Some(names_only()),
        from: of_collection(service.path.id()),
        limit: Some(1),
        ..StructuredQuery::default()
    };
    let moment = service.query(service.path.parent(), query, None, |_| Ok(true)).await?;
    Ok(moment.map(snapshot_at))
}
