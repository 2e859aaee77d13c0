//! Names: a collection's path in its database, and the documents in it.

use firestore::gcloud_sdk::google::firestore::v1::Value;
use firestore::gcloud_sdk::google::firestore::v1::value::ValueType;

use crate::stores::document_id;

/// The lowest document id in the service's order: Datastore's numeric ids come before all others.
const LOWEST_ID: &str = "__id-9223372036854775808__";

/// Where a collection is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CollectionPath {
    /// `projects/P/databases/D`.
    database: String,
    /// What the collection stands below: `DATABASE/documents`, or a document.
    parent: String,
    /// The collection's own name.
    id: String,
    /// What the name of each of its documents begins with.
    prefix: String,
}

impl CollectionPath {
    /// A collection by its path in the database: `events`, or `tenants/a/events`; the error is a sentence.
    pub(super) fn new(project: &str, database: &str, collection: &str) -> Result<Self, String> {
        let segments: Vec<&str> = collection.split('/').collect();
        if segments.len().is_multiple_of(2)
            || segments.iter().any(|segment| document_id::check(segment).is_err())
        {
            return Err(format!(
                "{collection:?} is no path of a Firestore collection: it has an odd number of parts with / between them, each a valid id"
            ));
        }
        let database = format!("projects/{project}/databases/{database}");
        let root = format!("{database}/documents");
        let (parent, id) = match collection.rsplit_once('/') {
            Some((document, id)) => (format!("{root}/{document}"), id),
            None => (root, collection),
        };
        let prefix = format!("{parent}/{id}/");
        Ok(Self { database, parent, id: id.to_owned(), prefix })
    }

    /// `projects/P/databases/D`.
    pub(super) fn database(&self) -> &str {
        &self.database
    }

    /// What the collection stands below.
    pub(super) fn parent(&self) -> &str {
        &self.parent
    }

    /// The collection's own name.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// The full name of the collection, which no other one has.
    pub(super) fn name(&self) -> &str {
        self.prefix.trim_end_matches('/')
    }

    /// The root of all documents of the database.
    pub(super) fn root(&self) -> String {
        format!("{}/documents", self.database)
    }

    /// The full name of a document.
    pub(super) fn document(&self, id: &str) -> String {
        [&self.prefix, id].concat()
    }

    /// The part of a document's name after the collection: its id, or the path of one further below.
    pub(super) fn relative<'a>(&self, name: &'a str) -> Option<&'a str> {
        name.strip_prefix(self.prefix.as_str())
    }

    /// A document's name as a value to compare names with.
    pub(super) fn reference(&self, relative: &str) -> Value {
        Value { value_type: Some(ValueType::ReferenceValue(self.document(relative))) }
    }

    /// What no document of the collection, and none below one, comes before.
    pub(super) fn begin(&self) -> Value {
        self.reference(LOWEST_ID)
    }

    /// What every document of the collection, and every one below one, comes before: the lowest id in the
    /// collection of the next name.
    pub(super) fn end(&self) -> Value {
        let name = format!("{}\0/{LOWEST_ID}", self.name());
        Value { value_type: Some(ValueType::ReferenceValue(name)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_a_parent_and_names_below_it() {
        let root = CollectionPath::new("p", "(default)", "events").unwrap();
        assert_eq!(root.parent(), "projects/p/databases/(default)/documents");
        assert_eq!(root.document("a:0"), "projects/p/databases/(default)/documents/events/a:0");
        let below = CollectionPath::new("p", "second", "tenants/a b/events").unwrap();
        assert_eq!(below.parent(), "projects/p/databases/second/documents/tenants/a b");
        assert_eq!((below.id(), below.root().as_str()), ("events", "projects/p/databases/second/documents"));
        assert_eq!(below.relative(&below.document("x")), Some("x"));
        assert_eq!(below.relative(&root.document("x")), None);
        for wrong in ["", "a/b", "a//b", "/a", "a/", "__x__", "a/../b"] {
            assert!(CollectionPath::new("p", "d", wrong).is_err(), "{wrong}");
        }
    }
}
