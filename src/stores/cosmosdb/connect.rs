//! The client of an account: what it accepts of a server, and what it sends again by itself.

use azure_core::http::Url;
use azure_data_cosmos::options::{
    BinaryEncodingOptions, ConnectionPoolOptions, OperationOptionsBuilder, ServerCertificateValidation,
    ThrottlingRetryOptionsBuilder, UserAgentSuffix,
};
use azure_data_cosmos::{AccountEndpoint, AccountReference, CosmosClient, CosmosRuntime, RoutingStrategy};

use super::credentials::Credentials;
use super::error::{Effect, store_error};
use crate::stores::StoreErrorKind;
use crate::stores::address::CosmosDbAddress;
use crate::{Error, Result};

/// Makes a client for an address and asks for the account, so that what cannot be reached is said at once.
///
/// What the service turns down for its rate is not sent again by the SDK, which nobody could interrupt, but by the
/// wrapper around every store. The SDK itself asks another region where there is one. A write that it sends again may
/// meet itself: the answer then says that the item is there, and it is compared.
///
/// Errors: a usage error for plain http to another machine, a store error if the account cannot be reached or
/// refuses.
pub(super) async fn connect(
    address: &CosmosDbAddress,
    credentials: &Credentials,
    place: &str,
) -> Result<CosmosClient> {
    let endpoint = address.endpoint();
    let url = Url::parse(&endpoint).map_err(|error| {
        Error::usage(format!("{endpoint} is no address of an account ({error}); nothing was done"))
    })?;
    let is_local = is_loopback(&url);
    if !address.tls && !is_local {
        return Err(Error::usage(format!("{endpoint} is not on this machine, and plain http would show the key; nothing was done"))
            .hint("Write cosmosdb://HOST/DATABASE: accounts are reached by https, only an emulator on this machine by http."));
    }
    let endpoint = AccountEndpoint::from(url);
    let account = match credentials {
        Credentials::Key(key) | Credentials::ConnectionString(key) => {
            AccountReference::with_authentication_key(endpoint, key.clone())
        }
        Credentials::Identity(identity) => AccountReference::with_credential(endpoint, identity.clone()),
    };
    let client = client(account, is_local).await;
    client
        .map_err(|error| cannot_open(&store_error("the account", Effect::Reads, &error), place, credentials))
}

async fn client(account: AccountReference, is_local: bool) -> azure_data_cosmos::Result<CosmosClient> {
    // Only an emulator on this machine may sign its certificate itself.
    let validation = if is_local {
        ServerCertificateValidation::RequiredUnlessEmulator
    } else {
        ServerCertificateValidation::Required
    };
    let pool = ConnectionPoolOptions::builder().with_server_certificate_validation(validation).build()?;
    let once = ThrottlingRetryOptionsBuilder::new().with_max_retry_count(0).build();
    let options = OperationOptionsBuilder::new().with_throttling_retry_options(once).build();
    let runtime = CosmosRuntime::builder()
        .with_connection_pool(pool)
        .with_default_operation_options(options)
        .build()
        .await?;
    let mut builder = CosmosClient::builder()
        .with_runtime(runtime)
        // In the binary form numbers lose their spelling.
        .with_binary_encoding_options(BinaryEncodingOptions::new().with_enabled(false));
    if let Ok(suffix) = UserAgentSuffix::try_from("rekey") {
        builder = builder.with_user_agent_suffix(suffix);
    }
    // The account's own order of regions: writes go to where it takes them.
    builder.build(account, RoutingStrategy::PreferredRegions(Vec::new())).await
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn cannot_open(error: &crate::stores::StoreError, place: &str, credentials: &Credentials) -> Error {
    if error.kind == StoreErrorKind::Denied {
        return denied(error, place, credentials);
    }
    let hint = match error.kind {
        StoreErrorKind::Transient | StoreErrorKind::Unreachable => {
            "Check the account's host and the network, then run the same command again."
        }
        _ => "Run the same command again later.",
    };
    Error::from(error.duplicate()).context(format!("{place} cannot be opened; nothing was done")).hint(hint)
}

/// The error of credentials that are refused or cannot be had: it names them, and where others come from.
fn denied(error: &crate::stores::StoreError, place: &str, credentials: &Credentials) -> Error {
    let hint = if credentials.is_key() {
        "Check that it is a key of this very account (az cosmosdb keys list), and that the account takes keys; without COSMOS_KEY and COSMOS_CONNECTION_STRING, Entra ID is asked."
    } else {
        "Set COSMOS_KEY or COSMOS_CONNECTION_STRING, or sign in (az login) as somebody with a data role of the account."
    };
    let message = format!("{place} cannot be opened with {}; nothing was done", credentials.shown());
    Error::from(error.duplicate()).context(message).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_trusted_without_a_certificate() {
        for (url, local) in [
            ("http://127.0.0.1:8081/", true),
            ("https://localhost:8081/", true),
            ("https://[::1]:8081/", true),
            ("https://shop.documents.azure.com/", false),
            ("https://localhost.example.com/", false),
            ("http://10.0.0.1:8081/", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(url).unwrap()), local, "{url}");
        }
    }
}
