use std::time::Duration;

/// What kind of failure a store reported, which decides whether a call is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// There is no such database, collection, table or container.
    NotFound,
    /// The collection to be created is there already.
    AlreadyExists,
    /// The credentials are missing, wrong or do not suffice.
    Denied,
    /// The store will never take this document or request as it is.
    Permanent,
    /// Nothing was done; the same call may go through later.
    Transient,
    /// Nothing was done because of the rate; the store may say how long to wait.
    Throttled(Option<Duration>),
    /// The call may or may not have been carried out: read back before it is sent again.
    UnknownOutcome,
    /// The snapshot or read time is older than the store keeps history.
    SnapshotTooOld,
}

/// A failure that a store reported. Holds no secret and no document content.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct StoreError {
    /// The kind.
    pub kind: StoreErrorKind,
    /// One sentence with the store's code, where it has one.
    pub message: String,
    /// The store's own error.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl StoreError {
    /// Makes a store error.
    pub fn new(kind: StoreErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// Adds the store's own error as the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }
}

impl From<StoreError> for crate::Error {
    fn from(error: StoreError) -> Self {
        use crate::ErrorKind;
        let kind = match error.kind {
            StoreErrorKind::NotFound | StoreErrorKind::AlreadyExists => ErrorKind::Usage,
            _ => ErrorKind::Store,
        };
        let message = error.message.clone();
        match error.source {
            Some(source) => crate::Error::new(kind, source.to_string()).context(message),
            None => crate::Error::new(kind, message),
        }
    }
}
