//! What the driver and the server report, as the road understands it.

use mongodb::error::{Error, ErrorKind};

use super::MongoDbCollection;
use crate::stores::{StoreError, StoreErrorKind};

/// What a command does, for its failure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Action {
    /// What it does to the collection, in words.
    verb: &'static str,
    /// The built-in role that is needed on the database.
    role: &'static str,
    /// Whether a lost answer leaves it open what was done.
    writes: bool,
}

impl Action {
    pub const READ: Self = Self { verb: "read", role: "read", writes: false };
    pub const DESCRIBE: Self = Self { verb: "describe", role: "read", writes: false };
    pub const MAKE: Self = Self { verb: "make", role: "readWrite", writes: false };
    pub const INSERT: Self = Self { verb: "insert into", role: "readWrite", writes: true };
    pub const UPDATE: Self = Self { verb: "change", role: "readWrite", writes: true };
    pub const DELETE: Self = Self { verb: "delete from", role: "readWrite", writes: true };
}

/// Turned down before anything was done: this server is not the primary.
const NOT_PRIMARY: [i32; 3] = [10107, 13435, 10058];
/// Interrupted by a shutdown, a change of the primary or the network; how far it came is not known.
const INTERRUPTED: [i32; 11] = [6, 7, 89, 91, 134, 189, 262, 9001, 11600, 11602, 13436];
/// Gave up for the moment with nothing done: a conflict, a time limit, a lock.
const FOR_THE_MOMENT: [i32; 5] = [24, 46, 50, 112, 175];
const UNAUTHORIZED: [i32; 3] = [13, 18, 8000];
/// The write concern was not met in time; what was written may stay.
const CONCERN_NOT_MET: [i32; 2] = [64, 65];

/// The kind of a failure with this code of the server's.
pub(super) fn kind_of_code(code: i32, writes: bool) -> StoreErrorKind {
    match code {
        26 => StoreErrorKind::NotFound,
        48 => StoreErrorKind::AlreadyExists,
        239 | 246 => StoreErrorKind::SnapshotTooOld,
        _ if UNAUTHORIZED.contains(&code) => StoreErrorKind::Denied,
        _ if NOT_PRIMARY.contains(&code) || FOR_THE_MOMENT.contains(&code) => StoreErrorKind::Transient,
        _ if CONCERN_NOT_MET.contains(&code) => StoreErrorKind::UnknownOutcome,
        _ if INTERRUPTED.contains(&code) && writes => StoreErrorKind::UnknownOutcome,
        _ if INTERRUPTED.contains(&code) => StoreErrorKind::Transient,
        _ => StoreErrorKind::Permanent,
    }
}

/// An answer that is not what the protocol promises.
pub(super) fn broken(what: &str) -> StoreError {
    StoreError::new(StoreErrorKind::Permanent, format!("MongoDB's answer cannot be understood: {what}"))
}

/// The failure of one document with this code of the server's.
pub(super) fn document_failure(code: i32) -> StoreError {
    let what = match code {
        2 => "a value of it is none that MongoDB stores",
        22 => "its BSON is not valid",
        52 => "a field name within `_id` begins with `$`",
        53 => "its `_id` is an array, a regular expression or undefined",
        121 => "it fails the collection's validator",
        10334 => "it is too large",
        _ => "see the code in MongoDB's documentation",
    };
    StoreError::new(kind_of_code(code, true), format!("MongoDB refused the document: {what} (code {code})"))
}

impl MongoDbCollection {
    /// Translates a failure of a command.
    #[allow(clippy::needless_pass_by_value, reason = "what map_err hands over")]
    pub(super) fn failed(&self, error: Error, action: Action) -> StoreError {
        let Action { verb, role, writes } = action;
        let location = &self.location;
        let lost = if writes { StoreErrorKind::UnknownOutcome } else { StoreErrorKind::Transient };
        let (kind, message) = match &*error.kind {
            ErrorKind::Command(command) => {
                let (code, name) = (command.code, &command.code_name);
                let kind = kind_of_code(code, writes);
                let message = match kind {
                    // The server's own words repeat the command, values and all.
                    StoreErrorKind::Denied => format!(
                        "The user may not {verb} {location} (code {code}, {name}); it needs the role {role} on the database {:?}",
                        self.database.name()
                    ),
                    StoreErrorKind::SnapshotTooOld => format!(
                        "MongoDB no longer keeps the moment at which {location} is read (code {code}, {name}); it keeps minSnapshotHistoryWindowInSeconds"
                    ),
                    _ => format!("Cannot {verb} {location}: MongoDB answers {name} (code {code})"),
                };
                (kind, message)
            }
            ErrorKind::Authentication { .. } => {
                (StoreErrorKind::Denied, format!("MongoDB refused the credentials for {location}"))
            }
            ErrorKind::ServerSelection { .. } => {
                (StoreErrorKind::Unreachable, format!("No server of {location} can be reached"))
            }
            ErrorKind::Io(_) | ErrorKind::ConnectionPoolCleared { .. } => {
                (lost, format!("The connection to {location} broke"))
            }
            ErrorKind::DnsResolve { .. } => {
                (StoreErrorKind::Unreachable, format!("The host of {location} is not known"))
            }
            ErrorKind::IncompatibleServer { .. } => {
                (StoreErrorKind::Permanent, format!("The server of {location} is of a version too old"))
            }
            _ => (StoreErrorKind::Permanent, format!("Cannot {verb} {location}")),
        };
        StoreError::new(kind, message).with_source(Cause::of(&error))
    }
}

/// The driver's own words, where they repeat no document and no secret.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Cause(String);

impl Cause {
    fn of(error: &Error) -> Self {
        Self(match &*error.kind {
            // Both may quote the command.
            ErrorKind::Command(command) => format!("MongoDB code {}", command.code),
            ErrorKind::Write(_) | ErrorKind::InsertMany(_) => "a write failed".to_owned(),
            kind => kind.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_kind() {
        use StoreErrorKind::{
            AlreadyExists, Denied, NotFound, Permanent, SnapshotTooOld, Transient, UnknownOutcome,
        };
        for (code, read, write) in [
            (13, Denied, Denied),
            (26, NotFound, NotFound),
            (48, AlreadyExists, AlreadyExists),
            (64, UnknownOutcome, UnknownOutcome),
            (91, Transient, UnknownOutcome),
            (100, Permanent, Permanent),
            (112, Transient, Transient),
            (189, Transient, UnknownOutcome),
            (239, SnapshotTooOld, SnapshotTooOld),
            (246, SnapshotTooOld, SnapshotTooOld),
            (10107, Transient, Transient),
            (11000, Permanent, Permanent),
            (11602, Transient, UnknownOutcome),
        ] {
            assert_eq!((kind_of_code(code, false), kind_of_code(code, true)), (read, write), "{code}");
        }
    }
}
