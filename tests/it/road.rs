//! The whole road on embedded storage, for every store: seed, export, rekey, import, verify, prune.
//!
//! `REKEY_ROAD_STREAMS` (ten events each) and `REKEY_ROAD_SAGAS` set the size.

use rekey::document::StoreKind;
use serde_json::{Value, json};

use crate::generated::{Generated, Stream};
use crate::scene::{STORES, Scene, size, without_system_fields};

fn events(store: StoreKind) -> Generated {
    Generated::events(store, size("REKEY_ROAD_STREAMS", 1_000))
}

fn sagas(store: StoreKind) -> Generated {
    Generated::sagas(store, size("REKEY_ROAD_SAGAS", 500))
}

/// Documents that stay what they are where they are: the move is an update.
fn moves_in_place(generated: &Generated) -> bool {
    generated.store == StoreKind::MongoDb && generated.kind == "events"
}

/// What `import` and `restore` must say.
fn outcomes(documents: usize, written: usize) -> Value {
    json!({
        "documents": documents, "written": written, "identical": documents - written,
        "conflict": 0, "expired": 0, "stale": 0, "set_aside": 0,
    })
}

/// What `verify` must say of everything that was generated, beside `others` of other kinds.
fn matching(generated: &Generated, legacy: usize, others: usize) -> Value {
    let count = generated.lines.len();
    let tenants = generated.tenants.iter().map(|(tenant, owned)| {
        let mut verdict = json!({ "tenant": tenant, "versions_differ": 0, "verdict": "match" });
        let kind = generated.kind;
        verdict[format!("{kind}_expected")] = owned.documents.into();
        verdict[format!("{kind}_found")] = owned.documents.into();
        if kind == "events" {
            verdict["streams"] = owned.streams.into();
        }
        verdict
    });
    let mut tenants: Vec<_> = tenants.collect();
    tenants.sort_by_key(|it| it["tenant"].as_str().unwrap().to_owned());
    json!({
        "command": "verify", "verdict": "match", "level": "content",
        "layout": format!("{}-{}", generated.store, generated.kind), "escaping": "escaped",
        "totals": {
            "expected": count, "found": count, "missing": 0, "unexpected": 0, "different": 0,
            "legacy": legacy, "foreign": others, "blocking": 0, "doubled": 0, "expired": 0,
        },
        "tenants": tenants, "findings": [], "findings_file": null,
    })
}

/// Every member that is expected stands in the result with that value; others may be added.
fn assert_members(result: &Value, expected: &Value, what: &str) {
    match (result, expected) {
        (Value::Object(result), Value::Object(expected)) => {
            for (name, value) in expected {
                let member = result.get(name).unwrap_or_else(|| panic!("{what}.{name} is missing"));
                assert_members(member, value, &format!("{what}.{name}"));
            }
        }
        (Value::Array(result), Value::Array(expected)) => {
            assert_eq!(result.len(), expected.len(), "{what}");
            for (index, (result, expected)) in result.iter().zip(expected).enumerate() {
                assert_members(result, expected, &format!("{what}[{index}]"));
            }
        }
        _ => assert_eq!(result, expected, "{what}"),
    }
}

/// What a collection holds, by its own export.
fn contents(scene: &Scene, file: &str, collection: &str, kind: &str) -> Vec<Value> {
    let _ = scene.export(file, collection, kind, "contents.ndjson");
    without_system_fields(&scene.lines("contents.ndjson"))
}

/// Seeds and exports, twice: the same bytes.
fn exported(scene: &Scene, generated: &Generated, others: &[String]) {
    scene.seed(generated, "shop.db", "shop");
    if !others.is_empty() {
        scene.put(others, generated.kind, "shop.db", "shop");
    }
    for out in ["legacy.ndjson", "again.ndjson"] {
        let result = scene.export("shop.db", "shop", generated.kind, out);
        assert_eq!(result["documents"], generated.lines.len());
        assert_eq!(result["streams"], generated.streams());
        assert_eq!(result["bytes"], scene.read(out).len());
    }
    assert!(scene.read("legacy.ndjson") == scene.read("again.ndjson"), "two exports differ");
}

fn rekeyed(scene: &Scene, generated: &Generated) {
    let result = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    let tenants: Vec<_> = generated.tenants.iter().map(|(name, owned)| (*name, owned.documents)).collect();
    let expected = json!({
        "documents": generated.lines.len(), "rekeyed": generated.lines.len(), "already_rekeyed": 0,
        "out_of_scope": 0, "refused": 0, "set_aside": 0, "reasons": {},
        "tenants": tenants.into_iter().collect::<std::collections::BTreeMap<_, _>>(),
    });
    assert_members(&result, &expected, "rekey");
}

/// Into a fresh collection: all written, proven, and a second import writes nothing.
fn into_a_fresh_collection(scene: &Scene, generated: &Generated) {
    let count = generated.lines.len();
    let first = scene.import("rekeyed.ndjson", "moved.db", "moved", &["--create-target"]);
    assert_members(&first, &outcomes(count, count), "import");
    let verdict = scene.verify(&["rekeyed.ndjson"], "moved.db", "moved", &["--legacy", "legacy.ndjson"]);
    assert_members(&verdict.ended(0), &matching(generated, 0, 0), "verify");

    let before = contents(scene, "moved.db", "moved", generated.kind);
    assert!(before == without_system_fields(&scene.lines("rekeyed.ndjson")), "another content was imported");
    let second = scene.import("rekeyed.ndjson", "moved.db", "moved", &[]);
    assert_members(&second, &outcomes(count, 0), "second import");
    assert!(
        contents(scene, "moved.db", "moved", generated.kind) == before,
        "a second import wrote something"
    );
}

/// Beside the legacy documents, or in place of them; then prune takes these away, and nothing else.
fn beside_the_legacy_documents(scene: &Scene, generated: &Generated, others: usize) {
    let count = generated.lines.len();
    let in_place = moves_in_place(generated);
    let flags: &[&str] = if in_place { &["--in-place"] } else { &[] };
    let first = scene.import("rekeyed.ndjson", "shop.db", "shop", flags);
    assert_members(&first, &outcomes(count, count), "import beside");
    let second = scene.import("rekeyed.ndjson", "shop.db", "shop", flags);
    assert_members(&second, &outcomes(count, 0), "second import beside");
    let legacy = if in_place { 0 } else { count };
    let verdict = scene.verify(&["rekeyed.ndjson"], "shop.db", "shop", &["--legacy", "legacy.ndjson"]);
    assert_members(&verdict.ended(0), &matching(generated, legacy, others), "verify beside");

    let pruned = scene.prune("shop.db", "shop").ended(0);
    let expected = json!({ "documents": count, "deleted": legacy, "gone": count - legacy, "kept": 0 });
    assert_members(&pruned, &expected, "prune");
    let verdict = scene.verify(&["rekeyed.ndjson"], "shop.db", "shop", &["--pruned"]);
    assert_members(&verdict.ended(0), &matching(generated, 0, others), "verify pruned");
    let left = contents(scene, "shop.db", "shop", generated.kind);
    assert!(left == without_system_fields(&scene.lines("rekeyed.ndjson")), "prune took something else away");
    let again = scene.prune("shop.db", "shop").ended(0);
    let expected = json!({ "documents": count, "deleted": 0, "gone": count, "kept": 0 });
    assert_members(&again, &expected, "second prune");
    if !in_place {
        put_back_and_pruned_again(scene, count);
    }
}

/// What was restored can be pruned with the same archives, and a dry run says so.
fn put_back_and_pruned_again(scene: &Scene, count: usize) {
    let (to, shop) = (scene.address("shop.db"), scene.collection("shop.db", "shop"));
    let restore = ["restore", "legacy.ndjson", "--to", &to, "--collection", &shop];
    assert_eq!(scene.done(&[&restore, scene.writing()].concat())["written"], count);
    let expected = json!({ "documents": count, "deleted": count, "gone": 0, "kept": 0, "reasons": {} });
    for more in [&["--dry-run"][..], &[]] {
        let pruned = scene.pruned("shop.db", "shop", more).ended(0);
        assert_members(&pruned, &expected, "prune of what was restored");
    }
}

/// The whole road: out, rewritten, into a fresh collection and beside the legacy documents, which are pruned.
/// `others` are documents of other kinds in the same collection, which nothing may touch.
pub fn walk(scene: &Scene, generated: &Generated, others: &[String]) {
    exported(scene, generated, others);
    rekeyed(scene, generated);
    into_a_fresh_collection(scene, generated);
    beside_the_legacy_documents(scene, generated, others.len());
    println!(
        "{}: {} {} of 7 tenants moved, verified, imported again, pruned; verdict match",
        generated.store,
        generated.lines.len(),
        generated.kind
    );
}

fn walk_embedded(generated: &Generated) {
    walk(&Scene::new(generated.store), generated, &[]);
}

#[test]
fn events_on_mongodb_are_moved() {
    walk_embedded(&events(StoreKind::MongoDb));
}

#[test]
fn events_on_dynamodb_are_moved() {
    walk_embedded(&events(StoreKind::DynamoDb));
}

#[test]
fn events_on_firestore_are_moved() {
    walk_embedded(&events(StoreKind::Firestore));
}

#[test]
fn events_on_cosmosdb_are_moved() {
    walk_embedded(&events(StoreKind::CosmosDb));
}

#[test]
fn sagas_are_moved_on_every_store() {
    STORES.map(sagas).iter().for_each(walk_embedded);
}

#[test]
fn a_tenant_moved_alone_and_then_the_rest_are_a_whole() {
    for generated in STORES.map(|store| Generated::events(store, 200)).into_iter().chain(STORES.map(sagas)) {
        let scene = Scene::new(generated.store);
        scene.seed(&generated, "shop.db", "shop");
        let _ = scene.export("shop.db", "shop", generated.kind, "legacy.ndjson");
        let rest = "globex,initech,stark:eu,umbrella,zürich-☂,__default__";
        let count = generated.lines.len();
        let alone = generated.tenants["acme"].documents;
        for (archive, tenants, moved) in [("acme", "acme", alone), ("rest", rest, count - alone)] {
            let archive = format!("{archive}.ndjson");
            let result = scene.rekey("legacy.ndjson", &archive, &["--only-tenants", tenants]);
            let expected = json!({ "documents": count, "rekeyed": moved, "out_of_scope": count - moved });
            assert_members(&result, &expected, "rekey");
            let result = scene.import(&archive, "moved.db", "moved", &["--create-target"]);
            assert_members(&result, &outcomes(moved, moved), "import");
            if moved == alone {
                let verdict = scene.verify(&[&archive], "moved.db", "moved", &[]).ended(0);
                assert_eq!(verdict["totals"]["found"], alone);
                assert_eq!(verdict["tenants"].as_array().unwrap().len(), 1);
            }
        }
        let both = ["acme.ndjson", "rest.ndjson"];
        let verdict = scene.verify(&both, "moved.db", "moved", &["--legacy", "legacy.ndjson"]);
        assert_members(&verdict.ended(0), &matching(&generated, 0, 0), "verify");
        // One archive alone is not what the store holds.
        assert_eq!(scene.verify(&both[..1], "moved.db", "moved", &[]).ended(1)["verdict"], "mismatch");
        assert_eq!(
            scene.verify(&both[..1], "moved.db", "moved", &["--only-tenants", "acme"]).ended(0)["verdict"],
            "match"
        );
        let manifests = both.map(|archive| format!("{archive}.manifest.json"));
        let manifests = [manifests[0].as_str(), manifests[1].as_str()];
        let verdict = scene.verify(&manifests, "moved.db", "moved", &[]).ended(0);
        assert_eq!((&verdict["verdict"], &verdict["level"]), (&json!("match"), &json!("counts")));
    }
}

#[test]
fn prune_takes_nothing_that_is_not_in_the_archive() {
    for store in [StoreKind::DynamoDb, StoreKind::Firestore, StoreKind::CosmosDb] {
        let scene = Scene::new(store);
        let generated = Generated::events(store, 20);
        scene.seed(&generated, "shop.db", "shop");
        let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
        let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
        let _ = scene.import("rekeyed.ndjson", "shop.db", "shop", &[]);
        // After the window began somebody wrote a new stream, and one more event of a stream that was moved.
        let (new, grown) = (Stream::new(20), Stream::new(1));
        let late = [new.event(store, 0), grown.event(store, grown.length())];
        scene.write("late.ndjson", late.join("\n") + "\n");
        let (to, layout) = (scene.address("shop.db"), scene.layout("events"));
        let _ = scene.done(&[
            "restore",
            "late.ndjson",
            "--layout",
            &layout,
            "--expect-documents",
            "2",
            "--to",
            &to,
            "--collection",
            "shop",
        ]);
        let before = contents(&scene, "shop.db", "shop", "events");
        let prune =
            ["prune", "legacy.ndjson", "--rekeyed", "rekeyed.ndjson", "--from", &to, "--collection", "shop"];
        let result = scene.result(&prune).ended(3);
        let (count, kept) = (generated.lines.len(), grown.length());
        let expected = json!({ "documents": count, "deleted": count - kept, "gone": 0, "kept": kept });
        assert_members(&result, &expected, "prune");
        let after = contents(&scene, "shop.db", "shop", "events");
        assert_eq!(after.len(), before.len() - (count - kept), "{store}");
        for document in without_system_fields(&late) {
            assert!(after.contains(&document), "{store}: {document} is gone");
        }
    }
}
