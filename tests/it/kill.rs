//! Killed at any moment and run again, a command ends where an uninterrupted run ends.
//!
//! `REKEY_KILLS` sets how often each command is killed, `REKEY_KILL_STREAMS` how much it has to do, `REKEY_SEED` at which
//! moments. `scripts/torture.sh` makes a table of what is printed here.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rekey::document::StoreKind;
use serde_json::Value;

use crate::end_state::Difference;
use crate::generated::{Generated, Random};
use crate::scene::{STORES, Scene, listing, size, sums_up, without_system_fields};

/// Everything that is ready before the command that is killed.
fn prepared(store: StoreKind) -> (Scene, usize) {
    let scene = Scene::new(store);
    let generated = Generated::events(store, size("REKEY_KILL_STREAMS", 100));
    scene.moved(&generated);
    (scene, generated.lines.len())
}

/// Kills `arguments` at a random moment of their run, in a copy of the scene; tells how much of it was over.
///
/// A run that has ended before is no killed run: it is begun again and killed sooner.
fn killed(scene: &Scene, arguments: &[&str], uninterrupted: Duration, random: &mut Random) -> (Scene, f64) {
    let mut share = random.below(1000);
    loop {
        let copy = Scene::new(scene.store);
        scene.copy_into(&copy);
        let mut child = copy.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        sleep(uninterrupted * u32::try_from(share).unwrap() / 1000);
        child.kill().unwrap();
        if child.wait().unwrap().code().is_none() {
            return (copy, f64::from(u32::try_from(share).unwrap()) / 10.0);
        }
        share = share * 9 / 10;
    }
}

/// Kills a command again and again, goes on each time, and compares the documents of the end state with those expected;
/// `check` gets the scene with the final result and tells its documents.
fn goes_on(
    scene: &Scene,
    what: &str,
    arguments: &[&str],
    expected: &[Value],
    check: impl Fn(&Scene, &Value) -> Vec<Value>,
) {
    let whole = Scene::new(scene.store);
    scene.copy_into(&whole);
    let started = Instant::now();
    let result = whole.done(arguments);
    let uninterrupted = started.elapsed();
    let uninterrupted_end = check(&whole, &result);
    assert_eq!(Difference::between(expected, &uninterrupted_end), Difference::default(), "{what}");
    let mut random = Random::seeded(scene.store as u64 * 1000 + what.len() as u64);
    let kills = size("REKEY_KILLS", 5);
    let (mut shares, mut difference) = (Vec::new(), Difference::default());
    for _ in 0..kills {
        let (copy, share) = killed(scene, arguments, uninterrupted, &mut random);
        shares.push(share);
        let result = copy.done(arguments);
        difference += Difference::between(expected, &check(&copy, &result));
        // What the run that died left lying about is cleared away.
        let left = listing(copy.folder()).into_keys().filter(|name| {
            let name = name.to_string_lossy();
            name.ends_with(".part") || name.starts_with(".tmp")
        });
        let left: Vec<_> = left.collect();
        assert!(left.is_empty(), "{what} on {} left {left:?}", scene.store);
    }
    println!("{what} on {}: killed {kills} times, at {shares:.0?} % of {uninterrupted:?}", scene.store);
    let Difference { lost, doubled, changed } = difference;
    println!("| {what} | embedded {} | {kills} | {lost} | {doubled} | {changed} |", scene.store);
    assert_eq!(difference, Difference::default(), "{what} on {}", scene.store);
}

/// The events of an archive.
fn events(scene: &Scene, archive: &str) -> Vec<Value> {
    scene.lines(archive).iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn same_files(whole: &Scene, copy: &Scene, names: &[&str]) {
    for name in names {
        assert!(whole.read(name) == copy.read(name), "{name} is another one");
    }
}

/// What a collection holds in the end.
fn contents(scene: &Scene, file: &str, collection: &str) -> Vec<Value> {
    let _ = scene.export(file, collection, "events", "contents.ndjson");
    without_system_fields(&scene.lines("contents.ndjson"))
}

#[test]
fn an_export_that_was_killed() {
    for store in STORES {
        let (scene, count) = prepared(store);
        let from = scene.address("shop.db");
        let export = [
            "export",
            "--from",
            &from,
            "--collection",
            "shop",
            "--layout",
            "events",
            "--out",
            "again.ndjson",
        ];
        goes_on(&scene, "export", &export, &events(&scene, "legacy.ndjson"), |copy, result| {
            assert_eq!(result["documents"], count);
            assert!(copy.read("again.ndjson") == scene.read("legacy.ndjson"));
            events(copy, "again.ndjson")
        });
    }
}

#[test]
fn a_rewrite_that_was_killed() {
    for store in STORES {
        let (scene, count) = prepared(store);
        let rekey = [
            "rekey",
            "legacy.ndjson",
            "--out",
            "rekeyed.ndjson",
            "--tenant-map",
            "map.csv",
            "--escaping",
            "escaped",
        ];
        goes_on(&scene, "rekey", &rekey, &events(&scene, "rekeyed.ndjson"), |copy, result| {
            assert_eq!(result["rekeyed"], count);
            same_files(&scene, copy, &["rekeyed.ndjson", "rekeyed.ndjson.keys.ndjson"]);
            events(copy, "rekeyed.ndjson")
        });
    }
}

#[test]
fn an_import_that_was_killed() {
    for store in STORES {
        let (scene, count) = prepared(store);
        let expected = contents(&scene, "moved.db", "moved");
        let to = scene.address("fresh.db");
        let import = ["import", "rekeyed.ndjson", "--to", &to, "--collection", "moved", "--create-target"];
        goes_on(&scene, "import", &import, &expected, |copy, result| {
            sums_up(result, ["written", "identical"], count);
            let once = contents(copy, "fresh.db", "moved");
            let again = copy.done(&import);
            assert_eq!((&again["written"], &again["identical"]), (&0.into(), &count.into()));
            assert!(contents(copy, "fresh.db", "moved") == once);
            once
        });
    }
}

#[test]
fn an_import_in_place_that_was_killed() {
    let (scene, count) = prepared(StoreKind::MongoDb);
    let expected = contents(&scene, "moved.db", "moved");
    let to = scene.address("shop.db");
    let import = ["import", "rekeyed.ndjson", "--to", &to, "--collection", "shop", "--in-place"];
    goes_on(&scene, "import --in-place", &import, &expected, |copy, result| {
        sums_up(result, ["written", "identical"], count);
        contents(copy, "shop.db", "shop")
    });
}

#[test]
fn a_prune_that_was_killed() {
    for store in [StoreKind::DynamoDb, StoreKind::Firestore, StoreKind::CosmosDb] {
        let (scene, count) = prepared(store);
        let _ = scene.import("rekeyed.ndjson", "shop.db", "shop", &[]);
        let expected = contents(&scene, "moved.db", "moved");
        let from = scene.address("shop.db");
        let prune = [
            "prune",
            "legacy.ndjson",
            "--rekeyed",
            "rekeyed.ndjson",
            "--from",
            &from,
            "--collection",
            "shop",
        ];
        goes_on(&scene, "prune", &prune, &expected, |copy, result| {
            sums_up(result, ["deleted", "gone"], count);
            assert_eq!(result["kept"], 0);
            contents(copy, "shop.db", "shop")
        });
    }
}

#[test]
fn an_import_that_was_killed_is_taken_back_without_being_finished() {
    for store in STORES {
        let (scene, _) = prepared(store);
        // Beside others, so that it must be known what was there beforehand.
        let expected = contents(&scene, "shop.db", "shop");
        let (to, flags): (_, &[&str]) = (
            scene.address("shop.db"),
            match store {
                StoreKind::MongoDb => &["--in-place"],
                _ => &[],
            },
        );
        let import = [&["import", "rekeyed.ndjson", "--to", &to, "--collection", "shop"], flags].concat();
        let undo = undo_of_shop(&to);
        let whole = Scene::new(store);
        scene.copy_into(&whole);
        let started = Instant::now();
        let _ = whole.done(&import);
        let uninterrupted = started.elapsed();
        let mut random = Random::seeded(store as u64 + 77);
        for _ in 0..size("REKEY_KILLS", 3) {
            let (copy, _) = killed(&scene, &import, uninterrupted, &mut random);
            if listing(copy.folder()).keys().all(|name| !is_list_of_shop(&copy, name)) {
                continue; // It was killed before it began to write.
            }
            let result = copy.done(&undo);
            assert_eq!(result["left"], 0, "{result}");
            assert!(contents(&copy, "shop.db", "shop") == expected, "{store}");
            // And the import still ends where it would have.
            let _ = copy.done(&import);
            assert!(contents(&copy, "shop.db", "shop") == contents(&whole, "shop.db", "shop"), "{store}");
            let _ = copy.done(&undo);
            assert!(contents(&copy, "shop.db", "shop") == expected, "{store}");
        }
    }
}

/// Whether a file is the list of an import into the shop; the one of the import into `moved.db` stands beside it.
fn is_list_of_shop(scene: &Scene, name: &Path) -> bool {
    let name = name.to_string_lossy();
    let target = |header: &String| {
        let header: Value = serde_json::from_str(header).unwrap();
        header["begin"]["target"]["location"].to_string()
    };
    name.ends_with(".undo.ndjson")
        && scene.lines(&name).first().is_some_and(|header| target(header).contains("shop.db"))
}

fn undo_of_shop(from: &str) -> [&str; 6] {
    ["undo", "rekeyed.ndjson", "--from", from, "--collection", "shop"]
}

#[test]
fn an_undo_that_was_killed() {
    for store in STORES {
        let (scene, count) = prepared(store);
        let expected = contents(&scene, "shop.db", "shop");
        let flags: &[&str] = if store == StoreKind::MongoDb { &["--in-place"] } else { &[] };
        let _ = scene.import("rekeyed.ndjson", "shop.db", "shop", flags);
        let from = scene.address("shop.db");
        goes_on(&scene, "undo", &undo_of_shop(&from), &expected, |copy, result| {
            sums_up(result, ["removed", "put_back", "gone"], count);
            contents(copy, "shop.db", "shop")
        });
    }
}

#[test]
fn an_import_that_was_interrupted_says_how_to_go_on_and_does() {
    for store in STORES {
        let scene = Scene::new(store);
        let generated = Generated::events(store, 300);
        scene.moved(&generated);
        let expected = contents(&scene, "moved.db", "moved");
        let to = scene.address("fresh.db");
        let import = ["import", "rekeyed.ndjson", "--to", &to, "--collection", "moved", "--create-target"];
        let slowly = [&import[..], &["--max-writes-per-second", "300", "--concurrency", "1"]].concat();
        let mut child = scene.command(&slowly).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        while !has_begun(&scene) {
            assert_eq!(child.try_wait().unwrap(), None, "it ended before it could be interrupted");
            sleep(Duration::from_millis(20));
        }
        let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let said: Vec<_> = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap).collect();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{said:?}");
        assert!(said.iter().any(|line| line.contains("same command again")), "{said:?}");
        let stored = contents(&scene, "fresh.db", "moved").len();
        assert!(stored > 0 && stored < generated.lines.len(), "{store}: {stored} were written");

        let result = scene.done(&import);
        assert!(result["notices"].as_array().unwrap().iter().any(|it| it["code"] == "resumed"), "{result}");
        assert_eq!(result["written"], generated.lines.len(), "{store}");
        assert!(contents(&scene, "fresh.db", "moved") == expected);
    }
}

/// Whether a batch is noted as done in the journal of the import into the fresh collection.
fn has_begun(scene: &Scene) -> bool {
    // Other files come and go while the program works; a journal stays.
    let names = fs::read_dir(scene.folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut journals = names.filter(|path| path.to_string_lossy().contains(".import-"));
    journals.any(|path| {
        let text = fs::read_to_string(path).unwrap();
        !text.ends_with("\"finished\"\n") && text.contains("{\"done\":")
    })
}
