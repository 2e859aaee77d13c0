//! Every value that Firestore can hold comes through the road unchanged, compared as raw protobuf.

use std::collections::HashMap;

use firestore::gcloud_sdk::google::firestore::v1::value::ValueType;
use firestore::gcloud_sdk::google::firestore::v1::{ArrayValue, MapValue, Value};
use firestore::gcloud_sdk::google::r#type::LatLng;
use firestore::gcloud_sdk::prost_types::Timestamp;

use super::server::{Database, emulator, scene_at, wait};

fn value(value_type: ValueType) -> Value {
    Value { value_type: Some(value_type) }
}

fn text(text: &str) -> Value {
    value(ValueType::StringValue(text.to_owned()))
}

fn double(number: f64) -> Value {
    value(ValueType::DoubleValue(number))
}

fn integer(number: i64) -> Value {
    value(ValueType::IntegerValue(number))
}

fn time(seconds: i64, nanos: i32) -> Value {
    value(ValueType::TimestampValue(Timestamp { seconds, nanos }))
}

fn bytes(bytes: &[u8]) -> Value {
    value(ValueType::BytesValue(bytes.to_vec()))
}

fn array(values: Vec<Value>) -> Value {
    value(ValueType::ArrayValue(ArrayValue { values }))
}

fn map(fields: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    value(ValueType::MapValue(MapValue { fields }))
}

fn odd() -> Vec<(&'static str, Value)> {
    vec![
        ("null", value(ValueType::NullValue(0))),
        ("true", value(ValueType::BooleanValue(true))),
        ("false", value(ValueType::BooleanValue(false))),
        ("least", integer(i64::MIN)),
        ("most", integer(i64::MAX)),
        ("one", integer(1)),
        ("oneDouble", double(1.0)),
        ("nan", double(f64::NAN)),
        ("infinity", double(f64::INFINITY)),
        ("minusInfinity", double(f64::NEG_INFINITY)),
        ("minusZero", double(-0.0)),
        ("tiny", double(5e-324)),
        ("huge", double(f64::MAX)),
        ("third", double(1.0 / 3.0)),
        ("firstTime", time(-62_135_596_800, 0)),
        ("lastTime", time(253_402_300_799, 999_999_000)),
        ("microseconds", time(1_714_558_830, 123_456_000)),
        ("milliseconds", time(1_714_558_830, 120_000_000)),
        ("beforeEpoch", time(-1, 999_999_000)),
        ("textEmpty", text("")),
        ("text", text("\u{0} \u{2028} é e\u{301} 🎁 \"quoted\" \\ \u{10ffff} \n")),
        ("bytesEmpty", bytes(&[])),
        ("bytes", bytes(&[0, 255, 62, 63, 250])),
        ("point", value(ValueType::GeoPointValue(LatLng { latitude: -90.0, longitude: 180.0 }))),
        ("pointZero", value(ValueType::GeoPointValue(LatLng { latitude: 0.0, longitude: 0.0 }))),
        (
            "reference",
            value(ValueType::ReferenceValue("projects/other/databases/(default)/documents/c/é".to_owned())),
        ),
        ("arrayEmpty", array(Vec::new())),
        ("mapEmpty", map([])),
        ("array", array(vec![integer(1), double(1.0), text("x"), map([("y", array(vec![double(-0.0)]))])])),
        (
            "map",
            map([("a.b", integer(1)), ("`", text("tick")), (" ", bytes(b"\x00")), ("é", double(f64::NAN))]),
        ),
        (
            "vector",
            map([("__type__", text("__vector__")), ("value", array(vec![double(0.1), double(-0.0)]))]),
        ),
        ("a.b c`d\\", text("a name")),
    ]
}

fn event(version: i64) -> HashMap<String, Value> {
    let framework = [
        ("eventId", text(&format!("e{version}"))),
        ("streamId", text("Order:A-1")),
        ("aggregateId", text("A-1")),
        ("aggregateType", text("Order")),
        ("eventType", text("Placed")),
        ("version", integer(version)),
        ("timestamp", text("2026-01-02T03:04:05.6780000+00:00")),
        ("eventData", text("e30=")),
    ];
    framework.into_iter().chain(odd()).map(|(name, value)| (name.to_owned(), value)).collect()
}

#[test]
fn every_type_is_kept() {
    let scene = scene_at(&emulator());
    let (address, name) = (scene.address("shop.db"), scene.collection("shop.db", "shop"));
    let before = wait(async {
        let database = Database::of(&address).await;
        for version in 0..2 {
            database.put(&format!("{name}/Order:A-1:{version}"), event(version)).await;
        }
        database.fields(&name).await
    });
    assert_eq!(before.len(), 2);
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let _ = scene.export("shop.db", "shop", "events", "again.ndjson");
    assert!(scene.read("legacy.ndjson") == scene.read("again.ndjson"), "two exports differ");
    let result = scene.done(&["rekey", "legacy.ndjson", "--out", "rekeyed.ndjson", "--tenant", "acme"]);
    assert_eq!(result["rekeyed"], 2);
    let result = scene.import("rekeyed.ndjson", "shop.db", "shop", &[]);
    assert!(result["notices"].as_array().unwrap().iter().any(|it| it["code"] == "references"), "{result}");
    let verdict = scene.verify(&["rekeyed.ndjson"], "shop.db", "shop", &["--legacy", "legacy.ndjson"]);
    assert_eq!(verdict.ended(0)["verdict"], "match");
    assert_eq!(scene.prune("shop.db", "shop").ended(0)["deleted"], 2);
    let after = wait(async { Database::of(&address).await.fields(&name).await });
    assert_eq!(after.len(), 2);
    for ((id, mut before), (new_id, mut after)) in before.into_iter().zip(after) {
        assert_eq!(before.len(), 8 + odd().len(), "{id}");
        assert_eq!(new_id, format!("t:acme:{id}"));
        let stream = (before.remove("streamId").unwrap(), after.remove("streamId").unwrap());
        assert_eq!(
            stream,
            (r#"StringValue("Order:A-1")"#.to_owned(), r#"StringValue("t:acme:Order:A-1")"#.to_owned())
        );
        assert_eq!(before, after, "nothing but the key changes");
    }
}

/// What a NaN carries besides being one does not fit into the line, so it must not be there to begin with.
#[test]
fn a_nan_has_one_form() {
    let scene = scene_at(&emulator());
    let (address, name) = (scene.address("shop.db"), scene.collection("shop.db", "shop"));
    let stored = wait(async {
        let database = Database::of(&address).await;
        let odd = f64::from_bits(0xfff8_0000_0000_1234);
        database.put(&format!("{name}/x"), HashMap::from([("nan".to_owned(), double(odd))])).await;
        database.fields(&name).await
    });
    assert_eq!(stored["x"]["nan"], "double 7ff8000000000000");
}
