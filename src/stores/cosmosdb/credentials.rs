//! Who the tool is for an account: a key, or Entra ID by the chain that Azure's tools share.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use azure_core::credentials::{AccessToken, Secret, TokenCredential, TokenRequestOptions};
use azure_core::error::ErrorKind;
use azure_core::http::Url;
use azure_core::time::{Duration as Span, OffsetDateTime};
use azure_identity::{
    ClientSecretCredential, DeveloperToolsCredential, ManagedIdentityCredential,
    ManagedIdentityCredentialOptions, UserAssignedId, WorkloadIdentityCredential,
};
use tokio::sync::{Mutex, OnceCell};

use crate::document::base64_text;
use crate::stores::address::CosmosDbAddress;
use crate::{Error, Result};

/// How long the machine's own identity service may take, which answers in milliseconds where there is one.
const MACHINE: Duration = Duration::from_secs(2);
/// How long Entra ID itself may take.
const SERVICE: Duration = Duration::from_secs(20);
/// How long before its end a token is replaced.
const EARLY: Span = Span::minutes(5);

/// What opens an account.
#[derive(Clone)]
pub enum Credentials {
    /// The account's key of `COSMOS_KEY`, which may do everything.
    Key(Secret),
    /// The account's key of `COSMOS_CONNECTION_STRING`.
    ConnectionString(Secret),
    /// An identity of Entra ID, which reads and writes items but makes no container.
    Identity(Arc<dyn TokenCredential>),
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Key(_) => "Key",
            Self::ConnectionString(_) => "ConnectionString",
            Self::Identity(_) => "Identity",
        })
    }
}

impl Credentials {
    /// Takes what the environment names: `COSMOS_KEY`, else `COSMOS_CONNECTION_STRING`, else Entra ID.
    ///
    /// Errors: a usage error for a key that can be none, and a connection string without a key or of another account.
    pub fn from_environment(address: &CosmosDbAddress) -> Result<Self> {
        if let Some(key) = variable("COSMOS_KEY") {
            return Ok(Self::Key(checked("COSMOS_KEY", key)?));
        }
        match variable("COSMOS_CONNECTION_STRING") {
            Some(text) => {
                let key = checked("The AccountKey in COSMOS_CONNECTION_STRING", key_of(&text, address)?)?;
                Ok(Self::ConnectionString(key))
            }
            None => Ok(Self::Identity(Arc::new(Chain::from_environment()))),
        }
    }

    /// Whether a key opens the account.
    pub(super) fn is_key(&self) -> bool {
        !matches!(self, Self::Identity(_))
    }

    /// Which they are, for a person.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Key(_) => "the key in COSMOS_KEY".to_owned(),
            Self::ConnectionString(_) => "the key in COSMOS_CONNECTION_STRING".to_owned(),
            Self::Identity(identity) => format!("Entra ID ({identity:?})"),
        }
    }
}

/// A variable of the environment that is not empty.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// A key, unless it can be none.
fn checked(named: &str, key: String) -> Result<Secret> {
    // As the SDK reads it: in the standard alphabet, whether or not the padding was copied along.
    if !key.contains(['-', '_']) && base64_text::decode(&key).is_some() {
        return Ok(Secret::new(key));
    }
    Err(Error::usage(format!("{named} is no key of an account: it is not base64; nothing was done"))
        .hint("Copy the primary or secondary key whole (az cosmosdb keys list --name ACCOUNT --resource-group GROUP)."))
}

/// The key in a connection string, which must be of the address's account.
fn key_of(text: &str, address: &CosmosDbAddress) -> Result<String> {
    let field = |name: &str| {
        let mut fields = text.split(';').filter_map(|field| field.split_once('='));
        fields
            .find(|(known, _)| known.trim().eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim().to_owned())
    };
    let (Some(endpoint), Some(key)) = (field("AccountEndpoint"), field("AccountKey")) else {
        return Err(Error::usage(
            "COSMOS_CONNECTION_STRING lacks AccountEndpoint or AccountKey; nothing was done",
        )
        .hint("Copy the whole connection string: AccountEndpoint=https://…;AccountKey=…;"));
    };
    let place = |text: &str| {
        Url::parse(text).ok().map(|url| (url.host_str().map(str::to_owned), url.port_or_known_default()))
    };
    let (own, asked) = (place(&endpoint), address.endpoint());
    if own.is_none() || own != place(&asked) {
        // Nothing else of the string is shown: who knows what was pasted there.
        let own = own.and_then(|(host, port)| Some(format!("{}:{}", host?, port?)));
        return Err(Error::usage(format!(
            "COSMOS_CONNECTION_STRING is of the account at {}, the address is {asked}; nothing was done",
            own.as_deref().unwrap_or("no valid address")
        ))
        .hint("Set COSMOS_KEY or the connection string of the account in the address."));
    }
    Ok(key)
}

/// Identities that are tried in the order of Azure's default chain: a service principal that the environment
/// names, the workload's, the machine's, and whoever is signed in with `az` or `azd`. The first that gives a
/// token is used from then on.
///
/// The SDK asks for a token with every request, so it is kept until it is about to expire.
struct Chain {
    sources: Vec<Source>,
    chosen: OnceCell<usize>,
    kept: Mutex<Option<AccessToken>>,
}

/// One identity, or why there is none.
struct Source {
    name: &'static str,
    patience: Option<Duration>,
    credential: azure_core::Result<Arc<dyn TokenCredential>>,
}

impl Chain {
    fn from_environment() -> Self {
        let mut sources = Vec::new();
        let mut add = |name, patience, credential| sources.push(Source { name, patience, credential });
        let named = |name: &str| variable(name);
        if let (Some(tenant), Some(client), Some(secret)) =
            (named("AZURE_TENANT_ID"), named("AZURE_CLIENT_ID"), named("AZURE_CLIENT_SECRET"))
        {
            let credential = ClientSecretCredential::new(&tenant, client, Secret::new(secret), None);
            add("service principal", Some(SERVICE), credential.map(|it| it as Arc<dyn TokenCredential>));
        }
        if named("AZURE_FEDERATED_TOKEN_FILE").is_some() {
            let credential = WorkloadIdentityCredential::new(None);
            add("workload identity", Some(SERVICE), credential.map(|it| it as Arc<dyn TokenCredential>));
        }
        let identity = named("AZURE_CLIENT_ID").map(UserAssignedId::ClientId);
        let options = ManagedIdentityCredentialOptions { user_assigned_id: identity, ..Default::default() };
        let credential = ManagedIdentityCredential::new(Some(options));
        add("managed identity", Some(MACHINE), credential.map(|it| it as Arc<dyn TokenCredential>));
        let credential = DeveloperToolsCredential::new(None);
        add("az or azd", None, credential.map(|it| it as Arc<dyn TokenCredential>));
        Self { sources, chosen: OnceCell::new(), kept: Mutex::new(None) }
    }

    async fn new_token(
        &self,
        scopes: &[&str],
        options: Option<TokenRequestOptions<'_>>,
    ) -> azure_core::Result<AccessToken> {
        let failed = |message| azure_core::Error::with_message(ErrorKind::Credential, message);
        if let Some(source) = self.chosen.get().and_then(|chosen| self.sources.get(*chosen)) {
            let token = source.token(scopes, options).await;
            return token.map_err(|why| failed(format!("{}: {why}", source.name)));
        }
        let mut failures = Vec::new();
        for (at, source) in self.sources.iter().enumerate() {
            match source.token(scopes, options.clone()).await {
                Ok(token) => {
                    let _first = self.chosen.set(at);
                    return Ok(token);
                }
                Err(why) => failures.push(format!("{}: {}", source.name, one_line(&why))),
            }
        }
        Err(failed(format!("no identity of Entra ID gives a token ({})", failures.join("; "))))
    }
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(source) = self.chosen.get().and_then(|chosen| self.sources.get(*chosen)) {
            return f.write_str(source.name);
        }
        f.write_str(&self.sources.iter().map(|source| source.name).collect::<Vec<_>>().join(", "))
    }
}

impl Source {
    async fn token(
        &self,
        scopes: &[&str],
        options: Option<TokenRequestOptions<'_>>,
    ) -> Result<AccessToken, String> {
        let credential = self.credential.as_ref().map_err(ToString::to_string)?;
        let asked = credential.get_token(scopes, options);
        let answer = match self.patience {
            None => asked.await,
            Some(patience) => match tokio::time::timeout(patience, asked).await {
                Ok(answer) => answer,
                Err(_) => return Err("nobody answered".to_owned()),
            },
        };
        answer.map_err(|error| error.to_string())
    }
}

#[async_trait]
impl TokenCredential for Chain {
    async fn get_token(
        &self,
        scopes: &[&str],
        options: Option<TokenRequestOptions<'_>>,
    ) -> azure_core::Result<AccessToken> {
        let mut kept = self.kept.lock().await;
        let lasts = |token: &&AccessToken| token.expires_on > OffsetDateTime::now_utc() + EARLY;
        if let Some(token) = kept.as_ref().filter(lasts) {
            return Ok(token.clone());
        }
        let token = self.new_token(scopes, options).await?;
        *kept = Some(token.clone());
        Ok(token)
    }
}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stores::StoreAddress;

    fn address() -> CosmosDbAddress {
        match StoreAddress::parse("cosmosdb://shop.documents.azure.com/excalibur") {
            Ok(StoreAddress::CosmosDb(address)) => address,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_key_is_one_with_or_without_its_padding() {
        for (key, is_one) in
            [("MDE=", true), ("MDE", true), ("ab+/", true), ("ab-_", false), ("no key", false)]
        {
            assert_eq!(checked("COSMOS_KEY", key.to_owned()).is_ok(), is_one, "{key}");
        }
    }

    #[test]
    fn the_key_is_taken_out_of_the_connection_string_of_the_same_account() {
        let text = "AccountEndpoint=https://Shop.documents.azure.com:443/;AccountKey=S3CRET==;";
        assert_eq!(key_of(text, &address()).unwrap(), "S3CRET==");
        for (wrong, what) in [
            (
                "AccountEndpoint=https://other.documents.azure.com:443/;AccountKey=S3CRET==;",
                "at other.documents",
            ),
            ("AccountEndpoint=https://shop.documents.azure.com:8081/;AccountKey=S3CRET==;", ".com:8081, the"),
            ("AccountEndpoint=S3CRET;AccountKey=S3CRET==;", "no valid address"),
            ("AccountEndpoint=https://shop.documents.azure.com:443/;", "lacks"),
            ("S3CRET", "lacks"),
        ] {
            let error = key_of(wrong, &address()).unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Usage);
            let said = format!("{error:?}");
            assert!(said.contains(what) && !said.contains("S3CRET"), "{said}");
        }
    }

    #[test]
    fn credentials_show_no_secret() {
        let shown = format!("{:?} {:?}", Credentials::Key(Secret::new("S3CRET")), Chain::from_environment());
        assert!(!shown.contains("S3CRET") && shown.contains("managed identity"), "{shown}");
    }

    /// Gives tokens that last so many minutes, each another one.
    #[derive(Debug)]
    struct Minutes(i64, std::sync::atomic::AtomicUsize);

    #[async_trait]
    impl TokenCredential for Minutes {
        async fn get_token(
            &self,
            _scopes: &[&str],
            _options: Option<TokenRequestOptions<'_>>,
        ) -> azure_core::Result<AccessToken> {
            let number = self.1.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            Ok(AccessToken::new(number.to_string(), OffsetDateTime::now_utc() + Span::minutes(self.0)))
        }
    }

    #[tokio::test]
    async fn a_token_is_kept_until_it_is_about_to_expire_and_the_first_identity_that_has_one_is_used() {
        for (minutes, last) in [(60, "0"), (4, "2")] {
            let none = azure_core::Error::with_message(ErrorKind::Credential, "nobody");
            let some = Minutes(minutes, std::sync::atomic::AtomicUsize::new(0));
            let sources = vec![
                Source { name: "none", patience: None, credential: Err(none) },
                Source { name: "some", patience: None, credential: Ok(Arc::new(some)) },
            ];
            let chain = Chain { sources, chosen: OnceCell::new(), kept: Mutex::new(None) };
            let mut token = String::new();
            for _ in 0..3 {
                token = chain.get_token(&["scope"], None).await.unwrap().token.secret().to_owned();
            }
            assert_eq!((token.as_str(), chain.chosen.get()), (last, Some(&1)), "{minutes} minutes");
        }
    }
}
