//! The project file: read strictly, and in place of long flags.

use std::path::{Path, PathBuf};

use rekey::document::StoreKind;
use rekey::project::{FIELDS, Project};
use serde_json::Value;

use crate::generated::Generated;
use crate::scene::{STORES, Scene};
use crate::schema::violations;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn schema() -> Value {
    serde_json::from_str(&std::fs::read_to_string(root().join("docs/rekey.schema.json")).unwrap()).unwrap()
}

/// The files below a folder with that end.
fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, end));
        } else if path.to_string_lossy().ends_with(end) {
            found.push(path);
        }
    }
    found
}

/// Every project file in the repository: the example beside the pages, and what the pages show.
fn examples() -> Vec<(String, String)> {
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    let mut examples: Vec<(String, String)> = files(&root().join("docs/examples"), "rekey.toml")
        .iter()
        .map(|path| (path.display().to_string(), read(path)))
        .collect();
    let pages = files(&root().join("docs"), ".md").into_iter().chain([root().join("README.md")]);
    for page in pages {
        let text = read(&page);
        let blocks = text.split("\n```toml\n").skip(1).filter_map(|rest| rest.split("\n```").next());
        let projects = blocks.filter(|block| block.contains("[stores."));
        examples.extend(projects.map(|block| (page.display().to_string(), block.to_owned())));
    }
    examples
}

fn as_json(text: &str) -> Value {
    serde_json::to_value(toml::from_str::<toml::Table>(text).unwrap()).unwrap()
}

#[test]
fn every_example_is_read_and_valid_against_the_schema() {
    let schema = schema();
    let examples = examples();
    assert!(examples.len() >= 4, "the examples were not found");
    for (place, text) in examples {
        let _ = Project::parse(&text, Path::new("rekey.toml"))
            .unwrap_or_else(|error| panic!("{place}: {error:?}"));
        assert_eq!(violations(&schema, &as_json(&text)), Vec::<String>::new(), "{place}");
    }
}

#[test]
fn the_schema_has_the_fields_that_the_program_knows() {
    let schema = schema();
    let names = |pointer: &str| -> Vec<String> {
        schema.pointer(pointer).unwrap().as_object().unwrap().keys().cloned().collect()
    };
    let mut known: Vec<_> = FIELDS.iter().map(|field| field.name.to_owned()).collect();
    known.sort();
    assert_eq!(names("/$defs/fields/properties"), known);
    known.retain(|name| name != "collection" && name != "target-collection");
    assert_eq!(names("/properties/defaults/properties"), known);
    for field in FIELDS {
        let about = schema.pointer(&format!("/$defs/fields/properties/{}/description", field.name)).unwrap();
        assert_eq!(about.as_str().unwrap().to_lowercase(), format!("{}.", field.about).to_lowercase());
    }
}

#[test]
fn what_the_program_refuses_the_schema_refuses_too() {
    let schema = schema();
    let store = "[stores.a]\nsource = \"dynamodb://\"\ncollection = \"c\"\nlayout = \"events\"\n";
    for text in [
        "[defaults]\n".to_owned(),
        format!("{store}layuot = \"events\"\n"),
        format!("{store}target = \"postgres://h/d\"\n"),
        format!("{store}target = \"mongodb://u:p@h/d\"\n"),
        format!("{store}target = {{ var = \"X\" }}\n"),
        format!("{store}max-wcu = 0\n"),
        format!("{store}escaping = \"escape\"\n"),
        format!("{store}only-tenants = [\"a,b\"]\n"),
        format!("{store}probe-streams = \"most\"\n"),
        format!("{store}create-target = \"yes\"\n"),
        format!("{store}tenant = \"a\"\nuntenanted = true\n"),
        format!("[defaults]\ncollection = \"c\"\n{store}"),
        store.replace("stores.a", "stores.\"a/b\""),
        store.replace("collection = \"c\"\n", ""),
    ] {
        assert!(Project::parse(&text, Path::new("rekey.toml")).is_err(), "{text}");
        assert_ne!(violations(&schema, &as_json(&text)), Vec::<String>::new(), "{text}");
    }
}

/// A scene with legacy documents and a project for them.
fn scene(store: StoreKind) -> (Scene, Generated) {
    let scene = Scene::new(store);
    let generated = Generated::events(store, 20);
    scene.seed(&generated, "shop.db", "shop");
    scene.write(
        "rekey.toml",
        format!(
            "[defaults]\ntenant-map = \"map.csv\"\nescaping = \"escaped\"\n\n[stores.orders]\n\
             source = \"embedded:shop.db?as={store}\"\ncollection = \"shop\"\nlayout = \"events\"\n\
             target = \"embedded:moved.db?as={store}\"\ntarget-collection = \"moved\"\ncreate-target = true\n"
        ),
    );
    (scene, generated)
}

#[test]
fn the_whole_road_goes_by_the_project_alone() {
    for store in STORES {
        let (scene, generated) = scene(store);
        let count = generated.lines.len();
        assert_eq!(
            scene.done(&["export", "--project", "rekey.toml", "--store", "orders"])["documents"],
            count
        );
        assert_eq!(scene.done(&["rekey", "--store", "orders"])["rekeyed"], count);
        assert_eq!(scene.done(&["import", "--project", "rekey.toml"])["written"], count);
        assert_eq!(scene.done(&["verify", "--store", "orders"])["verdict"], "match");
        assert_eq!(scene.done(&["undo", "--store", "orders", "--dry-run"])["left"], 0);
        assert_eq!(scene.done(&["prune", "--store", "orders"])["deleted"], count);
        assert_eq!(scene.done(&["verify", "--store", "orders", "--pruned"])["verdict"], "match");
        assert_eq!(scene.done(&["restore", "--store", "orders"])["written"], count);
        assert!(scene.path("orders/rekeyed.ndjson.zst.keys.ndjson").exists());
    }
}

#[test]
fn sagas_are_counted_in_the_store_of_a_project() {
    let scene = Scene::new(StoreKind::DynamoDb);
    let generated = Generated::sagas(StoreKind::DynamoDb, 20);
    scene.seed(&generated, "shop.db", "sagas");
    let store = "source = \"embedded:shop.db?as=dynamodb\"\ncollection = \"sagas\"\nlayout = \"sagas\"\n";
    scene.write("rekey.toml", format!("[stores.carts]\n{store}single-tenant = true\nmax-rcu = 500\n"));
    let counted = scene.done(&["sagas", "--store", "carts"]);
    assert_eq!(counted["sagas"], 20, "{counted}");
    let _ = scene.done(&["export", "--store", "carts"]);
    let of_the_archive = scene.done(&["sagas", "carts/legacy.ndjson.zst", "--store", "carts"]);
    assert_eq!(of_the_archive["running"], counted["running"]);
}

#[test]
fn a_project_in_another_folder_is_read_from_there() {
    let (scene, generated) = scene(StoreKind::MongoDb);
    std::fs::create_dir(scene.path("elsewhere")).unwrap();
    let mut command = scene.command(&["export", "--project", "../rekey.toml", "--output", "json"]);
    let output = command.current_dir(scene.path("elsewhere")).output().unwrap();
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["documents"], generated.lines.len());
    assert!(scene.path("orders/legacy.ndjson.zst").exists());
}

#[test]
fn what_is_typed_takes_the_place_of_the_project() {
    let (scene, _) = scene(StoreKind::MongoDb);
    let _ = scene.done(&["export", "--store", "orders", "--out", "mine.ndjson"]);
    assert!(scene.path("mine.ndjson").exists() && !scene.path("orders").exists());
    let result = scene.done(&[
        "rekey",
        "mine.ndjson",
        "--store",
        "orders",
        "--dry-run",
        "--tenant",
        "acme",
        "--escaping",
        "raw",
    ]);
    assert_eq!(result["escaping"], "raw");
    assert_eq!(result["tenants"].as_object().unwrap().keys().collect::<Vec<_>>(), ["acme"]);
}

#[test]
fn a_flag_that_contradicts_the_project_says_what_the_project_gave() {
    let (scene, _) = scene(StoreKind::Firestore);
    let text = scene.text("rekey.toml") + "move = true\n";
    scene.write("rekey.toml", text);
    let ran = scene.run(&["import", "--store", "orders", "--in-place"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("From the store orders of rekey.toml: "), "{}", ran.stderr);
    assert!(ran.stderr.contains("--move"), "{}", ran.stderr);
    // A check behind clap's own says it, too.
    let text = scene.text("rekey.toml") + "max-ru = 5\n";
    scene.write("rekey.toml", text);
    let ran = scene.run(&["verify", "--store", "orders"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("--max-ru limits Cosmos DB alone") && ran.stderr.contains("From the store"),
        "{}",
        ran.stderr
    );
}

#[test]
fn an_address_may_come_from_a_variable_and_is_not_shown() {
    let (scene, generated) = scene(StoreKind::MongoDb);
    let text = scene.text("rekey.toml").replace("\"embedded:shop.db?as=mongodb\"", "{ env = \"SHOP\" }");
    scene.write("rekey.toml", text);
    let export = ["export", "--store", "orders", "--output", "json"];
    let run = |value: Option<&str>| {
        let mut command = scene.command(&export);
        let _ = command.envs(value.map(|value| ("SHOP", value)));
        command.output().unwrap()
    };
    let unset = run(None);
    let said = String::from_utf8_lossy(&unset.stderr).into_owned();
    assert_eq!(unset.status.code(), Some(2));
    assert!(said.contains("The variable SHOP is not set"), "{said}");
    let wrong = run(Some("postgres://ops:S3CRET@h/d"));
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(said.contains("The variable SHOP holds no store address") && !said.contains("S3CRET"), "{said}");
    let done = run(Some("embedded:shop.db?as=mongodb"));
    let result: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(result["documents"], generated.lines.len());
}

#[test]
fn a_secret_in_the_file_is_refused_with_the_variable_to_use() {
    let (scene, _) = scene(StoreKind::MongoDb);
    let text = scene.text("rekey.toml").replace("embedded:shop.db?as=mongodb", "mongodb://ops:S3CRET@h/d");
    scene.write("rekey.toml", text);
    let ran = scene.run(&["export", "--store", "orders"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("rekey.toml, line 6: source cannot be used"), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("holds a password") && ran.stderr.contains("MONGODB_PASSWORD"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("S3CRET"), "{}", ran.stderr);
}

#[test]
fn init_writes_a_project_adds_to_it_and_replaces_nothing() {
    let scene = Scene::new(StoreKind::MongoDb);
    let orders = [
        "init",
        "--store",
        "orders",
        "--source",
        "embedded:a.db?as=mongodb",
        "--collection",
        "events",
        "--layout",
        "events",
        "--single-tenant",
    ];
    let first = scene.done(&orders);
    assert_eq!((&first["created"], &first["store"]), (&true.into(), &"orders".into()));
    let carts = ["init", "--store", "carts", "--source", "$CARTS", "--table", "Carts", "--layout", "sagas"];
    assert_eq!(scene.done(&carts)["created"], false);
    let written = scene.text("rekey.toml");
    let project = Project::parse(&written, Path::new("rekey.toml")).unwrap();
    assert_eq!(project.stores().len(), 2);
    assert_eq!(project.stores()[1].source().shown(), "$CARTS");
    assert_eq!(violations(&schema(), &as_json(&written)), Vec::<String>::new());

    let again = scene.run(&orders);
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("has a store \"orders\" already"), "{}", again.stderr);
    let secret = scene.run(&[
        "init",
        "--store",
        "x",
        "--source",
        "mongodb://a:S3CRET@h/d",
        "--collection",
        "c",
        "--layout",
        "events",
    ]);
    assert_eq!(secret.code, Some(2));
    assert!(
        secret.stderr.contains("holds a password") && !secret.stderr.contains("S3CRET"),
        "{}",
        secret.stderr
    );
    assert_eq!(scene.text("rekey.toml"), written);
}

#[test]
fn init_without_a_terminal_says_which_flags_are_missing() {
    let scene = Scene::new(StoreKind::MongoDb);
    let ran = scene.run(&["init", "--collection", "events"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("--store, --source, --layout are not given"), "{}", ran.stderr);
    assert!(!scene.path("rekey.toml").exists());
    let schema = scene.run(&["init", "--print-schema"]);
    assert_eq!(serde_json::from_slice::<Value>(&schema.stdout).unwrap(), self::schema());
}
