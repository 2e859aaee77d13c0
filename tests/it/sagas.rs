//! `sagas`: running and completed ones by type, tenant and age, in a store and in archives.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::generated::Generated;
use crate::scene::{STORES, Scene};

/// The running and completed sagas of each tenant; what names none stands under `""`.
fn by_tenant(result: &Value) -> BTreeMap<String, (u64, u64)> {
    let mut counts: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for group in result["groups"].as_array().unwrap() {
        let it = counts.entry(group["tenant"].as_str().unwrap_or_default().to_owned()).or_default();
        it.0 += group["running"].as_u64().unwrap();
        it.1 += group["completed"].as_u64().unwrap();
    }
    counts
}

/// The numbers of running and completed sagas, as their documents say it.
fn told(lines: &[String]) -> (usize, usize) {
    let completed = lines.iter().filter(|line| {
        ["\"isCompleted\":true", "\"isCompleted\":{\"BOOL\":true}", "\"isCompleted\":{\"booleanValue\":true}"]
            .iter()
            .any(|it| line.contains(it))
    });
    let completed = completed.count();
    (lines.len() - completed, completed)
}

#[test]
fn the_sagas_of_a_store_and_of_its_archives_are_counted_alike() {
    for store in STORES {
        let generated = Generated::sagas(store, 300);
        let scene = Scene::new(store);
        scene.moved(&generated);
        let (running, completed) = told(&generated.lines);
        let from = scene.address("shop.db");
        let legacy = scene.done(&["sagas", "--from", &from, "--collection", "shop"]);
        assert_eq!(
            (&legacy["running"], &legacy["completed"]),
            (&running.into(), &completed.into()),
            "{legacy}"
        );
        assert!(legacy["groups"].as_array().unwrap().iter().all(|group| group["legacy"] == true));
        // Half the sagas say whose they are, and each of those says it rightly.
        let owned = by_tenant(&legacy);
        assert!(owned[""].0 > 0 && owned.len() > 3, "{owned:?}");

        let archive = scene.done(&["sagas", "legacy.ndjson"]);
        assert_eq!(archive["groups"], legacy["groups"], "{store}");
        let rekeyed = scene.done(&["sagas", "rekeyed.ndjson"]);
        let of_tenants = by_tenant(&rekeyed);
        for (tenant, owned) in &generated.tenants {
            let Some((running, completed)) = of_tenants.get(*tenant) else {
                panic!("{store} {tenant}: {rekeyed}")
            };
            assert_eq!(running + completed, owned.documents as u64, "{store} {tenant}");
        }
        let from = scene.address("moved.db");
        let moved = scene.done(&["sagas", "--from", &from, "--collection", "moved"]);
        assert_eq!(moved["groups"], rekeyed["groups"]);
    }
}

#[test]
fn waiting_ends_with_the_time_or_with_the_last_saga() {
    let generated = Generated::sagas(STORES[3], 40);
    let scene = Scene::new(STORES[3]);
    scene.put(&generated.lines, "sagas", "shop.db", "shop");
    let from = scene.address("shop.db");
    let sagas = ["sagas", "--from", &from, "--collection", "shop"];
    let wait = ["--wait", "600ms", "--every", "100ms"];
    let ran = scene.result(&[&sagas[..], &wait].concat()).ended(1);
    assert!(ran["looks"].as_u64().unwrap() > 2, "{ran}");
    assert_eq!(ran["findings"][0]["code"], "sagas-running");
    let ran = scene.result(&[&sagas[..], &["--fail-if-running"]].concat()).ended(1);
    assert_eq!(ran["looks"], 1);

    let ended: Vec<_> = generated
        .lines
        .iter()
        .map(|line| line.replace("\"isCompleted\":false", "\"isCompleted\":true"))
        .collect();
    scene.put(&ended, "sagas", "ended.db", "shop");
    let from = scene.address("ended.db");
    let sagas = ["sagas", "--from", &from, "--collection", "shop"];
    for more in [&wait[..], &["--fail-if-running"]] {
        let ran = scene.done(&[&sagas[..], more].concat());
        assert_eq!((&ran["running"], &ran["looks"], &ran["completed"]), (&0.into(), &1.into(), &40.into()));
    }
}

#[test]
fn what_is_no_saga_is_refused_or_counted_apart() {
    let scene = Scene::new(STORES[0]);
    scene.put(&Generated::events(STORES[0], 4).lines, "events", "shop.db", "shop");
    let from = scene.address("shop.db");
    let ran = scene.result(&["sagas", "--from", &from, "--collection", "shop", "--layout", "events"]);
    ran.ended_with(2);
    assert!(ran.stderr.contains("are no sagas"), "{}", ran.stderr);
    // By the sagas' layout no event can be read; all of them are told.
    let result = scene.done(&["sagas", "--from", &from, "--collection", "shop"]);
    let unreadable: u64 =
        result["unreadable"].as_object().unwrap().values().map(|it| it.as_u64().unwrap()).sum();
    assert_eq!(
        (&result["sagas"], unreadable),
        (&0.into(), Generated::events(STORES[0], 4).lines.len() as u64)
    );
    for wrong in [
        &["sagas"][..],
        &["sagas", "a", "--from", "dynamodb://", "--table", "t"],
        &["sagas", "a", "--wait", "5s"],
    ] {
        scene.result(wrong).ended_with(2);
    }
}
