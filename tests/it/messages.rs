//! What a person reads when something is wrong: what it is, where, and what to do.

use rekey::document::StoreKind;

use crate::scene::Scene;

const EVENT: &str = r#"{"id":"Order:a:0","streamId":"Order:a","eventId":"a-0","aggregateId":"a","aggregateType":"Order","eventType":"E","version":0,"timestamp":"2026-01-02T03:04:05.6780000+00:00","eventData":"e30=","metadata":null}"#;

/// What a command says that must end with `code`.
fn said(scene: &Scene, arguments: &str, code: i32) -> String {
    let ran = scene.run(&arguments.split_whitespace().collect::<Vec<_>>());
    ran.ended_with(code);
    ran.stderr
}

fn scene(archive: &str) -> Scene {
    let scene = Scene::new(StoreKind::CosmosDb);
    scene.write("old", archive);
    scene
}

const REWRITE: &str = "rekey old --layout cosmosdb-events --expect-documents 2 --tenant acme --out new";

#[test]
fn json_that_is_not_one_document_a_line_is_told_by_its_beginning() {
    for (archive, what, hint) in [
        (format!("[{EVENT},\n{EVENT}]\n"), "a JSON array", "--jsonArray"),
        (format!("\u{feff}\r\n[{EVENT}]"), "a JSON array", "--jsonArray"),
        ("{\n  \"id\": \"Order:a:0\"\n}\n".to_owned(), "pretty-printed", "--pretty"),
    ] {
        let said = said(&scene(&archive), REWRITE, 74);
        assert!(said.contains("\"old\"") && said.contains(what) && said.contains(hint), "{said}");
    }
}

#[test]
fn a_cut_off_archive_is_named() {
    let cut_off = format!("{EVENT}\n{}}}", &EVENT[..EVENT.len() - 30]);
    let said = said(&scene(&cut_off), REWRITE, 74);
    assert!(said.contains("\"old\" is cut off: its last line, 2"), "{said}");
}

#[test]
fn only_what_is_missing_is_asked_for() {
    let scene = scene(&format!("{EVENT}\n"));
    let both = said(&scene, "rekey old --tenant acme --out new", 2);
    assert!(both.contains("--layout LAYOUT (") && both.contains("--expect-documents N"), "{both}");
    let count = said(&scene, "rekey old --layout events --tenant acme --out new", 2);
    assert!(!count.contains("LAYOUT") && count.contains("--expect-documents N"), "{count}");
    let layout = said(&scene, "rekey old --expect-documents 1 --tenant acme --out new", 2);
    assert!(layout.contains("--layout LAYOUT (") && !layout.contains(" N"), "{layout}");
}

#[test]
fn what_is_missing_is_told_with_what_to_do() {
    let scene = scene(&format!("{EVENT}\n"));
    let _ = said(&scene, &REWRITE.replace("documents 2", "documents 1"), 0);
    let at = "--to embedded:s.redb?as=cosmosdb --collection events --create-target";
    let nothing = said(&scene, &format!("import nwe {at}"), 74);
    assert!(nothing.contains("\"nwe\"") && nothing.contains("hint: Check the path"), "{nothing}");
    scene.copy("new", "alone");
    let alone = said(&scene, &format!("import alone {at}"), 2);
    assert!(alone.contains("manifest beside it") && alone.contains("--manifest"), "{alone}");
    let _ = said(&scene, &format!("import new {at}"), 0);
    scene.copy("new.manifest.json", "alone.manifest.json");
    std::fs::remove_file(scene.path("new.keys.ndjson")).unwrap();
    let legacy = "prune old --layout events --expect-documents 1 --rekeyed new --from embedded:s.redb?as=cosmosdb --collection events";
    let lost = said(&scene, legacy, 74);
    assert!(lost.contains("hint: Put the key map beside") && lost.contains("same command again"), "{lost}");
    let swapped = said(&scene, &legacy.replace("old --layout events --expect-documents 1", "new"), 2);
    assert!(swapped.contains("rekeyed archive") && swapped.contains("--rekeyed"), "{swapped}");
}

#[test]
fn a_legacy_archive_of_another_run_is_refused_and_not_counted_as_missing() {
    let scene = scene(&format!("{EVENT}\n"));
    let to = "--to embedded:s.redb?as=cosmosdb --collection";
    let from = "--from embedded:s.redb?as=cosmosdb --collection";
    let restore = "restore old --layout cosmosdb-events --expect-documents 1";
    let _ = said(&scene, &format!("{restore} {to} one --create-target"), 0);
    scene.write("old", EVENT.replace("e30=", "W10=") + "\n");
    let _ = said(&scene, &format!("{restore} {to} two --create-target"), 0);
    for name in ["one", "two"] {
        let _ = said(&scene, &format!("export {from} {name} --layout events --out {name}"), 0);
    }
    let _ = said(&scene, "rekey one --tenant acme --escaping raw --out new", 0);
    let _ = said(&scene, &format!("import new {to} moved --create-target"), 0);
    let verify = "verify new --against embedded:s.redb?as=cosmosdb --collection moved --legacy";
    let _ = said(&scene, &format!("{verify} one"), 0);
    let other = said(&scene, &format!("{verify} two"), 2);
    assert!(other.contains("was not made from \"two\"") && other.contains("--legacy"), "{other}");
}

#[test]
fn one_document_is_one_document_and_more_are_more_than_expected() {
    let scene = scene(&format!("{EVENT}\n"));
    let refused = said(&scene, &REWRITE.replace("documents 2", "documents 1").replace("acme", "t:x"), 5);
    assert!(refused.contains("1 of 1 document is refused"), "{refused}");
    let _ = said(&scene, &REWRITE.replace("documents 2", "documents 1"), 0);
    let at = "embedded:s.redb?as=cosmosdb --collection events";
    let _ = said(&scene, &format!("import new --to {at} --create-target"), 0);
    let another =
        scene.text("new").replace("Order:a", "Order:b").replace("\"a\"", "\"b\"").replace("a-0", "b-0");
    scene.write("another", another);
    let restore = "restore another --layout cosmosdb-events --expect-documents 1 --to";
    let _ = said(&scene, &format!("{restore} {at}"), 0);
    let arguments = format!("verify new --against {at}");
    let ran = scene.run(&arguments.split_whitespace().collect::<Vec<_>>());
    ran.ended_with(1);
    let shown = String::from_utf8_lossy(&ran.stdout);
    assert!(shown.contains("2 documents found where 1 must be, 1 unexpected."), "{shown}");
}

#[test]
fn a_manifest_is_known_by_what_it_holds() {
    let scene = scene(&format!("{EVENT}\n"));
    let _ = said(&scene, &REWRITE.replace("documents 2", "documents 1"), 0);
    scene.copy("new.manifest.json", "pm.json");
    let at = "--against embedded:s.redb?as=cosmosdb --collection events";
    let _ =
        said(&scene, "import new --to embedded:s.redb?as=cosmosdb --collection events --create-target", 0);
    assert_eq!(
        scene.done(&format!("verify pm.json {at}").split_whitespace().collect::<Vec<_>>())["level"],
        "counts"
    );
}

#[test]
fn a_name_that_no_collection_has_is_explained() {
    for (store, name, rule) in [
        ("dynamodb", "ab", "3 to 255"),
        ("cosmosdb", "a/b", "without / "),
        ("firestore", "a/b", "an odd number"),
    ] {
        let scene = scene("");
        let at = format!("--to embedded:s.redb?as={store} --collection {name} --create-target");
        let said = said(&scene, &format!("restore old --layout events --expect-documents 0 {at}"), 2);
        assert!(said.contains(rule) && said.contains("Choose another name"), "{said}");
    }
}

/// Lines of an example that a terminal of the usual width breaks cannot be copied.
#[test]
fn examples_fit_into_eighty_columns() {
    let scene = scene("");
    for command in ["", "demo", "export", "import", "prune", "rekey", "restore", "verify"] {
        let help = |columns| {
            let arguments: Vec<_> = command.split_whitespace().chain(["--help"]).collect();
            let output = scene.command(&arguments).env("COLUMNS", columns).output().unwrap();
            let help = String::from_utf8(output.stdout).unwrap();
            let start = help.find("\nExamples:\n").or_else(|| help.find("\nStores (")).expect("examples");
            let (examples, _) = help[start + 1..].split_once("\n\n").unwrap();
            examples.to_owned()
        };
        assert_eq!(help("80"), help("200"), "{command}");
    }
}
