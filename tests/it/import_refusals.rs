//! What a target refuses of an archive that another tool wrote is set aside by whole stream, each document with
//! its reason, wherever the archive came from.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;

use rekey::document::StoreKind;
use serde_json::Value;

use crate::generated::{Generated, Stream};
use crate::scene::Scene;

/// Rekeyed lines without a manifest, and three of them: events of three streams that are long enough.
struct Archive {
    scene: Scene,
    lines: Vec<String>,
}

const LONG: [usize; 3] = [5, 7, 9];

impl Archive {
    fn new() -> Self {
        let scene = Scene::new(StoreKind::CosmosDb);
        let generated = Generated::events(scene.store, 20);
        scene.seed(&generated, "shop.db", "shop");
        let _ = scene.export("shop.db", "shop", "events", "legacy.ndjson");
        let _ = scene.rekey("legacy.ndjson", "rekeyed.ndjson", &[]);
        let lines = scene.lines("rekeyed.ndjson");
        Self { scene, lines }
    }

    /// Where the second event of a stream stands.
    fn place(&self, stream: usize) -> usize {
        let id = format!("{:012}\"", stream * 100 + 1);
        self.lines.iter().position(|line| line.contains(&id)).expect("a second event")
    }

    fn spoil(&mut self, stream: usize, spoil: impl Fn(&str) -> String) {
        let place = self.place(stream);
        let spoilt = spoil(&self.lines[place]);
        assert_ne!(spoilt, self.lines[place]);
        self.lines[place] = spoilt;
    }

    fn write(&self, name: &str, lines: &[String]) {
        self.scene.write(name, lines.join("\n") + "\n");
    }
}

/// Imports archives of the layout into a new collection; what is refused is set aside.
fn import<'a>(archives: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    let to = ["--to", "embedded:new.db?as=cosmosdb", "--collection", "moved", "--create-target"];
    let how = ["--layout", "cosmosdb-events", "--on-refused", "set-aside"];
    [&["import"], archives, &to, &how, more].concat()
}

/// The entries of a side file: reason → how many.
fn reasons(scene: &Scene, list: &str) -> BTreeMap<String, usize> {
    let mut reasons = BTreeMap::new();
    for entry in scene.lines(list) {
        let entry: Value = serde_json::from_str(&entry).unwrap();
        assert!(entry["document"].is_object() || entry["line_base64"].is_string(), "{entry}");
        *reasons.entry(entry["reason"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    reasons
}

fn lengths(streams: &[usize]) -> usize {
    streams.iter().map(|stream| Stream::new(*stream).length()).sum()
}

#[test]
fn documents_of_several_archives_are_set_aside_with_their_reasons() {
    let mut archive = Archive::new();
    let [wrong_key, cut, typeless] = LONG;
    archive.spoil(wrong_key, |line| line.replacen("\"id\":\"t:", "\"id\":\"t;", 1));
    archive.spoil(cut, |line| line[..line.len() - 9].to_owned());
    archive.spoil(typeless, |line| line.replacen("\"aggregateType\"", "\"aggregateTypo\"", 1));
    let half = archive.lines.len() / 2;
    archive.write("a.ndjson", &archive.lines[..half]);
    archive.write("b.ndjson", &archive.lines[half..]);
    let count = archive.lines.len().to_string();
    let scene = &archive.scene;
    let ran = scene.result(&import(&["a.ndjson", "b.ndjson"], &["--expect-documents", &count]));
    let result = ran.ended(3);
    let aside = lengths(&LONG);
    assert_eq!(result["set_aside"], aside, "{}", ran.stderr);
    assert_eq!(result["written"], archive.lines.len() - aside);
    assert_eq!(result["set_aside_file"], "a.ndjson.import.refused.ndjson");
    let expected =
        [("field-missing", 1), ("key-mismatch", 1), ("malformed", 1), ("stream-refused", aside - 3)];
    let expected: BTreeMap<_, _> = expected.map(|(reason, count)| (reason.to_owned(), count)).into();
    assert_eq!(reasons(scene, "a.ndjson.import.refused.ndjson"), expected);
    let own: BTreeSet<_> = result["reasons"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(own, ["field-missing", "key-mismatch", "malformed"].map(str::to_owned).into());

    // Once the documents are right again the rest goes in, and nothing of it twice.
    let again = scene.done(&[
        "import",
        "rekeyed.ndjson",
        "--to",
        "embedded:new.db?as=cosmosdb",
        "--collection",
        "moved",
    ]);
    assert_eq!((&again["written"], &again["identical"]), (&Value::from(aside), &result["written"]));
    assert_eq!(scene.verify(&["rekeyed.ndjson"], "new.db", "moved", &[]).ended(0)["verdict"], "match");
}

#[test]
fn documents_of_standard_input_are_set_aside_in_the_state_folder() {
    let mut archive = Archive::new();
    archive.spoil(LONG[0], |line| line.replacen("\"id\":\"t:", "\"id\":\"t;", 1));
    archive.write("a.ndjson", &archive.lines);
    let scene = &archive.scene;
    let mut command = scene.command(&import(&["-"], &["--state-dir", "state", "--output", "json"]));
    let output = command.stdin(File::open(scene.path("a.ndjson")).unwrap()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    let file = result["set_aside_file"].as_str().expect("a side file");
    assert!(file.starts_with("state/stdin-"), "{file}");
    let aside = lengths(&LONG[..1]);
    let expected = [("key-mismatch".to_owned(), 1), ("stream-refused".to_owned(), aside - 1)].into();
    assert_eq!(reasons(scene, file), expected);
    assert_eq!(result["set_aside"], aside);
}

#[test]
fn a_folder_keeps_its_lists_inside_and_they_are_no_parts() {
    let mut archive = Archive::new();
    archive.spoil(LONG[0], |line| line.replacen("\"id\":\"t:", "\"id\":\"t;", 1));
    std::fs::create_dir(archive.scene.path("parts")).unwrap();
    archive.write("parts/1.ndjson", &archive.lines);
    let count = archive.lines.len().to_string();
    let scene = &archive.scene;
    for _ in 0..2 {
        let result = scene.result(&import(&["parts"], &["--expect-documents", &count])).ended(3);
        assert_eq!(result["findings_file"], "parts/import.findings.ndjson");
        assert_eq!(result["set_aside_file"], "parts/import.refused.ndjson");
    }
}

/// A line that does not even say which stream it is of may be of any: none may be moved without it.
#[test]
fn nothing_is_moved_beside_an_event_that_has_lost_its_key() {
    let mut archive = Archive::new();
    archive.spoil(LONG[0], |_| r#"{"payload":"#.to_owned());
    archive.write("a.ndjson", &archive.lines);
    let count = archive.lines.len().to_string();
    let scene = &archive.scene;
    let result = scene.result(&import(&["a.ndjson"], &["--expect-documents", &count])).ended(3);
    assert_eq!((&result["written"], &result["set_aside"]), (&Value::from(0), &result["documents"]));
    assert_eq!(reasons(scene, "a.ndjson.import.refused.ndjson").values().sum::<usize>(), archive.lines.len());
}

#[test]
fn an_import_that_is_refused_says_of_every_document_that_it_was_not_sent() {
    let mut archive = Archive::new();
    archive.spoil(LONG[0], |line| line.replacen("\"id\":\"t:", "\"id\":\"t;", 1));
    archive.write("a.ndjson", &archive.lines);
    let count = archive.lines.len().to_string();
    let how = ["--expect-documents", &count, "--on-refused", "stop"];
    let arguments = import(&["a.ndjson"], &how);
    let at = arguments.iter().position(|it| *it == "set-aside").unwrap();
    let arguments = [&arguments[..at - 1], &arguments[at + 1..]].concat();
    let result = archive.scene.result(&arguments).ended(5);
    assert_eq!((&result["not_sent"], &result["refused"]), (&result["documents"], &Value::from(1)));
    assert_eq!(result["reasons"]["key-mismatch"], 1);
    assert_eq!(result["set_aside"], 0);
}

/// A layout of one's own may know less than the store.
#[test]
fn what_the_live_target_refuses_is_set_aside_for_its_reason() {
    let scene = Scene::new(StoreKind::CosmosDb);
    let builtin = include_str!("../../src/layouts/cosmosdb-events.toml");
    let (before, rest) = builtin.split_once("[[limit]]").unwrap();
    let (_, after) = rest.split_once("[collection]").unwrap();
    scene.write("own.toml", format!("{before}[collection]{after}"));
    let event = |id, version| Stream::new(0).event(scene.store, version).replace("A-000000", id);
    let lines = [event("a", 0), event("b?", 0), event("b?", 1)];
    scene.write("old", lines.join("\n") + "\n");
    let given = ["rekey", "old", "--layout", "own.toml", "--expect-documents", "3", "--tenant", "acme"];
    let _ = scene.done(&[&given[..], &["--out", "new"]].concat());
    let to = ["--to", "embedded:new.db?as=cosmosdb", "--collection", "moved", "--create-target"];
    let import = [&["import", "new", "--layout", "own.toml"], &to[..]].concat();
    // The store's own rules are known before it exists, and a refusal makes nothing.
    assert_eq!(scene.result(&import).ended(5)["reasons"]["key-forbidden"], 2);
    assert_eq!(scene.result(&[&import[..], &["--dry-run"]].concat()).ended(5)["not_sent"], 3);
    assert!(!scene.path("new.db").exists());
    let result = scene.result(&[&import[..], &["--on-refused", "set-aside"]].concat()).ended(3);
    assert_eq!((&result["written"], &result["set_aside"]), (&Value::from(1), &Value::from(2)));
    assert_eq!(reasons(&scene, "new.import.refused.ndjson"), [("key-forbidden".to_owned(), 2)].into());
}
