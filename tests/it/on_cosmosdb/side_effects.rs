//! What a write does besides is said before it.

use azure_data_cosmos::models::{ContainerProperties, TimeToLive};
use serde_json::{Value, json};

use super::server::Place;
use crate::generated::Generated;

fn message<'a>(result: &'a Value, code: &str) -> &'a str {
    let notices = result["notices"].as_array().unwrap();
    let notice = notices.iter().find(|it| it["code"] == code).unwrap_or_else(|| panic!("{code}: {result}"));
    notice["message"].as_str().unwrap()
}

#[test]
fn times_to_live_the_change_feed_and_a_full_partition_are_stated_before_any_write() {
    let place = Place::new();
    let scene = &place.scene;
    let generated = Generated::sagas(scene.store, 6);
    scene.seed(&generated, "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "sagas", "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    let to = scene.address("ttl.db");
    let [expiring, own] = ["expiring", "own"].map(|name| scene.collection("ttl.db", name));
    place.make(ContainerProperties::new(expiring.clone(), "/sagaType".into()).with_default_ttl(3600_u32));
    let no_default = ContainerProperties::new(own.clone(), "/sagaType".into());
    place.make(no_default.with_default_ttl(TimeToLive::NoDefault));

    let import = ["import", "rekeyed.ndjson", "--to", &to, "--collection", &expiring];
    let refused = scene.run(&import);
    refused.ended_with(5);
    for said in ["reads the changes of", "as new", "nothing was written", "--subscribers-handled"] {
        assert!(refused.stderr.contains(said), "{said:?} is not in {}", refused.stderr);
    }
    assert!(place.items(&expiring).is_empty());
    let result = scene.done(&[&import[..], &["--subscribers-handled"]].concat());
    assert_eq!(result["written"], generated.lines.len());
    assert!(message(&result, "time-to-live").contains("3600 s, which starts anew"), "{result}");
    let _ = message(&result, "subscribers");

    // 13 GB of 20.
    let sizes = json!([{ "id": "0", "partitionKeys": [{ "partitionKey": ["OrderSagaState"], "sizeInKB": 13_631_488 }] }]);
    place.plan(&own, &json!({ "statistics": sizes }));
    let import = ["import", "rekeyed.ndjson", "--to", &to, "--collection", &own, "--subscribers-handled"];
    let ran = scene.run(&import);
    ran.ended_with(0);
    for said in ["a field `ttl` expires", "[\"OrderSagaState\"] holds 13.0 GB of the 20 GB"] {
        assert!(ran.stderr.contains(said), "{said:?} is not in {}", ran.stderr);
    }
}

#[test]
fn what_a_new_container_does_not_have_of_the_source_is_said() {
    let place = Place::new();
    let scene = &place.scene;
    let shop = scene.collection("shop.db", "shop");
    place.make(ContainerProperties::new(shop, "/streamId".into()).with_default_ttl(3600_u32));
    scene.seed(&Generated::events(scene.store, 2), "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    let result = scene.import("rekeyed.ndjson", "moved.db", "moved", &["--create-target"]);
    assert!(message(&result, "not-copied").contains("the time to live"), "{result}");
}
