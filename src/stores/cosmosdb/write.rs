//! Creates items, and never replaces one.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::container::{Container, write_units};
use super::error::{Effect, store_error};
use super::item;
use super::key::{ItemKey, key_of};
use crate::check::{Reason, Refusal};
use crate::document::Lines;
use crate::document::json::Tape;
use crate::stores::requests::side_by_side;
use crate::stores::{Created, StoreError, StoreErrorKind};

/// Creates documents, never replacing one, by requests side by side.
pub(super) async fn create(container: &Arc<Container>, lines: &Lines) -> Vec<Created> {
    let paths = match container.opened().await {
        Ok(opened) => &opened.paths,
        Err(error) => return Created::all_failed(lines.len(), &error),
    };
    let mut tape = Tape::new();
    let mut creates = Vec::with_capacity(lines.len());
    for line in lines.iter() {
        let item = prepare(paths, &mut tape, line);
        let container = container.clone();
        creates.push(async move {
            match item {
                Ok((key, item)) => create_one(&container, &key, item).await,
                Err(refusal) => StoreError::new(StoreErrorKind::Permanent, refusal.to_string()).into(),
            }
        });
    }
    side_by_side(creates).await
}

/// Reads a line that is to be an item, and checks it against the limits that the service keeps late or not at all.
fn prepare(paths: &[String], tape: &mut Tape, line: &[u8]) -> Result<(ItemKey, Box<RawValue>), Refusal> {
    item::read(tape, line)?;
    let key = key_of(paths, tape, line)?;
    let key =
        ItemKey::parse(&key, paths.len()).map_err(|error| Refusal::new(Reason::FieldType, error.message))?;
    key.check()?;
    item::check_size(tape, line)?;
    Ok((key, item::text(tape, line)?))
}

async fn create_one(container: &Container, key: &ItemKey, item: Box<RawValue>) -> Created {
    let client = match container.opened().await {
        Ok(opened) => &opened.client,
        Err(error) => return error.into(),
    };
    let (admitted, request) =
        match container.enter(container.units.admit(write_units(item.get().len()))).await {
            Ok(entered) => entered,
            Err(error) => return error.into(),
        };
    let answer = Box::pin(client.create_item(key.partition.clone(), &key.id, item, None)).await;
    drop(request);
    match answer {
        Ok(answer) => {
            let _units = container.charge(admitted, answer.headers());
            container.waits.wrote();
            Created::Written
        }
        Err(error) => {
            container.charge_failure(admitted, &error);
            if error.status().is_conflict() {
                // The id, or a unique key; or this very write, sent again by the SDK.
                return Created::Exists(None);
            }
            store_error("a write", Effect::Writes, &error).into()
        }
    }
}
