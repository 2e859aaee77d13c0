//! What the credentials may do with a table. IAM does not say it, so it is tried: by writes under a condition that no
//! item can fulfil, which the service turns down with another answer where the right itself is missing.

use std::collections::HashMap;
use std::error::Error as StdError;

use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;

use super::error::{Effect, store_error};
use super::schema::KeySchema;
use super::table::Table;
use crate::stores::examination::{http_date, now};
use crate::stores::{Clock, Examination, Held, Permission, Right, StoreErrorKind, StoreResult};

/// An attribute cannot be there and not be there.
const IMPOSSIBLE: &str = "attribute_exists(#key) AND attribute_not_exists(#key)";
/// What the key of the tries is made of; an item with it would be left alone all the same.
const NOBODY: &str = "rekey-doctor";

/// Looks at a table, which need not be there.
pub(super) async fn examine(table: &Table) -> StoreResult<Examination> {
    let answer = table.client().describe_table().table_name(table.name()).send().await;
    let about = match answer {
        Ok(answer) => answer.table,
        Err(error) => match store_error("DescribeTable", Effect::Reads, &error) {
            error if matches!(error.kind, StoreErrorKind::NotFound | StoreErrorKind::Denied) => None,
            error => return Err(error),
        },
    };
    let bytes = about.as_ref().and_then(|about| u64::try_from(about.table_size_bytes()?).ok());
    let schema = about.as_ref().map(KeySchema::of).transpose()?;
    let mut tries = Tries { table, clock: None };
    let mut permissions = Vec::new();
    for right in Right::ALL {
        let (held, given_by) = match (right, &schema) {
            (Right::Read, _) => {
                (tries.read().await?, "dynamodb:Scan, Query, GetItem, BatchGetItem and DescribeTable")
            }
            (Right::Create, Some(schema)) => {
                (tries.put(schema).await?, "dynamodb:PutItem and, for an empty target, BatchWriteItem")
            }
            (Right::Delete, Some(schema)) => (tries.delete(schema).await?, "dynamodb:DeleteItem"),
            (Right::Create, None) => (Held::Unknown, "dynamodb:PutItem and BatchWriteItem"),
            (Right::Delete, None) => (Held::Unknown, "dynamodb:DeleteItem"),
            (Right::Update, _) => (Held::Unknown, "dynamodb:UpdateItem"),
            (Right::MakeCollection, _) => {
                (Held::Unknown, "dynamodb:CreateTable, DescribeTable and UpdateTimeToLive")
            }
        };
        permissions.push(Permission {
            right,
            held,
            given_by: format!("{given_by} on the table {:?}", table.name()),
        });
    }
    Ok(Examination { clock: tries.clock, bytes, permissions, ..Examination::default() })
}

/// Requests that change nothing.
struct Tries<'t> {
    table: &'t Table,
    /// From the first answer that shows the service's clock.
    clock: Option<Clock>,
}

impl Tries<'_> {
    async fn read(&mut self) -> StoreResult<Held> {
        let call = self.table.client().scan().table_name(self.table.name()).limit(1);
        let asked = now();
        let answer = call.send().await;
        self.held("Scan", asked, answer)
    }

    async fn put(&mut self, schema: &KeySchema) -> StoreResult<Held> {
        let call = self.table.client().put_item().table_name(self.table.name()).set_item(Some(key(schema)));
        let call =
            call.condition_expression(IMPOSSIBLE).expression_attribute_names("#key", schema.partition_key());
        let asked = now();
        let answer = call.send().await;
        self.held("PutItem", asked, answer)
    }

    async fn delete(&mut self, schema: &KeySchema) -> StoreResult<Held> {
        let call = self.table.client().delete_item().table_name(self.table.name()).set_key(Some(key(schema)));
        let call =
            call.condition_expression(IMPOSSIBLE).expression_attribute_names("#key", schema.partition_key());
        let asked = now();
        let answer = call.send().await;
        self.held("DeleteItem", asked, answer)
    }

    /// What an answer says of the right. What says nothing of it, and may go through later, is an error.
    fn held<T, E>(
        &mut self,
        call: &str,
        asked: i64,
        answer: Result<T, SdkError<E, HttpResponse>>,
    ) -> StoreResult<Held>
    where
        E: StdError + ProvideErrorMetadata + Send + Sync + 'static,
    {
        let Err(error) = answer else { return Ok(Held::Yes) };
        let date = error.raw_response().and_then(|answer| answer.headers().get("date")).and_then(http_date);
        if let Some(server) = date {
            let local = asked + (now() - asked) / 2;
            let _first = self.clock.get_or_insert(Clock { server, local });
        }
        if error.code() == Some("ConditionalCheckFailedException") {
            return Ok(Held::Yes);
        }
        let error = store_error(call, Effect::Reads, &error);
        match error.kind {
            StoreErrorKind::Denied => Ok(Held::No),
            kind if kind.is_retryable() => Err(error),
            _ => Ok(Held::Unknown),
        }
    }
}

/// A key of the table's types.
fn key(schema: &KeySchema) -> HashMap<String, AttributeValue> {
    let value = |kind: Option<&str>| match kind {
        Some("N") => AttributeValue::N("0".to_owned()),
        Some("B") => AttributeValue::B(Blob::new(NOBODY)),
        _ => AttributeValue::S(NOBODY.to_owned()),
    };
    schema.fields().iter().map(|field| (field.name.clone(), value(field.kind.as_deref()))).collect()
}
