//! What the credentials may do with a container. The service does not say it, so it is tried: by writes on the condition
//! of a mark that no item has, and by a create whose partition key is not its own item's. The service turns them down with
//! another answer where the right itself is missing.

use std::future::Future;

use azure_core::http::Etag;
use azure_data_cosmos::CosmosError;
use azure_data_cosmos::models::ItemResponse;
use azure_data_cosmos::options::{ItemWriteOptions, Precondition};
use serde_json::{Value, json};

use super::container::{Container, write_units};
use super::describe::stored_bytes;
use super::error::{Effect, store_error};
use super::key::ItemKey;
use super::read::by_key;
use crate::document::StoreKey;
use crate::stores::{Examination, Held, Permission, Right, StoreErrorKind, StoreResult};

/// The id and the partition key of the tries; an item with them would be left alone all the same.
const NOBODY: &str = "rekey-doctor";
/// A mark that the service gives no item.
const NO_MARK: &str = "\"rekey-doctor\"";

/// Looks at a container, which need not be there.
pub(super) async fn examine(container: &Container) -> StoreResult<Examination> {
    let paths = match container.opened().await {
        Ok(opened) => Some(opened.paths.clone()),
        Err(error) if matches!(error.kind, StoreErrorKind::NotFound | StoreErrorKind::Denied) => None,
        Err(error) => return Err(error),
    };
    let (mut held, mut bytes) = ([Held::Unknown; 4], None);
    if let Some(paths) = &paths {
        let tries = Tries { container, key: key(paths.len())?, paths };
        held = [tries.read().await?, tries.create().await?, tries.replace().await?, tries.delete().await?];
        bytes = stored_bytes(container).await?;
    }
    let [read, create, update, delete] = held;
    // A key that may write may do everything; an identity of Entra ID makes no container, whatever its roles.
    let make = match (container.has_key(), create) {
        (false, _) => Held::No,
        (true, create) => create,
    };
    let role = |action: &str| {
        format!(
            "the account's read-write key, or to an identity of Entra ID the data action {action} (Cosmos DB Built-in Data Contributor has it)"
        )
    };
    let items = "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/items";
    let permission = |right, held, given_by| Permission { right, held, given_by };
    Ok(Examination {
        identity: Some(container.shown_credentials()),
        bytes,
        permissions: vec![
            permission(Right::Read, read, role(&format!("{items}/read, with executeQuery and readChangeFeed"))),
            permission(Right::Create, create, role(&format!("{items}/create"))),
            permission(Right::Update, update, role(&format!("{items}/replace"))),
            permission(Right::Delete, delete, role(&format!("{items}/delete"))),
            permission(
                Right::MakeCollection,
                make,
                "the account's read-write key; or make the container by other means (az cosmosdb sql container create)".to_owned(),
            ),
        ],
        ..Examination::default()
    })
}

/// Requests that change nothing.
struct Tries<'c> {
    container: &'c Container,
    key: ItemKey,
    paths: &'c [String],
}

impl Tries<'_> {
    async fn read(&self) -> StoreResult<Held> {
        match by_key(self.container, &self.key).await {
            Ok(_) => Ok(Held::Yes),
            Err(error) if error.kind == StoreErrorKind::Denied => Ok(Held::No),
            Err(error) => Err(error),
        }
    }

    /// The item has another partition key than the request says, which the service never takes.
    async fn create(&self) -> StoreResult<Held> {
        let client = &self.container.opened().await?.client;
        let item = self.item("another");
        self.tried(client.create_item(self.key.partition.clone(), NOBODY, item, None)).await
    }

    async fn replace(&self) -> StoreResult<Held> {
        let client = &self.container.opened().await?.client;
        let (partition, item) = (self.key.partition.clone(), self.item(NOBODY));
        self.tried(client.replace_item(partition, NOBODY, item, Some(impossible()))).await
    }

    async fn delete(&self) -> StoreResult<Held> {
        let client = &self.container.opened().await?.client;
        self.tried(client.delete_item(self.key.partition.clone(), NOBODY, Some(impossible()))).await
    }

    async fn tried(
        &self,
        call: impl Future<Output = azure_data_cosmos::Result<ItemResponse>>,
    ) -> StoreResult<Held> {
        let admission = self.container.units.admit(write_units(0));
        let (admitted, _request) = self.container.enter(admission).await?;
        match Box::pin(call).await {
            Ok(answer) => {
                let _units = self.container.charge(admitted, answer.headers());
                Ok(Held::Yes)
            }
            Err(error) => {
                self.container.charge_failure(admitted, &error);
                held(&error)
            }
        }
    }

    /// An item whose partition key is `value` in every component.
    fn item(&self, value: &str) -> Value {
        let mut item = json!({ "id": NOBODY });
        for path in self.paths {
            put(&mut item, path, value);
        }
        item
    }
}

fn impossible() -> ItemWriteOptions {
    ItemWriteOptions::default().with_precondition(Precondition::if_match(Etag::from(NO_MARK.to_owned())))
}

/// What an answer says of the right. What says nothing of it, and may go through later, is an error.
fn held(error: &CosmosError) -> StoreResult<Held> {
    let status = error.status();
    // It was looked at, and turned down for what it was made to be turned down for.
    if status.is_not_found() || status.is_precondition_failed() || u16::from(status.status_code()) == 400 {
        return Ok(Held::Yes);
    }
    let error = store_error("a try", Effect::Reads, error);
    match error.kind {
        StoreErrorKind::Denied => Ok(Held::No),
        kind if kind.is_retryable() => Err(error),
        _ => Ok(Held::Unknown),
    }
}

/// The key of nobody, with so many components.
fn key(components: usize) -> StoreResult<ItemKey> {
    let parts = vec![NOBODY; components + 1];
    ItemKey::parse(&StoreKey(json!(parts).to_string().into()), components)
}

/// Puts a text under a path such as `a/b`.
fn put(item: &mut Value, path: &str, text: &str) {
    let mut place = item;
    for name in path.split('/') {
        place = &mut place[name];
    }
    *place = Value::from(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_goes_under_its_path() {
        let mut item = json!({ "id": "x" });
        put(&mut item, "streamId", "a");
        put(&mut item, "owner/tenant", "b");
        assert_eq!(item, json!({ "id": "x", "streamId": "a", "owner": { "tenant": "b" } }));
    }

    #[test]
    fn the_key_of_nobody_has_as_many_components_as_the_container() {
        for components in 1..=3 {
            assert_eq!(key(components).unwrap().id, NOBODY);
        }
    }
}
