//! A project of four stores, one on each database: planned, rehearsed, applied, verified and pruned with four commands,
//! and killed in the middle.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rekey::document::StoreKind;
use serde_json::Value;

use crate::generated::{Generated, Random};
use crate::scene::{STORES, Scene, size, without_system_fields};
use crate::{on_cosmosdb, on_dynamodb, on_firestore, on_mongodb};

/// Four scenes with legacy documents on their servers, and a folder with the project of all.
struct Window {
    stores: Vec<(StoreKind, Scene)>,
    project: Scene,
    environment: Vec<(&'static str, String)>,
    documents: usize,
}

impl Window {
    fn new() -> Self {
        let stores: Vec<_> = STORES.iter().map(|store| (*store, server_of(*store))).collect();
        let project = Scene::new(StoreKind::MongoDb);
        let mut text = "[defaults]\nescaping = \"escaped\"\nsubscribers-handled = true\n".to_owned();
        let (mut environment, mut documents) = (Vec::new(), 0);
        for (store, scene) in &stores {
            let generated = Generated::events(*store, size("REKEY_ROAD_STREAMS", 20));
            documents = generated.lines.len();
            scene.seed(&generated, "shop.db", "shop");
            project.write(&format!("{store}.csv"), &generated.map);
            environment.extend(scene.environment());
            text += &table(*store, scene);
        }
        // The whole address of one comes from a variable.
        let (_, first) = &stores[0];
        let address = first.address("shop.db");
        text = text.replace(&format!("{address:?}"), "{ env = \"MONGODB_SOURCE\" }");
        environment.push(("MONGODB_SOURCE", address));
        project.write("rekey.toml", text);
        Self { stores, project, environment, documents }
    }

    /// Runs the program in the project's folder for its JSON result.
    fn done(&self, arguments: &[&str]) -> Value {
        self.project.result_in(arguments, &self.environment).ended(0)
    }

    /// Begins a command.
    fn spawn(&self, arguments: &[&str]) -> Child {
        let mut command = self.project.command(arguments);
        let _ = command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Kills a command at some moment.
    fn killed(&self, arguments: &[&str], after: Duration) {
        let mut child = self.spawn(arguments);
        std::thread::sleep(after);
        child.kill().unwrap();
        let _ = child.wait().unwrap();
    }

    /// Kills a command as soon as one of the stores has begun to go through a state.
    fn killed_in(&self, arguments: &[&str], state: &str) {
        let mut child = self.spawn(arguments);
        while !STORES.iter().any(|store| self.has_begun(*store, state)) {
            let ended = child.try_wait().unwrap();
            assert!(ended.is_none(), "it ended before a store was being {state}: {ended:?}");
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(9), "it was at work when it was killed");
    }

    fn has_begun(&self, store: StoreKind, state: &str) -> bool {
        let evidence = self.project.path(&format!("on-{store}/{state}.json"));
        let evidence: Option<Value> =
            std::fs::read(evidence).ok().and_then(|it| serde_json::from_slice(&it).ok());
        evidence.is_some_and(|evidence| evidence["status"] == "begun")
    }

    /// What the target of a store holds.
    fn contents(&self, store: StoreKind) -> Vec<Value> {
        let (_, scene) = self.stores.iter().find(|(kind, _)| *kind == store).unwrap();
        let (file, collection) = target_of(store);
        let _ = scene.export(file, collection, "events", "contents.ndjson");
        without_system_fields(&scene.lines("contents.ndjson"))
    }
}

fn server_of(store: StoreKind) -> Scene {
    match store {
        StoreKind::MongoDb => on_mongodb::scene(),
        StoreKind::DynamoDb => on_dynamodb::scene(),
        StoreKind::Firestore => on_firestore::scene(),
        StoreKind::CosmosDb => on_cosmosdb::scene(),
    }
}

/// A MongoDB event keeps its `_id` and needs a collection of its own; the others stand beside their legacy selves.
fn target_of(store: StoreKind) -> (&'static str, &'static str) {
    if store == StoreKind::MongoDb { ("moved.db", "moved") } else { ("shop.db", "shop") }
}

fn table(store: StoreKind, scene: &Scene) -> String {
    let (address, collection) = (scene.address("shop.db"), scene.collection("shop.db", "shop"));
    let (file, target) = target_of(store);
    let target = scene.collection(file, target);
    let target = if target == collection {
        String::new()
    } else {
        format!("target-collection = {target:?}\ncreate-target = true\n")
    };
    format!(
        "\n[stores.on-{store}]\nsource = {address:?}\ncollection = {collection:?}\nlayout = \"events\"\n\
         tenant-map = \"{store}.csv\"\n{target}"
    )
}

#[test]
fn a_project_of_four_stores_is_planned_rehearsed_applied_and_pruned_with_four_commands() {
    let window = Window::new();
    let planned = window.done(&["plan"]);
    for store in planned["plan"]["stores"].as_array().unwrap() {
        assert_eq!(store["import"]["write"], window.documents, "{store}");
    }
    let rehearsed = window.done(&["rehearse", "--export"]);
    let applied = window.done(&["apply", "plan.json", "--yes"]);
    let pruned = window.done(&["apply", "plan.json", "--yes", "--prune"]);
    for store in STORES {
        let state = |result: &Value| result["stores"][format!("on-{store}")]["state"].clone();
        assert_eq!([state(&rehearsed), state(&applied), state(&pruned)], ["pruned", "verified", "pruned"]);
        assert_eq!(window.contents(store).len(), window.documents, "{store}");
    }
}

#[test]
fn killed_in_the_middle_of_each_state_and_run_again_it_ends_the_same() {
    let whole = Window::new();
    let run = ["run", "--yes", "--prune", "--parallel", "2"];
    let started = Instant::now();
    let _ = whole.done(&run);
    let uninterrupted = started.elapsed();
    let mut random = Random(12);
    let window = Window::new();
    for state in ["exported", "rekeyed", "imported", "verified", "pruned"] {
        window.killed_in(&run, state);
    }
    for _ in 0..size("REKEY_KILLS", 3) {
        let share = u32::try_from(random.below(1000)).unwrap();
        window.killed(&run, uninterrupted * share / 1000);
    }
    let result = window.done(&run);
    for store in STORES {
        assert_eq!(result["stores"][format!("on-{store}")]["state"], "pruned", "{result}");
        let (mut expected, mut found) = (whole.contents(store), window.contents(store));
        for documents in [&mut expected, &mut found] {
            // Names of Firestore documents hold their project.
            for document in documents {
                let _ = document.as_object_mut().unwrap().remove("name");
            }
        }
        assert!(expected == found, "another end state on {store}");
    }
}
