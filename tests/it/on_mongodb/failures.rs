//! What goes wrong on the way: broken connections, unknown outcomes, another primary, a killed process, a writer
//! who does not stop.
//!
//! `REKEY_MONGODB_KILLS` sets how often the import in place is killed, `REKEY_MONGODB_WAYS` in how many ways each
//! command fails.

use std::collections::BTreeMap;
use std::fs::File;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use mongodb::bson::{Bson, Document, RawDocumentBuf, doc};
use rekey::document::bson::Parser;

use super::road::events;
use super::server::{Place, Server, unlike_any, wait};
use crate::generated::{Generated, Random, Stream};
use crate::scene::{Scene, export_events, size};

/// Events in streams of up to nineteen, and one stream whose answer takes more than one batch.
fn generated() -> Generated {
    let mut generated = events(60);
    let long = Stream::new(2);
    for version in long.length()..150 {
        let line = long.event(rekey::document::StoreKind::MongoDb, version);
        let unique = 200 + version;
        let other = 800_000_000 + version;
        let line = line
            .replacen(&format!("{unique:024x}"), &format!("{other:024x}"), 1)
            .replacen(&format!("-8000-{unique:012}"), &format!("-8000-{other:012}"), 1)
            .replace(
                &format!(r#""globalSequence":{{"$numberLong":"{unique}"}}"#),
                &format!(r#""globalSequence":{{"$numberLong":"{other}"}}"#),
            );
        generated.lines.push(line);
    }
    generated
}

/// A place whose legacy events are seeded, exported and rewritten.
fn prepared(server: Server, generated: &Generated) -> (Place, Scene) {
    let place = Place::new(server);
    let scene = place.scene();
    scene.seed(generated, "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    (place, scene)
}

/// Fails a command of one client, which its application name tells from all others.
///
/// A server has one such point for all. While the answer is kept no other test, of this process or another one, sets
/// it.
#[must_use]
fn fail(place: &Place, application: &str, mode: Document, mut how: Document) -> File {
    let server =
        place.address_of("").rsplit('@').next().unwrap().replace(|it: char| !it.is_alphanumeric(), "-");
    let lock = File::create(std::env::temp_dir().join(format!("rekey-test-{server}.lock"))).unwrap();
    lock.lock().unwrap();
    let _ = how.insert("appName", application);
    let point = doc! { "configureFailPoint": "failCommand", "mode": mode, "data": how };
    let _ = wait(place.admin(point));
    lock
}

/// The ways in which a command fails.
fn ways(writes: bool) -> Vec<(&'static str, Document)> {
    let mut ways = vec![
        ("connection cut", doc! { "closeConnection": true }),
        ("not primary", doc! { "errorCode": 10107, "errorLabels": ["RetryableWriteError"] }),
        ("shut down", doc! { "errorCode": 91 }),
    ];
    if writes {
        let concern = doc! { "code": 64, "codeName": "WriteConcernFailed", "errmsg": "waiting timed out" };
        ways.push(("write concern not met", doc! { "writeConcernError": concern }));
    }
    ways
}

/// Every command that the road sends fails in every way: the end is the same.
fn road_through_failures(server: Server) {
    let generated = generated();
    let (reference, whole) = prepared(server, &generated);
    let _ = whole.import("rekeyed.ndjson", "moved.db", "moved", &["--create-target"]);
    let expected = wait(reference.documents("c-moved-moved"));
    let mut failed = 0;
    for (number, command) in ["insert", "update", "find", "getMore", "aggregate"].into_iter().enumerate() {
        let mut ways = ways(["insert", "update"].contains(&command));
        let rotation = number % ways.len();
        ways.rotate_left(if server == Server::Standalone { 0 } else { rotation });
        for (way, how) in ways.into_iter().take(size("REKEY_MONGODB_WAYS", 1)) {
            let (place, scene) = prepared(server, &generated);
            let application = unlike_any();
            let address = place.with_option(&format!("appName={application}"));
            let strike = || {
                let mut how = how.clone();
                let _ = how.insert("failCommands", [command]);
                fail(&place, &application, doc! { "times": 1 }, how)
            };
            let run = |arguments: &[&str]| {
                let _alone = strike();
                let result = scene.result(arguments);
                assert_eq!(result.code, Some(0), "{command}, {way}: {arguments:?}\n{}", result.stderr);
            };
            let writing = scene.writing();
            run(&export_events(&address, "c-shop-shop", "again.ndjson"));
            assert!(scene.read("again.ndjson") == scene.read("legacy.ndjson"), "{command}, {way}");
            run(&[
                &["import", "rekeyed.ndjson", "--to", &address, "--collection", "fresh", "--create-target"],
                writing,
            ]
            .concat());
            run(&[
                &["import", "rekeyed.ndjson", "--to", &address, "--collection", "c-shop-shop", "--in-place"],
                writing,
            ]
            .concat());
            for collection in ["fresh", "c-shop-shop"] {
                run(&["verify", "rekeyed.ndjson", "--against", &address, "--collection", collection]);
                assert!(wait(place.documents(collection)) == expected, "{command}, {way}: {collection}");
            }
            failed += 1;
        }
    }
    println!("{server:?}: {failed} ways to fail, five commands each, the same end");
}

#[test]
fn failures_of_every_command_change_nothing_about_the_end_on_a_replica_set() {
    road_through_failures(Server::ReplicaSet);
}

#[test]
fn failures_of_every_command_change_nothing_about_the_end_on_a_standalone() {
    road_through_failures(Server::Standalone);
}

/// Deletes are the business of prune, which sagas need.
#[test]
fn failures_of_deletes_change_nothing_about_the_end_of_a_prune() {
    for (way, mut how) in ways(true) {
        let place = Place::new(Server::ReplicaSet);
        let scene = place.scene();
        let generated = Generated::sagas(rekey::document::StoreKind::MongoDb, 60);
        scene.seed(&generated, "shop.db", "shop");
        let _ = scene.export("shop.db", "shop", "sagas", "legacy.ndjson");
        let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
        let _ = scene.import("rekeyed.ndjson", "shop.db", "shop", &[]);
        let application = unlike_any();
        let address = place.with_option(&format!("appName={application}"));
        let _ = how.insert("failCommands", ["delete"]);
        let _alone = fail(&place, &application, doc! { "times": 1 }, how);
        let prune = [
            "prune",
            "legacy.ndjson",
            "--rekeyed",
            "rekeyed.ndjson",
            "--from",
            &address,
            "--collection",
            "c-shop-shop",
        ];
        let result = scene.result(&prune).ended(0);
        assert_eq!(result["kept"], 0, "{way}: {result}");
        let left = wait(place.documents("c-shop-shop"));
        assert_eq!(left.len(), generated.lines.len(), "{way}");
        let _ = scene.verify(&["rekeyed.ndjson"], "shop.db", "shop", &["--pruned"]).ended(0);
    }
}

#[test]
fn an_export_that_outlives_the_history_of_the_server_says_how_to_go_on() {
    let (place, scene) = prepared(Server::ReplicaSet, &events(60));
    let application = unlike_any();
    let from = place.with_option(&format!("appName={application}"));
    let _alone =
        fail(&place, &application, doc! { "skip": 2 }, doc! { "errorCode": 239, "failCommands": ["find"] });
    let export = export_events(&from, "c-shop-shop", "again.ndjson");
    let ran = scene.run(&export);
    ran.ended_with(4);
    assert!(ran.stderr.contains("--no-snapshot"), "{}", ran.stderr);
    assert!(!scene.path("again.ndjson").exists());
    let _ = wait(place.admin(doc! { "configureFailPoint": "failCommand", "mode": "off" }));
    let result = scene.done(&[&export[..], &["--no-snapshot"]].concat());
    assert_eq!(result["consistent"], false);
    assert_eq!(scene.json("again.ndjson.manifest.json")["consistent"], false);
    assert!(scene.read("again.ndjson") == scene.read("legacy.ndjson"));
}

/// Renamed or dropped while it is read, a collection is never empty and never whole.
#[test]
fn a_collection_that_is_renamed_or_dropped_while_it_is_read_ends_the_export() {
    for server in [Server::ReplicaSet, Server::Standalone] {
        for dropped in [false, true] {
            let (place, scene) = prepared(server, &events(60));
            let application = unlike_any();
            let from = place.with_option(&format!("appName={application}"));
            let waiting =
                doc! { "blockConnection": true, "blockTimeMS": 1500, "failCommands": ["aggregate"] };
            let _alone = fail(&place, &application, doc! { "times": 1 }, waiting);
            let export = export_events(&from, "c-shop-shop", "again.ndjson");
            let mut child =
                scene.command(&export).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
            sleep(Duration::from_millis(600));
            if dropped {
                let _ = wait(place.run(doc! { "drop": "c-shop-shop" }));
            } else {
                let name = |collection: &str| format!("{}.{collection}", place.database);
                let rename = doc! { "renameCollection": name("c-shop-shop"), "to": name("elsewhere") };
                let _ = wait(place.admin(rename));
            }
            assert!(matches!(child.wait().unwrap().code(), Some(2 | 4)), "{server:?}");
            assert!(!scene.path("again.ndjson").exists(), "{server:?} {dropped}");
        }
    }
}

/// A writer who does not stop: the archive is the snapshot's documents, each once.
#[test]
fn an_export_beside_a_writer_gives_exactly_the_documents_of_its_snapshot() {
    let place = Place::new(Server::ReplicaSet);
    let scene = place.scene();
    let generated = events(size("REKEY_MONGODB_LIVE_STREAMS", 400));
    scene.seed(&generated, "shop.db", "shop");
    let stop = AtomicBool::new(false);
    let (archives, states) = std::thread::scope(|threads| {
        let writer = threads.spawn(|| wait(write_without_end(&place, &stop)));
        let mut archives = Vec::new();
        for round in 0..3 {
            let out = format!("live-{round}.ndjson");
            let result = scene.export("shop.db", "shop", "events", &out);
            assert_eq!(result["consistent"], true);
            archives
                .push((scene.lines(&out), scene.json(&format!("{out}.manifest.json"))["snapshot"].clone()));
        }
        stop.store(true, Ordering::Relaxed);
        (archives, writer.join().unwrap())
    });
    assert!(states > 50, "only {states} writes");
    for (lines, snapshot) in archives {
        let part = |name: &str| u32::try_from(snapshot[name].as_u64().unwrap()).unwrap();
        let time = mongodb::bson::Timestamp { time: part("t"), increment: part("i") };
        let wanted = wait(documents_at(&place, time));
        let mut found = BTreeMap::new();
        for line in &lines {
            let mut document = Vec::new();
            Parser::default().document(line.as_bytes(), &mut document).unwrap();
            assert!(found.insert(document[4..21].to_vec(), document).is_none(), "a document stands twice");
        }
        assert!(found == wanted, "{} documents instead of {}", found.len(), wanted.len());
    }
}

/// Inserts, changes, re-keys and deletes events until it is told to stop; tells how often.
async fn write_without_end(place: &Place, stop: &AtomicBool) -> u64 {
    let collection = place.client().await.database(&place.database).collection::<Document>("c-shop-shop");
    let mut random = Random(11);
    let mut count = 0;
    while !stop.load(Ordering::Relaxed) {
        count += 1;
        let stream = Stream::new(random.below(400));
        let filter = doc! { "streamId": stream.id(), "version": 0 };
        match count % 4 {
            0 => {
                let event = doc! {
                    "streamId": format!("late-{count}"), "aggregateType": "Order", "version": 0_i64,
                    "globalSequence": 700_000_000 + i64::try_from(count).unwrap(),
                };
                let _ = collection.insert_one(event).await.unwrap();
            }
            1 => {
                let _ =
                    collection.update_one(filter, doc! { "$set": { "payload": Bson::Null } }).await.unwrap();
            }
            2 => {
                let moved = if count % 8 == 2 { "0-moved" } else { "z-moved" };
                let set = doc! { "$set": { "streamId": format!("{moved}-{count}") } };
                let _ = collection.update_one(filter, set).await.unwrap();
            }
            _ => {
                let filter = doc! { "streamId": format!("late-{}", count - 3) };
                let _ = collection.delete_one(filter).await.unwrap();
            }
        }
    }
    count
}

/// What the collection held at a moment, by the driver.
async fn documents_at(place: &Place, time: mongodb::bson::Timestamp) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let client = place.client().await;
    let mut session = client.start_session().snapshot(true).snapshot_time(time).await.unwrap();
    let collection = client.database(&place.database).collection::<RawDocumentBuf>("c-shop-shop");
    let mut cursor = collection.find(doc! {}).session(&mut session).await.unwrap();
    let mut found = BTreeMap::new();
    while cursor.advance(&mut session).await.unwrap() {
        let bytes = cursor.current().as_bytes();
        let _ = found.insert(bytes[4..21].to_vec(), bytes.to_vec());
    }
    found
}

/// Killed at any moment, an import in place goes on to the same end; what was erased since the export stays so.
#[test]
fn an_import_in_place_that_was_killed_goes_on_and_keeps_what_was_erased() {
    let generated = events(size("REKEY_MONGODB_KILL_STREAMS", 200));
    let erase = |place: &Place| {
        let erased =
            doc! { "$set": { "eventType": "$erased", "payload": Bson::Null, "metadata": Bson::Null } };
        let update = doc! { "q": { "streamId": Stream::new(0).id() }, "u": erased, "multi": true };
        let _ = wait(place.run(doc! { "update": "c-shop-shop", "updates": [update] }));
    };
    let in_place = |scene: &Scene| -> Vec<String> {
        let to = scene.address("shop.db");
        let import = ["import", "rekeyed.ndjson", "--to", &to, "--collection", "c-shop-shop", "--in-place"];
        [&import[..], scene.writing()].concat().into_iter().map(str::to_owned).collect()
    };
    let (place, scene) = prepared(Server::ReplicaSet, &generated);
    erase(&place);
    let started = Instant::now();
    let arguments = in_place(&scene);
    let _ = scene.done(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let uninterrupted = started.elapsed();
    let expected = wait(place.documents("c-shop-shop"));
    let erased = expected.values().filter(|document| document.windows(7).any(|bytes| bytes == b"$erased"));
    assert_eq!(erased.count(), Stream::new(0).length() * 2);
    let mut random = Random::seeded(5);
    let mut shares = Vec::new();
    for _ in 0..size("REKEY_MONGODB_KILLS", 3) {
        let (place, scene) = prepared(Server::ReplicaSet, &generated);
        erase(&place);
        let arguments = in_place(&scene);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let share = 20 + random.below(75);
        let mut child =
            scene.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        sleep(uninterrupted * u32::try_from(share).unwrap() / 100);
        child.kill().unwrap();
        let _ = child.wait().unwrap();
        shares.push(share);
        let result = scene.done(&arguments);
        let done = result["written"].as_u64().unwrap() + result["identical"].as_u64().unwrap();
        assert_eq!(done, generated.lines.len() as u64, "{result}");
        assert!(wait(place.documents("c-shop-shop")) == expected, "killed at {share} %");
    }
    println!(
        "import --in-place killed at {shares:?} % of {uninterrupted:?}: the same end, erased events stay erased"
    );
}
