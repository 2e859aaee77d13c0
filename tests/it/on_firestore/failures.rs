//! Through a network that breaks and a service that turns down, loses and hangs, the end state is the same.
//!
//! `REKEY_FIRESTORE_FAULTY_STREAMS` (ten events each) sets how much is taken through them, `REKEY_FIRESTORE_CUTS` how
//! often each command is cut off.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use firestore::gcloud_sdk::tonic::Code;
use rekey::document::StoreKind;
use serde_json::Value;

use super::disturbed::end_in_the_same_state;
use super::server::{Database, emulator, prepared, wait};
use super::service::{Fate, Service};
use crate::generated::{Generated, Random};
use crate::scene::{Scene, size, sums_up};
use crate::wire::Wire;

type Documents = BTreeMap<String, BTreeMap<String, String>>;

fn events() -> Generated {
    Generated::events(StoreKind::Firestore, size("REKEY_FIRESTORE_FAULTY_STREAMS", 40))
}

fn stored(scene: &Scene, file: &str, name: &str) -> Documents {
    let (address, name) = (scene.address(file), scene.collection(file, name));
    wait(async { Database::of(&address).await.fields(&name).await })
}

/// Takes everything along the road through `host`: the new collection and the old one.
fn travelled(generated: &Generated, host: &str) -> (Documents, Documents) {
    let scene = prepared(generated, host);
    let count = generated.lines.len();
    let _ = scene.export("shop.db", "shop", generated.kind, "again.ndjson");
    assert!(scene.read("again.ndjson") == scene.read("legacy.ndjson"), "another archive");
    // Under a cap the requests are small, and so there are many.
    let small = ["--max-writes-per-second", "2000"];
    sums_up(&scene.import("rekeyed.ndjson", "moved.db", "moved", &small), ["written", "identical"], count);
    sums_up(&scene.import("rekeyed.ndjson", "shop.db", "shop", &small), ["written", "identical"], count);
    for (file, collection) in [("moved.db", "moved"), ("shop.db", "shop")] {
        let verdict = scene.verify(&["rekeyed.ndjson"], file, collection, &["--legacy", "legacy.ndjson"]);
        assert_eq!(verdict.ended(0)["verdict"], "match");
    }
    sums_up(&scene.prune("shop.db", "shop").ended(0), ["deleted", "gone"], count);
    (stored(&scene, "moved.db", "moved"), stored(&scene, "shop.db", "shop"))
}

#[test]
fn the_worst_service_ends_in_the_same_state() {
    let generated = events();
    let expected = travelled(&generated, &emulator());
    assert!(expected.0 == expected.1 && expected.0.len() == generated.lines.len());
    let service = Service::before(&emulator(), |method, number, _| match (method, number % 5) {
        ("BatchWrite", 1) => Fate::Lose,
        ("BatchWrite", 3) => Fate::Status(Code::ResourceExhausted, "Quota exceeded"),
        ("RunQuery", 2) | ("BatchGetDocuments", 1) => {
            Fate::Status(Code::Unavailable, "The service is unavailable")
        }
        ("RunQuery" | "RunAggregationQuery", 4) => Fate::Status(Code::Aborted, "Too much contention"),
        _ => Fate::Pass,
    });
    let found = travelled(&generated, service.host());
    assert!(found == expected, "another end state");
    let fates = service.fates();
    assert!(fates.len() >= 5, "{fates:?}");
    println!("{} events through {fates:?}: the same end state", generated.lines.len());
}

fn import_command<'a>(to: &'a str, name: &'a str) -> Vec<&'a str> {
    vec!["import", "rekeyed.ndjson", "--to", to, "--collection", name, "--subscribers-handled"]
}

#[test]
fn a_service_that_takes_nothing_any_more_ends_the_run_which_goes_on_later() {
    let generated = events();
    let service = Service::before(&emulator(), |method, _, _| match method {
        "BatchWrite" => Fate::Status(Code::ResourceExhausted, "Quota exceeded"),
        _ => Fate::Pass,
    });
    let scene = prepared(&generated, service.host());
    let (to, name) = (scene.address("shop.db"), scene.collection("shop.db", "shop"));
    let import = import_command(&to, &name);
    let output = scene.command(&import).env("REKEY_FAULTS_ALLOWANCE_MS", "300").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("RESOURCE_EXHAUSTED") && said.contains("same command again"), "{said}");
    service.heal();
    let result = scene.done(&import);
    assert!(result["notices"].as_array().unwrap().iter().any(|it| it["code"] == "resumed"), "{result}");
    assert_eq!(result["written"], generated.lines.len());
}

#[test]
fn an_answer_that_never_comes_is_given_up_and_asked_for_again() {
    let generated = events();
    let service = Service::before(&emulator(), |method, number, _| match (method, number) {
        ("BatchWrite" | "BatchGetDocuments" | "RunQuery" | "RunAggregationQuery", 1) => Fate::Hang,
        ("BatchWrite", 2) => Fate::Status(Code::DeadlineExceeded, "The deadline expired"),
        _ => Fate::Pass,
    });
    let scene = prepared(&generated, service.host());
    let (to, name) = (scene.address("moved.db"), scene.collection("moved.db", "moved"));
    let run = |arguments: &[&str]| {
        let output = scene.command(arguments).env("REKEY_FAULTS_ANSWER_MS", "2000").output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    };
    run(&import_command(&to, &name));
    let source = scene.collection("shop.db", "shop");
    run(&["export", "--from", &to, "--collection", &source, "--layout", "events", "--out", "again.ndjson"]);
    assert!(scene.read("again.ndjson") == scene.read("legacy.ndjson"));
    assert_eq!(stored(&scene, "moved.db", "moved").len(), generated.lines.len());
    assert!(service.fates().keys().any(|fate| fate.contains("Hang")), "{:?}", service.fates());
}

#[test]
fn a_forgotten_moment_ends_the_export_which_says_how_to_go_on() {
    let generated = events();
    let service = Service::before(&emulator(), |method, number, _| match (method, number) {
        ("RunQuery", 5..) => {
            Fate::Status(Code::FailedPrecondition, "The requested snapshot version is too old.")
        }
        _ => Fate::Pass,
    });
    let scene = prepared(&generated, service.host());
    let (from, name) = (scene.address("shop.db"), scene.collection("shop.db", "shop"));
    let export =
        ["export", "--from", &from, "--collection", &name, "--layout", "events", "--out", "again.ndjson"];
    let ran = scene.run(&export);
    ran.ended_with(4);
    assert!(ran.stderr.contains("--no-snapshot"), "{}", ran.stderr);
    assert!(!scene.path("again.ndjson").exists());
    service.heal();
    let result = scene.done(&[&export[..], &["--no-snapshot"]].concat());
    assert_eq!(result["consistent"], false);
    assert!(scene.read("again.ndjson") == scene.read("legacy.ndjson"));
}

/// A service that does not show what stands below documents is read all the same, and that is said.
#[test]
fn a_service_that_takes_no_query_of_everything_is_read_collection_by_collection() {
    let generated = events();
    let service = Service::before(&emulator(), |method, _, body| {
        // `all_descendants` is field 3 of a selector without a name: its only content.
        let of_everything = body.windows(4).any(|bytes| bytes == [0x12, 0x02, 0x18, 0x01]);
        match method {
            "RunQuery" if of_everything => {
                Fate::Status(Code::InvalidArgument, "kindless queries are not supported")
            }
            _ => Fate::Pass,
        }
    });
    let scene = prepared(&generated, service.host());
    let result = scene.export("shop.db", "shop", "events", "again.ndjson");
    assert!(scene.read("again.ndjson") == scene.read("legacy.ndjson"));
    assert!(!service.fates().is_empty());
    let told = result["notices"].as_array().unwrap().iter().find(|it| it["code"] == "nested-documents");
    assert!(told.unwrap()["message"].as_str().unwrap().contains("did not show"), "{result}");
}

#[test]
fn a_missing_index_is_named_with_the_link_that_makes_it() {
    let generated = events();
    let service = Service::before(&emulator(), |method, _, body| {
        let is_of_a_stream = body.windows(7).any(|bytes| bytes == b"version");
        match method {
            "RunQuery" if is_of_a_stream => Fate::Status(
                Code::FailedPrecondition,
                "The query requires an index. You can create it here: https://console.firebase.google.com/x",
            ),
            _ => Fate::Pass,
        }
    });
    let scene = prepared(&generated, service.host());
    let _ = scene.import("rekeyed.ndjson", "moved.db", "moved", &[]);
    let (against, name) = (scene.address("moved.db"), scene.collection("moved.db", "moved"));
    let ran = scene.run(&["verify", "rekeyed.ndjson", "--against", &against, "--collection", &name]);
    ran.ended_with(4);
    assert!(ran.stderr.contains("index") && ran.stderr.contains("https://console"), "{}", ran.stderr);
}

#[test]
fn who_may_not_and_what_is_not_there_is_told_before_anything_is_done() {
    let generated = events();
    for (code, message, exit, told) in [
        (Code::PermissionDenied, "Missing or insufficient permissions.", 4, "roles/datastore.viewer"),
        (Code::Unauthenticated, "Request had invalid authentication credentials.", 4, "UNAUTHENTICATED"),
        (Code::NotFound, "The database second does not exist for project p", 2, "does not exist for project"),
    ] {
        let service = Service::before(&emulator(), move |_, _, _| Fate::Status(code, message));
        let scene = prepared(&generated, service.host());
        let (at, name) = (scene.address("shop.db"), scene.collection("shop.db", "shop"));
        let export =
            ["export", "--from", &at, "--collection", &name, "--layout", "events", "--out", "again.ndjson"];
        for command in [&export[..], &import_command(&at, &name)] {
            let ran = scene.run(command);
            ran.ended_with(exit);
            assert!(ran.stderr.contains(told), "{}", ran.stderr);
        }
        assert_eq!(stored(&scene, "shop.db", "shop").len(), generated.lines.len());
    }
}

/// One document that the service never takes fails the request it stands in: the others go through all the same.
#[test]
fn a_request_is_halved_until_the_culprit_stands_alone() {
    let generated = events();
    let poison = {
        let scene = prepared(&generated, &emulator());
        let line: Value =
            serde_json::from_str(&scene.lines("rekeyed.ndjson")[generated.lines.len() / 2]).unwrap();
        line["fields"]["eventId"]["stringValue"].as_str().unwrap().to_owned()
    };
    let is_poisoned = poison.clone();
    let service = Service::before(&emulator(), move |method, _, body| {
        let has_poison = body.windows(is_poisoned.len()).any(|bytes| bytes == is_poisoned.as_bytes());
        match method {
            "BatchWrite" if has_poison => Fate::Status(Code::InvalidArgument, "a property is not allowed"),
            _ => Fate::Pass,
        }
    });
    let scene = prepared(&generated, service.host());
    let (to, name) = (scene.address("moved.db"), scene.collection("moved.db", "moved"));
    let ran = scene.run(&import_command(&to, &name));
    ran.ended_with(4);
    assert!(
        ran.stderr.contains("was not written") && ran.stderr.contains("INVALID_ARGUMENT"),
        "{}",
        ran.stderr
    );
    let found = stored(&scene, "moved.db", "moved");
    assert_eq!(found.len(), generated.lines.len() - 1, "all but one");
    assert!(found.values().all(|fields| !fields["eventId"].contains(&poison)));
    service.heal();
    sums_up(&scene.done(&import_command(&to, &name)), ["written", "identical"], generated.lines.len());
    assert_eq!(stored(&scene, "moved.db", "moved").len(), generated.lines.len());
}

/// The size of a message is refused with the code of a quota; waiting would not make it smaller.
#[test]
fn a_request_that_is_too_large_is_halved_and_not_waited_for() {
    let generated = events();
    let service = Service::before(&emulator(), |method, _, body| match method {
        "BatchWrite" if body.len() > 20_000 => {
            Fate::Status(Code::ResourceExhausted, "gRPC message exceeds maximum size 20000")
        }
        _ => Fate::Pass,
    });
    let scene = prepared(&generated, service.host());
    let (to, name) = (scene.address("moved.db"), scene.collection("moved.db", "moved"));
    let result = scene.done(&import_command(&to, &name));
    assert_eq!(result["written"], generated.lines.len());
    assert!(!service.fates().is_empty(), "no request was too large");
}

/// Runs a command and cuts its connections at a random moment; a run that gave up is run again.
fn cut_off(
    scene: &Scene,
    wire: &Wire,
    arguments: &[&str],
    whole: Duration,
    random: &mut Random,
) -> (Value, bool) {
    let mut command = scene.command(arguments);
    let _ = command.env("REKEY_FAULTS_ALLOWANCE_MS", "5000");
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    sleep(whole * u32::try_from(random.below(1000)).unwrap() / 1000);
    let was_cut = wire.cut();
    let code = child.wait().unwrap().code();
    assert!(matches!(code, Some(0 | 4)), "{arguments:?} ended with {code:?}");
    (scene.done(arguments), was_cut)
}

#[test]
fn connections_cut_at_any_moment_double_nothing_and_lose_nothing() {
    let generated = events();
    let wire = Wire::to(&emulator());
    let scene = prepared(&generated, wire.host());
    let mut random = Random(9);
    let cuts = size("REKEY_FIRESTORE_CUTS", 2);
    let hits = end_in_the_same_state(&scene, &generated, cuts, |arguments, whole| {
        cut_off(&scene, &wire, arguments, whole, &mut random)
    });
    println!("export, import and prune cut off {hits:?} times: the same end state");
}
