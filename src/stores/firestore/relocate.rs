//! Moves documents to other ids: the new one is created and the old one deleted in one commit.

use std::sync::Arc;

use firestore::gcloud_sdk::prost::bytes::Bytes;
use firestore::gcloud_sdk::tonic::Code;

use super::decode::read_time;
use super::delete::delete_unchanged;
use super::failure::{Effect, call_error};
use super::service::Service;
use super::write::write_of;
use crate::document::json::{Kind, Tape};
use crate::document::text::unescape;
use crate::document::{Lines, document_id};
use crate::stores::requests::side_by_side;
use crate::stores::{Guarded, StoreError, StoreErrorKind, StoreResult};

/// Moves documents, each in a commit of its own: one that does not move leaves the others alone.
pub(super) async fn relocate(service: &Arc<Service>, old: &Lines, new: &Lines) -> Vec<Guarded> {
    let moves = old.iter().zip(new.iter()).map(|(old, new)| {
        let (service, old, new) = (service.clone(), old.to_vec(), new.to_vec());
        async move { move_one(&service, &old, &new).await }
    });
    side_by_side(moves.collect::<Vec<_>>()).await
}

async fn move_one(service: &Service, old: &[u8], new: &[u8]) -> Guarded {
    let _request = match service.request().await {
        Ok(request) => request,
        Err(error) => return error.into(),
    };
    let mut tape = Tape::deep();
    let writes = delete_of(service, &mut tape, old)
        .and_then(|delete| Ok(vec![write_of(service, &mut tape, new)?, delete]));
    let writes = match writes {
        Ok(writes) => writes,
        Err(error) => return error.into(),
    };
    if let Err(error) = service.admit(writes.len()).await {
        return error.into();
    }
    match service.commit(writes).await {
        Ok(_committed) => {
            service.waits.wrote();
            Guarded::Done
        }
        Err(status) => match status.code() {
            Code::AlreadyExists => Guarded::UniqueTaken("the document id".to_owned()),
            // Changed or gone since it was read.
            Code::FailedPrecondition => Guarded::Differs(None),
            _ => call_error("Commit", Effect::Writes, &status).into(),
        },
    }
}

/// The write that deletes a document if it was not changed since it was read.
fn delete_of(service: &Service, tape: &mut Tape, line: &[u8]) -> StoreResult<Bytes> {
    let foreign = || StoreError::new(StoreErrorKind::Permanent, "The line is no document that was read");
    tape.read(line).map_err(|_| foreign())?;
    let id = document_id(tape, line).ok_or_else(foreign)?;
    let changed = tape.find(line, None, "updateTime").filter(|time| time.kind == Kind::String);
    let changed = changed.and_then(|time| read_time(&unescape(time.raw(line)))).ok_or_else(foreign)?;
    Ok(delete_unchanged(service.path.document(&id), changed))
}
