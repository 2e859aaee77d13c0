//! The sections of a layout file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::FieldPath;
use crate::key::{Template, Term};

/// One of the conditions that say which documents are of the layout.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// The field, a string.
    pub at: String,
    /// What its value begins with.
    pub begins: String,
}

/// What is read from a document.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Fields {
    /// The aggregate or saga type.
    #[serde(rename = "type")]
    pub type_name: Option<Field>,
    /// The aggregate or saga id.
    pub id: Field,
    /// The version.
    pub version: Option<Field>,
    /// Terms of the layout's own.
    #[serde(flatten)]
    pub others: BTreeMap<String, Field>,
}

impl Fields {
    /// Every field with the term it gives.
    pub fn iter(&self) -> impl Iterator<Item = (Term, &Field)> {
        let type_name = self.type_name.iter().map(|field| (Term::Type, field));
        let version = self.version.iter().map(|field| (Term::Version, field));
        let others = self.others.iter().map(|(name, field)| (Term::Other(name.clone()), field));
        type_name.chain([(Term::Id, &self.id)]).chain(version).chain(others)
    }

    /// Every field, to be changed.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Field> {
        let framework = self.type_name.iter_mut().chain([&mut self.id]).chain(&mut self.version);
        framework.chain(self.others.values_mut())
    }
}

/// One thing that is read from a document.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// The field that holds it.
    pub at: Option<String>,
    /// The key it is the bare term of, where no field holds it.
    pub bare: Option<String>,
    /// The type it must have.
    pub is: FieldType,
    /// Whether it may be absent.
    #[serde(default)]
    pub optional: bool,
}

/// The type of a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FieldType {
    /// The store's string type.
    #[default]
    String,
    /// An integer from 0 to 2⁶³ − 1, in whatever number type the store has for it.
    Integer,
}

/// One place the key stands in.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct KeyPlace {
    /// The field, or `@id`.
    pub at: String,
    /// Its type.
    #[serde(default)]
    pub is: FieldType,
    /// What a legacy document holds.
    pub legacy: Option<Template>,
    /// What a rekeyed document holds.
    pub rekeyed: Option<Template>,
    /// What both hold.
    pub stays: Option<Template>,
}

impl KeyPlace {
    /// The template before and the template after, where the place changes.
    pub fn change(&self) -> Option<(&Template, &Template)> {
        self.legacy.as_ref().zip(self.rekeyed.as_ref())
    }
}

/// A field that is filled in.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FieldSet {
    /// The field, a string.
    pub at: String,
    /// Its value; terms stand unescaped.
    pub value: Template,
    /// When it is filled in.
    #[serde(default)]
    pub when: When,
}

/// When a field is filled in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// In every document.
    #[default]
    Always,
    /// Where the document does not have it.
    Absent,
}

/// Where a document may say whose it is.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct OwnerRule {
    /// The fields, or places in the JSON that fields hold; null, absent and empty say nothing.
    pub at: Vec<FieldPath>,
}

/// What tells streams apart and orders them.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct StreamRule {
    /// The stored fields whose bytes identify a stream.
    pub key: Vec<String>,
    /// Where versions begin; `None` if they need not be contiguous.
    pub first_version: Option<i64>,
    /// The field that identifies an event whatever its key.
    pub event_id: Option<String>,
}

/// How a stream is called in a tenant map.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TenantMapRule {
    /// The text of the `key` column.
    pub key: Template,
}

/// The document as a whole.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentRule {
    /// The most bytes, as the store counts them.
    pub max_bytes: u64,
    /// What the server writes itself: a rewrite drops it.
    #[serde(default)]
    pub drop: Vec<String>,
    /// The field that holds the time, in seconds since 1970, at which the document expires.
    pub expires: Option<String>,
}

/// Limits of one value, or of several together.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// The fields, whose bytes are added up.
    pub at: Vec<String>,
    /// The most bytes of UTF-8.
    pub max_bytes: usize,
    /// Characters that none may hold.
    #[serde(default)]
    pub forbidden_characters: String,
    /// Values that none may have; one `*` stands for any text.
    #[serde(default)]
    pub forbidden_values: Vec<String>,
}

/// What the collection must have.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CollectionRule {
    /// DynamoDB's partition and sort key; Cosmos DB's partition key components, broadest first.
    #[serde(default)]
    pub key: Vec<SchemaField>,
    /// The framework's indexes.
    #[serde(default)]
    pub indexes: Vec<IndexRule>,
}

/// One field of the store's key schema.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SchemaField {
    /// The attribute's name, or the path (`/streamId`).
    pub name: String,
    /// DynamoDB's type letter.
    #[serde(rename = "type")]
    pub kind: Option<String>,
}

/// One index of the framework.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct IndexRule {
    /// Its name.
    pub name: String,
    /// Its fields, ascending.
    pub fields: Vec<String>,
    /// Whether it keeps documents from agreeing in all of them.
    #[serde(default)]
    pub unique: bool,
}

/// The framework's question whether legacy keys are left.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeRule {
    /// The field that is asked.
    pub field: String,
    /// Only values that begin so are looked at.
    #[serde(default)]
    pub within: String,
    /// A value that begins otherwise is legacy.
    pub rekeyed_prefix: String,
}

/// The framework's own read of one stream.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct QueryRule {
    /// The fields that are compared, with what a rekeyed document holds.
    pub equals: Vec<String>,
    /// The field the answer is ordered by.
    pub order_by: Option<String>,
}

/// The counter of a global sequence.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CounterRule {
    /// The collection that holds it.
    pub collection: String,
    /// The counter document's id.
    pub id: String,
    /// The counter document's field, an integer.
    pub value: String,
    /// The documents' field it must not be below.
    pub counts: String,
}
