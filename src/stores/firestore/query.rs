//! Queries: their parts, and how an answer is taken document by document.

use firestore::gcloud_sdk::google::firestore::v1::run_query_request::{ConsistencySelector, QueryType};
use firestore::gcloud_sdk::google::firestore::v1::structured_query::composite_filter::Operator as Both;
use firestore::gcloud_sdk::google::firestore::v1::structured_query::field_filter::Operator;
use firestore::gcloud_sdk::google::firestore::v1::structured_query::filter::FilterType;
use firestore::gcloud_sdk::google::firestore::v1::structured_query::{
    CollectionSelector, CompositeFilter, Direction, FieldFilter, FieldReference, Filter, Order, Projection,
};
use firestore::gcloud_sdk::google::firestore::v1::value::ValueType;
use firestore::gcloud_sdk::google::firestore::v1::{RunQueryRequest, StructuredQuery, Value};
use firestore::gcloud_sdk::prost::bytes::Bytes;
use firestore::gcloud_sdk::prost_types::Timestamp;

use super::decode::read_time;
use super::failure::{Effect, call_error};
use super::service::Service;
use super::wire::{StoredDocument, timestamp};
use crate::document::DOCUMENT_ID;
use crate::stores::{Snapshot, StoreError, StoreErrorKind, StoreResult};

/// How the service calls the name of a document among its fields.
const NAME: &str = "__name__";

/// Selects the documents of one collection.
pub(super) fn of_collection(id: &str) -> Vec<CollectionSelector> {
    vec![CollectionSelector { collection_id: id.to_owned(), all_descendants: false }]
}

/// Selects everything below the query's parent, whatever collection it is in: what Google's own clients send to
/// delete a collection with all that is below it.
pub(super) fn of_everything() -> Vec<CollectionSelector> {
    vec![CollectionSelector { collection_id: String::new(), all_descendants: true }]
}

/// A field by its name, which may hold any character; `@id` is the document's name.
pub(super) fn field(name: &str) -> FieldReference {
    if name == DOCUMENT_ID {
        return FieldReference { field_path: NAME.to_owned() };
    }
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !name.bytes().next().is_none_or(|first| first.is_ascii_digit());
    let field_path = if is_plain {
        name.to_owned()
    } else {
        format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`"))
    };
    FieldReference { field_path }
}

/// Compares a field with a value.
pub(super) fn compare(name: &str, operator: Operator, value: Value) -> Filter {
    let filter = FieldFilter { field: Some(field(name)), op: operator.into(), value: Some(value) };
    Filter { filter_type: Some(FilterType::FieldFilter(filter)) }
}

/// Wants every one of several filters to hold; no filter at all if there are none.
pub(super) fn all_of(mut filters: Vec<Filter>) -> Option<Filter> {
    if filters.len() < 2 {
        return filters.pop();
    }
    let filter = CompositeFilter { op: Both::And.into(), filters };
    Some(Filter { filter_type: Some(FilterType::CompositeFilter(filter)) })
}

/// Orders by a field, upwards.
pub(super) fn upwards(name: &str) -> Order {
    Order { field: Some(field(name)), direction: Direction::Ascending.into() }
}

/// Asks for nothing but the names of documents.
pub(super) fn names_only() -> Projection {
    Projection { fields: vec![field(DOCUMENT_ID)] }
}

/// A string as a value.
pub(super) fn text(text: &str) -> Value {
    Value { value_type: Some(ValueType::StringValue(text.to_owned())) }
}

/// The moment of a snapshot.
pub(super) fn read_time_of(snapshot: &Snapshot) -> StoreResult<Timestamp> {
    let time = snapshot.0.get("readTime").and_then(serde_json::Value::as_str).and_then(read_time);
    time.ok_or_else(|| StoreError::new(StoreErrorKind::Permanent, "The snapshot is not one of this store's"))
}

/// A moment as a snapshot.
pub(super) fn snapshot_at(time: Timestamp) -> Snapshot {
    // The service reads at whole microseconds.
    let time = Timestamp { seconds: time.seconds, nanos: time.nanos / 1_000 * 1_000 };
    Snapshot(serde_json::json!({ "readTime": time.to_string() }))
}

impl Service {
    /// Runs a query and hands over each document until `take` wants no more; tells the moment at which was read.
    pub(super) async fn query(
        &self,
        parent: &str,
        query: StructuredQuery,
        snapshot: Option<&Snapshot>,
        mut take: impl FnMut(&StoredDocument<'_>) -> StoreResult<bool> + Send,
    ) -> StoreResult<Option<Timestamp>> {
        let (selector, effect) = match snapshot {
            Some(snapshot) => {
                (Some(ConsistencySelector::ReadTime(read_time_of(snapshot)?)), Effect::ReadsThePast)
            }
            None => (None, Effect::Reads),
        };
        let request = RunQueryRequest {
            parent: parent.to_owned(),
            query_type: Some(QueryType::StructuredQuery(query)),
            consistency_selector: selector,
            ..RunQueryRequest::default()
        };
        let failed = |status| call_error("RunQuery", effect, &status);
        let _request = self.request().await?;
        let mut answer = self.run_query(request).await.map_err(failed)?;
        let mut moment = None;
        while let Some(part) = answer.message().await.map_err(failed)? {
            moment = part.read_time.or(moment);
            if let Some(document) = part.document
                && !take(&StoredDocument::read(&document)?)?
            {
                break;
            }
        }
        moment.map(|moment: Bytes| Ok(timestamp(&moment)?)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_any_name_is_one_field() {
        for (name, path) in [
            ("streamId", "streamId"),
            ("_x1", "_x1"),
            ("1x", "`1x`"),
            ("a.b", "`a.b`"),
            ("a`\\", "`a\\`\\\\`"),
            ("", "``"),
            (DOCUMENT_ID, "__name__"),
        ] {
            assert_eq!(field(name).field_path, path, "{name}");
        }
    }

    #[test]
    fn a_snapshot_is_cut_to_microseconds_and_comes_back() {
        let snapshot = snapshot_at(Timestamp { seconds: 1_767_225_600, nanos: 123_456_789 });
        assert_eq!(snapshot.0.to_string(), r#"{"readTime":"2026-01-01T00:00:00.123456Z"}"#);
        assert_eq!(read_time_of(&snapshot).unwrap().nanos, 123_456_000);
        assert!(read_time_of(&Snapshot("x".into())).is_err());
    }
}
