//! What every call needs: the connection, the collection's path, the requests in flight and the pace.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use firestore::gcloud_sdk::GoogleAuthMiddleware;
use firestore::gcloud_sdk::google::firestore::v1::firestore_client::FirestoreClient;
use firestore::gcloud_sdk::google::firestore::v1::{
    BatchGetDocumentsRequest, BatchWriteResponse, CommitResponse, RunQueryRequest,
};
use firestore::gcloud_sdk::prost::Message;
use firestore::gcloud_sdk::prost::bytes::Bytes;
use firestore::gcloud_sdk::tonic::client::Grpc;
use firestore::gcloud_sdk::tonic::codec::Streaming;
use firestore::gcloud_sdk::tonic::codegen::http::uri::PathAndQuery;
use firestore::gcloud_sdk::tonic::{Request, Status};
use tokio::sync::SemaphorePermit;
use tonic_prost::ProstCodec;

use super::connect::Api;
use super::pace::Pace;
use super::path::CollectionPath;
use super::settings::Endpoint;
use super::wire::{GetAnswer, QueryAnswer, Writes};
use crate::stores::Rates;
use crate::stores::requests::InFlight;
use crate::stores::waits::Waits;
use crate::stores::{BatchLimits, Remark, StoreResult};

/// Requests in flight at one time, if nobody says.
const REQUESTS: usize = 16;
/// What a call to write takes: it is cut into requests that take its documents in no order, so that they do not all
/// go to one range of keys. A command sends eight such calls at one time.
const BATCH: BatchLimits = BatchLimits { documents: 6_000, bytes: 6 * 1024 * 1024 };
/// Under a pace a call lasts about so many seconds at most, so that an interrupted run ends in a minute.
const BATCH_SECONDS: u32 = 5;
/// The largest message that is read: an answer to a batch repeats the id of every document in it.
const MESSAGE: usize = 16 * 1024 * 1024;

/// One collection of a database.
pub(super) struct Service {
    api: Api,
    /// Where the collection is.
    pub path: CollectionPath,
    /// The same for a person.
    pub location: String,
    /// What no other collection has.
    pub identity: String,
    /// What an operator should know about the way there.
    pub remarks: Vec<Remark>,
    /// What every wait for the service ends by.
    pub waits: Waits,
    /// How fast documents are written.
    pub pace: Pace,
    /// What stands below the documents that were read.
    pub nested: Nested,
    requests: InFlight,
}

/// Documents in sub-collections below those of the collection.
#[derive(Default)]
pub(super) struct Nested {
    example: OnceLock<String>,
    invisible: AtomicBool,
}

impl Service {
    pub(super) fn new(
        api: Api,
        path: CollectionPath,
        collection: &str,
        endpoint: &Endpoint,
        remarks: Vec<Remark>,
        rates: Rates,
        waits: &Waits,
    ) -> Self {
        let pace = match endpoint {
            Endpoint::Service => Pace::growing(rates.max_writes_per_second),
            Endpoint::Emulator(_) => Pace::steady(rates.max_writes_per_second),
        };
        let database = path.database().split('/').collect::<Vec<_>>();
        let (project, name) = match database[..] {
            [_, project, _, name] => (project, name),
            _ => ("", ""),
        };
        let host = endpoint.place();
        Self {
            location: format!("{host}, project {project:?}, database {name:?}, collection {collection:?}"),
            identity: match endpoint {
                Endpoint::Service => path.name().to_owned(),
                // On whatever port it listens today.
                Endpoint::Emulator(_) => format!("emulator {}", path.name()),
            },
            api,
            path,
            remarks,
            waits: waits.clone(),
            pace,
            nested: Nested::default(),
            requests: InFlight::new(rates, REQUESTS),
        }
    }

    /// The SDK's own client, which sends protobuf messages as they are.
    pub(super) fn client(&self) -> FirestoreClient<GoogleAuthMiddleware> {
        self.api.get().max_decoding_message_size(MESSAGE)
    }

    /// Runs a query, whose documents are left as they are.
    pub(super) async fn run_query(&self, request: RunQueryRequest) -> Result<Streaming<QueryAnswer>, Status> {
        self.streamed("/google.firestore.v1.Firestore/RunQuery", request).await
    }

    /// Reads documents by name, which are left as they are.
    pub(super) async fn batch_get_documents(
        &self,
        request: BatchGetDocumentsRequest,
    ) -> Result<Streaming<GetAnswer>, Status> {
        self.streamed("/google.firestore.v1.Firestore/BatchGetDocuments", request).await
    }

    /// Sends writes that are answered one by one.
    pub(super) async fn batch_write(&self, writes: Vec<Bytes>) -> Result<BatchWriteResponse, Status> {
        self.write("/google.firestore.v1.Firestore/BatchWrite", writes).await
    }

    /// Sends writes that are done all or not at all.
    pub(super) async fn commit(&self, writes: Vec<Bytes>) -> Result<CommitResponse, Status> {
        self.write("/google.firestore.v1.Firestore/Commit", writes).await
    }

    async fn streamed<Q, A>(&self, method: &'static str, request: Q) -> Result<Streaming<A>, Status>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        let (mut grpc, path) = (self.grpc().await?, PathAndQuery::from_static(method));
        let codec = ProstCodec::<Q, A>::default();
        Ok(grpc.server_streaming(Request::new(request), path, codec).await?.into_inner())
    }

    async fn write<A>(&self, method: &'static str, writes: Vec<Bytes>) -> Result<A, Status>
    where
        A: Message + Default + 'static,
    {
        let (mut grpc, path) = (self.grpc().await?, PathAndQuery::from_static(method));
        let request = Writes { database: self.path.database().to_owned(), writes };
        let codec = ProstCodec::<Writes, A>::default();
        Ok(grpc.unary(Request::new(request), path, codec).await?.into_inner())
    }

    /// The connection that the SDK's own client has, for messages that are not its own.
    async fn grpc(&self) -> Result<Grpc<GoogleAuthMiddleware>, Status> {
        let mut grpc = self.api.get_with(Grpc::new).max_decoding_message_size(MESSAGE);
        let ready = grpc.ready().await;
        ready.map_err(|error| Status::unavailable(format!("The connection is not ready: {error}")))?;
        Ok(grpc)
    }

    /// Waits until one more request may be in flight.
    ///
    /// Errors: [`StoreErrorKind::Interrupted`](crate::stores::StoreErrorKind::Interrupted) once the run is asked to stop.
    pub(super) async fn request(&self) -> StoreResult<Option<SemaphorePermit<'_>>> {
        self.waits.until(self.requests.enter()).await
    }

    /// Waits until so many documents may be written. Errors: as [`request`](Self::request).
    pub(super) async fn admit(&self, documents: usize) -> StoreResult<()> {
        self.waits.until(self.pace.admit(documents)).await
    }

    /// How much one call takes.
    pub(super) fn batch_limits(&self) -> BatchLimits {
        BATCH.capped(self.pace.documents_in(BATCH_SECONDS))
    }
}

impl Nested {
    /// Notes a document further below, by its path after the collection.
    pub(super) fn see(&self, path: &str) {
        let _ = self.example.get_or_init(|| path.to_owned());
    }

    /// Notes that the service does not show what stands further below.
    pub(super) fn cannot_be_seen(&self) {
        self.invisible.store(true, Ordering::Relaxed);
    }

    /// Whether the service is still asked for what stands further below.
    pub(super) fn is_looked_for(&self) -> bool {
        !self.invisible.load(Ordering::Relaxed)
    }

    /// What was seen, for an operator.
    pub(super) fn remark(&self, location: &str) -> Option<Remark> {
        let text = match self.example.get() {
            Some(example) => format!(
                "Sub-collections stand below documents of {location} (such as {example:?}); they do not move along."
            ),
            None if !self.is_looked_for() => format!(
                "Firestore did not show whether sub-collections stand below documents of {location}; they would not move along."
            ),
            None => return None,
        };
        Some(Remark { code: "nested-documents".to_owned(), text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_below_is_told_once() {
        let nested = Nested::default();
        assert!(nested.remark("c").is_none());
        nested.see("A/notes/1");
        nested.see("B/notes/1");
        assert!(nested.remark("c").unwrap().text.contains("\"A/notes/1\""));
        let blind = Nested::default();
        blind.cannot_be_seen();
        assert!(!blind.is_looked_for() && blind.remark("c").unwrap().text.contains("did not show"));
    }
}
