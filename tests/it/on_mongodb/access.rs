//! Who may do what, and what an operator reads who may not, or whom nobody answers.

use std::time::{Duration, Instant};

use mongodb::bson::doc;

use super::road::events;
use super::server::{Place, Server, wait};
use crate::doctor::held;
use crate::scene::export_events;

const PASSWORD: &str = "s3cret-of-the-reader";

/// A database on the server with authentication, with a user who may only read it.
fn with_reader() -> Place {
    let place = Place::new(Server::Auth);
    let user = doc! { "createUser": "reader", "pwd": PASSWORD, "roles": [{ "role": "read", "db": &place.database }] };
    let _ = wait(place.run(user));
    place
}

#[test]
fn a_user_who_may_only_read_exports_and_verifies_and_is_told_the_role_that_import_needs() {
    let place = with_reader();
    let scene = place.scene();
    let generated = events(20);
    scene.seed(&generated, "shop.db", "shop");
    let reader = place.as_user("reader", PASSWORD);
    let export = export_events(&reader, "c-shop-shop", "legacy.ndjson");
    assert_eq!(scene.done(&export)["consistent"], true);
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    let in_place = [
        "import",
        "rekeyed.ndjson",
        "--to",
        &reader,
        "--collection",
        "c-shop-shop",
        "--in-place",
        "--subscribers-handled",
    ];
    let before = wait(place.documents("c-shop-shop"));
    let ran = scene.result(&in_place);
    ran.ended_with(4);
    assert!(ran.stderr.contains("readWrite") && ran.stderr.contains(&place.database), "{}", ran.stderr);
    assert!(!ran.stderr.contains(PASSWORD), "{}", ran.stderr);
    assert!(wait(place.documents("c-shop-shop")) == before);
    let _ = scene.import("rekeyed.ndjson", "shop.db", "shop", &["--in-place"]);
    let verify = ["verify", "rekeyed.ndjson", "--against", &reader, "--collection", "c-shop-shop"];
    assert_eq!(scene.done(&verify)["verdict"], "match");
}

#[test]
fn wrong_and_missing_credentials_are_told_without_showing_them() {
    let place = with_reader();
    let scene = place.scene();
    let export = |from: &str| {
        let ran = scene.run(&export_events(from, "c", "o.ndjson"));
        ran.ended_with(4);
        ran.stderr
    };
    let wrong = export(&place.as_user("reader", "WR0NG"));
    assert!(
        wrong.contains("credentials") && wrong.contains("authSource") && !wrong.contains("WR0NG"),
        "{wrong}"
    );
    let address = place.as_user("reader", PASSWORD);
    let without = address.replace(&format!("reader:{PASSWORD}@"), "");
    let missing = export(&without);
    assert!(missing.contains("role read"), "{missing}");
    // The environment's fill in for an address that has none.
    let arguments = export_events(&without, "c", "o.ndjson");
    let mut command = scene.command(&arguments);
    let output =
        command.env("MONGODB_USERNAME", "reader").env("MONGODB_PASSWORD", PASSWORD).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_server_that_does_not_answer_is_given_up_in_the_time_it_is_given() {
    let place = Place::new(Server::Standalone);
    let scene = place.scene();
    let from = "mongodb://ops:S3CRET@127.0.0.1:1/shop?serverSelectionTimeoutMS=700";
    let started = Instant::now();
    let ran = scene.run(&export_events(from, "c", "o.ndjson"));
    ran.ended_with(4);
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert!(ran.stderr.contains("127.0.0.1:1") && ran.stderr.contains("hint"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("S3CRET"), "{}", ran.stderr);
}

#[test]
fn a_collection_that_is_not_there_is_named_with_what_there_is() {
    let place = Place::new(Server::Standalone);
    let scene = place.scene();
    let _ = wait(place.run(doc! { "create": "event_store_events" }));
    let _ = wait(place.run(doc! { "create": "a_view", "viewOn": "event_store_events", "pipeline": [] }));
    let from = place.address();
    let export = |name: &str| scene.run(&export_events(&from, name, "o.ndjson"));
    let ran = export("event_store_event");
    ran.ended_with(2);
    assert!(ran.stderr.contains("\"event_store_events\""), "{}", ran.stderr);
    let ran = export("a_view");
    ran.ended_with(2);
    assert!(ran.stderr.contains("view"), "{}", ran.stderr);
    export("event_store_events").ended_with(0);
    let unanswered = place.with_option("w=0");
    let ran = scene.run(&export_events(&unanswered, "c", "o.ndjson"));
    ran.ended_with(2);
    assert!(ran.stderr.contains("w=0"), "{}", ran.stderr);
}

#[test]
fn missing_indexes_are_a_finding_if_unique_and_a_notice_if_not() {
    let place = Place::new(Server::ReplicaSet);
    let scene = place.scene();
    scene.seed(&events(20), "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    let _ = wait(place.run(doc! { "create": "bare" }));
    let to = place.address();
    let import = ["import", "rekeyed.ndjson", "--to", &to, "--collection", "bare", "--subscribers-handled"];
    let result = scene.result(&import).ended(1);
    let codes = |list: &str| -> Vec<String> {
        let list = result[list].as_array().unwrap().iter();
        list.map(|it| it["code"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(codes("findings"), ["unique-index-missing"]);
    assert_eq!(codes("notices").iter().filter(|code| *code == "index-missing").count(), 2);
    let described = wait(place.run(doc! { "listIndexes": "c-shop-shop" }));
    let made = described.get_document("cursor").unwrap().get_array("firstBatch").unwrap();
    assert_eq!(made.len(), 4, "the framework's three and that of _id");
}

#[test]
fn the_doctor_names_who_we_are_and_a_missing_right_with_the_role_that_gives_it() {
    let place = Place::new(Server::Auth);
    let scene = place.scene();
    let generated = events(20);
    scene.seed(&generated, "shop.db", "shop");
    let actions = ["find", "insert", "update", "collStats", "listIndexes", "listCollections"];
    let resource = doc! { "db": &place.database, "collection": "" };
    let privilege = doc! { "resource": resource, "actions": &actions[..] };
    let _ = wait(place.run(doc! { "createRole": "mover", "privileges": [privilege], "roles": [] }));
    let _ = wait(place.run(doc! { "createUser": "mover", "pwd": PASSWORD, "roles": ["mover"] }));
    let before = wait(place.documents("c-shop-shop"));
    let mover = place.as_user("mover", PASSWORD);
    let doctor = ["doctor", "--from", &mover, "--collection", "c-shop-shop"];

    let result = scene.result(&doctor).ended(0);
    let source = &result["stores"][0];
    assert_eq!(source["identity"], format!("mover@{}", place.database));
    assert!(source["server"].as_str().unwrap().starts_with("MongoDB 6.0"), "{source}");
    assert!(source["sdk"].as_str().unwrap().starts_with("mongodb 3."), "{source}");
    assert!(source["clock_ahead_ms"].as_i64().unwrap().abs() < 1_000, "{source}");
    assert_eq!(source["documents"], generated.lines.len());
    assert!(source["bytes"].as_u64().unwrap() > 1_000, "{source}");
    assert_eq!(held(&result), ["yes", "yes", "yes", "no", "no"]);
    let later = |it: &serde_json::Value| it["code"] == "permission-missing";
    assert!(result["notices"].as_array().unwrap().iter().any(later), "{result}");

    let result = scene.result(&[&doctor[..], &["--for", "prune"]].concat()).ended(1);
    let finding = &result["findings"][0];
    let message = finding["message"].as_str().unwrap();
    assert_eq!((&finding["code"], &result["findings_total"]), (&"permission-missing".into(), &1.into()));
    for part in ["may not delete", "mover@", "readWrite", "the action remove", &place.database] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert!(!result.to_string().contains(PASSWORD));
    assert!(wait(place.documents("c-shop-shop")) == before);

    // Whoever has not logged in has no right; where access control is off everybody has all.
    let nobody = mover.replace(&format!("mover:{PASSWORD}@"), "");
    let result = scene.result(&["doctor", "--from", &nobody, "--collection", "c-shop-shop"]).ended(1);
    assert_eq!(result["findings"][0]["code"], "unreachable", "{result}");
    let open = Place::new(Server::Standalone);
    let _ = wait(open.run(doc! { "create": "events" }));
    let result = scene.done(&["doctor", "--to", &open.address(), "--collection", "events", "--for", "undo"]);
    assert!(result["stores"][0]["identity"].as_str().unwrap().contains("access control is off"), "{result}");
}
