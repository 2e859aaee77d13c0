//! Reads by document id.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use firestore::gcloud_sdk::google::firestore::v1::BatchGetDocumentsRequest;
use firestore::gcloud_sdk::prost::bytes::Bytes;

use super::encode::line_of;
use super::failure::{Effect, call_error};
use super::service::Service;
use super::wire::StoredDocument;
use crate::document::StoreKey;
use crate::stores::requests::{Patience, side_by_side};
use crate::stores::{StoreError, StoreErrorKind, StoreResult, document_id};

/// The most documents of one request.
const NAMES: usize = 300;

/// Reads documents by key, strongly consistent; the answer has the keys' order.
pub(super) async fn by_keys(
    service: &Arc<Service>,
    keys: &[StoreKey],
) -> StoreResult<Vec<Option<Box<[u8]>>>> {
    let found = documents(service, keys.iter().map(id_of).collect()).await?;
    found.iter().map(|document| document.as_deref().map(line_of).transpose()).collect()
}

/// The document id of a key; `None` if it can be the key of no document.
pub(super) fn id_of(key: &StoreKey) -> Option<String> {
    let [id]: [String; 1] = serde_json::from_str(&key.0).ok()?;
    document_id::check(&id).is_ok().then_some(id)
}

/// Reads documents by id, as they stand on the wire; the answer has the ids' order, `None` where there is no document.
pub(super) async fn documents(
    service: &Arc<Service>,
    ids: Vec<Option<String>>,
) -> StoreResult<Vec<Option<Bytes>>> {
    let mut found: Vec<Option<Bytes>> = ids.iter().map(|_| None).collect();
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, id) in ids.into_iter().enumerate() {
        if let Some(id) = id {
            places.entry(service.path.document(&id)).or_default().push(at);
        }
    }
    let names: Vec<String> = places.keys().cloned().collect();
    let requests = names.chunks(NAMES).map(|names| {
        let (service, names) = (service.clone(), names.to_vec());
        async move { patiently(&service, names).await }
    });
    for documents in side_by_side(requests.collect::<Vec<_>>()).await {
        for document in documents? {
            let name = StoredDocument::read(&document)?.name;
            for at in places.get(name).into_iter().flatten() {
                if let Some(place) = found.get_mut(*at) {
                    *place = Some(document.clone());
                }
            }
        }
    }
    Ok(found)
}

/// Asks once more where the answer breaks off; what it gave already is not asked for again.
async fn patiently(service: &Service, mut names: Vec<String>) -> StoreResult<Vec<Bytes>> {
    let mut documents = Vec::with_capacity(names.len());
    let mut patience = Patience::new(&service.waits);
    while !names.is_empty() {
        let before = names.len();
        let read = get(service, &mut names, &mut documents).await;
        if names.len() < before {
            patience.progress();
        }
        if !names.is_empty() {
            patience.pause(read.err().unwrap_or_else(left_out)).await?;
        }
    }
    Ok(documents)
}

/// The failure of an answer that does not mention every document asked for.
fn left_out() -> StoreError {
    StoreError::new(
        StoreErrorKind::Transient,
        "Firestore left documents out of its answer to BatchGetDocuments",
    )
}

/// One request: adds what is there, and takes from `names` what was answered.
async fn get(service: &Service, names: &mut Vec<String>, documents: &mut Vec<Bytes>) -> StoreResult<()> {
    let request = BatchGetDocumentsRequest {
        database: service.path.database().to_owned(),
        documents: names.clone(),
        ..BatchGetDocumentsRequest::default()
    };
    let failed = |status| call_error("BatchGetDocuments", Effect::Reads, &status);
    let _request = service.request().await?;
    let mut answer = service.batch_get_documents(request).await.map_err(failed)?;
    let mut answered = HashSet::new();
    let read = loop {
        match answer.message().await {
            Ok(None) => break Ok(()),
            Err(status) => break Err(failed(status)),
            Ok(Some(part)) => {
                if let Some(document) = part.found {
                    let _ = answered.insert(StoredDocument::read(&document)?.name.to_owned());
                    documents.push(document);
                }
                answered.extend(part.missing);
            }
        }
    };
    names.retain(|name| !answered.contains(name));
    read
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_holds_one_valid_id() {
        let id = |key: &str| id_of(&StoreKey(key.into()));
        assert_eq!(id(r#"["Order:\"1\""]"#).as_deref(), Some("Order:\"1\""));
        for key in [r#"["a","b"]"#, "[1]", "x", r#"["__x__"]"#, r#"["a/b"]"#] {
            assert_eq!(id(key), None, "{key}");
        }
    }
}
