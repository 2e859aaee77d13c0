//! Deletes items that are still what was exported.
//!
//! A condition holds every exported attribute to its value, but none can say that there is no other. So the
//! call asks for the image it removed, and one that was not the exported one is put back at once.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::operation::delete_item::DeleteItemError;
use aws_sdk_dynamodb::types::{
    AttributeValue, ReturnConsumedCapacity, ReturnValue, ReturnValuesOnConditionCheckFailure,
};

use super::error::{Effect, store_error};
use super::item::{Item, line_of, read_item};
use super::read::by_keys;
use super::schema::KeySchema;
use super::table::{Table, units};
use super::write::{put_at_last, write_units};
use crate::document::json::Tape;
use crate::document::{Lines, StoreKey, StoreKind};
use crate::stores::requests::side_by_side;
use crate::stores::{Created, Guarded, StoreError, StoreErrorKind, guard};

/// The most attributes that a condition compares: the service takes 4 KB of expression.
const COMPARED: usize = 100;
/// How often an item that must be put back is tried to, with pauses that double from the first to the longest.
const PUT_BACK_ATTEMPTS: u32 = 12;
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Deletes documents that are still equal to `expected`, one line a key.
pub(super) async fn delete(table: &Arc<Table>, keys: &[StoreKey], expected: &Lines) -> Vec<Guarded> {
    let schema = match table.schema().await {
        Ok(schema) => schema,
        Err(error) => return Guarded::all_failed(keys.len(), &error),
    };
    let mut tape = Tape::deep();
    let mut deletes = Vec::with_capacity(keys.len());
    for (key, line) in keys.iter().zip(expected.iter()) {
        let parsed = Delete::parse(schema, key, line, &mut tape);
        let table = table.clone();
        deletes.push(async move {
            match parsed {
                Ok(delete) => delete.run(&table).await,
                Err(error) => error.into(),
            }
        });
    }
    side_by_side(deletes).await
}

/// One document to delete.
struct Delete {
    key: StoreKey,
    attributes: Item,
    item: Item,
    line: Box<[u8]>,
}

impl Delete {
    fn parse(schema: &KeySchema, key: &StoreKey, line: &[u8], tape: &mut Tape) -> Result<Self, StoreError> {
        let attributes = schema.attributes(key)?;
        let item = read_item(tape, line).map_err(|what| StoreError::new(StoreErrorKind::Permanent, what))?;
        Ok(Self { key: key.clone(), attributes, item, line: line.into() })
    }

    async fn run(&self, table: &Arc<Table>) -> Guarded {
        let schema = match table.schema().await {
            Ok(schema) => schema,
            Err(error) => return error.into(),
        };
        match self.attempt(table, Condition::of(schema, &self.item, |_| true)).await {
            // Some servers compare maps and sets by their order: the image that is removed is compared in any case.
            Guarded::Differs(Some(stored)) if self.is_expected(&stored) => {
                self.attempt(table, Condition::of(schema, &self.item, is_scalar)).await
            }
            answer => answer,
        }
    }

    async fn attempt(&self, table: &Arc<Table>, condition: Condition) -> Guarded {
        let admission = table.writes.admit(write_units(self.line.len()));
        let (admitted, request) = match table.enter(admission).await {
            Ok(entered) => entered,
            Err(error) => return error.into(),
        };
        // What it turns out to have removed may have to be put back.
        let _to_the_end = table.waits.unbreakable();
        let call = table
            .client()
            .delete_item()
            .table_name(table.name())
            .set_key(Some(self.attributes.clone()))
            .condition_expression(condition.expression)
            .set_expression_attribute_names(Some(condition.names))
            .set_expression_attribute_values(Some(condition.values).filter(|values| !values.is_empty()))
            .return_values(ReturnValue::AllOld)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .return_consumed_capacity(ReturnConsumedCapacity::Total);
        let answer = call.send().await;
        drop(request);
        match answer {
            Ok(answer) => {
                table.writes.consumed(admitted, units(answer.consumed_capacity()));
                self.check_removed(table, answer.attributes.unwrap_or_default()).await
            }
            Err(error) => {
                if let Some(DeleteItemError::ConditionalCheckFailedException(failed)) =
                    error.as_service_error()
                {
                    return self.refused(table, failed.item()).await;
                }
                table.writes.refused(admitted);
                store_error("DeleteItem", Effect::Writes, &error).into()
            }
        }
    }

    /// The condition did not hold: the document is gone or another one.
    async fn refused(&self, table: &Arc<Table>, stored: Option<&Item>) -> Guarded {
        if let Some(stored) = stored.filter(|stored| !stored.is_empty()) {
            return line_of(stored).map_or_else(Guarded::from, |line| Guarded::Differs(Some(line)));
        }
        // The service gives the stored item back; a server that does not is asked.
        match by_keys(table, std::slice::from_ref(&self.key)).await {
            Ok(mut found) => {
                found.pop().flatten().map_or(Guarded::Missing, |line| Guarded::Differs(Some(line)))
            }
            Err(error) => error.into(),
        }
    }

    fn is_expected(&self, image: &[u8]) -> bool {
        guard::is_same(StoreKind::DynamoDb, image, &self.line).unwrap_or(false)
    }

    /// Compares the image that was removed and puts it back if it was another one than expected.
    async fn check_removed(&self, table: &Arc<Table>, removed: Item) -> Guarded {
        let image = match line_of(&removed) {
            Ok(image) => image,
            Err(error) => return self.put_back(table, removed).await.unwrap_or_else(|| error.into()),
        };
        if self.is_expected(&image) {
            return Guarded::Done;
        }
        self.put_back(table, removed).await.unwrap_or(Guarded::Differs(Some(image)))
    }

    /// Puts an item back unless somebody else has written one meanwhile; `None` once one is there.
    async fn put_back(&self, table: &Arc<Table>, item: Item) -> Option<Guarded> {
        let mut pause = FIRST_PAUSE;
        let mut last = None;
        for _ in 0..PUT_BACK_ATTEMPTS {
            match put_at_last(table, item.clone(), write_units(self.line.len())).await {
                Created::Failed(error) => last = Some(error),
                _ => return None,
            }
            tokio::time::sleep(pause).await;
            pause = LONGEST_PAUSE.min(pause * 2);
        }
        let why = last.map(|error| format!(": {error}")).unwrap_or_default();
        let message = format!(
            "Somebody had added to {} since the export; it was deleted and could not be put back, so what was added is lost{why}",
            self.key
        );
        Some(StoreError::new(StoreErrorKind::Permanent, message).into())
    }
}

/// Whether there is but one way to spell a value, numbers aside.
fn is_scalar(value: &AttributeValue) -> bool {
    use AttributeValue::{B, Bool, N, Null, S};
    matches!(value, S(_) | N(_) | B(_) | Bool(_) | Null(_))
}

/// Holds an item to its exported attributes.
struct Condition {
    expression: String,
    names: std::collections::HashMap<String, String>,
    values: Item,
}

impl Condition {
    fn of(schema: &KeySchema, item: &Item, compares: impl Fn(&AttributeValue) -> bool) -> Self {
        let mut condition = Self {
            expression: "attribute_exists(#key)".to_owned(),
            names: [("#key".to_owned(), schema.partition_key().to_owned())].into(),
            values: Item::new(),
        };
        let others = item.iter().filter(|(name, value)| !schema.holds(name) && compares(value));
        let mut others: Vec<_> = others.collect();
        others.sort_unstable_by_key(|(name, _)| *name);
        for (at, (name, value)) in others.into_iter().take(COMPARED).enumerate() {
            let _infallible = write!(condition.expression, " AND #a{at} = :a{at}");
            let _ = condition.names.insert(format!("#a{at}"), name.clone());
            let _ = condition.values.insert(format!(":a{at}"), value.clone());
        }
        condition
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_compares_what_is_not_the_key_and_stays_within_the_limits() {
        let schema = KeySchema::for_test(&[("pk", "S"), ("sk", "N")]);
        let members: Vec<String> = (0..150).map(|at| format!(r#""name{at:03}":{{"N":"{at}"}}"#)).collect();
        let line = format!(r#"{{"Item":{{{},"pk":{{"S":"a"}},"sk":{{"N":"1"}}}}}}"#, members.join(","));
        let item = read_item(&mut Tape::deep(), line.as_bytes()).unwrap();
        let condition = Condition::of(&schema, &item, is_scalar);
        assert!(condition.expression.starts_with("attribute_exists(#key) AND #a0 = :a0 AND #a1 = :a1"));
        assert!(condition.expression.len() < 4096);
        assert_eq!((condition.names.len(), condition.values.len()), (101, 100));
        assert!(condition.names.values().all(|name| name != "sk"));
    }
}
