//! Firestore: one collection, by the raw protobuf client of its SDK.
//!
//! Documents never pass through the SDK's own mapping, which loses some values, nor through its batch writers, which
//! retry without an end and tell nothing of single writes. What the service asks of writers shapes the adapter: the
//! rate begins low and grows, the writes of a moment go to many ranges of keys, and one document that is never taken
//! fails the request it stands in, so that a request is halved to find it.

mod batch;
mod check;
mod connect;
mod count;
mod decode;
mod delete;
mod encode;
mod examine;
mod failure;
mod pace;
mod path;
mod query;
mod question;
mod read;
mod relocate;
mod scan;
mod service;
mod settings;
mod wire;
mod write;

use std::sync::Arc;

use async_trait::async_trait;
use firestore::gcloud_sdk::google::firestore::v1::ListCollectionIdsRequest;

use self::failure::{Effect, call_error};
use self::path::CollectionPath;
use self::service::Service;
pub use self::settings::Endpoint;
use self::settings::Settings;
use super::Rates;
use super::address::FirestoreAddress;
use super::waits::Waits;
use super::{
    Activity, BatchLimits, CollectionReader, CollectionSpec, CollectionWriter, Created, Description,
    Examination, FrameworkQuery, Guarded, LegacyProbe, Page, Position, Remark, ScanPart, Snapshot,
    StoreResult, Subscribers,
};
use crate::check::Refusal;
use crate::document::json::Tape;
use crate::document::{Lines, StoreKey, StoreKind};
use crate::{Error, Result};

/// One collection. Clones share the connection, the pace and what was seen.
#[derive(Clone)]
pub struct FirestoreCollection {
    service: Arc<Service>,
}

impl FirestoreCollection {
    /// Connects to an address and names a collection there by its path (`events`, `tenants/a/events`). Whether there
    /// is such a collection, Firestore cannot tell.
    ///
    /// Errors: a usage error for a missing project, missing credentials and an impossible path, a store error if
    /// nothing can be reached.
    pub async fn open(
        address: &FirestoreAddress,
        collection: &str,
        rates: Rates,
        waits: &Waits,
    ) -> Result<Self> {
        let Settings { endpoint, project, remarks } = Settings::of(address)?;
        let path = path(&project, &address.database, collection)?;
        let api = connect::connect(&endpoint, path.database()).await?;
        Ok(Self { service: Arc::new(Service::new(api, path, collection, &endpoint, remarks, rates, waits)) })
    }

    /// Connects to an endpoint, whatever the environment says.
    ///
    /// Errors: as [`open`](Self::open).
    pub async fn open_at(
        endpoint: &Endpoint,
        (project, database): (&str, &str),
        collection: &str,
        rates: Rates,
        waits: &Waits,
    ) -> Result<Self> {
        let path = path(project, database, collection)?;
        let api = connect::connect(endpoint, path.database()).await?;
        Ok(Self {
            service: Arc::new(Service::new(api, path, collection, endpoint, Vec::new(), rates, waits)),
        })
    }
}

fn path(project: &str, database: &str, collection: &str) -> Result<CollectionPath> {
    CollectionPath::new(project, database, collection).map_err(|what| {
        Error::usage(format!("{what}; nothing was done")).hint("Pass a path like events or tenants/a/events.")
    })
}

#[async_trait]
impl CollectionReader for FirestoreCollection {
    fn kind(&self) -> StoreKind {
        StoreKind::Firestore
    }

    fn name(&self) -> &str {
        self.service.path.id()
    }

    fn location(&self) -> &str {
        &self.service.location
    }

    async fn collections(&self) -> StoreResult<Vec<String>> {
        let mut request = ListCollectionIdsRequest {
            parent: self.service.path.parent().to_owned(),
            ..ListCollectionIdsRequest::default()
        };
        let mut names = Vec::new();
        loop {
            let _request = self.service.request().await?;
            let answer = self.service.client().list_collection_ids(request.clone()).await;
            let answer = answer.map_err(|status| call_error("ListCollectionIds", Effect::Reads, &status))?;
            let answer = answer.into_inner();
            names.extend(answer.collection_ids);
            if answer.next_page_token.is_empty() {
                return Ok(names);
            }
            request.page_token = answer.next_page_token;
        }
    }

    /// Nothing about a collection can be asked but whether it may be read. Indexes and listeners do not show.
    async fn describe(&self) -> StoreResult<Description> {
        let _readable = scan::snapshot(&self.service).await?;
        Ok(Description {
            store: StoreKind::Firestore,
            location: self.service.location.clone(),
            identity: Some(self.service.identity.clone()),
            key_fields: Vec::new(),
            hash_version: None,
            indexes: Vec::new(),
            time_to_live: None,
            subscribers: Subscribers::Unknown,
            documents: None,
            remarks: self.service.remarks.clone(),
        })
    }

    async fn examine(&self) -> StoreResult<Examination> {
        examine::examine(&self.service).await
    }

    async fn count(&self, snapshot: Option<&Snapshot>) -> StoreResult<Option<u64>> {
        count::count(&self.service, snapshot).await
    }

    async fn activity(&self) -> StoreResult<Option<Activity>> {
        Ok(None)
    }

    async fn snapshot(&self) -> StoreResult<Option<Snapshot>> {
        scan::snapshot(&self.service).await
    }

    async fn parts(&self, wanted: usize) -> StoreResult<Vec<ScanPart>> {
        scan::parts(&self.service, wanted).await
    }

    async fn page(
        &self,
        part: &ScanPart,
        from: Option<&Position>,
        limit: usize,
        snapshot: Option<&Snapshot>,
    ) -> StoreResult<Page> {
        scan::page(&self.service, part, from, limit.max(1), snapshot).await
    }

    async fn read(&self, keys: &[StoreKey]) -> StoreResult<Vec<Option<Box<[u8]>>>> {
        read::by_keys(&self.service, keys).await
    }

    async fn probe(&self, probe: &LegacyProbe) -> StoreResult<Vec<String>> {
        question::probe(&self.service, probe).await
    }

    async fn query(&self, query: &FrameworkQuery, from: Option<&Position>) -> StoreResult<Page> {
        question::query(&self.service, query, from).await
    }

    fn check(&self, tape: &Tape, line: &[u8]) -> std::result::Result<(), Refusal> {
        check::check(tape, line)
    }

    fn seen(&self) -> Vec<Remark> {
        self.service.nested.remark(&self.service.location).into_iter().collect()
    }
}

#[async_trait]
impl CollectionWriter for FirestoreCollection {
    fn batch_limits(&self) -> BatchLimits {
        self.service.batch_limits()
    }

    /// A collection comes with its first document.
    async fn create_collection(&self, _spec: &CollectionSpec) -> StoreResult<()> {
        Ok(())
    }

    async fn create(&self, lines: &Lines) -> Vec<Created> {
        write::create(&self.service, lines).await
    }

    async fn relocate(&self, old: &Lines, new: &Lines) -> Vec<Guarded> {
        relocate::relocate(&self.service, old, new).await
    }

    async fn delete(&self, keys: &[StoreKey], expected: &Lines) -> Vec<Guarded> {
        delete::delete(&self.service, keys, expected).await
    }
}
