//! Counts documents without reading them.

use firestore::gcloud_sdk::google::firestore::v1::run_aggregation_query_request::{
    ConsistencySelector, QueryType,
};
use firestore::gcloud_sdk::google::firestore::v1::structured_aggregation_query::aggregation::{
    Count, Operator,
};
use firestore::gcloud_sdk::google::firestore::v1::structured_aggregation_query::{
    Aggregation, QueryType as Counted,
};
use firestore::gcloud_sdk::google::firestore::v1::value::ValueType;
use firestore::gcloud_sdk::google::firestore::v1::{
    RunAggregationQueryRequest, StructuredAggregationQuery, StructuredQuery,
};
use firestore::gcloud_sdk::tonic::{Code, Status};

use super::failure::{Effect, call_error};
use super::query::{of_collection, read_time_of};
use super::service::Service;
use crate::stores::{Snapshot, StoreResult};

const COUNT: &str = "documents";

/// Counts the documents of the collection; `None` if that takes longer than the service allows for a count.
pub(super) async fn count(service: &Service, snapshot: Option<&Snapshot>) -> StoreResult<Option<u64>> {
    let (selector, effect) = match snapshot {
        Some(snapshot) => {
            (Some(ConsistencySelector::ReadTime(read_time_of(snapshot)?)), Effect::ReadsThePast)
        }
        None => (None, Effect::Reads),
    };
    let counted = StructuredQuery { from: of_collection(service.path.id()), ..StructuredQuery::default() };
    let query = StructuredAggregationQuery {
        query_type: Some(Counted::StructuredQuery(counted)),
        aggregations: vec![Aggregation {
            alias: COUNT.to_owned(),
            operator: Some(Operator::Count(Count { up_to: None })),
        }],
    };
    let request = RunAggregationQueryRequest {
        parent: service.path.parent().to_owned(),
        query_type: Some(QueryType::StructuredAggregationQuery(query)),
        consistency_selector: selector,
        ..RunAggregationQueryRequest::default()
    };
    let _request = service.request().await?;
    match ask(service, request).await {
        Ok(count) => Ok(count.and_then(|count| u64::try_from(count).ok())),
        Err(status) if status.code() == Code::DeadlineExceeded => Ok(None),
        Err(status) => Err(call_error("RunAggregationQuery", effect, &status)),
    }
}

async fn ask(service: &Service, request: RunAggregationQueryRequest) -> Result<Option<i64>, Status> {
    let mut answer = service.client().run_aggregation_query(request).await?.into_inner();
    let mut count = None;
    while let Some(part) = answer.message().await? {
        let value = part.result.and_then(|mut result| result.aggregate_fields.remove(COUNT));
        if let Some(ValueType::IntegerValue(number)) = value.and_then(|value| value.value_type) {
            count = Some(number);
        }
    }
    Ok(count)
}
