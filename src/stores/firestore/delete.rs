//! Deletes documents that are still what was exported, guarded by the time of their last change at which they were
//! compared.

use std::sync::Arc;

use firestore::gcloud_sdk::google::firestore::v1::precondition::ConditionType;
use firestore::gcloud_sdk::google::firestore::v1::write::Operation;
use firestore::gcloud_sdk::google::firestore::v1::{Precondition, Write};
use firestore::gcloud_sdk::prost::Message as _;
use firestore::gcloud_sdk::prost::bytes::Bytes;
use firestore::gcloud_sdk::prost_types::Timestamp;
use firestore::gcloud_sdk::tonic::Code;

use super::batch::{Failed, send};
use super::encode::{line_of, write_document};
use super::failure::write_error;
use super::read::{documents, id_of};
use super::service::Service;
use super::wire::{StoredDocument, timestamp};
use crate::document::{Lines, StoreKey, StoreKind};
use crate::stores::answers::{Answers, unanswered};
use crate::stores::requests::side_by_side;
use crate::stores::{Guarded, StoreError, StoreErrorKind, guard};

/// Deletes documents that are still equal to `expected`, one line a key.
///
/// Each is read, compared, and deleted only if it was not changed since it was read.
pub(super) async fn delete(service: &Arc<Service>, keys: &[StoreKey], expected: &Lines) -> Vec<Guarded> {
    let ids: Vec<Option<String>> = keys.iter().map(id_of).collect();
    let stored = match documents(service, ids).await {
        Ok(stored) => stored,
        Err(error) => return Guarded::all_failed(keys.len(), &error),
    };
    let mut answers = Answers::new(keys.len());
    let mut deletes = Vec::new();
    for (at, (stored, expected)) in stored.into_iter().zip(expected.iter()).enumerate() {
        let answer = match stored {
            None => Guarded::Missing,
            Some(stored) => match judge(&stored, expected) {
                Ok(write) => {
                    deletes.push((at, write));
                    continue;
                }
                Err(answer) => answer,
            },
        };
        answers.put(at, answer);
    }
    for (at, answer) in send_all(service, deletes).await {
        answers.put(at, answer);
    }
    settle_changed(service, keys, expected, &mut answers).await;
    answers.finish()
}

/// The write that deletes a stored document, or why it is not to be deleted.
fn judge(stored: &[u8], expected: &[u8]) -> Result<Bytes, Guarded> {
    let stored = StoredDocument::read(stored)?;
    let mut line = Vec::with_capacity(expected.len());
    write_document(&stored, &mut line)?;
    match guard::is_same(StoreKind::Firestore, &line, expected) {
        Ok(true) => {}
        Ok(false) => return Err(Guarded::Differs(Some(line.into()))),
        Err(error) => {
            return Err(StoreError::new(
                StoreErrorKind::Permanent,
                format!("The line is no document: {error}"),
            )
            .into());
        }
    }
    let changed = stored.changed.ok_or_else(|| {
        StoreError::new(
            StoreErrorKind::Permanent,
            "Firestore gave a document without the time of its last change",
        )
    })?;
    Ok(delete_unchanged(stored.name.to_owned(), timestamp(changed).map_err(StoreError::from)?))
}

/// The `Write` that deletes a document, by its full name, if it was not changed since.
pub(super) fn delete_unchanged(name: String, changed: Timestamp) -> Bytes {
    let write = Write {
        operation: Some(Operation::Delete(name)),
        current_document: Some(Precondition { condition_type: Some(ConditionType::UpdateTime(changed)) }),
        ..Write::default()
    };
    write.encode_to_vec().into()
}

/// Sends deletes in requests side by side. What was changed meanwhile is answered without what is there now.
async fn send_all(service: &Arc<Service>, deletes: Vec<(usize, Bytes)>) -> Vec<(usize, Guarded)> {
    let mut requests = Vec::new();
    let mut deletes = deletes.into_iter().peekable();
    while deletes.peek().is_some() {
        let some: Vec<_> = deletes.by_ref().take(service.pace.request()).collect();
        let service = service.clone();
        requests.push(async move {
            let _request = match service.request().await {
                Ok(request) => request,
                Err(error) => {
                    return some.iter().map(|(place, _)| (*place, error.duplicate().into())).collect();
                }
            };
            let mut answers = Vec::with_capacity(some.len());
            let make = |at: usize| some.get(at).map(|(_, write)| write.clone()).ok_or_else(unanswered);
            let answer = |at: usize, status| {
                answers.extend(some.get(at).map(|(place, _)| (*place, answer_of(status))));
            };
            send(&service, some.len(), make, answer).await;
            answers
        });
    }
    side_by_side(requests).await.into_iter().flatten().collect()
}

fn answer_of(status: Result<(), Failed>) -> Guarded {
    match status {
        Ok(()) => Guarded::Done,
        Err(Failed::Call(error)) => error.into(),
        Err(Failed::Write(status)) => match Code::from_i32(status.code) {
            // Changed or gone since it was read.
            Code::FailedPrecondition => Guarded::Differs(None),
            Code::NotFound => Guarded::Missing,
            _ => write_error(&status).into(),
        },
    }
}

/// Looks at what was written or gone meanwhile.
async fn settle_changed(
    service: &Arc<Service>,
    keys: &[StoreKey],
    expected: &Lines,
    answers: &mut Answers<Guarded>,
) {
    let changed = answers.places(|answer| matches!(answer, Guarded::Differs(None)));
    if changed.is_empty() {
        return;
    }
    let ids = changed.iter().map(|at| keys.get(*at).and_then(id_of)).collect();
    match documents(service, ids).await {
        Err(error) => answers.fail(&changed, &error),
        Ok(found) => {
            for (at, document) in changed.into_iter().zip(found) {
                let answer = match document.as_deref().map(line_of) {
                    None => Guarded::Missing,
                    Some(Ok(line)) => written_meanwhile(line, expected.get(at).unwrap_or_default()),
                    Some(Err(error)) => error.into(),
                };
                answers.put(at, answer);
            }
        }
    }
}

/// The answer for a document that was written between the look and the delete.
fn written_meanwhile(line: Box<[u8]>, expected: &[u8]) -> Guarded {
    if !guard::is_same(StoreKind::Firestore, &line, expected).unwrap_or(false) {
        return Guarded::Differs(Some(line));
    }
    // Whoever asked looks again, and again deletes what still has its content.
    let message = "Somebody else wrote the document at the same time";
    StoreError::new(StoreErrorKind::UnknownOutcome, message).into()
}
