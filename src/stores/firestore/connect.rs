//! The connection: one channel, its credentials, and how long anything may take.

use std::time::Duration;

use firestore::gcloud_sdk::error::ErrorKind as SdkErrorKind;
use firestore::gcloud_sdk::google::firestore::v1::firestore_client::FirestoreClient;
use firestore::gcloud_sdk::google_cloud_auth::credentials::{
    CacheableResource, Credentials, CredentialsProvider, EntityTag,
};
use firestore::gcloud_sdk::google_cloud_auth::errors::CredentialsError;
use firestore::gcloud_sdk::tonic::codegen::http::header::AUTHORIZATION;
use firestore::gcloud_sdk::tonic::codegen::http::{Extensions, HeaderMap, HeaderValue};
use firestore::gcloud_sdk::{GoogleApi, GoogleAuthMiddleware, RequestTimeouts};

use super::settings::Endpoint;
use crate::{Error, Result};

/// How long a connection may take to come about, credentials included.
const CONNECT: Duration = Duration::from_secs(20);
/// How long an answer, or the next document of one, may take.
const IDLE: Duration = Duration::from_mins(1);
/// How long a whole answer may take: the service itself ends everything after so long.
const TOTAL: Duration = Duration::from_secs(270);

/// The connection to a database; clones share it.
pub(super) type Api = GoogleApi<FirestoreClient<GoogleAuthMiddleware>>;

/// Connects to the database `projects/P/databases/D`.
///
/// Errors: a usage error where there are no credentials, a store error where nothing can be reached.
pub(super) async fn connect(endpoint: &Endpoint, database: &str) -> Result<Api> {
    let (url, prefix) = (endpoint.url(), Some(database.to_owned()));
    let connecting = async {
        match endpoint {
            Endpoint::Service => GoogleApi::from_function(FirestoreClient::new, url, prefix).await,
            Endpoint::Emulator(_) => {
                let owner = Credentials::from(Owner { tag: EntityTag::new() });
                GoogleApi::from_function_with_credentials(FirestoreClient::new, url, prefix, owner).await
            }
        }
    };
    let place = endpoint.place();
    match tokio::time::timeout(CONNECT, connecting).await {
        Ok(Ok(api)) => Ok(api.with_request_timeouts(timeouts())),
        Ok(Err(error)) => Err(cannot_connect(error.into_kind(), &place, endpoint)),
        Err(_elapsed) => Err(unreachable(&place, "it does not answer", endpoint)),
    }
}

fn timeouts() -> RequestTimeouts {
    let timeouts = RequestTimeouts::new().with_idle(IDLE).with_total(TOTAL);
    #[cfg(feature = "faults")]
    if let Some(answer) = std::env::var("REKEY_FAULTS_ANSWER_MS").ok().and_then(|text| text.parse().ok()) {
        return timeouts.with_idle(Duration::from_millis(answer));
    }
    timeouts
}

fn cannot_connect(error: SdkErrorKind, place: &str, endpoint: &Endpoint) -> Error {
    match error {
        SdkErrorKind::CredentialsBuild(cause) => {
            Error::caused(crate::ErrorKind::Usage, format!("There are no Google credentials for {place}; nothing was done"), cause)
                .hint("Sign in with gcloud auth application-default login, or name a key file with GOOGLE_APPLICATION_CREDENTIALS.")
        }
        SdkErrorKind::GrpcStatus(cause) => unreachable(place, &chain(&cause), endpoint),
        other => Error::store(format!("{place} cannot be opened: {other:?}")),
    }
}

fn unreachable(place: &str, why: &str, endpoint: &Endpoint) -> Error {
    let hint = match endpoint {
        Endpoint::Service => "Check the network, then run the same command again.",
        Endpoint::Emulator(_) => {
            "Start the emulator, or take FIRESTORE_EMULATOR_HOST away to reach Google's service."
        }
    };
    Error::store(format!("{place} cannot be reached ({why}); nothing was done")).hint(hint)
}

/// What the layers of the network say, in one line.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// Who may do everything in an emulator, whatever its rules say.
#[derive(Debug)]
struct Owner {
    tag: EntityTag,
}

impl CredentialsProvider for Owner {
    async fn headers(
        &self,
        known: Extensions,
    ) -> std::result::Result<CacheableResource<HeaderMap>, CredentialsError> {
        if known.get::<EntityTag>() == Some(&self.tag) {
            return Ok(CacheableResource::NotModified);
        }
        let mut headers = HeaderMap::new();
        let _replaced = headers.insert(AUTHORIZATION, HeaderValue::from_static("Bearer owner"));
        Ok(CacheableResource::New { entity_tag: self.tag.clone(), data: headers })
    }

    async fn universe_domain(&self) -> Option<String> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[tokio::test]
    async fn what_cannot_be_reached_is_a_store_error_and_never_a_panic() {
        for url in ["http://127.0.0.1:1", "https://127.0.0.1:1"] {
            let endpoint = Endpoint::Emulator(url.to_owned());
            let error = connect(&endpoint, "projects/p/databases/(default)").await.err().unwrap();
            assert_eq!(error.kind(), ErrorKind::Store, "{error}");
            assert!(error.messages().iter().any(|message| message.contains("127.0.0.1:1")), "{error:?}");
        }
    }
}
