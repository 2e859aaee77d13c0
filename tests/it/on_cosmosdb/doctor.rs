//! `doctor`: rights that the service does not tell are tried by writes that cannot be done.

use rekey::document::StoreKind;

use super::server::{Place, address};
use crate::doctor::{codes, held, of_server};
use crate::generated::Generated;

#[test]
fn the_accounts_key_may_do_everything_and_no_item_is_touched() {
    let place = Place::new();
    place.scene.seed(&Generated::events(StoreKind::CosmosDb, 4), "shop.db", "shop");
    let before = place.items(&place.scene.collection("shop.db", "shop"));
    let result = of_server(&place.scene, &["--for", "prune"], 0);
    assert_eq!(held(&result), ["yes"; 5]);
    assert_eq!(result["stores"][0]["identity"], "the key in COSMOS_KEY");
    assert!(place.items(&place.scene.collection("shop.db", "shop")) == before);
}

#[test]
fn a_wrong_key_is_named_with_where_a_right_one_comes_from() {
    const WRONG: &str = "TTRya09mVGhlV3JvbmdLZXk=";
    let place = Place::new();
    let from = address(&place.database);
    let mut command =
        place.scene.command(&["doctor", "--from", &from, "--container", "events", "--output", "json"]);
    let run = command.env("COSMOS_KEY", WRONG).output().unwrap();
    let result: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((run.status.code(), codes(&result, "findings")), (Some(1), vec!["unreachable".to_owned()]));
    let message = result["findings"][0]["message"].as_str().unwrap();
    for part in ["the key in COSMOS_KEY", "401", "az cosmosdb keys list"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert!(!String::from_utf8_lossy(&run.stdout).contains(WRONG));
    assert!(!String::from_utf8_lossy(&run.stderr).contains(WRONG));
}
