//! What the credentials may do with a collection. The service does not say it, so it is tried: by commits with a write on
//! the condition of a change that no document had. A commit is done all or not at all, so that nothing in it is done.

use std::sync::Arc;

use firestore::gcloud_sdk::google::firestore::v1::precondition::ConditionType;
use firestore::gcloud_sdk::google::firestore::v1::write::Operation;
use firestore::gcloud_sdk::google::firestore::v1::{Document, Precondition, Write};
use firestore::gcloud_sdk::prost::Message as _;
use firestore::gcloud_sdk::prost::bytes::Bytes;
use firestore::gcloud_sdk::prost_types::Timestamp;
use firestore::gcloud_sdk::tonic::Code;

use super::failure::{Effect, call_error};
use super::scan;
use super::service::Service;
use crate::stores::examination::now;
use crate::stores::{Clock, Examination, Held, Permission, Right, StoreErrorKind, StoreResult};

/// The id of the tries; a document with it would be left alone all the same.
const NOBODY: &str = "rekey-doctor";

/// Looks at a collection.
pub(super) async fn examine(service: &Arc<Service>) -> StoreResult<Examination> {
    let asked = now();
    let (read, moment) = match scan::snapshot(service).await {
        Ok(moment) => (Held::Yes, moment),
        Err(error) if error.kind == StoreErrorKind::Denied => (Held::No, None),
        Err(error) => return Err(error),
    };
    let local = asked + (now() - asked) / 2;
    let clock = moment.and_then(|moment| {
        let text = moment.0.get("readTime")?.as_str()?;
        let server = text.parse::<jiff::Timestamp>().ok()?.as_millisecond();
        Some(Clock { server, local })
    });
    let name = service.path.document(NOBODY);
    let (deleted, updated) = (never(Operation::Delete(name.clone())), never(update(name)));
    let delete = held(service, vec![deleted.clone()]).await?;
    let update = held(service, vec![updated.clone()]).await?;
    // What fails the commit is a write that we may do, so that a denial is about the create.
    let create = match (update, delete) {
        (Held::Yes, _) => held(service, vec![updated, create_of(service)]).await?,
        (_, Held::Yes) => held(service, vec![deleted, create_of(service)]).await?,
        _ => Held::Unknown,
    };
    let role = |action: &str, role: &str| {
        format!("the role roles/datastore.{role}, or one with datastore.entities.{action}")
    };
    let permission = |right, held, given_by| Permission { right, held, given_by };
    Ok(Examination {
        clock,
        permissions: vec![
            permission(Right::Read, read, role("get and datastore.entities.list", "viewer")),
            permission(Right::Create, create, role("create", "user")),
            permission(Right::Update, update, role("update", "user")),
            permission(Right::Delete, delete, role("delete", "user")),
            // A collection comes with its first document.
            permission(Right::MakeCollection, create, role("create", "user")),
        ],
        ..Examination::default()
    })
}

fn update(name: String) -> Operation {
    Operation::Update(Document { name, ..Document::default() })
}

/// A create of another document than the one that fails the commit.
fn create_of(service: &Service) -> Bytes {
    let name = service.path.document(&format!("{NOBODY}-create"));
    encoded(update(name), ConditionType::Exists(false))
}

/// A write on the condition that its document was last changed a second after 1970 began.
fn never(operation: Operation) -> Bytes {
    encoded(operation, ConditionType::UpdateTime(Timestamp { seconds: 1, nanos: 0 }))
}

fn encoded(operation: Operation, condition: ConditionType) -> Bytes {
    let write = Write {
        operation: Some(operation),
        current_document: Some(Precondition { condition_type: Some(condition) }),
        ..Write::default()
    };
    write.encode_to_vec().into()
}

/// What the answer to a commit that must fail says of the rights. What says nothing of them, and may go through later, is
/// an error.
async fn held(service: &Service, writes: Vec<Bytes>) -> StoreResult<Held> {
    let _request = service.request().await?;
    let Err(status) = service.commit(writes).await else { return Ok(Held::Unknown) };
    match status.code() {
        Code::NotFound | Code::FailedPrecondition | Code::AlreadyExists => return Ok(Held::Yes),
        Code::PermissionDenied | Code::Unauthenticated => return Ok(Held::No),
        _ => {}
    }
    let error = call_error("Commit", Effect::Reads, &status);
    if error.kind.is_retryable() { Err(error) } else { Ok(Held::Unknown) }
}
