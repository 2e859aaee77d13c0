//! Commands as raw BSON, and the documents in their answers.

use futures::TryStreamExt as _;
use mongodb::bson::{Document, RawDocumentBuf};
use mongodb::options::{ReadPreference, SelectionCriteria};

use super::MongoDbCollection;
use super::failure::{Action, broken};
use crate::document::StoreKey;
use crate::document::bson::{Element, ElementType, Elements, Parser};
use crate::stores::{StoreError, StoreErrorKind, StoreResult};

/// A BSON document that is being written.
#[derive(Debug)]
pub(super) struct Body {
    bytes: Vec<u8>,
}

impl Body {
    pub fn new() -> Self {
        Self { bytes: vec![0; 4] }
    }

    /// Begins the command `name` on a collection.
    pub fn command(name: &str, collection: &str) -> Self {
        let mut body = Self::new();
        body.text(name, collection);
        body
    }

    fn name(&mut self, kind: ElementType, name: &str) {
        self.bytes.push(kind as u8);
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(0);
    }

    pub fn text(&mut self, name: &str, text: &str) {
        self.name(ElementType::String, name);
        self.bytes.extend_from_slice(&length(text.len() + 1));
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.push(0);
    }

    pub fn int32(&mut self, name: &str, value: i32) {
        self.name(ElementType::Int32, name);
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    pub fn int64(&mut self, name: &str, value: i64) {
        self.name(ElementType::Int64, name);
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// A count; what does not fit is as good as any other great number.
    pub fn count(&mut self, name: &str, value: usize) {
        self.int64(name, i64::try_from(value).unwrap_or(i64::MAX));
    }

    pub fn boolean(&mut self, name: &str, value: bool) {
        self.name(ElementType::Boolean, name);
        self.bytes.push(u8::from(value));
    }

    /// The value of another element.
    pub fn value(&mut self, name: &str, of: &Element<'_>) {
        self.name(of.kind, name);
        self.bytes.extend_from_slice(of.value);
    }

    /// A whole document.
    pub fn document(&mut self, name: &str, document: &[u8]) {
        self.name(ElementType::Document, name);
        self.bytes.extend_from_slice(document);
    }

    /// Writes a document of its own.
    pub fn within(&mut self, name: &str, write: impl FnOnce(&mut Self)) {
        self.nested(ElementType::Document, name, write);
    }

    /// Writes an array; the names within are to be the indexes.
    pub fn array(&mut self, name: &str, write: impl FnOnce(&mut Self)) {
        self.nested(ElementType::Array, name, write);
    }

    /// Appends elements that are written out already.
    pub fn append(&mut self, elements: &[u8]) {
        self.bytes.extend_from_slice(elements);
    }

    fn nested(&mut self, kind: ElementType, name: &str, write: impl FnOnce(&mut Self)) {
        self.name(kind, name);
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 4]);
        write(self);
        self.end(start);
    }

    fn end(&mut self, start: usize) {
        self.bytes.push(0);
        let length = length(self.bytes.len() - start);
        if let Some(place) = self.bytes.get_mut(start..start + 4) {
            place.copy_from_slice(&length);
        }
    }

    /// The whole document.
    pub fn finish(mut self) -> Vec<u8> {
        self.end(0);
        self.bytes
    }
}

fn length(bytes: usize) -> [u8; 4] {
    // Commands are bounded far below; one that is not is refused by the server.
    i32::try_from(bytes).unwrap_or(i32::MAX).to_le_bytes()
}

/// The document `{"_id": …}` of a key.
///
/// Errors: [`StoreErrorKind::Permanent`] for a key that no document of this store has.
pub(super) fn id_document(key: &StoreKey) -> StoreResult<Vec<u8>> {
    let inner = key.0.strip_prefix('[').and_then(|key| key.strip_suffix(']')).unwrap_or(&key.0);
    let mut document = Vec::with_capacity(inner.len() + 32);
    Parser::default().document(format!("{{\"_id\":{inner}}}").as_bytes(), &mut document).map_err(
        |refusal| {
            StoreError::new(StoreErrorKind::Permanent, format!("The key {key} is none of MongoDB: {refusal}"))
        },
    )?;
    Ok(document)
}

/// The first element of a document, which of [`id_document`] is the `_id`.
pub(super) fn first(document: &[u8]) -> StoreResult<Element<'_>> {
    Elements::of(document)
        .ok()
        .and_then(|mut elements| elements.next()?.ok())
        .ok_or_else(|| broken("a document"))
}

/// The `_id` of a stored document.
pub(super) fn id_of(document: &[u8]) -> StoreResult<Element<'_>> {
    let mut elements = Elements::of(document).map_err(|_| broken("a document"))?;
    let id = elements.find_map(|element| element.ok().filter(|element| element.name == b"_id"));
    id.ok_or_else(|| broken("a document without _id"))
}

/// What tells two values of `_id` apart: type and bytes.
pub(super) fn identity(id: &Element<'_>) -> Vec<u8> {
    [&[id.kind as u8], id.value].concat()
}

impl MongoDbCollection {
    /// Runs a command that answers with one document.
    pub(super) async fn run(&self, body: Body, action: Action) -> StoreResult<Document> {
        let command = raw(body)?;
        self.database.run_raw_command(command).await.map_err(|error| self.failed(error, action))
    }

    /// Runs a command that answers with a cursor, on the primary, and gives `take` every document.
    pub(super) async fn each(
        &self,
        body: Body,
        take: impl FnMut(&[u8]) -> StoreResult<bool>,
    ) -> StoreResult<bool> {
        self.each_by(body, Some(SelectionCriteria::ReadPreference(ReadPreference::Primary)), take).await
    }

    /// Does the same on the server that the connection string prefers.
    pub(super) async fn each_anywhere(
        &self,
        body: Body,
        take: impl FnMut(&[u8]) -> StoreResult<bool>,
    ) -> StoreResult<bool> {
        self.each_by(body, self.deployment.preference.clone(), take).await
    }

    /// Tells whether it came to the end; `take` ends it before by answering `false`.
    async fn each_by(
        &self,
        body: Body,
        server: Option<SelectionCriteria>,
        mut take: impl FnMut(&[u8]) -> StoreResult<bool>,
    ) -> StoreResult<bool> {
        let failed = |error| self.failed(error, Action::READ);
        let mut command = self.database.run_raw_cursor_command(raw(body)?);
        if let Some(server) = server {
            command = command.selection_criteria(server);
        }
        let mut cursor = command.batch().await.map_err(failed)?;
        while let Some(batch) = cursor.try_next().await.map_err(failed)? {
            for document in batch.doc_slices().map_err(failed)? {
                let document = document.map_err(|_| broken("a batch"))?;
                let document = document.as_document().ok_or_else(|| broken("a batch"))?;
                if !take(document.as_bytes())? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

fn raw(body: Body) -> StoreResult<RawDocumentBuf> {
    RawDocumentBuf::from_bytes(body.finish()).map_err(|error| {
        StoreError::new(StoreErrorKind::Permanent, "The command is longer than BSON allows")
            .with_source(error)
    })
}
