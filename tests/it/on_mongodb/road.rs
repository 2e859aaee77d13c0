//! The whole road through the command, on a replica set and on a standalone; what a client finds afterwards.
//!
//! `REKEY_MONGODB_STREAMS` (ten events each) and `REKEY_MONGODB_SAGAS` set the size.

use std::collections::BTreeMap;

use futures::TryStreamExt as _;
use mongodb::bson::{Document, doc};
use rekey::document::StoreKind;
use rekey::document::bson::{Elements, with_text};

use super::server::{Place, Server, wait};
use crate::generated::{Generated, Stream};
use crate::road::walk;
use crate::scene::size;

fn streams() -> usize {
    size("REKEY_MONGODB_STREAMS", 200)
}

/// Events; every tenth aggregate id belongs to a second aggregate of another type, too.
pub fn events(streams: usize) -> Generated {
    let mut generated = Generated::events(StoreKind::MongoDb, streams);
    for number in (0..streams).step_by(10) {
        let stream = Stream::new(number);
        for version in 0..stream.length() {
            let line = stream.event(StoreKind::MongoDb, version);
            let unique = number * 100 + version;
            let other = 900_000_000 + unique;
            let line = line
                .replacen(&format!("{unique:024x}"), &format!("{other:024x}"), 1)
                .replacen(&format!("-8000-{unique:012}"), &format!("-8000-{other:012}"), 1)
                .replacen(stream.type_name(), "Wishlist", 1)
                .replace(
                    &format!(r#""globalSequence":{{"$numberLong":"{unique}"}}"#),
                    &format!(r#""globalSequence":{{"$numberLong":"{other}"}}"#),
                );
            generated.lines.push(line);
        }
        let owned = generated.tenants.get_mut(stream.tenant()).expect("a tenant");
        owned.streams += 1;
        owned.documents += stream.length();
    }
    generated
}

/// The key that the framework's new release reads a stream under.
fn new_key(stream: &Stream) -> String {
    let escaped = |term: &str| term.replace('%', "%25").replace(':', "%3A");
    format!("t:{}:{}", escaped(stream.tenant()), escaped(&stream.id()))
}

/// Every stream is complete under its new key; `_id` and `globalSequence` are what they were.
async fn assert_found_by_the_framework(place: &Place, collection: &str, streams: usize) {
    let collection = place.client().await.database(&place.database).collection::<Document>(collection);
    for number in 0..streams {
        let stream = Stream::new(number);
        let mut types = vec![(stream.type_name(), 0)];
        if number % 10 == 0 {
            types.push(("Wishlist", 900_000_000));
        }
        for (kind, offset) in types {
            let filter = doc! { "streamId": new_key(&stream), "aggregateType": kind };
            let found: Vec<Document> = collection
                .find(filter)
                .sort(doc! { "version": 1 })
                .await
                .unwrap()
                .try_collect()
                .await
                .unwrap();
            assert_eq!(found.len(), stream.length(), "{}", new_key(&stream));
            for (version, event) in found.iter().enumerate() {
                let unique = offset + number * 100 + version;
                assert_eq!(event.get_i64("version").unwrap(), i64::try_from(version).unwrap());
                assert_eq!(event.get_i64("globalSequence").unwrap(), i64::try_from(unique).unwrap());
                assert_eq!(event.get_object_id("_id").unwrap().to_hex(), format!("{unique:024x}"));
            }
        }
    }
}

/// What the documents must be afterwards: the bytes they had, but for `streamId`.
fn moved(before: &BTreeMap<Vec<u8>, Vec<u8>>, streams: usize) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let keys: BTreeMap<String, String> =
        (0..streams).map(Stream::new).map(|stream| (stream.id(), new_key(&stream))).collect();
    let moved = before.iter().map(|(id, document)| {
        let field = Elements::of(document).unwrap().map(Result::unwrap).find(|it| it.name == b"streamId");
        let mut changed = Vec::new();
        with_text(document, "streamId", &keys[field.unwrap().text().unwrap()], &mut changed).unwrap();
        (id.clone(), changed)
    });
    moved.collect()
}

fn events_are_moved(server: Server) {
    let place = Place::new(server);
    let scene = place.scene();
    let streams = streams();
    let generated = events(streams);
    // What the old release stored, before anything is moved in place.
    let legacy = Place::new(server);
    legacy.scene().seed(&generated, "shop.db", "shop");
    let before = wait(legacy.documents("c-shop-shop"));
    assert_eq!(before.len(), generated.lines.len());
    walk(&scene, &generated, &[]);
    let expected = moved(&before, streams);
    for collection in ["c-moved-moved", "c-shop-shop"] {
        wait(assert_found_by_the_framework(&place, collection, streams));
        assert!(wait(place.documents(collection)) == expected, "{collection} holds other bytes");
    }
}

fn sagas_are_moved(server: Server) {
    let place = Place::new(server);
    let generated = Generated::sagas(StoreKind::MongoDb, size("REKEY_MONGODB_SAGAS", 200));
    walk(&place.scene(), &generated, &[]);
    let sagas = place.client();
    let found = wait(async {
        let sagas = sagas.await.database(&place.database).collection::<Document>("c-shop-shop");
        sagas.find(doc! {}).await.unwrap().try_collect::<Vec<Document>>().await.unwrap()
    });
    assert_eq!(found.len(), generated.lines.len());
    for saga in found {
        let (id, tenant) = (saga.get_str("sagaId").unwrap(), saga.get_str("tenantId").unwrap());
        let escaped = tenant.replace('%', "%25").replace(':', "%3A");
        assert_eq!(saga.get_str("_id").unwrap(), format!("t:{escaped}:{id}"));
        assert_eq!(saga.keys().last().map(String::as_str), Some("sagaId"), "what is added goes last");
    }
}

#[test]
fn events_are_moved_on_a_replica_set() {
    events_are_moved(Server::ReplicaSet);
}

#[test]
fn events_are_moved_on_a_standalone() {
    events_are_moved(Server::Standalone);
}

#[test]
fn sagas_are_moved_on_a_replica_set() {
    sagas_are_moved(Server::ReplicaSet);
}

#[test]
fn sagas_are_moved_on_a_standalone() {
    sagas_are_moved(Server::Standalone);
}

/// Into another database the counter is carried over; in its own it is only looked at.
#[test]
fn the_counter_is_carried_over_and_never_lowered() {
    let place = Place::new(Server::ReplicaSet);
    let scene = place.scene();
    let generated = events(20);
    scene.seed(&generated, "shop.db", "shop");
    let counter = || wait(place.run(doc! { "find": "event_store_counters" }));
    let held = |answer: &Document| {
        let first = answer.get_document("cursor").unwrap().get_array("firstBatch").unwrap()[0].clone();
        first.as_document().unwrap().get_i64("sequence").unwrap()
    };
    let highest = held(&counter());
    // The framework has given numbers to events that are gone since.
    let set = |value: i64| {
        let update = doc! { "q": { "_id": "global_sequence" }, "u": { "$set": { "sequence": value } } };
        let _ = wait(place.run(doc! { "update": "event_store_counters", "updates": [update] }));
    };
    set(highest + 5);
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    assert_eq!(scene.json("rekeyed.ndjson.manifest.json")["counter"]["value"], highest + 5);

    let other = Place::new(Server::ReplicaSet);
    let to = other.address();
    let import = ["import", "rekeyed.ndjson", "--to", &to, "--collection", "events", "--subscribers-handled"];
    let _ = scene.done(&[&import[..], &["--create-target"]].concat());
    assert_eq!(held(&wait(other.run(doc! { "find": "event_store_counters" }))), highest + 5);
    let verify = ["verify", "rekeyed.ndjson", "--against", &to, "--collection", "events"];
    let _ = scene.done(&verify);
    let _ = scene.done(&import);
    assert_eq!(held(&wait(other.run(doc! { "find": "event_store_counters" }))), highest + 5);

    // In its own database nobody but the framework changes it.
    set(highest - 1);
    let own = place.address();
    let in_place = ["import", "rekeyed.ndjson", "--to", &own, "--collection", "c-shop-shop", "--in-place"];
    let result = scene.result(&[&in_place[..], scene.writing()].concat()).ended(1);
    assert_eq!(result["findings"][0]["code"], "counter-low", "{result}");
    assert_eq!((&result["conflict"], held(&counter())), (&0.into(), highest - 1));
    let verdict = scene.verify(&["rekeyed.ndjson"], "shop.db", "shop", &[]).ended(1);
    assert_eq!(verdict["findings"][0]["code"], "counter-low", "{verdict}");
    set(highest);
    let _ = scene.verify(&["rekeyed.ndjson"], "shop.db", "shop", &[]).ended(0);
}
