//! Every Cosmos DB document of `tests/vectors/rekey-vectors.json`, from container to container.

use serde_json::Value;

use super::server::Place;

#[test]
fn every_vector_stands_in_the_new_container_as_the_framework_expects() {
    let vectors: Vec<Value> = serde_json::from_str(include_str!("../../vectors/rekey-vectors.json")).unwrap();
    let vectors: Vec<_> =
        vectors.iter().filter(|vector| vector["store"].as_str().unwrap().starts_with("cosmosdb-")).collect();
    assert_eq!(vectors.len(), 13);
    let place = Place::new();
    for (number, vector) in vectors.into_iter().enumerate() {
        let of = |name: &str| vector[name].as_str().unwrap();
        let scene = &place.scene;
        let kind = of("store").trim_start_matches("cosmosdb-");
        let (shop, moved) = (format!("shop-{number}"), format!("moved-{number}"));
        scene.put(&[vector["before"].to_string()], kind, "shop.db", &shop);
        let _ = scene.export("shop.db", &shop, kind, "legacy.ndjson");
        let rule = ["--tenant", of("tenant"), "--escaping", of("escaping"), "--allow-gaps"];
        let rekey = [&["rekey", "legacy.ndjson", "--out", "rekeyed.ndjson"], &rule[..]].concat();
        let _ = scene.done(&rekey);
        let _ = scene.import("rekeyed.ndjson", "moved.db", &moved, &["--create-target"]);
        let stored = place.items(&scene.collection("moved.db", &moved)).into_values().collect::<Vec<_>>();
        assert_eq!(stored, [vector["after"].clone()], "{}, {}", of("store"), of("name"));
    }
}
