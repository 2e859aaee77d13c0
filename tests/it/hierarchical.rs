//! Items with hierarchical partition keys: one is known by its whole key, in every comparison and in all that is said.

use rekey::document::StoreKind;
use serde_json::{Value, json};

use crate::intruder::Intruder;
use crate::scene::Scene;

const LAYOUT: &str = "cosmosdb-hierarchical";

/// Two customers with the same meters, months and ids.
fn items() -> Vec<String> {
    let keys = ["c-0", "c-1"].into_iter().flat_map(|customer| {
        ["api", "seats"]
            .into_iter()
            .flat_map(move |slug| ["2026-01", "2026-02"].map(|month| (customer, slug, month)))
    });
    let line = |(customer, slug, month)| item(customer, slug, month, 7);
    keys.map(line).collect()
}

fn item(customer: &str, slug: &str, month: &str, total: u32) -> String {
    format!(
        r#"{{"id":"reading","customerId":"{customer}","meterSlug":"{slug}","timeBucket":"{month}","total":{total}}}"#
    )
}

/// A tenant for each customer, an archive for each tenant, both imported.
fn moved() -> Scene {
    let scene = Scene::new(StoreKind::CosmosDb);
    scene.put(&items(), "hierarchical", "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", LAYOUT, "legacy.ndjson");
    scene.write("map.csv", "key,tenant\nc-0,acme\nc-1,globex\n");
    for tenant in ["acme", "globex"] {
        let _ = scene.rekey("legacy.ndjson", &format!("{tenant}.ndjson"), &["--only-tenants", tenant]);
        let _ = scene.import(&format!("{tenant}.ndjson"), "shop.db", "shop", &[]);
    }
    scene
}

const BOTH: [&str; 2] = ["acme.ndjson", "globex.ndjson"];

fn named(result: &Value) -> Vec<(&str, &str)> {
    let findings = result["findings"].as_array().unwrap();
    findings.iter().map(|it| (it["code"].as_str().unwrap(), it["key"].as_str().unwrap())).collect()
}

#[test]
fn items_of_two_archives_that_share_their_id_are_not_doubled() {
    let scene = moved();
    let verdict = scene.verify(&BOTH, "shop.db", "shop", &["--legacy", "legacy.ndjson"]).ended(0);
    assert_eq!((&verdict["totals"]["found"], &verdict["totals"]["doubled"]), (&json!(8), &json!(0)));
    let manifests = ["acme.ndjson.manifest.json", "globex.ndjson.manifest.json"];
    assert_eq!(scene.verify(&manifests, "shop.db", "shop", &[]).ended(0)["verdict"], "match");
}

/// Two tenants whose own containers become one may both have a customer `c-0`.
#[test]
fn items_that_two_tenants_have_each_in_an_archive_are_not_doubled() {
    let scene = Scene::new(StoreKind::CosmosDb);
    scene.put(&items(), "hierarchical", "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", LAYOUT, "legacy.ndjson");
    for tenant in ["acme", "globex"] {
        let out = format!("{tenant}.ndjson");
        let _ = scene.done(&["rekey", "legacy.ndjson", "--out", &out, "--tenant", tenant]);
        let _ = scene.import(&out, "moved.db", "moved", &["--create-target"]);
    }
    assert_eq!(scene.verify(&BOTH, "moved.db", "moved", &[]).ended(0)["verdict"], "match");
    // Of one archive the other's items are in no archive, and they are the same ones under another tenant.
    let result = scene.verify(&BOTH[..1], "moved.db", "moved", &[]).ended(1);
    assert_eq!((&result["totals"]["unexpected"], &result["totals"]["doubled"]), (&json!(8), &json!(8)));
}

#[test]
fn every_finding_shows_the_whole_key() {
    let scene = moved();
    {
        let intruder = Intruder::open(&scene, "shop.db", "shop", "hierarchical");
        intruder.replace(&item("acme__c-0", "api", "2026-01", 7), &item("acme__c-0", "api", "2026-01", 8));
        intruder.delete(&item("globex__c-1", "seats", "2026-02", 7));
        intruder.create(&item("acme__c-0", "api", "2026-03", 7));
    }
    let result = scene.verify(&BOTH, "shop.db", "shop", &["--legacy", "legacy.ndjson"]).ended(1);
    let expected = [
        ("different", "acme__c-0 / api / 2026-01 / reading"),
        ("unexpected", "acme__c-0 / api / 2026-03 / reading"),
        ("missing", "globex__c-1 / seats / 2026-02 / reading"),
    ];
    assert_eq!(named(&result), expected);

    let (to, archives) = (scene.address("shop.db"), ["legacy.ndjson", "--rekeyed", "acme.ndjson"]);
    let where_to = ["--collection", "shop"];
    let imported = scene.result(&[&["import", "acme.ndjson", "--to", &to][..], &where_to].concat()).ended(1);
    assert_eq!(named(&imported), [("conflict", "acme__c-0 / api / 2026-01 / reading")]);
    let pruned = scene.result(&[&["prune"], &archives[..], &["--from", &to], &where_to].concat()).ended(3);
    assert_eq!(pruned["reasons"], json!({ "not-moved": 4, "twin-different": 1 }), "{pruned}");
    assert!(named(&pruned).contains(&("kept", "c-0 / api / 2026-01 / reading")), "{pruned}");
}

/// With the components in another order every key would be another one.
#[test]
fn a_container_with_another_order_of_paths_is_refused_by_whoever_reads_it() {
    let scene = moved();
    scene.write("seed.ndjson", items().join("\n") + "\n");
    let to = scene.address("swapped.db");
    let swapped = ["--set", "middle=/timeBucket", "--set", "narrowest=/meterSlug", "--create-target"];
    let restore = ["restore", "seed.ndjson", "--layout", LAYOUT, "--expect-documents", "8", "--to", &to];
    let _ = scene.done(&[&restore[..], &["--collection", "shop"], &swapped].concat());
    let verify = ["verify", "acme.ndjson", "--against", &to];
    let prune = ["prune", "legacy.ndjson", "--rekeyed", "acme.ndjson", "--from", &to];
    for arguments in [&verify[..], &prune] {
        let refused = scene.run(&[arguments, &["--collection", "shop"]].concat());
        refused.ended_with(2);
        for said in ["customerId, timeBucket, meterSlug", "customerId, meterSlug, timeBucket"] {
            assert!(refused.stderr.contains(said), "{}", refused.stderr);
        }
    }
}
