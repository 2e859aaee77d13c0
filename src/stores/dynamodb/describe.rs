//! What a table is, which tables there are, and how one is made.

use std::time::Duration;

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::create_table::CreateTableError;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, DestinationStatus, KeySchemaElement, KeyType, ScalarAttributeType,
    StreamSpecification, TableDescription, TableStatus, TimeToLiveStatus,
};
use tokio::time::Instant;

use super::error::{Effect, is_unknown_operation, store_error};
use super::schema::KeySchema;
use super::table::Table;
use crate::document::StoreKind;
use crate::stores::{
    CollectionSpec, Description, Index, Remark, StoreError, StoreErrorKind, StoreResult, Subscribers,
    TimeToLive,
};

/// The most tables that are named.
const NAMED: usize = 1_000;
/// How long a new table may take until it can be used, and how often that is asked.
const CREATION: Duration = Duration::from_mins(10);
const FIRST_LOOK: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// The account in an ARN.
pub(super) fn account(arn: &str) -> Option<String> {
    arn.split(':').nth(4).filter(|account| !account.is_empty()).map(ToOwned::to_owned)
}

/// Names the tables of the account in the region.
pub(super) async fn table_names(table: &Table) -> StoreResult<Vec<String>> {
    let (mut names, mut from) = (Vec::new(), None);
    loop {
        let answer = table.client().list_tables().set_exclusive_start_table_name(from).send().await;
        let answer = answer.map_err(|error| store_error("ListTables", Effect::Reads, &error))?;
        names.extend(answer.table_names.unwrap_or_default());
        from = answer.last_evaluated_table_name;
        if from.is_none() || names.len() >= NAMED {
            return Ok(names);
        }
    }
}

/// Describes the table, once it can be used.
pub(super) async fn describe(table: &Table) -> StoreResult<Description> {
    let about = usable(table).await?;
    let schema = KeySchema::of(&about)?;
    table.remember(&schema);
    let mut remarks = remarks(&about);
    let time_to_live = time_to_live(table, &mut remarks).await?;
    let subscribers = subscribers(table, &about, &mut remarks).await?;
    Ok(Description {
        store: StoreKind::DynamoDb,
        location: table.location().to_owned(),
        identity: about.table_id().map(ToOwned::to_owned),
        key_fields: schema.fields().to_vec(),
        hash_version: None,
        indexes: indexes(&about),
        time_to_live,
        subscribers,
        documents: None,
        remarks,
    })
}

fn indexes(about: &TableDescription) -> Vec<Index> {
    let index = |name: Option<&str>, keys: &[KeySchemaElement]| Index {
        name: name.unwrap_or_default().to_owned(),
        fields: keys.iter().map(|key| key.attribute_name().to_owned()).collect(),
        unique: false,
    };
    let global = about.global_secondary_indexes().iter();
    let local = about.local_secondary_indexes().iter();
    global
        .map(|it| index(it.index_name(), it.key_schema()))
        .chain(local.map(|it| index(it.index_name(), it.key_schema())))
        .collect()
}

/// What a write to the table does besides, and what it is held to.
fn remarks(about: &TableDescription) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let mut remark = |code: &str, text: String| remarks.push(Remark { code: code.to_owned(), text });
    let regions: Vec<&str> = about.replicas().iter().filter_map(|replica| replica.region_name()).collect();
    if !regions.is_empty() {
        let text = format!(
            "It is a global table with replicas in {}: every write is copied there, and whoever writes there must be stopped, too.",
            regions.join(", ")
        );
        remark("replicas", text);
    }
    let names: Vec<String> = indexes(about).into_iter().map(|index| index.name).collect();
    if !names.is_empty() {
        let text = format!(
            "Every write is also written to its indexes {}, for capacity of its own.",
            names.join(", ")
        );
        remark("indexes", text);
    }
    let provisioned = about.provisioned_throughput();
    let units = provisioned.and_then(|it| Some((it.read_capacity_units()?, it.write_capacity_units()?)));
    if let Some((reads, writes)) = units.filter(|(reads, writes)| *reads > 0 || *writes > 0) {
        let text = format!(
            "It has {reads} read and {writes} write capacity units a second; --max-rcu and --max-wcu leave some to others."
        );
        remark("provisioned", text);
    }
    remarks
}

async fn time_to_live(table: &Table, remarks: &mut Vec<Remark>) -> StoreResult<Option<TimeToLive>> {
    let answer = table.client().describe_time_to_live().table_name(table.name()).send().await;
    let about = match answer {
        Ok(answer) => answer.time_to_live_description,
        Err(error) => {
            not_told("DescribeTimeToLive", "time to live", &error, remarks)?;
            None
        }
    };
    let enabled = about.filter(|about| {
        matches!(about.time_to_live_status(), Some(TimeToLiveStatus::Enabled | TimeToLiveStatus::Enabling))
    });
    Ok(enabled.and_then(|about| about.attribute_name).map(TimeToLive::Field))
}

/// A table stream, or a Kinesis stream that the table writes to.
async fn subscribers(
    table: &Table,
    about: &TableDescription,
    remarks: &mut Vec<Remark>,
) -> StoreResult<Subscribers> {
    if about.stream_specification().is_some_and(StreamSpecification::stream_enabled) {
        return Ok(Subscribers::Present);
    }
    let answer =
        table.client().describe_kinesis_streaming_destination().table_name(table.name()).send().await;
    let destinations = match answer {
        Ok(answer) => answer.kinesis_data_stream_destinations.unwrap_or_default(),
        Err(error) => {
            not_told("DescribeKinesisStreamingDestination", "Kinesis streams", &error, remarks)?;
            Vec::new()
        }
    };
    let is_fed = destinations.iter().any(|destination| {
        !matches!(
            destination.destination_status(),
            Some(DestinationStatus::Disabled | DestinationStatus::EnableFailed)
        )
    });
    Ok(if is_fed { Subscribers::Present } else { Subscribers::None })
}

/// Goes on without what a role may not ask and an emulator does not know, and says so where it matters.
fn not_told<E>(
    call: &str,
    about: &str,
    error: &SdkError<E, aws_sdk_dynamodb::config::http::HttpResponse>,
    remarks: &mut Vec<Remark>,
) -> StoreResult<()>
where
    E: std::error::Error + aws_sdk_dynamodb::error::ProvideErrorMetadata + Send + Sync + 'static,
{
    if is_unknown_operation(error) {
        return Ok(());
    }
    let error = store_error(call, Effect::Reads, error);
    if error.kind != StoreErrorKind::Denied {
        return Err(error);
    }
    let text = format!(
        "Its {about} cannot be seen, since {call} is not allowed; look at the table's settings before writing."
    );
    remarks.push(Remark { code: "not-told".to_owned(), text });
    Ok(())
}

/// Makes the table with the key alone, billed by request, and waits until it can be used.
///
/// Errors: [`StoreErrorKind::AlreadyExists`], [`StoreErrorKind::Permanent`] for an impossible key.
pub(super) async fn create_table(table: &Table, spec: &CollectionSpec) -> StoreResult<()> {
    let permanent = |message: String| StoreError::new(StoreErrorKind::Permanent, message);
    if !(1..=2).contains(&spec.key_fields.len()) {
        return Err(permanent(format!(
            "A DynamoDB key has 1 or 2 attributes, not {}",
            spec.key_fields.len()
        )));
    }
    let mut request =
        table.client().create_table().table_name(table.name()).billing_mode(BillingMode::PayPerRequest);
    for (field, key_type) in spec.key_fields.iter().zip([KeyType::Hash, KeyType::Range]) {
        let Some(kind @ ("S" | "N" | "B")) = field.kind.as_deref() else {
            return Err(permanent(format!(
                "The key attribute {:?} needs one of the types S, N and B",
                field.name
            )));
        };
        let incomplete =
            |_| permanent(format!("The key attribute {:?} cannot be part of a table", field.name));
        let element = KeySchemaElement::builder().attribute_name(&field.name).key_type(key_type);
        let definition = AttributeDefinition::builder()
            .attribute_name(&field.name)
            .attribute_type(ScalarAttributeType::from(kind));
        request = request
            .key_schema(element.build().map_err(incomplete)?)
            .attribute_definitions(definition.build().map_err(incomplete)?);
    }
    match request.send().await {
        Ok(_) => usable(table).await.map(drop),
        Err(error)
            if error.as_service_error().is_some_and(CreateTableError::is_resource_in_use_exception) =>
        {
            let message = format!("There is a table {:?} already", table.name());
            Err(StoreError::new(StoreErrorKind::AlreadyExists, message))
        }
        Err(error) => Err(store_error("CreateTable", Effect::Writes, &error)),
    }
}

/// Waits for a table that is still being made. The SDK's own waiter asks every 20 seconds.
async fn usable(table: &Table) -> StoreResult<TableDescription> {
    let (started, mut wait) = (Instant::now(), FIRST_LOOK);
    loop {
        let about = table.description().await?;
        if about.table_status() != Some(&TableStatus::Creating) {
            return Ok(about);
        }
        if started.elapsed() > CREATION {
            let message = format!("The table {:?} is still being created", table.name());
            return Err(StoreError::new(StoreErrorKind::Transient, message));
        }
        table.waits.until(tokio::time::sleep(wait)).await?;
        wait = LONGEST_WAIT.min(wait * 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_account_stands_in_the_arn() {
        assert_eq!(
            account("arn:aws:dynamodb:eu-west-1:123456789012:table/Events"),
            Some("123456789012".to_owned())
        );
        assert_eq!(account("arn:aws:dynamodb:::table/Events"), None);
        assert_eq!(account("x"), None);
    }
}
