//! What the SDK reports, as the tool's own kinds of failure.
//!
//! The kind follows the service's error code, never its message: messages change. An error of the SDK is
//! never kept as a cause, since it prints the raw answer, and that may hold an item.

use std::error::Error as StdError;

use aws_config::imds::client::error::ImdsError;
use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::RequestId;

use crate::stores::{StoreError, StoreErrorKind};

/// Whether a call changes something, which decides what an answer that never came means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// The call only reads: it may always be sent again.
    Reads,
    /// The call writes: whether it did is unknown until it is read back.
    Writes,
}

/// Beginnings of the service's messages about an item that repeat nothing of it.
const HARMLESS: [&str; 4] = [
    "Item size has exceeded the maximum allowed size",
    "One or more parameter values were invalid: Size of hashkey has exceeded",
    "One or more parameter values were invalid: Aggregated size of all range keys has exceeded",
    "One or more parameter values are not valid. The AttributeValue for a key attribute",
];

/// Turns the failure of a call into the tool's own; `call` is the operation's name.
pub(super) fn store_error<E>(call: &str, effect: Effect, error: &SdkError<E, HttpResponse>) -> StoreError
where
    E: StdError + ProvideErrorMetadata + Send + Sync + 'static,
{
    match error {
        SdkError::ServiceError(answer) => service_error(call, effect, answer.err(), answer.raw(), error),
        SdkError::ConstructionFailure(_) => {
            StoreError::new(StoreErrorKind::Permanent, format!("{call} could not be made into a request"))
        }
        SdkError::TimeoutError(_) => lost(effect, format!("DynamoDB did not answer {call} in time")),
        SdkError::DispatchFailure(failure) if find_credentials_error(error).is_some() => {
            let what = failure.as_connector_error().map(|error| chain_text(error)).unwrap_or_default();
            let message = format!("The credentials for {call} could not be had{what}");
            StoreError::new(StoreErrorKind::Denied, message)
        }
        SdkError::DispatchFailure(failure) => {
            let what = failure.as_connector_error().map(|error| chain_text(error)).unwrap_or_default();
            let message = format!("DynamoDB could not be reached for {call}{what}");
            if was_never_sent(error) {
                StoreError::new(StoreErrorKind::Unreachable, message)
            } else {
                lost(effect, message)
            }
        }
        _ => lost(effect, format!("The answer to {call} could not be read")),
    }
}

/// An answer that never came.
fn lost(effect: Effect, message: String) -> StoreError {
    let kind = match effect {
        Effect::Reads => StoreErrorKind::Transient,
        Effect::Writes => StoreErrorKind::UnknownOutcome,
    };
    StoreError::new(kind, message)
}

fn service_error<E>(
    call: &str,
    effect: Effect,
    error: &E,
    answer: &HttpResponse,
    whole: &SdkError<E, HttpResponse>,
) -> StoreError
where
    E: ProvideErrorMetadata,
    SdkError<E, HttpResponse>: RequestId,
{
    let status = answer.status().as_u16();
    let code = error.code().unwrap_or_default();
    let kind = kind_of(code, status, effect);
    let mut message = match code {
        "" => format!("DynamoDB answered {call} with HTTP status {status}"),
        _ => format!("DynamoDB answered {call} with {code}"),
    };
    let repeats_values = kind == StoreErrorKind::Permanent && effect == Effect::Writes;
    let words = error.message().filter(|words| !words.is_empty());
    let words = words.filter(|words| !repeats_values || HARMLESS.iter().any(|it| words.starts_with(it)));
    if let Some(words) = words {
        message.push_str(": ");
        message.push_str(words.trim_end_matches('.'));
    }
    if let Some(request) = whole.request_id() {
        message.push_str(" (request ");
        message.push_str(request);
        message.push(')');
    }
    StoreError::new(kind, message)
}

/// [Error handling with DynamoDB](https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html)
/// lists the codes.
fn kind_of(code: &str, status: u16, effect: Effect) -> StoreErrorKind {
    match code {
        "ProvisionedThroughputExceededException"
        | "ThrottlingException"
        | "ThrottlingError"
        | "RequestLimitExceeded"
        | "LimitExceededException" => StoreErrorKind::Throttled(None),
        "ResourceNotFoundException" | "TableNotFoundException" => StoreErrorKind::NotFound,
        // A table that is being made, changed or removed.
        "ResourceInUseException"
        | "TransactionConflictException"
        | "ReplicatedWriteConflictException"
        | "ServiceUnavailable"
        | "ServiceUnavailableException" => StoreErrorKind::Transient,
        "AccessDeniedException"
        | "ExpiredTokenException"
        | "IncompleteSignatureException"
        | "InvalidSignatureException"
        | "MissingAuthenticationTokenException"
        | "OptInRequired"
        | "UnrecognizedClientException" => StoreErrorKind::Denied,
        _ if status == 503 => StoreErrorKind::Transient,
        // The service may have carried it out before it failed.
        _ if status >= 500 => lost(effect, String::new()).kind,
        _ => StoreErrorKind::Permanent,
    }
}

/// Whether the service does not know the operation at all, as emulators do not.
pub(super) fn is_unknown_operation(error: &impl ProvideErrorMetadata) -> bool {
    matches!(error.code(), Some("UnknownOperationException" | "InvalidAction" | "NotImplemented"))
}

/// Whether nobody listened where the request would have gone.
fn was_never_sent(error: &(dyn StdError + 'static)) -> bool {
    use std::io::ErrorKind::{
        AddrNotAvailable, ConnectionRefused, HostUnreachable, NetworkDown, NetworkUnreachable,
    };
    causes(error).any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|cause| {
            matches!(
                cause.kind(),
                AddrNotAvailable | ConnectionRefused | HostUnreachable | NetworkDown | NetworkUnreachable
            )
        })
    })
}

/// Finds why there are no credentials, if that is what is wrong.
pub(super) fn find_credentials_error<'e>(
    error: &'e (dyn StdError + 'static),
) -> Option<&'e CredentialsError> {
    causes(error).find_map(|cause| cause.downcast_ref())
}

/// Whether it is the machine's own metadata service that gave no credentials.
pub(super) fn is_of_the_machine(error: &(dyn StdError + 'static)) -> bool {
    causes(error).find_map(|cause| cause.downcast_ref::<ImdsError>()).is_some()
}

fn causes<'e>(error: &'e (dyn StdError + 'static)) -> impl Iterator<Item = &'e (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |error: &&'e (dyn StdError + 'static)| StdError::source(*error))
}

/// The messages of an error and its causes that speak of the connection; they hold no request.
pub(super) fn chain_text(error: &(dyn StdError + 'static)) -> String {
    let mut text = String::new();
    for cause in causes(error) {
        let cause = cause.to_string();
        if !cause.is_empty() && !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::error::{ConnectorError, ErrorMetadata};
    use aws_sdk_dynamodb::operation::put_item::PutItemError;

    use super::*;

    fn answer(status: u16) -> HttpResponse {
        HttpResponse::new(status.try_into().unwrap(), r#"{"Item":{"a":{"S":"S3CRET"}}}"#.into())
    }

    fn service(status: u16, code: &str, message: &str) -> SdkError<PutItemError, HttpResponse> {
        let error = PutItemError::generic(ErrorMetadata::builder().code(code).message(message).build());
        SdkError::service_error(error, answer(status))
    }

    fn kind(effect: Effect, status: u16, code: &str) -> StoreErrorKind {
        store_error("PutItem", effect, &service(status, code, "")).kind
    }

    #[test]
    fn the_kind_follows_the_code() {
        use StoreErrorKind::{Denied, NotFound, Permanent, Throttled, Transient, UnknownOutcome};
        for (status, code, reads, writes) in [
            (400, "ProvisionedThroughputExceededException", Throttled(None), Throttled(None)),
            (400, "ThrottlingException", Throttled(None), Throttled(None)),
            (400, "RequestLimitExceeded", Throttled(None), Throttled(None)),
            (400, "ResourceNotFoundException", NotFound, NotFound),
            (400, "ResourceInUseException", Transient, Transient),
            (400, "AccessDeniedException", Denied, Denied),
            (400, "ExpiredTokenException", Denied, Denied),
            (400, "ValidationException", Permanent, Permanent),
            (500, "InternalServerError", Transient, UnknownOutcome),
            (502, "", Transient, UnknownOutcome),
            (503, "", Transient, Transient),
        ] {
            assert_eq!(kind(Effect::Reads, status, code), reads, "{status} {code}");
            assert_eq!(kind(Effect::Writes, status, code), writes, "{status} {code}");
        }
    }

    #[test]
    fn what_the_service_says_of_an_item_is_shown_only_where_it_repeats_nothing_of_it() {
        let said = |message: &str| {
            store_error("PutItem", Effect::Writes, &service(400, "ValidationException", message)).message
        };
        assert_eq!(
            said("One or more parameter values were invalid: Input collection [S3CRET] contains duplicates"),
            "DynamoDB answered PutItem with ValidationException"
        );
        assert_eq!(
            said("Item size has exceeded the maximum allowed size"),
            "DynamoDB answered PutItem with ValidationException: Item size has exceeded the maximum allowed size"
        );
        let denied =
            service(400, "AccessDeniedException", "User: x is not authorized to perform: dynamodb:PutItem.");
        let denied = store_error("PutItem", Effect::Writes, &denied);
        assert!(denied.message.ends_with("is not authorized to perform: dynamodb:PutItem"), "{denied}");
        let unreadable: SdkError<PutItemError, _> = SdkError::response_error("S3CRET", answer(200));
        let unreadable = store_error("PutItem", Effect::Writes, &unreadable);
        assert_eq!(unreadable.kind, StoreErrorKind::UnknownOutcome);
        assert!(!format!("{unreadable:?}").contains("S3CRET"));
    }

    #[test]
    fn a_write_that_was_never_sent_is_sent_again_and_one_without_an_answer_is_unknown() {
        let failed = |kind| {
            let cause = ConnectorError::io(std::io::Error::from(kind).into());
            let failed: SdkError<PutItemError, HttpResponse> = SdkError::dispatch_failure(cause);
            store_error("PutItem", Effect::Writes, &failed).kind
        };
        assert_eq!(failed(std::io::ErrorKind::ConnectionRefused), StoreErrorKind::Unreachable);
        assert_eq!(failed(std::io::ErrorKind::ConnectionReset), StoreErrorKind::UnknownOutcome);
        let late: SdkError<PutItemError, HttpResponse> = SdkError::timeout_error("late");
        assert_eq!(store_error("PutItem", Effect::Writes, &late).kind, StoreErrorKind::UnknownOutcome);
        assert_eq!(store_error("Scan", Effect::Reads, &late).kind, StoreErrorKind::Transient);
    }

    #[test]
    fn missing_credentials_are_told_from_a_broken_connection() {
        let cause = ConnectorError::other(CredentialsError::not_loaded_no_source().into(), None);
        let failed: SdkError<PutItemError, HttpResponse> = SdkError::dispatch_failure(cause);
        assert!(find_credentials_error(&failed).is_some());
        assert_eq!(store_error("PutItem", Effect::Writes, &failed).kind, StoreErrorKind::Denied);
    }
}
