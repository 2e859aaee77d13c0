//! A container with a partition key of three components, of which the broadest gets the tenant.
//!
//! `REKEY_COSMOSDB_ITEMS` sets the size.

use azure_data_cosmos::PartitionKey;
use azure_data_cosmos::models::PartitionKeyValue;
use serde_json::{Value, json};

use super::server::{Place, wait};
use crate::scene::size;

const LAYOUT: &str = "cosmosdb-hierarchical";
const SLUGS: [&str; 3] = ["api-calls", "storage/gb", "seats"];
const TENANTS: [&str; 3] = ["acme", "globex", "zürich-☂"];

/// Customer, meter, month and id of an item; two items of one customer may share everything but the month.
fn key(number: usize) -> [String; 4] {
    let customer = number / 24;
    let month = format!("2026-{:02}", number % 12 + 1);
    [format!("c-{customer}"), SLUGS[number % 3].to_owned(), month, format!("reading {}", number % 24 / 12)]
}

fn item(number: usize) -> String {
    let [customer, slug, month, id] = key(number);
    format!(
        r#"{{"id":"{id}","customerId":"{customer}","meterSlug":"{slug}","timeBucket":"{month}","total":{number}.50,"_meta":{{"v":1}},"at":"2026-01-02T03:04:05.6780000+01:00"}}"#
    )
}

fn tenant(number: usize) -> &'static str {
    TENANTS[number / 24 % 3]
}

/// A place with items, their tenant map and the archive of an export.
fn prepared(items: usize) -> Place {
    let place = Place::new();
    let customers = (0..items).step_by(24).map(|number| format!("{},{}\n", key(number)[0], tenant(number)));
    place.scene.write("map.csv", format!("key,tenant\n{}", customers.collect::<String>()));
    let lines: Vec<String> = (0..items).map(item).collect();
    place.scene.put(&lines, "hierarchical", "shop.db", "shop");
    let exported = place.scene.export("shop.db", "shop", LAYOUT, "legacy.ndjson");
    assert_eq!((&exported["documents"], &exported["streams"]), (&items.into(), &items.into()));
    place
}

fn is_found(place: &Place, container: &str, key: [&str; 4]) -> bool {
    let [customer, slug, month, id] = key;
    let components = [customer, slug, month].map(|it| PartitionKeyValue::from(it.to_owned()));
    wait(async {
        let container = place.container(container).await;
        let key = PartitionKey::try_from(components.to_vec()).unwrap();
        match container.read_item(key, id, None).await {
            Ok(_) => true,
            Err(error) => {
                assert!(error.status().is_not_found(), "{error}");
                false
            }
        }
    })
}

#[test]
fn items_are_moved_and_found_by_their_whole_new_key_alone() {
    let items = size("REKEY_COSMOSDB_ITEMS", 240);
    let place = prepared(items);
    let scene = &place.scene;
    let rekeyed =
        scene.done(&["rekey", "legacy.ndjson", "--out", "rekeyed.ndjson", "--tenant-map", "map.csv"]);
    assert_eq!(rekeyed["rekeyed"], items, "{rekeyed}");
    let expected: Vec<Value> = (0..items)
        .map(|number| {
            let mut item: Value = serde_json::from_str(&item(number)).unwrap();
            item["customerId"] = format!("{}__{}", tenant(number), key(number)[0]).into();
            item
        })
        .collect();
    let matching = |verdict: &Value| {
        assert_eq!(verdict["verdict"], "match", "{verdict}");
        let tenants = verdict["tenants"].as_array().unwrap();
        let found: u64 = tenants.iter().map(|it| it["items_found"].as_u64().unwrap()).sum();
        assert_eq!((tenants.len(), found), (3, items as u64), "{verdict}");
    };
    for (file, name, flags) in [("moved.db", "moved", &["--create-target"][..]), ("shop.db", "shop", &[])] {
        let written = scene.import("rekeyed.ndjson", file, name, flags);
        assert_eq!(written["written"], items);
        let again = scene.import("rekeyed.ndjson", file, name, &[]);
        assert_eq!((&again["written"], &again["identical"]), (&0.into(), &items.into()));
        matching(&scene.verify(&["rekeyed.ndjson"], file, name, &["--legacy", "legacy.ndjson"]).ended(0));
    }
    assert_eq!(scene.prune("shop.db", "shop").ended(0)["deleted"], items);
    matching(&scene.verify(&["rekeyed.ndjson"], "shop.db", "shop", &["--pruned"]).ended(0));
    let shop = scene.collection("shop.db", "shop");
    let mut stored: Vec<Value> = place.items(&shop).into_values().collect();
    let text = |item: &Value| item.to_string();
    stored.sort_by_key(text);
    let mut expected = expected;
    expected.sort_by_key(text);
    assert!(stored == expected, "other items than expected");

    for number in (0..items).step_by((items / 8).max(1)) {
        let [customer, slug, month, id] = key(number);
        let new = format!("{}__{customer}", tenant(number));
        assert!(is_found(&place, &shop, [&new, &slug, &month, &id]));
        assert!(!is_found(&place, &shop, [&customer, &slug, &month, &id]), "the old key");
        assert!(!is_found(&place, &shop, [&new, &slug, "2025-01", &id]), "only the broader components");
        assert!(!is_found(&place, &shop, [&new, "other", &month, &id]), "only the broadest component");
    }
    println!("{items} items with hierarchical keys moved, verified, pruned and found by their whole keys");
}

#[test]
fn tenants_that_cannot_be_told_apart_are_refused_unless_allowed() {
    let place = prepared(72);
    let scene = &place.scene;
    scene.write("map.csv", "key,tenant\nc-0,acme\nc-1,acme__x\nc-2,globex\n");
    let rekey = ["rekey", "legacy.ndjson", "--out", "rekeyed.ndjson", "--tenant-map", "map.csv"];
    let refused = scene.result(&rekey).ended(5);
    assert!(refused["reasons"]["prefix-tenants"].as_u64() > Some(0), "{refused}");
    let _ = scene.done(&[&rekey[..], &["--allow-prefix-tenants"]].concat());
    let _ = scene.import("rekeyed.ndjson", "moved.db", "moved", &["--create-target"]);
    assert_eq!(scene.verify(&["rekeyed.ndjson"], "moved.db", "moved", &[]).ended(0)["verdict"], "match");
}

#[test]
fn another_order_of_paths_than_the_container_s_is_refused_by_name() {
    let place = prepared(24);
    let scene = &place.scene;
    let (from, shop) = (scene.address("shop.db"), scene.collection("shop.db", "shop"));
    let swapped = ["--set", "middle=/timeBucket", "--set", "narrowest=/meterSlug"];
    let export = ["export", "--from", &from, "--collection", &shop, "--layout", LAYOUT, "--out", "x.ndjson"];
    let refused = scene.run(&[&export[..], &swapped].concat());
    refused.ended_with(2);
    for said in ["customerId, meterSlug, timeBucket", "customerId, timeBucket, meterSlug"] {
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
    }
    // A component that is no string is named.
    let odd = [item(0).replace("\"2026-01\"", "202601")];
    scene.put(&odd, "hierarchical", "odd.db", "odd");
    let _ = scene.export("odd.db", "odd", LAYOUT, "odd.ndjson");
    let refused = scene.result(&["rekey", "odd.ndjson", "--out", "y.ndjson", "--tenant", "acme"]).ended(5);
    assert_eq!(refused["reasons"], json!({ "field-type": 1 }), "{refused}");
}
