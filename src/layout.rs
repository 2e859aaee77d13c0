//! Layouts: for one kind of document in one kind of store, everything that a rewrite changes, as data.
//!
//! A layout is a TOML file (`src/layouts/*.toml`, or one given by the user). It names the fields that a key
//! is made of, every place the key stands in before and after, what is filled in, what is dropped, the
//! store's limits, and how streams are told apart. [`Inspector`] applies one to documents.

mod builtin;
mod check;
mod field_path;
mod identity;
mod inspector;
mod parameters;
mod parse;
mod questions;
mod rules;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::document::{DOCUMENT_ID, StoreKind};
pub use field_path::FieldPath;
pub use identity::{Identity, KeyState, StoredOwner};
pub use inspector::{Addressed, Inspector};
pub use parameters::Parameter;
pub use rules::*;

/// What the documents of a layout are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DocumentKind {
    /// Events: many documents a stream, told apart by version.
    Events,
    /// Sagas: one document each, which says whose it is.
    Sagas,
    /// Anything else whose key carries a tenant.
    Items,
}

impl DocumentKind {
    /// The name used in layouts, and in result members such as `events_expected`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Sagas => "sagas",
            Self::Items => "items",
        }
    }
}

/// What changes in the documents of one kind in one kind of store.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// The full name: `mongodb-events`.
    pub name: String,
    /// The database.
    pub store: StoreKind,
    /// What the documents are.
    pub kind: DocumentKind,
    /// What users may rename, with the values in force.
    #[serde(default)]
    pub parameters: BTreeMap<String, Parameter>,
    /// Which documents of a shared collection are of this layout; all must hold.
    #[serde(default, rename = "where")]
    pub conditions: Vec<Condition>,
    /// What is read from a document.
    pub fields: Fields,
    /// Every place the key stands in; the first is the one shown to people.
    #[serde(rename = "key")]
    pub keys: Vec<KeyPlace>,
    /// What is filled in.
    #[serde(default, rename = "set")]
    pub sets: Vec<FieldSet>,
    /// Where a document may say whose it is.
    #[serde(default)]
    pub owner: OwnerRule,
    /// What tells streams apart and orders them.
    pub stream: StreamRule,
    /// How the stream is called in a tenant map.
    pub tenant_map: TenantMapRule,
    /// The document as a whole.
    pub document: DocumentRule,
    /// Limits of single values.
    #[serde(default, rename = "limit")]
    pub limits: Vec<Limit>,
    /// What the collection must have.
    pub collection: CollectionRule,
    /// The framework's question whether legacy keys are left.
    pub probe: Option<ProbeRule>,
    /// The framework's own read of one stream.
    pub query: Option<QueryRule>,
    /// The counter of a global sequence, kept in another collection.
    pub counter: Option<CounterRule>,
    #[serde(skip)]
    source: parse::Source,
}

impl Layout {
    /// SHA-256, as 64 hex digits, of the layout's normal form with its parameters: what manifests record.
    ///
    /// Comments, spacing and the order of members do not count.
    pub fn digest(&self) -> String {
        // A layout is made of strings, integers, booleans and maps with string keys: it always serializes.
        let normal = serde_json::to_vec(self).unwrap_or_default();
        hex::encode(Sha256::digest(normal))
    }

    /// The parameters' values, for manifests.
    pub fn parameter_values(&self) -> BTreeMap<String, String> {
        self.parameters.iter().map(|(name, it)| (name.clone(), it.value.clone())).collect()
    }

    /// The fields the server writes itself, which a rewrite drops.
    pub fn system_fields(&self) -> &[String] {
        &self.document.drop
    }

    /// Every field that a rewrite changes or fills in, `@id` for Firestore's document id.
    pub fn touched_fields(&self) -> Vec<&str> {
        let keys = self.keys.iter().filter(|key| key.change().is_some()).map(|key| key.at.as_str());
        keys.chain(self.sets.iter().map(|set| set.at.as_str())).collect()
    }

    /// The fields that make the store's key of a document, in order.
    pub fn store_key_fields(&self) -> Vec<&str> {
        let schema = self.collection.key.iter().map(|field| field.name.as_str());
        match self.store {
            StoreKind::MongoDb => vec!["_id"],
            StoreKind::DynamoDb => schema.collect(),
            StoreKind::Firestore => vec![DOCUMENT_ID],
            StoreKind::CosmosDb => schema.chain(["id"]).collect(),
        }
    }

    /// Whether a rewritten document keeps its store key (MongoDB events), so that it cannot stand beside its
    /// legacy self and is moved in place within one collection.
    pub fn keeps_store_key(&self) -> bool {
        let touched = self.touched_fields();
        !self.store_key_fields().iter().any(|field| touched.contains(field))
    }
}
