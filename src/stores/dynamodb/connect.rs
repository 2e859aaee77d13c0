//! Region, credentials and endpoint by the usual AWS conventions, checked before the first request.

use std::time::Duration;

use aws_config::default_provider::credentials::DefaultCredentialsChain;
use aws_config::environment::EnvironmentVariableRegionProvider;
use aws_config::imds;
use aws_config::imds::region::ImdsRegionProvider;
use aws_config::meta::region::RegionProviderChain;
use aws_config::profile::{ProfileFileCredentialsProvider, ProfileFileRegionProvider};
use aws_config::provider_config::ProviderConfig;
use aws_config::{AppName, BehaviorVersion, Region, SdkConfig};
use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::SharedCredentialsProvider;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_types::service_config::ServiceConfigKey;

use super::error::{chain_text, find_credentials_error, is_of_the_machine};
use crate::stores::address::DynamoDbAddress;
use crate::{Error, Result};

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(5);
/// How long an answer may take: the largest page and the largest batch are through in a second or two.
const ANSWER: Duration = Duration::from_secs(30);
/// How long the machine's own metadata service may take, which answers in milliseconds where there is one.
const METADATA: Duration = Duration::from_millis(700);

/// A client and where it leads, for a person.
pub(super) struct Connection {
    pub client: Client,
    /// The endpoint or the region.
    pub place: String,
}

/// Makes a client for an address; nothing is sent to DynamoDB.
///
/// Errors: a usage error if no region is configured.
pub(super) async fn connect(address: &DynamoDbAddress) -> Result<Connection> {
    let metadata = imds::Client::builder()
        .connect_timeout(METADATA / 2)
        .operation_timeout(METADATA)
        .max_attempts(2)
        .build();
    let region = region(address, metadata.clone()).await?;
    let sdk = settings(address, region.clone(), metadata).await;
    let endpoint = address.endpoint.clone().or_else(|| configured_endpoint(&sdk));
    let timeouts =
        TimeoutConfig::builder().connect_timeout(CONNECT).operation_attempt_timeout(ANSWER).build();
    let config = aws_sdk_dynamodb::config::Builder::from(&sdk)
        // What is turned down is sent again by the wrapper around every store, which knows what is unknown.
        .retry_config(RetryConfig::disabled())
        .timeout_config(timeouts);
    let config = match &endpoint {
        Some(endpoint) => config.endpoint_url(endpoint),
        None => config,
    };
    let profile =
        address.profile.as_ref().map(|profile| format!(", profile {profile:?}")).unwrap_or_default();
    let place = match endpoint {
        Some(endpoint) => {
            format!("DynamoDB at {} (region {region}{profile})", without_credentials(&endpoint))
        }
        None => format!("DynamoDB in {region}{profile}"),
    };
    Ok(Connection { client: Client::from_conf(config.build()), place })
}

/// The region of the address, else of the environment, the profile or the machine.
async fn region(address: &DynamoDbAddress, metadata: imds::Client) -> Result<Region> {
    if let Some(region) = &address.region {
        return Ok(Region::new(region.clone()));
    }
    let mut profile = ProfileFileRegionProvider::builder();
    if let Some(name) = &address.profile {
        profile = profile.profile_name(name);
    }
    let chain = RegionProviderChain::first_try(EnvironmentVariableRegionProvider::new())
        .or_else(profile.build())
        .or_else(ImdsRegionProvider::builder().imds_client(metadata).build());
    chain.region().await.ok_or_else(|| {
        Error::usage(format!("No AWS region is configured for {address}; nothing was done"))
            .hint("Write the region into the address (dynamodb://eu-west-1), or set AWS_REGION or the profile's region.")
    })
}

async fn settings(address: &DynamoDbAddress, region: Region, metadata: imds::Client) -> SdkConfig {
    let mut loader = aws_config::defaults(BehaviorVersion::v2026_01_12()).region(region.clone());
    if let Some(profile) = &address.profile {
        loader = loader.profile_name(profile);
    }
    if let Ok(name) = AppName::new("rekey") {
        loader = loader.app_name(name);
    }
    let credentials = if let Some(profile) = &address.profile {
        // A profile that was named is meant, whatever the environment holds; it is that or nothing.
        let place = ProviderConfig::without_region().with_region(Some(region));
        let named = ProfileFileCredentialsProvider::builder().configure(&place).profile_name(profile);
        SharedCredentialsProvider::new(named.build())
    } else {
        let chain = DefaultCredentialsChain::builder().region(region).imds_client(metadata);
        SharedCredentialsProvider::new(chain.build().await)
    };
    loader.credentials_provider(credentials).load().await
}

/// What the first request says of missing credentials, which it alone can tell: asking for them separately
/// would run a credential process, or ask for a one-time code, twice.
///
/// Errors: `None` if the failure is about something else.
pub(super) fn credentials_error(error: &(dyn std::error::Error + 'static)) -> Option<Error> {
    let error = find_credentials_error(error)?;
    Some(match error {
        CredentialsError::CredentialsNotLoaded(_) => no_credentials(""),
        // It is asked last, when nothing else has any.
        _ if is_of_the_machine(error) => no_credentials(
            ", and the machine's metadata service (AWS_EC2_METADATA_SERVICE_ENDPOINT, else 169.254.169.254) gives none",
        ),
        CredentialsError::InvalidConfiguration(_) => no_credentials(&chain_text(error)),
        _ => Error::store(format!(
            "The AWS credentials could not be had{}; nothing was done",
            chain_text(error)
        ))
        .hint("Check the profile, and sign in again where it needs that (aws sso login)."),
    })
}

fn no_credentials(why: &str) -> Error {
    Error::usage(format!("No AWS credentials are configured{why}; nothing was done")).hint(
        "Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a profile: dynamodb://REGION?profile=NAME.",
    )
}

/// The endpoint that the environment or the profile names for DynamoDB, or for every service.
fn configured_endpoint(sdk: &SdkConfig) -> Option<String> {
    let key = ServiceConfigKey::builder()
        .service_id("DynamoDB")
        .env("AWS_ENDPOINT_URL")
        .profile("endpoint_url")
        .build()
        .ok()?;
    let own = sdk.service_config().and_then(|service| service.load_config(key));
    own.or_else(|| sdk.endpoint_url().map(ToOwned::to_owned))
}

/// What stands before `@` in an endpoint is nobody's business.
fn without_credentials(endpoint: &str) -> String {
    match endpoint.rsplit_once('@') {
        Some((before, host)) => {
            let scheme = before.split_once("//").map_or("", |(scheme, _)| scheme);
            format!("{scheme}//{host}")
        }
        None => endpoint.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_shows_no_credentials() {
        assert_eq!(without_credentials("http://127.0.0.1:8000"), "http://127.0.0.1:8000");
        assert_eq!(without_credentials("https://key:S3CRET@host/x"), "https://host/x");
    }
}
