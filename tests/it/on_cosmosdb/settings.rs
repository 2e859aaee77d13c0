//! Credentials and addresses: what is missing or wrong is said at once, and no secret with it.

use std::time::{Duration, Instant};

use std::sync::Arc;

use async_trait::async_trait;
use azure_core::credentials::{AccessToken, TokenCredential, TokenRequestOptions};
use azure_core::time::{Duration as Span, OffsetDateTime};
use rekey::document::StoreKind;
use rekey::stores::Rates;
use rekey::stores::cosmosdb::{CosmosDbCollection, Credentials};
use rekey::stores::waits::Waits;
use rekey::stores::{CollectionReader as _, CollectionWriter as _, Created, StoreErrorKind};

use super::server::{Place, address, endpoint, fresh_name, key, parsed, wait};
use crate::conformance::documents::{events, spec};
use crate::generated::Generated;
use crate::scene::Scene;

const SECRET: &str = "UzNDUkVUUzNDUkVUUzNDUkVU";

/// Exports with an environment of its own: exit code, standard error, time.
fn export(address: &str, container: &str, variables: &[(&str, &str)]) -> (Option<i32>, String, Duration) {
    let scene = Scene::new(StoreKind::CosmosDb);
    let arguments =
        ["export", "--from", address, "--collection", container, "--layout", "events", "--out", "x.ndjson"];
    let started = Instant::now();
    let output = scene.command(&arguments).envs(variables.iter().copied()).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned(), started.elapsed())
}

#[test]
fn a_wrong_key_is_refused_and_not_shown() {
    let place = address(&fresh_name("d"));
    let (code, said, _) = export(&place, "events", &[("COSMOS_KEY", SECRET)]);
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("cannot be opened with the key in COSMOS_KEY") && said.contains("401"), "{said}");
    assert!(!said.contains(SECRET), "{said}");
    let string = format!("AccountEndpoint={}/;AccountKey={SECRET};", endpoint());
    let (code, said, _) = export(&place, "events", &[("COSMOS_CONNECTION_STRING", &string)]);
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("cannot be opened with the key in COSMOS_CONNECTION_STRING"), "{said}");
    assert!(!said.contains(SECRET), "{said}");
}

#[test]
fn what_can_be_no_key_is_a_usage_error_and_not_shown() {
    let place = address(&fresh_name("d"));
    let string = format!("AccountEndpoint={}/;AccountKey={SECRET}!;", endpoint());
    for variable in [("COSMOS_KEY", &*format!("{SECRET}!")), ("COSMOS_CONNECTION_STRING", &string)] {
        let (code, said, _) = export(&place, "events", &[variable]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(variable.0) && said.contains("not base64"), "{said}");
        assert!(!said.contains(SECRET), "{said}");
    }
}

#[test]
fn a_connection_string_opens_its_own_account_alone() {
    let place = Place::new();
    let generated = Generated::events(place.scene.store, 2);
    place.scene.seed(&generated, "shop.db", "shop");
    let shop = place.scene.collection("shop.db", "shop");
    let own = format!("AccountEndpoint={}/;AccountKey={};", endpoint(), key());
    let (code, said, _) = export(&address(&place.database), &shop, &[("COSMOS_CONNECTION_STRING", &own)]);
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains(&key()), "{said}");
    let other = format!("AccountEndpoint=https://other.documents.azure.com/;AccountKey={SECRET};");
    let (code, said, _) = export(&address(&place.database), &shop, &[("COSMOS_CONNECTION_STRING", &other)]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("other.documents.azure.com") && !said.contains(SECRET), "{said}");
    let other = format!("AccountEndpoint=http://127.0.0.1:1/;AccountKey={SECRET};");
    let (code, said, _) = export(&address(&place.database), &shop, &[("COSMOS_CONNECTION_STRING", &other)]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("127.0.0.1:1,") && !said.contains(SECRET), "{said}");
}

#[test]
fn without_a_key_and_an_identity_it_is_said_what_was_tried() {
    let (code, said, time) = export(&address("d"), "events", &[]);
    assert_eq!(code, Some(4), "{said}");
    // Each is told to its end: the tools are tried one after the other.
    for what in ["managed identity", "az or azd", "AzureCliCredential", "COSMOS_KEY", "az login"] {
        assert!(said.contains(what), "{what} is not in {said}");
    }
    assert!(time < Duration::from_secs(20), "{time:?}");
}

/// Somebody who is signed in.
#[derive(Debug)]
struct Identity;

#[async_trait]
impl TokenCredential for Identity {
    async fn get_token(
        &self,
        _scopes: &[&str],
        _options: Option<TokenRequestOptions<'_>>,
    ) -> azure_core::Result<AccessToken> {
        Ok(AccessToken::new("a-token-for-tests", OffsetDateTime::now_utc() + Span::hours(1)))
    }
}

#[test]
fn an_identity_reads_and_writes_items_and_is_told_that_a_new_container_takes_the_key() {
    let place = Place::new();
    let kind = place.scene.store;
    place.scene.seed(&Generated::events(kind, 2), "shop.db", "shop");
    let open = |name: String| {
        let address = parsed(&address(&place.database));
        async move {
            let identity = Credentials::Identity(Arc::new(Identity));
            CosmosDbCollection::open_with(&address, &identity, &name, Rates::default(), &Waits::default())
                .await
                .unwrap()
        }
    };
    wait(async {
        let there = open("c-shop-shop".to_owned()).await;
        assert!(there.count(None).await.unwrap() > Some(0));
        let created = there.create(&events(kind, 1)).await;
        assert!(matches!(created[..], [Created::Written]), "{created:?}");
        let error = there.create_collection(&spec(kind)).await.unwrap_err();
        assert_eq!(error.kind, StoreErrorKind::AlreadyExists);
        let missing = open("new".to_owned()).await;
        let error = missing.create_collection(&spec(kind)).await.unwrap_err();
        assert!(error.message.contains("takes the account's key (COSMOS_KEY"), "{error}");
        assert_eq!(rekey::Error::from(error).kind().exit_code(), 2);
    });
}

#[test]
fn plain_http_to_another_machine_and_a_dead_port_are_errors_at_once() {
    let key = key();
    let (code, said, _) = export("cosmosdb+http://10.1.2.3:8081/d", "events", &[("COSMOS_KEY", &key)]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("not on this machine") && !said.contains(&key), "{said}");
    let (code, said, time) = export("cosmosdb+http://127.0.0.1:1/d", "events", &[("COSMOS_KEY", &key)]);
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("127.0.0.1:1") && said.contains("cannot be opened"), "{said}");
    assert!(time < Duration::from_secs(15), "{time:?}");
}

#[test]
fn a_container_that_is_not_there_is_a_usage_error_that_names_others() {
    let place = Place::new();
    place.scene.seed(&Generated::events(place.scene.store, 2), "shop.db", "shop");
    let (code, said, _) = export(&address(&place.database), "c-shop-shpo", &[("COSMOS_KEY", &key())]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("no container \"c-shop-shpo\"") && said.contains("\"c-shop-shop\""), "{said}");
    let (code, said, _) = export(&address(&place.database), "a/b", &[("COSMOS_KEY", &key())]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("no valid name"), "{said}");
}
