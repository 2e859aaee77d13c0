//! The crash matrix: stopped at every step that changes something, and run again, every command ends as if it had not
//! been. The table in `docs/reliability.md` is what this finds; `REKEY_WRITE_DOCS=1` writes it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use rekey::document::StoreKind;
use rekey::failpoint::Point;
use serde_json::{Value, json};

use crate::generated::Generated;
use crate::intruder::Intruder;
use crate::scene::{STORES, Scene, listing, size, without_system_fields};

/// Where the table stands in the page.
const BEGIN: &str = "<!-- the crash matrix begins -->\n";
const END: &str = "<!-- the crash matrix ends -->\n";

/// Cuts what is written into more than one batch.
const IN_BATCHES: [&str; 2] = ["--max-writes-per-second", "90"];

/// One command in a scene that is ready for it.
struct Case {
    name: &'static str,
    scene: Scene,
    arguments: Vec<String>,
    /// Where it ends; it leaves a stream where something is to be found.
    code: i32,
}

impl Case {
    fn arguments(&self) -> Vec<&str> {
        self.arguments.iter().map(String::as_str).collect()
    }

    /// The same, in a folder of its own.
    fn copy(&self) -> Scene {
        let copy = Scene::new(self.scene.store);
        self.scene.copy_into(&copy);
        copy
    }
}

/// A scene with everything that comes before: `shop` has the legacy documents, and the archives are there.
fn prepared(store: StoreKind) -> Scene {
    let scene = Scene::new(store);
    let generated = Generated::events(store, size("REKEY_CRASH_STREAMS", 12));
    scene.seed(&generated, "shop.db", "shop");
    let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
    let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
    scene
}

/// The scene after an import beside the legacy documents (in place on MongoDB), and something written since.
fn imported(store: StoreKind) -> Scene {
    let scene = prepared(store);
    let flags: &[&str] = if store == StoreKind::MongoDb { &["--in-place"] } else { &[] };
    let _ = scene.import("rekeyed.ndjson", "shop.db", "shop", flags);
    scene
}

fn words(arguments: &[&str]) -> Vec<String> {
    arguments.iter().map(|word| (*word).to_owned()).collect()
}

fn cases(store: StoreKind) -> Vec<Case> {
    let shop = Scene::new(store).address("shop.db");
    let fresh = Scene::new(store).address("fresh.db");
    let on_shop = |flag: &'static str| [flag, shop.as_str(), "--collection", "shop"];
    let mut cases = vec![
        Case {
            name: "export",
            scene: prepared(store),
            arguments: words(
                &[&["export", "--layout", "events", "--out", "again.ndjson"][..], &on_shop("--from")]
                    .concat(),
            ),
            code: 0,
        },
        Case {
            name: "rekey",
            scene: prepared(store),
            arguments: words(&[
                "rekey",
                "legacy.ndjson",
                "--out",
                "again.ndjson",
                "--tenant",
                "acme",
                "--escaping",
                "escaped",
            ]),
            code: 0,
        },
        Case {
            name: "import",
            scene: prepared(store),
            arguments: words(&[
                "import",
                "rekeyed.ndjson",
                "--to",
                &fresh,
                "--collection",
                "new",
                "--create-target",
                IN_BATCHES[0],
                IN_BATCHES[1],
            ]),
            code: 0,
        },
        Case {
            name: "restore",
            scene: prepared(store),
            arguments: words(&[
                "restore",
                "legacy.ndjson",
                "--to",
                &fresh,
                "--collection",
                "new",
                "--create-target",
                IN_BATCHES[0],
                IN_BATCHES[1],
            ]),
            code: 0,
        },
    ];
    let scene = imported(store);
    // One stream is found to be in use, so that there is something to say.
    let late = scene.lines("rekeyed.ndjson")[0].replacen("eyJhbW91", "eyJhbW92", 1);
    let intruder = Intruder::open(&scene, "shop.db", "shop", "events");
    intruder.replace(&intruder.stored(&late), &late);
    drop(intruder);
    if store != StoreKind::MongoDb {
        let prune = ["prune", "legacy.ndjson", "--rekeyed", "rekeyed.ndjson"];
        let copy = Scene::new(store);
        scene.copy_into(&copy);
        cases.push(Case {
            name: "prune",
            scene: copy,
            arguments: words(&[&prune[..], &on_shop("--from"), &IN_BATCHES].concat()),
            code: 3,
        });
    }
    // In place an event that was changed since still gets its old key back.
    let code = if store == StoreKind::MongoDb { 0 } else { 3 };
    cases.push(Case {
        name: "undo",
        scene,
        arguments: words(&[&["undo", "rekeyed.ndjson"][..], &on_shop("--from"), &IN_BATCHES].concat()),
        code,
    });
    cases
}

/// How often each point is passed by an uninterrupted run.
fn passed(case: &Case, trace: &Path) -> BTreeMap<String, usize> {
    let _ = std::fs::remove_file(trace);
    let environment = [("REKEY_FAILPOINT_TRACE", trace.to_str().unwrap())];
    case.copy().result_with(&case.arguments(), &environment).ended_with(case.code);
    let mut counts = BTreeMap::new();
    for line in std::fs::read_to_string(trace).unwrap().lines() {
        *counts.entry(line.to_owned()).or_default() += 1;
    }
    counts
}

/// What a run left: the documents of every collection, and the files that say what was done.
fn state(scene: &Scene) -> BTreeMap<String, Value> {
    let mut state = BTreeMap::new();
    for (file, collection) in [("shop.db", "shop"), ("fresh.db", "new")] {
        if scene.path(file).exists() {
            let _ = scene.export(file, collection, "events", "state.ndjson");
            let documents = without_system_fields(&scene.lines("state.ndjson"));
            let _ = state.insert(file.to_owned(), documents.into());
        }
    }
    for (name, bytes) in listing(scene.folder()) {
        let name = name.to_str().unwrap();
        // Times and processes differ; store files were read above.
        let left_out = [".db", ".journal", ".manifest.json"].iter().any(|suffix| name.ends_with(suffix));
        if left_out || name.starts_with("state.") {
            continue;
        }
        let mut lines: Vec<_> = String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect();
        let mut name = name.to_owned();
        if name.ends_with(".undo.ndjson") {
            // A batch that was noted and not sent is noted again; name and header tell which collection it was.
            lines.retain(|line| !line.starts_with("{\"begin\""));
            lines.sort();
            lines.dedup();
            name = format!("undo list of {}", lines.last().cloned().unwrap_or_default());
        }
        let _ = state.insert(name, lines.into());
    }
    state
}

/// The result without what says how the work was shared between the runs; those are summed up.
fn summed(result: &Value) -> Value {
    let mut result = result.clone();
    let members = result.as_object_mut().unwrap();
    let shared = ["written", "identical", "deleted", "removed", "put_back", "gone"];
    let sum: u64 = shared.iter().filter_map(|name| members.remove(*name)).filter_map(|it| it.as_u64()).sum();
    let _ = (members.remove("notices"), members.insert("sum".to_owned(), json!(sum)));
    result
}

/// Stops a command at a point, runs it again and compares with the uninterrupted run.
fn ends_the_same(case: &Case, point: &str, pass: usize, how: &str, whole: &(Value, BTreeMap<String, Value>)) {
    let what = format!("{} on {}, {how} at {point}", case.name, case.scene.store);
    let scene = case.copy();
    let plan = format!("{point}:{pass}:{how}");
    let stopped = scene.result_with(&case.arguments(), &[("REKEY_FAILPOINT", &plan)]);
    let expected = if how == "abort" { None } else { Some(74) };
    assert_eq!(stopped.code, expected, "{what}: {}", stopped.stderr);
    let result = scene.result(&case.arguments()).ended(case.code);
    assert_eq!(summed(&result), summed(&whole.0), "{what}");
    let state = state(&scene);
    assert_eq!(state.keys().collect::<Vec<_>>(), whole.1.keys().collect::<Vec<_>>(), "{what}: other files");
    for (name, contents) in &whole.1 {
        assert!(state[name] == *contents, "{what}: {name} is another one");
    }
}

/// Everything one store kind has: point → the commands that pass it, each shown to end the same.
fn matrix_of(store: StoreKind) -> BTreeMap<String, Vec<&'static str>> {
    let folder = tempfile::tempdir().unwrap();
    let mut commands: BTreeMap<String, Vec<&'static str>> = BTreeMap::new();
    for case in cases(store) {
        let uninterrupted = case.copy();
        let result = uninterrupted.result(&case.arguments()).ended(case.code);
        let whole = (result, state(&uninterrupted));
        for (point, passes) in passed(&case, &folder.path().join("trace")) {
            for how in ["abort", "error"] {
                ends_the_same(&case, &point, passes / 2 + 1, how, &whole);
            }
            commands.entry(point).or_default().push(case.name);
        }
    }
    commands
}

#[test]
fn a_command_that_is_stopped_anywhere_and_run_again_ends_as_if_it_had_not_been() {
    let matrices = std::thread::scope(|scope| {
        let running = STORES.map(|store| scope.spawn(move || matrix_of(store)));
        running.map(|thread| thread.join().unwrap())
    });
    let mut table = "| point |".to_owned();
    for store in STORES {
        write!(table, " {} |", store.title()).unwrap();
    }
    table.push_str("\n|---|---|---|---|---|\n");
    for point in Point::ALL {
        write!(table, "| `{}` |", point.name()).unwrap();
        let mut is_passed = false;
        for matrix in &matrices {
            let commands = matrix.get(point.name()).map_or_else(String::new, |commands| commands.join(", "));
            is_passed |= !commands.is_empty();
            write!(table, " {} |", if commands.is_empty() { "–" } else { &commands }).unwrap();
        }
        assert!(is_passed, "{} is passed by no command", point.name());
        table.push('\n');
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reliability.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (written, after) = rest.split_once(END).unwrap();
    if std::env::var_os("REKEY_WRITE_DOCS").is_some() {
        std::fs::write(&page, format!("{before}{BEGIN}\n{table}\n{END}{after}")).unwrap();
    } else {
        assert_eq!(
            written.trim(),
            table.trim(),
            "docs/reliability.md is not what was found; REKEY_WRITE_DOCS=1 writes it"
        );
    }
}
