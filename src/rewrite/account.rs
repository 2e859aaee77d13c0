use std::collections::BTreeMap;

use super::verdict::{Moved, RefusedDocument};
use crate::archive::TenantAccount;
use crate::check::Reason;

/// How many old and new keys of each tenant are kept to be shown.
const SAMPLES: usize = 3;

/// What a rewrite came to so far.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// Documents read.
    pub documents: u64,
    /// Documents that got a new key.
    pub rekeyed: u64,
    /// Documents passed on as they were.
    pub already_rekeyed: u64,
    /// Documents of tenants that were not asked for.
    pub out_of_scope: u64,
    /// Documents refused, whole streams.
    pub refused: u64,
    /// Reason → documents.
    pub reasons: BTreeMap<Reason, u64>,
    /// Tenant → streams, documents, last versions and contents.
    pub tenants: BTreeMap<String, TenantAccount>,
    /// Tenant → a few old and new keys.
    pub samples: BTreeMap<String, Vec<KeySample>>,
    /// Streams whose versions have holes.
    pub streams_with_holes: u64,
    /// Documents that named another owner, which was replaced.
    pub owners_replaced: u64,
    /// Streams that are moved.
    pub streams: u64,
    /// Documents of those that stand as escape records.
    pub escape_records: u64,
}

/// An old key with its new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySample {
    /// The key as it was.
    pub old: String,
    /// The key as it becomes.
    pub new: String,
}

impl Account {
    /// Adds a stream that is in the output.
    pub fn moved(&mut self, moved: &Moved) {
        let documents = moved.documents;
        self.documents += documents;
        self.rekeyed += documents - moved.kept;
        self.already_rekeyed += moved.kept;
        self.escape_records += moved.escape_records;
        self.streams += 1;
        self.owners_replaced += moved.owners_replaced;
        self.streams_with_holes += u64::from(moved.holes > 0);
        let tenant = match self.tenants.get_mut(&moved.tenant) {
            Some(tenant) => tenant,
            None => self.tenants.entry(moved.tenant.clone()).or_default(),
        };
        tenant.streams += 1;
        tenant.documents += documents;
        tenant.last_versions_sum += i128::from(moved.last_version.unwrap_or_default());
        tenant.content.merge(&moved.content);
    }

    /// Adds a stream of a tenant that is not to be moved.
    pub fn out_of_scope(&mut self, documents: u64) {
        self.documents += documents;
        self.out_of_scope += documents;
    }

    /// Adds a refused document.
    pub fn refused(&mut self, document: &RefusedDocument) {
        self.documents += 1;
        self.refused += 1;
        *self.reasons.entry(document.refusal.reason).or_default() += 1;
    }

    /// Whether more keys of `tenant` are wanted to be shown.
    pub fn wants_sample(&self, tenant: &str) -> bool {
        self.samples.get(tenant).is_none_or(|samples| samples.len() < SAMPLES)
    }

    /// Keeps an old and a new key of `tenant` to be shown.
    pub fn sample(&mut self, tenant: &str, sample: KeySample) {
        self.samples.entry(tenant.to_owned()).or_default().push(sample);
    }
}
