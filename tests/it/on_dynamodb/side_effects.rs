//! What a write does besides is said before it: streams, indexes, times to live; and items that have expired.

use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType,
    Projection, ProjectionType, ScalarAttributeType, StreamSpecification, StreamViewType,
    TimeToLiveSpecification,
};
use serde_json::Value;

use super::server::{Server, items, scene_at, wait};
use crate::generated::Generated;
use crate::scene::Scene;

fn attribute(name: &str, kind: ScalarAttributeType) -> AttributeDefinition {
    AttributeDefinition::builder().attribute_name(name).attribute_type(kind).build().unwrap()
}

fn key(name: &str, kind: KeyType) -> KeySchemaElement {
    KeySchemaElement::builder().attribute_name(name).key_type(kind).build().unwrap()
}

/// A table whose sort key is text, as no table of events has it.
async fn make_table_with_text_as_sort_key(name: &str) {
    let client = Server::Dynoxide.client();
    let create = client.create_table().table_name(name).billing_mode(BillingMode::PayPerRequest);
    let _ = create
        .attribute_definitions(attribute("pk", ScalarAttributeType::S))
        .attribute_definitions(attribute("sk", ScalarAttributeType::S))
        .key_schema(key("pk", KeyType::Hash))
        .key_schema(key("sk", KeyType::Range))
        .send()
        .await
        .unwrap();
}

/// A table of events with a stream, an index and a time to live.
async fn make_table(name: &str) {
    make_table_indexed(name, ScalarAttributeType::S).await;
}

/// The same, whose index takes event types of this type.
async fn make_table_indexed(name: &str, indexed: ScalarAttributeType) {
    let index = GlobalSecondaryIndex::builder()
        .index_name("by-type")
        .key_schema(key("eventType", KeyType::Hash))
        .projection(Projection::builder().projection_type(ProjectionType::KeysOnly).build())
        .build()
        .unwrap();
    let stream = StreamSpecification::builder()
        .stream_enabled(true)
        .stream_view_type(StreamViewType::NewImage)
        .build()
        .unwrap();
    let client = Server::Dynoxide.client();
    let create = client.create_table().table_name(name).billing_mode(BillingMode::PayPerRequest);
    let _ = create
        .attribute_definitions(attribute("pk", ScalarAttributeType::S))
        .attribute_definitions(attribute("sk", ScalarAttributeType::N))
        .attribute_definitions(attribute("eventType", indexed))
        .key_schema(key("pk", KeyType::Hash))
        .key_schema(key("sk", KeyType::Range))
        .global_secondary_indexes(index)
        .stream_specification(stream)
        .send()
        .await
        .unwrap();
    let ttl = TimeToLiveSpecification::builder().enabled(true).attribute_name("expiresAt").build().unwrap();
    let _ =
        client.update_time_to_live().table_name(name).time_to_live_specification(ttl).send().await.unwrap();
}

fn codes(result: &Value) -> Vec<&str> {
    result["notices"].as_array().unwrap().iter().map(|it| it["code"].as_str().unwrap()).collect()
}

#[test]
fn what_the_key_of_an_index_cannot_take_is_refused_before_any_write() {
    let scene = scene_at(&Server::Dynoxide.endpoint());
    let generated = Generated::events(scene.store, 20);
    scene.seed(&generated, "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    let (to, name) = (scene.address("moved.db"), scene.collection("moved.db", "moved"));
    wait(make_table_indexed(&name, ScalarAttributeType::N));
    let import = ["import", "rekeyed.ndjson", "--to", &to, "--collection", &name, "--subscribers-handled"];
    for arguments in [&[&import[..], &["--dry-run"]].concat()[..], &import] {
        let result = scene.result(arguments).ended(5);
        assert_eq!(result["reasons"]["target-rule"], generated.lines.len(), "{result}");
        let message = result["findings"][0]["message"].as_str().unwrap();
        assert!(message.contains("\"eventType\"") && message.contains("by-type"), "{message}");
    }
    assert!(wait(items(&Server::Dynoxide.client(), &name)).is_empty());
}

#[test]
fn a_table_with_a_stream_is_not_written_until_its_readers_are_handled() {
    let scene = scene_at(&Server::Dynoxide.endpoint());
    let generated = Generated::events(scene.store, 4);
    scene.seed(&generated, "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    let (to, table) = (scene.address("streamed.db"), scene.collection("streamed.db", "moved"));
    wait(make_table(&table));
    let import = ["import", "rekeyed.ndjson", "--to", &to, "--collection", &table];
    let refused = scene.run(&import);
    refused.ended_with(5);
    for said in
        ["reads the changes of", "nothing was written", "--subscribers-handled", "its indexes by-type"]
    {
        assert!(refused.stderr.contains(said), "{said:?} is not in {}", refused.stderr);
    }
    let result = scene.import("rekeyed.ndjson", "streamed.db", "moved", &["--subscribers-handled"]);
    assert_eq!(result["written"], generated.lines.len());
    let codes_there = codes(&result);
    assert!(codes_there.contains(&"subscribers") && codes_there.contains(&"time-to-live"), "{codes_there:?}");

    // What a new table does not get of all this is said when it is made.
    let _ = scene.export("streamed.db", "moved", "events", "streamed.ndjson");
    let restored = scene.done(&[
        "restore",
        "streamed.ndjson",
        "--to",
        &to,
        "--collection",
        &scene.collection("plain.db", "moved"),
        "--create-target",
    ]);
    let notice =
        restored["notices"].as_array().unwrap().iter().find(|it| it["code"] == "not-copied").unwrap();
    let message = notice["message"].as_str().unwrap();
    for lacking in ["the index by-type", "the time to live", "the stream of changes"] {
        assert!(message.contains(lacking), "{message}");
    }
}

#[test]
fn a_table_whose_key_has_another_type_is_refused_before_any_write() {
    let scene = scene_at(&Server::Dynoxide.endpoint());
    scene.seed(&Generated::events(scene.store, 4), "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    let (to, table) = (scene.address("text.db"), scene.collection("text.db", "moved"));
    wait(make_table_with_text_as_sort_key(&table));
    let refused = scene.run(&["import", "rekeyed.ndjson", "--to", &to, "--collection", &table]);
    refused.ended_with(5);
    assert!(refused.stderr.contains("has the key pk (S), sk (S)"), "{}", refused.stderr);
    assert!(refused.stderr.contains("needs pk (S), sk (N)"), "{}", refused.stderr);
}

async fn put_saga(scene: &Scene, id: &str, ttl: Option<&str>) {
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let put = Server::Dynoxide.client().put_item().table_name(scene.collection("shop.db", "shop"));
    let put = put
        .item("PK", text(&format!("SAGA#{id}")))
        .item("SK", text("OrderSaga"))
        .item("sagaId", text(id))
        .item("sagaType", text("OrderSaga"))
        .item("stateJson", text("{}"))
        .item("version", AttributeValue::N("1".to_owned()));
    let put = match ttl {
        Some(ttl) => put.item("ttl", AttributeValue::N(ttl.to_owned())),
        None => put,
    };
    let _ = put.send().await.unwrap();
}

#[test]
fn a_saga_whose_time_has_passed_is_expired_and_neither_missing_nor_written_again() {
    let scene = scene_at(&Server::Dynoxide.endpoint());
    let generated = Generated::sagas(scene.store, 2);
    scene.seed(&generated, "shop.db", "shop");
    let (dead, alive) = ("00000000-0000-4000-8000-00000000dead", "00000000-0000-4000-8000-0000000a11fe");
    wait(async {
        put_saga(&scene, dead, Some("1767323045")).await;
        put_saga(&scene, alive, Some("4102444800")).await;
    });
    let result = scene.export("shop.db", "shop", "sagas", "legacy.ndjson");
    assert_eq!(result["documents"], 4);
    let _ = scene.done(&[
        "rekey",
        "legacy.ndjson",
        "--out",
        "rekeyed.ndjson",
        "--tenant",
        "acme",
        "--stored-owner",
        "replace",
    ]);
    // A time that nobody watches deletes nothing.
    let result = scene.import("rekeyed.ndjson", "moved.db", "moved", &["--create-target"]);
    assert_eq!((&result["written"], &result["expired"]), (&4.into(), &0.into()));
    let verify =
        || scene.verify(&["rekeyed.ndjson"], "moved.db", "moved", &["--legacy", "legacy.ndjson"]).ended(0);
    let verdict = verify();
    assert_eq!((&verdict["totals"]["expired"], &verdict["totals"]["found"]), (&0.into(), &4.into()));

    // Now both tables do, and the twin is gone already.
    wait(async {
        for table in ["shop", "moved"] {
            watch_ttl(&scene.collection(&format!("{table}.db"), table)).await;
        }
        let client = Server::Dynoxide.client();
        let delete = client.delete_item().table_name(scene.collection("moved.db", "moved"));
        let delete = delete.key("PK", AttributeValue::S(format!("SAGA#t:acme:{dead}")));
        let _ = delete.key("SK", AttributeValue::S("OrderSaga".to_owned())).send().await.unwrap();
    });
    let verdict = verify();
    assert_eq!(verdict["verdict"], "match");
    assert_eq!((&verdict["totals"]["expired"], &verdict["totals"]["missing"]), (&1.into(), &0.into()));
    assert!(codes(&verdict).contains(&"expired"), "{verdict}");
    let result = scene.import("rekeyed.ndjson", "moved.db", "moved", &[]);
    assert!(codes(&result).contains(&"expired"), "{result}");
    assert_eq!((&result["identical"], &result["expired"]), (&3.into(), &1.into()));
    let result = scene.done(&[
        "prune",
        "legacy.ndjson",
        "--rekeyed",
        "rekeyed.ndjson",
        "--from",
        &scene.address("shop.db"),
        "--collection",
        &scene.collection("shop.db", "shop"),
        "--twins-in",
        &scene.address("moved.db"),
        "--twins-collection",
        &scene.collection("moved.db", "moved"),
    ]);
    assert_eq!((&result["deleted"], &result["kept"]), (&4.into(), &0.into()), "{result}");
}

async fn watch_ttl(table: &str) {
    let ttl = TimeToLiveSpecification::builder().enabled(true).attribute_name("ttl").build().unwrap();
    let client = Server::Dynoxide.client();
    let update = client.update_time_to_live().table_name(table).time_to_live_specification(ttl);
    let _ = update.send().await.unwrap();
}
