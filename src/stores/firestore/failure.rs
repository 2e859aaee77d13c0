//! What the service and the way to it report, as the road understands it.

use std::time::Duration;

use firestore::gcloud_sdk::google::rpc;
use firestore::gcloud_sdk::prost::Message as _;
use firestore::gcloud_sdk::tonic::{Code, Status};

use crate::stores::{StoreError, StoreErrorKind};

/// How long to wait after a refusal for the rate, if the service does not say: what Google's own clients begin with.
const THROTTLED: Duration = Duration::from_secs(1);
/// The most of the service's own words that a message repeats, in characters.
const WORDS: usize = 400;

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It changes nothing: sending it again is always safe.
    Reads,
    /// It reads at a moment in the past, which the service may have forgotten.
    ReadsThePast,
    /// It may have been carried out although its answer was lost.
    Writes,
}

/// Translates the failure of a whole call.
pub(super) fn call_error(call: &str, effect: Effect, status: &Status) -> StoreError {
    let kind = kind_of(effect, status);
    let words = words(status.message());
    let message = match kind {
        StoreErrorKind::SnapshotTooOld => {
            format!(
                "Firestore no longer keeps the moment at which {call} reads: it keeps an hour, or seven days with point-in-time recovery{words}"
            )
        }
        StoreErrorKind::Denied => format!(
            "Firestore refuses {call} with {}; reading needs the role roles/datastore.viewer, writing roles/datastore.user{words}",
            name_of(status.code())
        ),
        _ if lacks_index(status) => {
            format!("Firestore cannot answer {call}: the composite index it needs is missing{words}")
        }
        _ => format!("Firestore answers {} to {call}{words}", name_of(status.code())),
    };
    StoreError::new(kind, message)
}

/// Translates the failure of one write among several: nothing of it was done.
pub(super) fn write_error(status: &rpc::Status) -> StoreError {
    let code = Code::from_i32(status.code);
    let kind = match code {
        Code::Aborted
        | Code::Cancelled
        | Code::DeadlineExceeded
        | Code::Internal
        | Code::Unavailable
        | Code::Unknown => StoreErrorKind::Transient,
        Code::ResourceExhausted => StoreErrorKind::Throttled(Some(THROTTLED)),
        Code::PermissionDenied | Code::Unauthenticated => StoreErrorKind::Denied,
        _ => StoreErrorKind::Permanent,
    };
    StoreError::new(kind, format!("Firestore answers {} to a write{}", name_of(code), words(&status.message)))
}

/// Whether a call failed since one of its documents, or all of them together, are not what the service takes.
pub(super) fn is_about_contents(status: &Status) -> bool {
    status.code() == Code::InvalidArgument || is_too_large(status)
}

fn kind_of(effect: Effect, status: &Status) -> StoreErrorKind {
    let lost = match effect {
        Effect::Writes => StoreErrorKind::UnknownOutcome,
        Effect::Reads | Effect::ReadsThePast => StoreErrorKind::Transient,
    };
    match status.code() {
        Code::Unavailable if never_sent(status) => StoreErrorKind::Unreachable,
        Code::Ok
        | Code::Unknown
        | Code::Cancelled
        | Code::DeadlineExceeded
        | Code::Internal
        | Code::DataLoss
        | Code::Unavailable => lost,
        Code::Aborted => StoreErrorKind::Transient,
        Code::NotFound => StoreErrorKind::NotFound,
        Code::AlreadyExists => StoreErrorKind::AlreadyExists,
        Code::PermissionDenied | Code::Unauthenticated => StoreErrorKind::Denied,
        _ if is_too_large(status) => StoreErrorKind::Permanent,
        Code::ResourceExhausted => StoreErrorKind::Throttled(Some(asked_delay(status).unwrap_or(THROTTLED))),
        Code::FailedPrecondition if effect == Effect::ReadsThePast && !lacks_index(status) => {
            StoreErrorKind::SnapshotTooOld
        }
        Code::InvalidArgument if effect == Effect::ReadsThePast && is_about_time(status) => {
            StoreErrorKind::SnapshotTooOld
        }
        Code::InvalidArgument | Code::FailedPrecondition | Code::OutOfRange | Code::Unimplemented => {
            StoreErrorKind::Permanent
        }
    }
}

/// The size of a message is refused with the code of a quota, which waiting does not change.
fn is_too_large(status: &Status) -> bool {
    let message = status.message();
    let is_size =
        ["exceeds maximum size", "message length too large", "larger than max", "payload size exceeds"];
    matches!(status.code(), Code::ResourceExhausted | Code::OutOfRange)
        && is_size.iter().any(|words| message.contains(words))
}

fn lacks_index(status: &Status) -> bool {
    status.code() == Code::FailedPrecondition && status.message().contains("index")
}

fn is_about_time(status: &Status) -> bool {
    let message = status.message();
    ["read_time", "read time", "readTime", "too old"].iter().any(|words| message.contains(words))
}

/// Whether the connection did not come about at all.
fn never_sent(status: &Status) -> bool {
    let mut cause = std::error::Error::source(status);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<std::io::Error>() {
            return error.kind() == std::io::ErrorKind::ConnectionRefused;
        }
        cause = error.source();
    }
    false
}

/// How long the service asks to wait.
fn asked_delay(status: &Status) -> Option<Duration> {
    let details = rpc::Status::decode(status.details()).ok()?;
    let retry = details.details.iter().find(|detail| detail.type_url.ends_with("google.rpc.RetryInfo"))?;
    let delay = rpc::RetryInfo::decode(retry.value.as_slice()).ok()?.retry_delay?;
    Duration::try_from(delay).ok()
}

/// The service's own words, on one line and not too long.
fn words(message: &str) -> String {
    if message.is_empty() {
        return String::new();
    }
    let one_line: String =
        message.chars().take(WORDS).map(|it| if it.is_control() { ' ' } else { it }).collect();
    format!(" ({one_line})")
}

/// The code as the service's documentation spells it.
fn name_of(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}

#[cfg(test)]
mod tests {
    use firestore::gcloud_sdk::prost_types;

    use super::*;

    fn kind(effect: Effect, code: Code, message: &str) -> StoreErrorKind {
        call_error("Call", effect, &Status::new(code, message)).kind
    }

    #[test]
    fn every_code_has_its_kind() {
        use StoreErrorKind::{
            AlreadyExists, Denied, NotFound, Permanent, Throttled, Transient, UnknownOutcome,
        };
        let throttled = Throttled(Some(THROTTLED));
        for (code, read, write) in [
            (Code::Cancelled, Transient, UnknownOutcome),
            (Code::Unknown, Transient, UnknownOutcome),
            (Code::InvalidArgument, Permanent, Permanent),
            (Code::DeadlineExceeded, Transient, UnknownOutcome),
            (Code::NotFound, NotFound, NotFound),
            (Code::AlreadyExists, AlreadyExists, AlreadyExists),
            (Code::PermissionDenied, Denied, Denied),
            (Code::ResourceExhausted, throttled, throttled),
            (Code::FailedPrecondition, Permanent, Permanent),
            (Code::Aborted, Transient, Transient),
            (Code::OutOfRange, Permanent, Permanent),
            (Code::Unimplemented, Permanent, Permanent),
            (Code::Internal, Transient, UnknownOutcome),
            (Code::Unavailable, Transient, UnknownOutcome),
            (Code::DataLoss, Transient, UnknownOutcome),
            (Code::Unauthenticated, Denied, Denied),
        ] {
            assert_eq!(
                (kind(Effect::Reads, code, ""), kind(Effect::Writes, code, "")),
                (read, write),
                "{code:?}"
            );
        }
    }

    #[test]
    fn a_message_too_large_is_no_throttling() {
        let message = "gRPC message exceeds maximum size 4194304: 5000000";
        assert_eq!(kind(Effect::Writes, Code::ResourceExhausted, message), StoreErrorKind::Permanent);
        assert!(is_about_contents(&Status::new(Code::ResourceExhausted, message)));
        assert!(!is_about_contents(&Status::new(Code::ResourceExhausted, "Quota exceeded")));
        assert!(is_about_contents(&Status::new(Code::InvalidArgument, "")));
    }

    #[test]
    fn a_forgotten_moment_is_told_from_a_missing_index() {
        let past = |code, message| kind(Effect::ReadsThePast, code, message);
        assert_eq!(
            past(Code::FailedPrecondition, "The requested snapshot version is too old."),
            StoreErrorKind::SnapshotTooOld
        );
        assert_eq!(past(Code::InvalidArgument, "read_time is out of range"), StoreErrorKind::SnapshotTooOld);
        let index =
            "The query requires an index. You can create it here: https://console.firebase.google.com/x";
        assert_eq!(past(Code::FailedPrecondition, index), StoreErrorKind::Permanent);
        let error = call_error("RunQuery", Effect::Reads, &Status::new(Code::FailedPrecondition, index));
        assert!(
            error.message.contains("index it needs is missing") && error.message.contains("https://"),
            "{error}"
        );
    }

    #[test]
    fn the_wait_that_the_service_asks_for_is_kept() {
        let retry = rpc::RetryInfo { retry_delay: Some(prost_types::Duration { seconds: 7, nanos: 0 }) };
        let detail = prost_types::Any {
            type_url: "type.googleapis.com/google.rpc.RetryInfo".to_owned(),
            value: retry.encode_to_vec(),
        };
        let details = rpc::Status { code: 8, message: String::new(), details: vec![detail] }.encode_to_vec();
        let status = Status::with_details(Code::ResourceExhausted, "", details.into());
        assert_eq!(
            call_error("Call", Effect::Reads, &status).kind,
            StoreErrorKind::Throttled(Some(Duration::from_secs(7)))
        );
    }

    #[test]
    fn a_write_that_was_turned_down_was_not_done() {
        let error = |code: Code| write_error(&rpc::Status { code: code as i32, ..Default::default() }).kind;
        for code in [Code::Aborted, Code::Unavailable, Code::DeadlineExceeded, Code::Internal] {
            assert_eq!(error(code), StoreErrorKind::Transient, "{code:?}");
        }
        assert_eq!(error(Code::ResourceExhausted), StoreErrorKind::Throttled(Some(THROTTLED)));
        assert_eq!(error(Code::InvalidArgument), StoreErrorKind::Permanent);
    }
}
