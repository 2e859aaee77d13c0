//! The loops one would write with the SDK alone, to compare `rekey` with: the same requests, as many at one time.
//!
//! ```text
//! usage: firestore_loop scan PROJECT COLLECTION           reads every document at one moment, and drops it
//!        firestore_loop put PROJECT COLLECTION FILE       creates every line's document where there is none
//! ```
//!
//! `FIRESTORE_EMULATOR_HOST` names the emulator.

use std::collections::HashMap;
use std::error::Error;
use std::io::{BufRead as _, BufReader};
use std::sync::Arc;

use firestore::gcloud_sdk::google::firestore::v1::precondition::ConditionType;
use firestore::gcloud_sdk::google::firestore::v1::run_aggregation_query_request::{
    ConsistencySelector as At, QueryType as Aggregate,
};
use firestore::gcloud_sdk::google::firestore::v1::run_query_request::{ConsistencySelector, QueryType};
use firestore::gcloud_sdk::google::firestore::v1::structured_aggregation_query::aggregation::{
    Count, Operator as CountOrSum,
};
use firestore::gcloud_sdk::google::firestore::v1::structured_aggregation_query::{
    Aggregation, QueryType as Counted,
};
use firestore::gcloud_sdk::google::firestore::v1::structured_query::composite_filter::Operator as Both;
use firestore::gcloud_sdk::google::firestore::v1::structured_query::field_filter::Operator;
use firestore::gcloud_sdk::google::firestore::v1::structured_query::filter::FilterType;
use firestore::gcloud_sdk::google::firestore::v1::structured_query::{
    CollectionSelector, CompositeFilter, FieldFilter, FieldReference, Filter, Order, Projection,
};
use firestore::gcloud_sdk::google::firestore::v1::value::ValueType;
use firestore::gcloud_sdk::google::firestore::v1::write::Operation;
use firestore::gcloud_sdk::google::firestore::v1::{
    BatchWriteRequest, Cursor, Document, Precondition, RunAggregationQueryRequest, RunQueryRequest,
    StructuredAggregationQuery, StructuredQuery, Value, Write,
};
use firestore::gcloud_sdk::prost_types::Timestamp;
use firestore::gcloud_sdk::tonic::Status;
use firestore::{FirestoreDb, FirestoreDbOptions};
use tokio::sync::Semaphore;

type Failure = Box<dyn Error + Send + Sync>;

/// What `rekey export` uses if nobody says: readers at one time, ranges, documents of a page.
const READERS: usize = 4;
const RANGES: usize = 16;
const PAGE: usize = 1_000;
/// What `rekey import` uses if nobody says: requests in flight, documents of a request.
const REQUESTS: usize = 16;
const BATCH: usize = 500;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["scan", project, collection] => scan(open(project).await?, collection).await,
        ["put", project, collection, file] => put(open(project).await?, collection, file).await,
        _ => Err("usage: firestore_loop scan|put PROJECT COLLECTION [FILE]".into()),
    }
}

async fn open(project: &str) -> Result<FirestoreDb, Failure> {
    Ok(FirestoreDb::with_options(FirestoreDbOptions::new(project.to_owned())).await?)
}

fn name() -> FieldReference {
    FieldReference { field_path: "__name__".to_owned() }
}

fn reference(name: &str) -> Value {
    Value { value_type: Some(ValueType::ReferenceValue(name.to_owned())) }
}

fn bound(operator: Operator, value: &str) -> Filter {
    let filter = FieldFilter { field: Some(name()), op: operator.into(), value: Some(reference(value)) };
    Filter { filter_type: Some(FilterType::FieldFilter(filter)) }
}

/// Runs a query to its end; the names of the documents and the moment.
async fn query(
    db: &FirestoreDb,
    query: StructuredQuery,
    moment: Option<Timestamp>,
) -> Result<(Vec<String>, Option<Timestamp>), Status> {
    let request = RunQueryRequest {
        parent: db.get_documents_path().clone(),
        query_type: Some(QueryType::StructuredQuery(query)),
        consistency_selector: moment.map(ConsistencySelector::ReadTime),
        ..RunQueryRequest::default()
    };
    let mut answer = db.client().get().run_query(request).await?.into_inner();
    let (mut names, mut moment) = (Vec::new(), None);
    while let Some(part) = answer.message().await? {
        moment = part.read_time.or(moment);
        names.extend(part.document.map(|document| document.name));
    }
    Ok((names, moment))
}

async fn scan(db: FirestoreDb, collection: &str) -> Result<(), Failure> {
    let by_name = StructuredQuery {
        order_by: vec![Order { field: Some(name()), direction: 1 }],
        ..StructuredQuery::default()
    };
    // The ranges, by a look at every name.
    let names = StructuredQuery {
        select: Some(Projection { fields: vec![name()] }),
        from: vec![CollectionSelector { collection_id: collection.to_owned(), all_descendants: false }],
        ..by_name.clone()
    };
    let (names, moment) = query(&db, names, None).await?;
    let prefix = format!("{}/{collection}", db.get_documents_path());
    let lowest = "__id-9223372036854775808__";
    let mut cuts = vec![format!("{prefix}/{lowest}")];
    cuts.extend((1..RANGES).filter_map(|part| names.get(part * names.len() / RANGES).cloned()));
    cuts.push(format!("{prefix}\0/{lowest}"));
    let expected = count(&db, collection, moment).await?;
    drop(names);
    let (db, readers) = (Arc::new(db), Arc::new(Semaphore::new(READERS)));
    let mut running = Vec::new();
    for range in cuts.windows(2).map(<[String]>::to_vec) {
        let (db, readers, by_name) = (db.clone(), readers.clone(), by_name.clone());
        running.push(tokio::spawn(async move {
            let _reader = readers.acquire().await;
            let filters =
                vec![bound(Operator::GreaterThanOrEqual, &range[0]), bound(Operator::LessThan, &range[1])];
            let filter = CompositeFilter { op: Both::And.into(), filters };
            let page = StructuredQuery {
                from: vec![CollectionSelector { collection_id: String::new(), all_descendants: true }],
                r#where: Some(Filter { filter_type: Some(FilterType::CompositeFilter(filter)) }),
                limit: i32::try_from(PAGE).ok(),
                ..by_name
            };
            let (mut count, mut start_at) = (0, None);
            loop {
                let (names, _) = query(&db, StructuredQuery { start_at, ..page.clone() }, moment).await?;
                count += names.len();
                match names.last() {
                    Some(last) if names.len() == PAGE => {
                        start_at = Some(Cursor { values: vec![reference(last)], before: false });
                    }
                    _ => return Ok::<usize, Status>(count),
                }
            }
        }));
    }
    let mut read = 0;
    for reader in running {
        read += reader.await??;
    }
    if i64::try_from(read)? != expected {
        return Err(format!("{read} documents of {expected}").into());
    }
    println!("{read} documents");
    Ok(())
}

/// Counts without reading, as an export does to know that it has everything.
async fn count(db: &FirestoreDb, collection: &str, moment: Option<Timestamp>) -> Result<i64, Failure> {
    let from = vec![CollectionSelector { collection_id: collection.to_owned(), all_descendants: false }];
    let query = StructuredAggregationQuery {
        query_type: Some(Counted::StructuredQuery(StructuredQuery { from, ..StructuredQuery::default() })),
        aggregations: vec![Aggregation {
            alias: "documents".to_owned(),
            operator: Some(CountOrSum::Count(Count { up_to: None })),
        }],
    };
    let request = RunAggregationQueryRequest {
        parent: db.get_documents_path().clone(),
        query_type: Some(Aggregate::StructuredAggregationQuery(query)),
        consistency_selector: moment.map(At::ReadTime),
        ..RunAggregationQueryRequest::default()
    };
    let mut answer = db.client().get().run_aggregation_query(request).await?.into_inner();
    while let Some(part) = answer.message().await? {
        let value = part.result.and_then(|mut result| result.aggregate_fields.remove("documents"));
        if let Some(ValueType::IntegerValue(count)) = value.and_then(|value| value.value_type) {
            return Ok(count);
        }
    }
    Err("no count".into())
}

async fn put(db: FirestoreDb, collection: &str, file: &str) -> Result<(), Failure> {
    let prefix = format!("{}/{collection}", db.get_documents_path());
    let (db, requests) = (Arc::new(db), Arc::new(Semaphore::new(REQUESTS)));
    let mut lines = BufReader::new(std::fs::File::open(file)?).lines();
    let (mut running, mut count) = (Vec::new(), 0);
    loop {
        let some: Vec<String> = lines.by_ref().take(BATCH).collect::<Result<_, _>>()?;
        if some.is_empty() {
            break;
        }
        count += some.len();
        let request = requests.clone().acquire_owned().await?;
        let (db, prefix) = (db.clone(), prefix.clone());
        running.push(tokio::spawn(async move {
            let writes = some.iter().map(|line| write(&prefix, line).ok_or("a line is no document"));
            let writes = writes.collect::<Result<Vec<_>, _>>()?;
            let database = db.get_database_path().clone();
            let batch = BatchWriteRequest { database, writes, ..BatchWriteRequest::default() };
            let answer = db.client().get().batch_write(batch).await?.into_inner();
            drop(request);
            match answer.status.iter().find(|status| status.code != 0) {
                Some(status) => Err(status.message.clone().into()),
                None => Ok::<(), Failure>(()),
            }
        }));
    }
    for request in running {
        request.await??;
    }
    println!("{count} documents");
    Ok(())
}

/// The types that the bench's events have.
fn write(prefix: &str, line: &str) -> Option<Write> {
    let line: serde_json::Value = serde_json::from_str(line).ok()?;
    let id = line.get("name")?.as_str()?.rsplit('/').next()?;
    let value = |value: &serde_json::Value| {
        let (kind, value) = value.as_object()?.iter().next()?;
        let value_type = match kind.as_str() {
            "stringValue" => ValueType::StringValue(value.as_str()?.to_owned()),
            "integerValue" => ValueType::IntegerValue(value.as_str()?.parse().ok()?),
            _ => return None,
        };
        Some(Value { value_type: Some(value_type) })
    };
    let fields = line.get("fields")?.as_object()?.iter();
    let fields =
        fields.map(|(name, it)| Some((name.clone(), value(it)?))).collect::<Option<HashMap<_, _>>>()?;
    let document = Document { name: format!("{prefix}/{id}"), fields, create_time: None, update_time: None };
    Some(Write {
        operation: Some(Operation::Update(document)),
        current_document: Some(Precondition { condition_type: Some(ConditionType::Exists(false)) }),
        ..Write::default()
    })
}
