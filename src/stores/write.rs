//! Writes: what is asked for, and what became of each document.

use super::error::{StoreError, StoreErrorKind};
use crate::document::StoreKey;

/// Bounds of one write call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchLimits {
    /// The most documents.
    pub documents: usize,
    /// The most bytes of their lines; one document alone may always be sent.
    pub bytes: usize,
}

impl BatchLimits {
    /// No more documents than these, but one at least.
    #[cfg(any(feature = "dynamodb", feature = "firestore", feature = "cosmosdb"))]
    pub(super) fn capped(self, documents: Option<usize>) -> Self {
        let documents = documents.map_or(self.documents, |most| most.clamp(1, self.documents));
        Self { documents, ..self }
    }
}

/// What became of one document that was to be created.
#[derive(Debug)]
pub enum Created {
    /// It was written.
    Written,
    /// Its key is taken; the stored document, where the store gave it back with the answer. A store that
    /// cannot tell the key from a unique index answers this for both.
    Exists(Option<Box<[u8]>>),
    /// Another document holds the same values in this unique index.
    UniqueTaken(String),
    /// It was not written, or it is not known whether it was.
    Failed(StoreError),
}

impl Created {
    /// One failure for each of `count` documents: the call as a whole failed.
    pub fn all_failed(count: usize, error: &StoreError) -> Vec<Self> {
        (0..count).map(|_| Self::Failed(error.duplicate())).collect()
    }

    /// The failure's kind, if it is one.
    pub fn failure(&self) -> Option<StoreErrorKind> {
        self.error().map(|error| error.kind)
    }

    /// The failure, if it is one.
    pub(super) fn error(&self) -> Option<&StoreError> {
        match self {
            Self::Failed(error) => Some(error),
            _ => None,
        }
    }
}

impl From<StoreError> for Created {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

/// A guarded change of one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardedUpdate {
    /// The document's key.
    pub key: StoreKey,
    /// The string field to change and its new value.
    pub set: (String, String),
    /// String fields and the values they must hold for the change to happen.
    pub when_text: Vec<(String, String)>,
    /// Integer fields and the values they must hold for the change to happen.
    pub when_integer: Vec<(String, i64)>,
}

/// What became of one guarded change or delete.
#[derive(Debug)]
pub enum Guarded {
    /// It was done.
    Done,
    /// The document is not what the guard says; the stored one, if it is there.
    Differs(Option<Box<[u8]>>),
    /// There is no document under the key.
    Missing,
    /// The change would give the document the values that another one holds in this unique index.
    UniqueTaken(String),
    /// It was not done, or it is not known whether it was.
    Failed(StoreError),
}

impl Guarded {
    /// One failure for each of `count` documents: the call as a whole failed.
    pub fn all_failed(count: usize, error: &StoreError) -> Vec<Self> {
        (0..count).map(|_| Self::Failed(error.duplicate())).collect()
    }

    /// The failure's kind, if it is one.
    pub fn failure(&self) -> Option<StoreErrorKind> {
        self.error().map(|error| error.kind)
    }

    /// The failure, if it is one.
    pub(super) fn error(&self) -> Option<&StoreError> {
        match self {
            Self::Failed(error) => Some(error),
            _ => None,
        }
    }
}

impl From<StoreError> for Guarded {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}
