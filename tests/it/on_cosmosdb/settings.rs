//! Credentials and addresses: what is missing or wrong is said at once, and no secret with it.

use std::time::{Duration, Instant};

use rekey::document::StoreKind;

use super::server::{Place, address, endpoint, fresh_name, key};
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
    assert!(
        said.contains("cannot be opened") && said.contains("401") && said.contains("COSMOS_KEY"),
        "{said}"
    );
    assert!(!said.contains(SECRET), "{said}");
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
}

#[test]
fn without_a_key_and_an_identity_it_is_said_what_was_tried() {
    let (code, said, time) = export(&address("d"), "events", &[]);
    assert_eq!(code, Some(4), "{said}");
    for what in ["managed identity", "az or azd", "COSMOS_KEY", "az login"] {
        assert!(said.contains(what), "{what} is not in {said}");
    }
    assert!(time < Duration::from_secs(20), "{time:?}");
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
