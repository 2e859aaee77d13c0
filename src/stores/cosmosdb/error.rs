//! What the SDK reports, as the tool's own kinds of failure.
//!
//! The kind follows the status and its sub-status, never the message. An error of the SDK is never kept as a
//! cause, since it prints what was sent and answered, and that may hold an item.

use std::time::Duration;

use azure_data_cosmos::CosmosError;

use crate::stores::{StoreError, StoreErrorKind};

/// Whether a call changes something, which decides what an answer that never came means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// The call only reads: it may always be sent again.
    Reads,
    /// The call writes: whether it did is unknown until it is read back.
    Writes,
}

/// Sub-statuses of failures of which the SDK knows that nothing was sent: no connection, no name, no HTTP/2.
const NEVER_SENT: [u16; 3] = [20_010, 20_012, 20_015];
/// A logical partition has reached its 20 GB.
const PARTITION_FULL: u16 = 1014;
/// The replicas that were asked are behind what this run has written already: what is there is not known.
const BEHIND: [u16; 2] = [1002, 20_310];
/// The region of the request may not write at the moment, or no longer has the account.
const ELSEWHERE: [u16; 2] = [3, 1008];

/// Turns the failure of a call into the tool's own; `call` says what was asked.
pub(super) fn store_error(call: &str, effect: Effect, error: &CosmosError) -> StoreError {
    let status = error.status();
    let code = u16::from(status.status_code());
    let sub = status.sub_status().map(|sub| sub.value());
    let kind = kind_of(code, sub, effect, retry_after(error));
    let named = status.name().map(|name| format!(" {name}")).unwrap_or_default();
    let number = sub.map_or_else(|| code.to_string(), |sub| format!("{code}/{sub}"));
    let mut message = if (code, sub) == (403, Some(PARTITION_FULL)) {
        "The logical partition holds 20 GB already, which is all that one can".to_owned()
    } else if error.is_from_wire() {
        format!("Cosmos DB answered {call} with HTTP {number}{named}")
    } else {
        format!("Cosmos DB could not be asked for {call} ({number}{named})")
    };
    // What the service says of a document may repeat it; of everything else it may be shown.
    let shown = effect == Effect::Reads || kind == StoreErrorKind::Denied || !error.is_from_wire();
    if let Some(words) = words(error).filter(|_| shown) {
        message.push_str(": ");
        message.push_str(words.trim_end_matches('.'));
    }
    let activity = error.response().and_then(|response| response.headers().activity_id.clone());
    if let Some(activity) = activity {
        message.push_str(" (activity ");
        message.push_str(activity.as_ref());
        message.push(')');
    }
    StoreError::new(kind, message)
}

/// What the service says, or else why it was not asked.
fn words(error: &CosmosError) -> Option<String> {
    let said = error.to_string();
    if let Some((_, words)) = said.split_once("Details: ") {
        return Some(words.to_owned());
    }
    if error.is_from_wire() {
        return None;
    }
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    causes.map(ToString::to_string).last()
}

/// [HTTP status codes](https://learn.microsoft.com/rest/api/cosmos-db/http-status-codes-for-cosmosdb) lists them;
/// those from 20,000 on are the SDK's own.
fn kind_of(code: u16, sub: Option<u16>, effect: Effect, wait: Option<Duration>) -> StoreErrorKind {
    let is_sub = |known: &[u16]| sub.is_some_and(|sub| known.contains(&sub));
    match code {
        404 if is_sub(&BEHIND) => StoreErrorKind::Transient,
        404 => StoreErrorKind::NotFound,
        429 => StoreErrorKind::Throttled(wait),
        403 if is_sub(&[PARTITION_FULL]) => StoreErrorKind::Permanent,
        403 if is_sub(&ELSEWHERE) => StoreErrorKind::Transient,
        401 | 403 => StoreErrorKind::Denied,
        // A conflict between writers that the service itself asks to try again.
        449 => StoreErrorKind::Transient,
        503 if is_sub(&NEVER_SENT) => StoreErrorKind::Unreachable,
        // The service may have carried it out before it failed.
        408 | 410 | 500.. => match effect {
            Effect::Reads => StoreErrorKind::Transient,
            Effect::Writes => StoreErrorKind::UnknownOutcome,
        },
        _ => StoreErrorKind::Permanent,
    }
}

fn retry_after(error: &CosmosError) -> Option<Duration> {
    let wait = error.response()?.headers().retry_after_ms?;
    Some(Duration::from_millis(wait))
}

/// The request units that an answer says were consumed, also where it is a refusal.
pub(super) fn charge(error: &CosmosError) -> Option<f64> {
    Some(error.response()?.headers().request_charge?.value())
}

/// An answer of another form than the service gives.
pub(super) fn broken(what: &str) -> StoreError {
    StoreError::new(StoreErrorKind::Permanent, format!("Cosmos DB gave {what} that cannot be read"))
}

/// The failure of a part or position that this adapter did not make.
pub(super) fn foreign() -> StoreError {
    StoreError::new(StoreErrorKind::Permanent, "The position is not one of this container's")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_follows_the_status() {
        use StoreErrorKind::{
            Denied, NotFound, Permanent, Throttled, Transient, UnknownOutcome, Unreachable,
        };
        let wait = Some(Duration::from_millis(70));
        for (code, sub, reads, writes) in [
            (400, None, Permanent, Permanent),
            (401, Some(20_402), Denied, Denied),
            (403, Some(5300), Denied, Denied),
            (403, Some(3), Transient, Transient),
            (403, Some(1014), Permanent, Permanent),
            (404, Some(1002), Transient, Transient),
            (404, Some(1003), NotFound, NotFound),
            (408, None, Transient, UnknownOutcome),
            (410, Some(1002), Transient, UnknownOutcome),
            (413, None, Permanent, Permanent),
            (429, Some(3200), Throttled(wait), Throttled(wait)),
            (449, None, Transient, Transient),
            (500, None, Transient, UnknownOutcome),
            (503, Some(20_010), Unreachable, Unreachable),
            (503, Some(20_011), Transient, UnknownOutcome),
            (503, None, Transient, UnknownOutcome),
        ] {
            assert_eq!(kind_of(code, sub, Effect::Reads, wait), reads, "{code} {sub:?}");
            assert_eq!(kind_of(code, sub, Effect::Writes, wait), writes, "{code} {sub:?}");
        }
    }
}
