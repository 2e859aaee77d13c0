//! What a collection is, and what a new one must have.

use serde::{Deserialize, Serialize};

use crate::document::{DOCUMENT_ID, StoreKind};

/// What a collection, table or container is, as far as the store tells.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Description {
    /// The database kind.
    pub store: StoreKind,
    /// Where it is, as in [`CollectionReader::location`](super::CollectionReader::location).
    pub location: String,
    /// What stays the same while it is the same collection (UUID, TableId, `_rid`), if the store tells.
    pub identity: Option<String>,
    /// The key fields, in order: DynamoDB's partition and sort key, Cosmos DB's partition key paths.
    pub key_fields: Vec<KeyField>,
    /// The version of Cosmos DB's partition key hash: version 1 reads the first 101 bytes only.
    pub hash_version: Option<u8>,
    /// Indexes besides the primary key.
    pub indexes: Vec<Index>,
    /// A default time to live that restarts for copied documents (Cosmos DB), or the attribute that holds one.
    pub time_to_live: Option<TimeToLive>,
    /// Whether somebody reads the store's changes.
    pub subscribers: Subscribers,
    /// The number of documents, if it is cheap and exact.
    pub documents: Option<u64>,
    /// What else an operator should know before writing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
}

impl Description {
    /// What a collection will be that is made from `spec`.
    #[must_use]
    pub fn of_new(store: StoreKind, location: &str, spec: CollectionSpec) -> Self {
        Self {
            store,
            location: location.to_owned(),
            identity: None,
            key_fields: spec.key_fields,
            hash_version: None,
            indexes: spec.indexes,
            time_to_live: None,
            subscribers: Subscribers::None,
            documents: Some(0),
            remarks: Vec::new(),
        }
    }
}

/// One field of a store's key.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct KeyField {
    /// The field's name (Cosmos DB: the path without its first `/`).
    pub name: String,
    /// Its type in the store's own letters (`S`, `N`, `B`), where the store has one.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none", default)]
    pub kind: Option<String>,
}

/// One index.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Index {
    /// The index's name.
    pub name: String,
    /// The fields in order, ascending.
    pub fields: Vec<String>,
    /// Whether two documents may not agree in all the fields (Cosmos DB: within one logical partition).
    pub unique: bool,
}

/// How documents expire.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum TimeToLive {
    /// A default of so many seconds that starts anew for every document written.
    Default(i64),
    /// An absolute time in this field.
    Field(String),
}

/// Whether somebody reads the store's changes (change streams, table streams, triggers).
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Subscribers {
    /// The store shows that there is none.
    None,
    /// The store shows one.
    Present,
    /// The store cannot show whether there is one.
    Unknown,
}

/// Something about a collection that changes nothing but should be known (replicas in other regions, an
/// emulator in use, a partition near its limit).
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Remark {
    /// The stable code, for scripts.
    pub code: String,
    /// One sentence.
    pub text: String,
}

impl Remark {
    /// The collection keeps a number of documents and removes the oldest by itself (MongoDB).
    pub const CAPPED: &str = "capped";
}

/// What a new collection must have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectionSpec {
    /// The key fields, as in [`Description::key_fields`].
    pub key_fields: Vec<KeyField>,
    /// The indexes to build.
    pub indexes: Vec<Index>,
}

/// The names of the fields that make the key of a document, in the order of a
/// [`StoreKey`](crate::document::StoreKey); `key_fields` are those of the collection.
pub fn store_key_fields(kind: StoreKind, key_fields: &[KeyField]) -> Vec<&str> {
    let schema = key_fields.iter().map(|field| field.name.as_str());
    match kind {
        StoreKind::MongoDb => vec!["_id"],
        StoreKind::DynamoDb => schema.collect(),
        StoreKind::Firestore => vec![DOCUMENT_ID],
        StoreKind::CosmosDb => schema.chain(["id"]).collect(),
    }
}

/// What a collection is called in a store's own words.
pub fn collection_noun(kind: StoreKind) -> &'static str {
    match kind {
        StoreKind::MongoDb | StoreKind::Firestore => "collection",
        StoreKind::DynamoDb => "table",
        StoreKind::CosmosDb => "container",
    }
}
