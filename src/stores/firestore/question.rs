//! The framework's own questions: whether legacy keys are left, and one stream or saga.

use std::sync::Arc;

use firestore::gcloud_sdk::google::firestore::v1::structured_query::field_filter::Operator;
use firestore::gcloud_sdk::google::firestore::v1::structured_query::{Filter, Projection};
use firestore::gcloud_sdk::google::firestore::v1::{Cursor, StructuredQuery, Value};
use serde::{Deserialize, Serialize};

use super::decode::read_value;
use super::encode::{write_document, write_value_text};
use super::query::{all_of, compare, field, of_collection, text, upwards};
use super::read::documents;
use super::scan::{PAGE_BYTES, foreign};
use super::service::Service;
use super::wire::{StoredDocument, text_of};
use crate::document::{DOCUMENT_ID, Lines};
use crate::stores::{FrameworkQuery, LegacyProbe, Page, Position, StoreResult, document_id};

/// The most documents of a page of a stream.
const PAGE_DOCUMENTS: i32 = 500;

/// Asks both sides of the range of rekeyed keys, as the framework does; a few offending values.
pub(super) async fn probe(service: &Service, probe: &LegacyProbe) -> StoreResult<Vec<String>> {
    let mut found: Vec<String> = Vec::new();
    let within = Some(probe.within.as_str()).filter(|within| !within.is_empty());
    let below = [
        within.map(|within| (Operator::GreaterThanOrEqual, within.to_owned())),
        Some((Operator::LessThan, probe.rekeyed_prefix.clone())),
    ];
    let above = [
        behind(&probe.rekeyed_prefix).map(|from| (Operator::GreaterThanOrEqual, from)),
        within.and_then(behind).map(|to| (Operator::LessThan, to)),
    ];
    for side in [below, above] {
        let filters = side.into_iter().flatten().map(|(operator, bound)| {
            let bound =
                if probe.field == DOCUMENT_ID { service.path.reference(&bound) } else { text(&bound) };
            compare(&probe.field, operator, bound)
        });
        ask(service, probe, filters.collect(), &mut found).await?;
    }
    found.truncate(LegacyProbe::ANSWERS);
    Ok(found)
}

/// Asks one side.
async fn ask(
    service: &Service,
    probe: &LegacyProbe,
    filters: Vec<Filter>,
    found: &mut Vec<String>,
) -> StoreResult<()> {
    let query = StructuredQuery {
        select: Some(Projection { fields: vec![field(&probe.field)] }),
        from: of_collection(service.path.id()),
        r#where: all_of(filters),
        order_by: vec![upwards(&probe.field)],
        limit: Some(i32::try_from(LegacyProbe::ANSWERS).unwrap_or(i32::MAX)),
        ..StructuredQuery::default()
    };
    let take = |document: &StoredDocument<'_>| {
        let value = value_of(service, document, &probe.field).filter(|value| probe.offends(value));
        if let Some(value) = value.filter(|value| !found.contains(value)) {
            found.push(value);
        }
        Ok(true)
    };
    let _moment = service.query(service.path.parent(), query, None, take).await?;
    Ok(())
}

/// What comes after everything that begins with a prefix: its last character, one higher.
fn behind(prefix: &str) -> Option<String> {
    let mut characters: Vec<char> = prefix.chars().collect();
    while let Some(last) = characters.pop() {
        // The code points of surrogates are none of a character's.
        let next = if last == '\u{d7ff}' { Some('\u{e000}') } else { char::from_u32(u32::from(last) + 1) };
        if let Some(next) = next {
            return Some(characters.into_iter().chain([next]).collect());
        }
    }
    None
}

/// A string field, or the document's id.
fn value_of(service: &Service, document: &StoredDocument<'_>, name: &str) -> Option<String> {
    let value = match name {
        DOCUMENT_ID => service.path.relative(document.name),
        name => document.field(name).and_then(text_of),
    };
    value.map(ToOwned::to_owned)
}

/// Where a page of an answer ended: the last document's id, and its value of the field that orders.
#[derive(Serialize, Deserialize)]
struct After {
    after: String,
    value: Option<String>,
}

/// Reads one page of a stream or saga the way the framework does: a saga by its id, of which what the framework
/// then compares must hold, a stream by a query in the order of its versions.
pub(super) async fn query(
    service: &Arc<Service>,
    query: &FrameworkQuery,
    from: Option<&Position>,
) -> StoreResult<Page> {
    match query.equals.iter().find(|(name, _)| name == DOCUMENT_ID) {
        Some((_, id)) => by_id(service, query, id).await,
        None => by_fields(service, query, from).await,
    }
}

async fn by_id(service: &Arc<Service>, query: &FrameworkQuery, id: &str) -> StoreResult<Page> {
    let id = document_id::check(id).is_ok().then(|| id.to_owned());
    let mut page = Page::default();
    for document in documents(service, vec![id]).await?.into_iter().flatten() {
        let document = StoredDocument::read(&document)?;
        let holds =
            |(name, value): &(String, String)| value_of(service, &document, name).as_ref() == Some(value);
        if query.equals.iter().all(holds) {
            push(&mut page.lines, &document)?;
        }
    }
    Ok(page)
}

async fn by_fields(service: &Service, query: &FrameworkQuery, from: Option<&Position>) -> StoreResult<Page> {
    let after = from.map(|from| After::deserialize(&from.0).map_err(|_| foreign())).transpose()?;
    let order = query.order_by.as_deref();
    let filters = query.equals.iter().map(|(name, value)| compare(name, Operator::Equal, text(value)));
    let request = StructuredQuery {
        from: of_collection(service.path.id()),
        r#where: all_of(filters.collect()),
        order_by: order.into_iter().chain([DOCUMENT_ID]).map(upwards).collect(),
        start_at: after.map(|after| cursor(service, &after)).transpose()?,
        limit: Some(PAGE_DOCUMENTS),
        ..StructuredQuery::default()
    };
    let (mut lines, mut last, mut seen) = (Lines::new(), None, 0);
    let take = |document: &StoredDocument<'_>| {
        push(&mut lines, document)?;
        seen += 1;
        let is_full = lines.bytes() >= PAGE_BYTES || seen == PAGE_DOCUMENTS;
        if is_full {
            last = Some(position(service, document, order)?);
        }
        Ok(!is_full)
    };
    let _moment = service.query(service.path.parent(), request, None, take).await?;
    Ok(Page { lines, next: last })
}

fn push(lines: &mut Lines, document: &StoredDocument<'_>) -> StoreResult<()> {
    let mut written = Ok(());
    lines.push_with(|out| written = write_document(document, out));
    written
}

fn position(service: &Service, document: &StoredDocument<'_>, order: Option<&str>) -> StoreResult<Position> {
    let after = service.path.relative(document.name).ok_or_else(foreign)?.to_owned();
    let value = order.and_then(|order| document.field(order)).map(write_value_text).transpose()?;
    serde_json::to_value(After { after, value }).map(Position).map_err(|_| foreign())
}

fn cursor(service: &Service, after: &After) -> StoreResult<Cursor> {
    let value = after.value.as_deref().map(|value| read_value(value).ok_or_else(foreign)).transpose()?;
    let values: Vec<Value> = value.into_iter().chain([service.path.reference(&after.after)]).collect();
    Ok(Cursor { values, before: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behind_a_prefix_comes_its_last_character_one_higher() {
        for (prefix, next) in [
            ("t:", Some("t;")),
            ("a\u{10ffff}", Some("b")),
            ("\u{d7ff}", Some("\u{e000}")),
            ("\u{10ffff}", None),
            ("", None),
        ] {
            assert_eq!(behind(prefix).as_deref(), next, "{prefix:?}");
        }
    }
}
