//! Reads by key.

use std::sync::Arc;

use azure_data_cosmos::CosmosError;

use super::ask::{Text, write_line};
use super::container::Container;
use super::error::{Effect, broken, store_error};
use super::key::ItemKey;
use crate::document::StoreKey;
use crate::stores::requests::{Patience, side_by_side};
use crate::stores::{StoreError, StoreErrorKind, StoreResult};

/// What a point read of 1 KB costs.
const POINT_READ: f64 = 1.0;

/// Reads documents by key, side by side; the answer has the keys' order.
pub(super) async fn by_keys(
    container: &Arc<Container>,
    keys: &[StoreKey],
) -> StoreResult<Vec<Option<Box<[u8]>>>> {
    let components = container.opened().await?.paths.len();
    let reads = keys.iter().map(|key| {
        // What can be no key of the container is not there.
        let key = ItemKey::parse(key, components).ok();
        let container = container.clone();
        async move {
            match key {
                Some(key) => patiently(&container, &key).await,
                None => Ok(None),
            }
        }
    });
    side_by_side(reads.collect::<Vec<_>>()).await.into_iter().collect()
}

/// Reads one of several items, pausing where that is turned down.
async fn patiently(container: &Container, key: &ItemKey) -> StoreResult<Option<Box<[u8]>>> {
    let mut patience = Patience::new(&container.waits);
    loop {
        match by_key(container, key).await {
            Ok(found) => {
                patience.progress();
                return Ok(found);
            }
            Err(error) => patience.pause(error).await?,
        }
    }
}

/// Reads one item as a line.
pub(super) async fn by_key(container: &Container, key: &ItemKey) -> StoreResult<Option<Box<[u8]>>> {
    // An id that the service does not allow is nowhere, and could not be addressed.
    if key.check().is_err() {
        return Ok(None);
    }
    let client = &container.opened().await?.client;
    let (admitted, request) = container.enter(container.units.admit(POINT_READ)).await?;
    let answer = Box::pin(client.read_item(key.partition.clone(), &key.id, None)).await;
    drop(request);
    match answer {
        Ok(answer) => {
            let _units = container.charge(admitted, answer.headers());
            let item: Text = answer.into_model().map_err(|_| broken("an item"))?;
            let mut line = Vec::with_capacity(item.get().len());
            write_line(&item, &mut line);
            Ok(Some(line.into()))
        }
        Err(error) => {
            container.charge_failure(admitted, &error);
            // With a sub-status it is something else that is not there: the container, or a replica that knows.
            if error.status().is_not_found() { Ok(None) } else { Err(read_error(container, &error)) }
        }
    }
}

fn read_error(container: &Container, error: &CosmosError) -> StoreError {
    match store_error("an item", Effect::Reads, error) {
        error if error.kind == StoreErrorKind::NotFound => {
            StoreError { message: format!("There is no container {:?} any more", container.name()), ..error }
        }
        error => error,
    }
}
