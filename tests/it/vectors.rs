//! Every before/after document of `tests/vectors/rekey-vectors.json`, through a layout and through the command.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Stdio};

use rekey::document::StoreKind;
use rekey::document::json::Tape;
use rekey::key::Escaping;
use rekey::layout::{Identity, Inspector, KeyState, Layout, StoredOwner};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Vector<'a> {
    name: String,
    store: String,
    escaping: Escaping,
    tenant: String,
    #[serde(borrow)]
    before: &'a RawValue,
    #[serde(borrow)]
    after: &'a RawValue,
}

/// A document as an archive's line: DynamoDB items are wrapped.
fn line(store: StoreKind, document: &RawValue) -> Vec<u8> {
    match store {
        StoreKind::DynamoDb => format!("{{\"Item\":{document}}}").into_bytes(),
        _ => document.get().into(),
    }
}

fn names(layout: &Layout, line: &[u8]) -> Vec<String> {
    let mut tape = Tape::new();
    tape.read(line).unwrap();
    let fields = layout.store.fields(&tape, line).unwrap();
    tape.members(fields).map(|member| member.name(line).into_owned()).collect()
}

fn read(inspector: &mut Inspector, line: &[u8]) -> (Tape, Identity) {
    let mut tape = Tape::new();
    tape.read(line).unwrap();
    let mut identity = Identity::default();
    inspector.inspect(&tape, line, &mut identity).unwrap();
    (tape, identity)
}

fn check(vector: &Vector<'_>) {
    let what = format!("{}, {}", vector.store, vector.name);
    let layout = Layout::builtin(&vector.store).unwrap();
    let mut inspector = Inspector::new(&layout, Some(vector.escaping));
    let before = line(layout.store, vector.before);
    let after = line(layout.store, vector.after);

    let (tape, identity) = read(&mut inspector, &before);
    assert_eq!(identity.state, KeyState::Legacy, "{what}");
    let mut out = Vec::new();
    inspector.rewrite(&tape, &before, &identity, &vector.tenant, StoredOwner::Refuse, &mut out).unwrap();

    let made: Value = serde_json::from_slice(&out).unwrap();
    let expected: Value = serde_json::from_slice(&after).unwrap();
    assert_eq!(made, expected, "{what}");
    // DynamoDB and Firestore keep no order of their own, but the line's bytes do.
    assert_eq!(names(&layout, &out), names(&layout, &after), "{what}");

    let (new_tape, new_identity) = read(&mut inspector, &out);
    assert_eq!(new_identity.state, KeyState::Rekeyed { tenant: vector.tenant.clone() }, "{what}");
    let terms = |it: &Identity| (it.type_name.clone(), it.id.clone(), it.version);
    assert_eq!(terms(&new_identity), terms(&identity), "{what}");
    let order_key = |inspector: &Inspector| {
        let mut key = Vec::new();
        let stream_len = inspector.order_key(&new_tape, &out, &mut key).unwrap();
        assert_eq!(inspector.stream_key_len(&key), stream_len, "{what}");
        key
    };
    let mut foretold = Vec::new();
    let _ =
        inspector.rewrite(&tape, &before, &identity, &vector.tenant, StoredOwner::Refuse, &mut Vec::new());
    let _ = inspector.new_order_key(&tape, &before, &mut foretold).unwrap();
    assert_eq!(order_key(&inspector), foretold, "{what}");
    let (mut order_keys, mut store_key) = (Vec::new(), Vec::new());
    let keys = inspector.keys(&tape, &before, false, &mut order_keys, &mut store_key).unwrap();
    assert_eq!(inspector.display_key(&new_tape, &out), keys.new, "{what}");
    let new_store_key = inspector.new_store_key(&tape, &before).unwrap();
    assert_eq!(inspector.store_key(&new_tape, &out).unwrap(), new_store_key, "{what}");
}

#[test]
fn every_vector_is_rewritten_as_the_framework_expects() {
    let text = include_str!("../vectors/rekey-vectors.json");
    let vectors: Vec<Vector<'_>> = serde_json::from_str(text).unwrap();
    assert_eq!(vectors.len(), 54);
    vectors.iter().for_each(check);
}

/// JSON as it is, but on one line: the white space between its tokens is left out.
fn on_one_line(document: &[u8]) -> Vec<u8> {
    let (mut out, mut in_string, mut escaped) = (Vec::new(), false, false);
    for &byte in document {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_string = !in_string,
            b' ' | b'\n' if !in_string => continue,
            _ => {}
        }
        out.push(byte);
    }
    out
}

/// Runs one document through the command, as a pipe does.
fn rekey(vector: &Vector<'_>, before: &[u8]) -> Vec<u8> {
    let escaping = if vector.escaping == Escaping::Raw { "raw" } else { "escaped" };
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("rekey"))
        .env_clear()
        .current_dir(folder.path())
        .args(["rekey", "-", "--out", "-", "--layout", &vector.store, "--tenant", &vector.tenant])
        .args(["--escaping", escaping, "--allow-gaps", "--state-dir", "."])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(before).unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{}, {}: {stderr}", vector.store, vector.name);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "a file was left behind");
    output.stdout
}

/// Every field of a line as it stands there, white space and spelling included; `None` is outside the fields.
fn raw_fields(store: StoreKind, line: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut tape = Tape::new();
    tape.read(line).unwrap();
    let fields = store.fields(&tape, line).unwrap();
    let of = |of| tape.members(of).map(|it| (it.name(line).into_owned(), it.raw(line).to_vec()));
    let mut all: Vec<_> = of(fields).collect();
    if fields.is_some() {
        // What stands beside the fields, under names that no field can be taken for.
        all.extend(of(None).filter(|(_, raw)| raw[0] == b'"').map(|(name, raw)| (format!("@{name}"), raw)));
    }
    all
}

#[test]
fn every_vector_passes_through_the_command() {
    let text = include_str!("../vectors/rekey-vectors.json");
    let vectors: Vec<Vector<'_>> = serde_json::from_str(text).unwrap();
    for vector in &vectors {
        let what = format!("{}, {}", vector.store, vector.name);
        let layout = Layout::builtin(&vector.store).unwrap();
        let before = on_one_line(&line(layout.store, vector.before));
        let expected = on_one_line(&line(layout.store, vector.after));
        let out = rekey(vector, &before);
        let made = out.strip_suffix(b"\n").expect("one whole line");
        assert!(!made.contains(&b'\n'), "{what}: more than one line");

        let value = |line: &[u8]| serde_json::from_slice::<Value>(line).unwrap();
        assert_eq!(value(made), value(&expected), "{what}");
        if layout.store != StoreKind::DynamoDb {
            assert_eq!(names(&layout, made), names(&layout, &expected), "{what}");
        }

        // Besides the fields that the layout names, every byte is the one that was there.
        let (old, new) = (raw_fields(layout.store, &before), raw_fields(layout.store, made));
        let mut changed = BTreeSet::from(["@name".to_owned()]);
        changed.extend(layout.touched_fields().into_iter().map(str::to_owned));
        for (name, raw) in new.iter().filter(|(name, _)| !changed.contains(name)) {
            let stood =
                old.iter().find(|(it, _)| it == name).unwrap_or_else(|| panic!("{what}: {name} is new"));
            assert!(stood.1 == *raw, "{what}: {name} was spelled anew");
        }
        let dropped: BTreeSet<_> = layout.system_fields().iter().map(String::as_str).collect();
        for (name, _) in &old {
            let is_there = new.iter().any(|(it, _)| it == name);
            assert_ne!(is_there, dropped.contains(name.trim_start_matches('@')), "{what}: {name}");
        }
    }
}
