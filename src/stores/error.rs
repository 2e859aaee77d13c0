//! What a store reports when a call fails.

use std::sync::Arc;
use std::time::Duration;

/// The result of a store call.
pub type StoreResult<T> = Result<T, StoreError>;

/// What kind of failure a store reported, which decides whether a call is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// There is no such database, collection, table or container.
    NotFound,
    /// The collection to be created is there already.
    AlreadyExists,
    /// It is there, but it is nothing that documents can be moved from or to (a view).
    Unsuitable,
    /// The credentials are missing, wrong or do not suffice.
    Denied,
    /// The store will never take this document or request as it is.
    Permanent,
    /// Nothing was done; the same call may go through later.
    Transient,
    /// Nothing was done because of the rate; the store may say how long to wait.
    Throttled(Option<Duration>),
    /// Nothing was done, since nobody listens where the store should be.
    Unreachable,
    /// The run was asked to stop: the call was not made, or not waited for, and then what became of it is not known.
    Interrupted,
    /// The call may or may not have been carried out: read back before it is sent again.
    UnknownOutcome,
    /// The snapshot or read time is older than the store keeps history.
    SnapshotTooOld,
    /// The local file of embedded storage cannot be read or written, or is damaged.
    File,
}

impl StoreErrorKind {
    /// Whether the same call may be sent again as it is: nothing was done, and it may go through later.
    pub fn is_retryable(self) -> bool {
        matches!(self, Self::Transient | Self::Throttled(_) | Self::Unreachable)
    }

    /// How long the store asks to wait.
    #[must_use]
    pub fn asked_delay(self) -> Duration {
        match self {
            Self::Throttled(delay) => delay.unwrap_or_default(),
            _ => Duration::ZERO,
        }
    }
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
    pub source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl StoreError {
    /// Makes a store error.
    pub fn new(kind: StoreErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// The same error once more: a batch fails for each of its documents.
    #[must_use]
    pub fn duplicate(&self) -> Self {
        Self { kind: self.kind, message: self.message.clone(), source: self.source.clone() }
    }

    /// Adds the store's own error as the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }
}

impl From<StoreError> for crate::Error {
    fn from(error: StoreError) -> Self {
        use crate::ErrorKind;
        let kind = match error.kind {
            StoreErrorKind::NotFound | StoreErrorKind::AlreadyExists | StoreErrorKind::Unsuitable => {
                ErrorKind::Usage
            }
            StoreErrorKind::File => ErrorKind::File,
            StoreErrorKind::Interrupted => ErrorKind::Interrupted,
            _ => ErrorKind::Store,
        };
        crate::Error::wrapping(kind, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_follows_the_kind_and_the_cause_is_kept() {
        let missing = StoreError::new(StoreErrorKind::NotFound, "There is no such table");
        assert_eq!(crate::Error::from(missing).kind().exit_code(), 2);
        let denied = StoreError::new(StoreErrorKind::Denied, "The password is wrong");
        assert_eq!(crate::Error::from(denied).kind().exit_code(), 4);
        let full = StoreError::new(StoreErrorKind::File, "Cannot write \"a.redb\"")
            .with_source(std::io::Error::other("no space left"));
        let error = crate::Error::from(full.duplicate());
        assert_eq!(error.kind().exit_code(), 74);
        assert_eq!(error.messages(), ["Cannot write \"a.redb\"", "no space left"]);
    }
}
