//! Deletes items that are still what was exported.
//!
//! Each delete is on the condition of a mark (`_etag`) that the service gives each state of an item: the exported one
//! first, which costs no read. An item that was written anew since has another mark; it is read and compared, and where
//! its content is still the exported one it is deleted by the mark that stood there when it was compared.

use std::sync::Arc;

use azure_core::http::Etag;
use azure_data_cosmos::options::{ItemWriteOptions, Precondition};

use super::container::{Container, write_units};
use super::error::{Effect, store_error};
use super::key::ItemKey;
use super::read::by_key;
use crate::document::json::Tape;
use crate::document::{Lines, StoreKey, StoreKind, text_field};
use crate::stores::requests::side_by_side;
use crate::stores::{Guarded, StoreError, StoreErrorKind, StoreResult, guard};

/// Deletes documents that are still equal to `expected`, one line a key.
pub(super) async fn delete(container: &Arc<Container>, keys: &[StoreKey], expected: &Lines) -> Vec<Guarded> {
    let components = match container.opened().await {
        Ok(opened) => opened.paths.len(),
        Err(error) => return Guarded::all_failed(keys.len(), &error),
    };
    let deletes = keys.iter().zip(expected.iter()).map(|(key, line)| {
        let delete = ItemKey::parse(key, components).map(|key| Delete { key, line: line.into() });
        let container = container.clone();
        async move {
            match delete {
                Ok(delete) => delete.run(&container).await.unwrap_or_else(Guarded::from),
                Err(error) => error.into(),
            }
        }
    });
    side_by_side(deletes.collect::<Vec<_>>()).await
}

/// One document to delete.
struct Delete {
    key: ItemKey,
    line: Box<[u8]>,
}

impl Delete {
    async fn run(&self, container: &Container) -> StoreResult<Guarded> {
        if let Some(mark) = mark(&self.line)
            && let Some(answer) = self.delete_marked(container, mark).await?
        {
            return Ok(answer);
        }
        let Some(stored) = by_key(container, &self.key).await? else { return Ok(Guarded::Missing) };
        if !guard::is_same(StoreKind::CosmosDb, &stored, &self.line).unwrap_or(false) {
            return Ok(Guarded::Differs(Some(stored)));
        }
        let Some(mark) = mark(&stored) else { return Ok(Guarded::Differs(Some(stored))) };
        self.delete_marked(container, mark).await?.ok_or_else(|| {
            // Whoever asked looks again, and again deletes what still has its content.
            let message = format!("Somebody else wrote the item {:?} at the same time", self.key.id);
            StoreError::new(StoreErrorKind::UnknownOutcome, message)
        })
    }

    /// Deletes the item in the state with this mark; `None` if it is in another one.
    async fn delete_marked(&self, container: &Container, mark: String) -> StoreResult<Option<Guarded>> {
        let client = &container.opened().await?.client;
        let guarded = ItemWriteOptions::default().with_precondition(Precondition::if_match(Etag::from(mark)));
        let (admitted, request) =
            container.enter(container.units.admit(write_units(self.line.len()))).await?;
        let key = &self.key;
        let answer = Box::pin(client.delete_item(key.partition.clone(), &key.id, Some(guarded))).await;
        drop(request);
        let error = match answer {
            Ok(answer) => {
                let _units = container.charge(admitted, answer.headers());
                return Ok(Some(Guarded::Done));
            }
            Err(error) => error,
        };
        container.charge_failure(admitted, &error);
        if error.status().is_not_found() {
            return Ok(Some(Guarded::Missing));
        }
        if error.status().is_precondition_failed() {
            return Ok(None);
        }
        Err(store_error("a delete", Effect::Writes, &error))
    }
}

fn mark(line: &[u8]) -> Option<String> {
    let mut tape = Tape::new();
    tape.read(line).ok()?;
    Some(text_field(StoreKind::CosmosDb, &tape, line, "_etag")?.into_owned())
}
