//! What a container is, which containers there are, and how one is made.

use std::collections::HashMap;

use azure_core::http::headers::{HeaderName, HeaderValue};
use azure_data_cosmos::CosmosError;
use azure_data_cosmos::models::{
    ContainerProperties, PartitionKeyDefinition, PartitionKeyVersion, TimeToLive as ContainerTimeToLive,
    UniqueKey, UniqueKeyPolicy,
};
use azure_data_cosmos::options::{OperationOptionsBuilder, ReadContainerOptions};
use futures::TryStreamExt as _;
use serde::Deserialize;
use serde_json::Value;

use super::container::Container;
use super::error::{Effect, broken, store_error};
use crate::document::StoreKind;
use crate::stores::{
    CollectionSpec, Description, Index, KeyField, Remark, StoreError, StoreErrorKind, StoreResult,
    Subscribers, TimeToLive,
};

/// Asks for the sizes of the largest logical partitions with the container's description.
const STATISTICS: &str = "x-ms-documentdb-populatepartitionstatistics";
/// What one logical partition can hold, in KB.
const FULL: f64 = 20.0 * 1024.0 * 1024.0;
/// From this share on a partition is spoken of: copies beside their originals take as much again.
const LARGE: f64 = 0.5;

/// Describes the container as it is now.
///
/// Errors: [`StoreErrorKind::NotFound`] if there is none.
pub(super) async fn describe(container: &Container) -> StoreResult<Description> {
    let body = read(container).await?;
    let statistics = body.get("statistics").cloned();
    let properties = ContainerProperties::deserialize(body).map_err(|_| broken("a container"))?;
    let mut remarks = partition_remarks(statistics);
    Ok(Description {
        store: StoreKind::CosmosDb,
        location: container.location().to_owned(),
        identity: properties.system_properties.resource_id.clone(),
        key_fields: key_fields(&properties.partition_key),
        hash_version: Some(match properties.partition_key.version() {
            PartitionKeyVersion::V1 => 1,
            _ => 2,
        }),
        indexes: unique_keys(&properties),
        time_to_live: time_to_live(&properties, &mut remarks),
        // Any number of readers may follow the change feed, and it does not say who does.
        subscribers: Subscribers::Unknown,
        documents: None,
        remarks,
    })
}

/// Asks for the container, with statistics of its partitions.
async fn read(container: &Container) -> StoreResult<Value> {
    let client = &container.opened().await?.client;
    let headers = HashMap::from([(HeaderName::from_static(STATISTICS), HeaderValue::from_static("true"))]);
    let options = OperationOptionsBuilder::new().with_custom_headers(headers).build();
    let options = ReadContainerOptions::default().with_operation_options(options);
    let answer = Box::pin(client.read(Some(options))).await.map_err(|error| container.missing_or(&error))?;
    answer.into_body().into_single().map_err(|_| broken("a container"))
}

/// How many bytes the documents take; `None` where the service does not say it.
pub(super) async fn stored_bytes(container: &Container) -> StoreResult<Option<u64>> {
    let body = read(container).await?;
    let partitions = body.get("statistics").and_then(Value::as_array);
    let kilobytes = |partition: &Value| partition.get("sizeInKB").and_then(Value::as_u64);
    Ok(partitions
        .and_then(|all| all.iter().map(kilobytes).sum::<Option<u64>>())
        .map(|sum| sum.saturating_mul(1_024)))
}

fn key_fields(definition: &PartitionKeyDefinition) -> Vec<KeyField> {
    let paths = definition.paths().iter();
    paths.map(|path| KeyField { name: path.trim_start_matches('/').to_owned(), kind: None }).collect()
}

fn unique_keys(properties: &ContainerProperties) -> Vec<Index> {
    let keys = properties.unique_key_policy.iter().flat_map(|policy| &policy.unique_keys);
    keys.map(|key| Index {
        name: key.paths.join(","),
        fields: key.paths.iter().map(|path| path.trim_start_matches('/').to_owned()).collect(),
        unique: true,
    })
    .collect()
}

fn time_to_live(properties: &ContainerProperties, remarks: &mut Vec<Remark>) -> Option<TimeToLive> {
    match properties.default_ttl {
        ContainerTimeToLive::Seconds(seconds) => Some(TimeToLive::Default(seconds.into())),
        ContainerTimeToLive::NoDefault => {
            let text = "An item with a field `ttl` expires so many seconds after it was written; for a copy that time starts anew.";
            remarks.push(Remark { code: "item-time-to-live".to_owned(), text: text.to_owned() });
            None
        }
        _ => None,
    }
}

/// What the service tells of one physical partition.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PartitionStatistics {
    #[serde(default)]
    partition_keys: Vec<PartitionSize>,
}

/// A logical partition that takes one per cent or more of its physical one.
#[derive(Deserialize)]
struct PartitionSize {
    #[serde(rename = "partitionKey")]
    key: Value,
    #[serde(rename = "sizeInKB")]
    kilobytes: f64,
}

/// Names the logical partitions that may run full. Statistics are an extra: in another form they are left out.
fn partition_remarks(statistics: Option<Value>) -> Vec<Remark> {
    let statistics = statistics.and_then(|it| Vec::<PartitionStatistics>::deserialize(it).ok());
    let sizes = statistics.into_iter().flatten().flat_map(|partition| partition.partition_keys);
    let large = sizes.filter(|size| size.kilobytes >= FULL * LARGE);
    large
        .map(|size| Remark {
            code: "partition-size".to_owned(),
            text: format!(
                "The logical partition {} holds {:.1} GB of the 20 GB that one can; copies beside their originals take as much again.",
                size.key,
                size.kilobytes / 1024.0 / 1024.0
            ),
        })
        .collect()
}

/// The names of the database's containers; of a database that is not there, none.
pub(super) async fn container_names(container: &Container) -> StoreResult<Vec<String>> {
    let failed = |error: CosmosError| store_error("the containers", Effect::Reads, &error);
    let database = container.database();
    let found = Box::pin(database.query_containers("SELECT * FROM c", None)).await.map_err(failed)?;
    let found: Result<Vec<ContainerProperties>, _> = found.try_collect().await;
    let found = match found {
        Err(error) if u16::from(error.status().status_code()) == 404 => Vec::new(),
        found => found.map_err(failed)?,
    };
    Ok(found.into_iter().map(|properties| properties.id.into_owned()).collect())
}

/// Makes the container, and the database if there is none, with the account's default throughput.
///
/// Errors: [`StoreErrorKind::AlreadyExists`]; [`StoreErrorKind::NotFound`] if it would have to be made without
/// the account's key, which alone may do so.
pub(super) async fn create(container: &Container, spec: &CollectionSpec) -> StoreResult<()> {
    let exists = || {
        let message = format!("There is a container {:?} already", container.name());
        StoreError::new(StoreErrorKind::AlreadyExists, message)
    };
    if !container.has_key() {
        return match container.opened().await {
            Ok(_) => Err(exists()),
            Err(error) if error.kind == StoreErrorKind::NotFound => Err(StoreError::new(
                StoreErrorKind::NotFound,
                format!(
                    "{error}, and an identity of Entra ID may not make one: that takes the account's key (COSMOS_KEY or COSMOS_CONNECTION_STRING)"
                ),
            )),
            Err(error) => Err(error),
        };
    }
    let properties = properties(container.name(), spec)?;
    let create = || Box::pin(async { container.database().create_container(properties.clone(), None).await });
    let mut made = create().await;
    if made.as_ref().is_err_and(|error| u16::from(error.status().status_code()) == 404) {
        create_database(container).await?;
        made = create().await;
    }
    match made {
        Ok(_) => Ok(()),
        Err(error) if error.status().is_conflict() => Err(exists()),
        Err(error) => Err(store_error("a new container", Effect::Writes, &error)),
    }
}

async fn create_database(container: &Container) -> StoreResult<()> {
    match Box::pin(container.client().create_database(container.database_name(), None)).await {
        Ok(_) => Ok(()),
        // Somebody else has made it meanwhile.
        Err(error) if error.status().is_conflict() => Ok(()),
        Err(error) => Err(store_error("a new database", Effect::Writes, &error)),
    }
}

fn properties(name: &str, spec: &CollectionSpec) -> StoreResult<ContainerProperties> {
    let fields = spec.key_fields.len();
    if !(1..=3).contains(&fields) {
        let message = format!("A partition key of Cosmos DB has 1 to 3 paths, not {fields}");
        return Err(StoreError::new(StoreErrorKind::Permanent, message));
    }
    let path = |name: &str| format!("/{}", name.trim_start_matches('/'));
    let paths = spec.key_fields.iter().map(|field| path(&field.name).into()).collect();
    let properties = ContainerProperties::new(name.to_owned(), PartitionKeyDefinition::new(paths));
    let unique: Vec<&Index> = spec.indexes.iter().filter(|index| index.unique).collect();
    if unique.is_empty() {
        return Ok(properties);
    }
    let policy = unique.into_iter().fold(UniqueKeyPolicy::default(), |policy, index| {
        let key = index.fields.iter().fold(UniqueKey::default(), |key, field| key.with_path(path(field)));
        policy.with_unique_key(key)
    });
    Ok(properties.with_unique_key_policy(policy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_near_its_limit_is_named() {
        let statistics = serde_json::json!([
            { "id": "0", "sizeInKB": 9, "partitionKeys": [
                { "partitionKey": ["OrderSagaState"], "sizeInKB": 13_631_488 },
                { "partitionKey": ["RefundSagaState"], "sizeInKB": 1_048_576 },
            ] },
            { "id": "1", "sizeInKB": 9 },
        ]);
        let remarks = partition_remarks(Some(statistics));
        assert_eq!(remarks.len(), 1);
        assert!(remarks[0].text.contains(r#"["OrderSagaState"] holds 13.0 GB of the 20 GB"#), "{remarks:?}");
        assert!(
            partition_remarks(Some("another form".into())).is_empty() && partition_remarks(None).is_empty()
        );
    }

    #[test]
    fn a_new_container_has_the_paths_in_order_and_the_unique_keys() {
        let field = |name: &str| KeyField { name: name.to_owned(), kind: None };
        let index = Index { name: "u".into(), fields: vec!["a".into(), "/b/c".into()], unique: true };
        let spec = CollectionSpec { key_fields: vec![field("x"), field("/y")], indexes: vec![index] };
        let made = properties("c", &spec).unwrap();
        assert_eq!(made.partition_key.paths(), ["/x", "/y"]);
        assert_eq!(key_fields(&made.partition_key), [field("x"), field("y")]);
        let described = unique_keys(&made);
        assert_eq!((described[0].name.as_str(), described[0].fields.len()), ("/a,/b/c", 2));
        let none = CollectionSpec::default();
        assert_eq!(properties("c", &none).unwrap_err().kind, StoreErrorKind::Permanent);
    }
}
