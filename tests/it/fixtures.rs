//! The shipped fixtures are what `scripts/fixtures.py` writes, and legacy documents that can be rekeyed.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use rekey::document::json::Tape;
use rekey::key::Escaping;
use rekey::layout::{DocumentKind, Identity, Inspector, KeyState, Layout, StoredOwner};
use rekey::tenant::{TenantField, TenantMap, TenantResolver, TenantRule};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn fixtures() -> PathBuf {
    root().join("fixtures")
}

/// Every file of a folder and its subfolders, by its path in the folder.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = PathBuf::from(path.file_name().unwrap());
        if path.is_dir() {
            found.extend(files(&path).into_iter().map(|(inner, bytes)| (name.join(inner), bytes)));
        } else {
            let _ = found.insert(name, fs::read(&path).unwrap());
        }
    }
    found
}

#[test]
fn the_committed_files_are_what_the_script_writes() {
    let dir = tempfile::tempdir().unwrap();
    let run = Command::new("python3")
        .args(["-B", "scripts/fixtures.py"])
        .arg(dir.path())
        .current_dir(root())
        .output();
    let output = match run {
        Err(error) if error.kind() == ErrorKind::NotFound => return, // no Python here; the other tests still hold
        other => other.unwrap(),
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (written, committed) = (files(dir.path()), files(&fixtures()));
    assert_eq!(written.keys().collect::<Vec<_>>(), committed.keys().collect::<Vec<_>>());
    for (name, bytes) in written {
        assert!(committed[&name] == bytes, "{name:?} is not up to date: run scripts/fixtures.py");
    }
}

fn lines(layout: &str) -> Vec<Vec<u8>> {
    let bytes = fs::read(fixtures().join(format!("{layout}.ndjson"))).unwrap();
    let lines = bytes.strip_suffix(b"\n").unwrap().split(|byte| *byte == b'\n');
    lines.map(<[u8]>::to_vec).collect()
}

/// The tenant of each stream of a fixture, by (type, key in the map), as a rule finds it.
fn tenants(layout: &Layout, rule: TenantRule) -> BTreeMap<(String, String), String> {
    let mut resolver = TenantResolver::new(rule, None);
    let mut inspector = Inspector::new(layout, None);
    let (mut tape, mut identity, mut found) = (Tape::new(), Identity::default(), BTreeMap::new());
    for (number, line) in (1..).zip(&lines(&layout.name)) {
        tape.read(line).unwrap();
        inspector.inspect(&tape, line, &mut identity).unwrap();
        let mut key = String::new();
        inspector.map_key(&identity, &mut key);
        if !found.contains_key(&(identity.type_name.clone(), key.clone())) {
            resolver.start_stream();
        }
        resolver.observe(layout.store, &tape, line, number).unwrap();
        let tenant = resolver.decide(&identity.type_name, &key).unwrap().map(str::to_owned);
        let _ = found.insert((identity.type_name.clone(), key), tenant);
    }
    found.into_iter().map(|(stream, tenant)| (stream, tenant.unwrap())).collect()
}

fn map_of(layout: &Layout) -> TenantMap {
    let path = fixtures().join(format!("{}.tenants.csv", layout.name));
    TenantMap::read(&path, &std::env::temp_dir(), 1 << 20).unwrap()
}

#[test]
fn every_document_is_legacy_in_archive_order_and_can_be_rekeyed() {
    for name in Layout::NAMES.iter().filter(|name| **name != "cosmosdb-hierarchical") {
        let layout = Layout::builtin(name).unwrap();
        let tenants = tenants(&layout, TenantRule::Map(Box::new(map_of(&layout))));
        let mut inspector = Inspector::new(&layout, Some(Escaping::Escaped));
        let (mut tape, mut identity, mut last) = (Tape::new(), Identity::default(), Vec::new());
        for line in &lines(name) {
            tape.read(line).unwrap();
            assert!(tape.is_compact(), "{name}");
            inspector.inspect(&tape, line, &mut identity).unwrap();
            assert_eq!(identity.state, KeyState::Legacy, "{name}");

            let (mut order, mut key, mut out) = (Vec::new(), String::new(), Vec::new());
            let _ = inspector.order_key(&tape, line, &mut order).unwrap();
            assert!(last < order, "{name} {identity:?} stands out of order");
            inspector.map_key(&identity, &mut key);
            let tenant = &tenants[&(identity.type_name.clone(), key)];
            inspector.rewrite(&tape, line, &identity, tenant, StoredOwner::Refuse, &mut out).unwrap();
            last = order;
        }
    }
}

#[test]
fn no_row_of_a_map_is_useless() {
    for name in Layout::NAMES.iter().filter(|name| **name != "cosmosdb-hierarchical") {
        let layout = Layout::builtin(name).unwrap();
        let map = map_of(&layout);
        let _ = tenants(&layout, TenantRule::Map(Box::new(map.clone())));
        assert_eq!(map.unused_rows().first_lines, [0; 0], "{name}");
    }
}

#[test]
fn metadata_carries_the_tenants_of_the_map() {
    for name in Layout::NAMES {
        let layout = Layout::builtin(name).unwrap();
        if layout.kind == DocumentKind::Events {
            let field = TenantRule::Field(TenantField::parse("metadata#/tenantId").unwrap());
            let map = TenantRule::Map(Box::new(map_of(&layout)));
            assert_eq!(tenants(&layout, field), tenants(&layout, map), "{name}");
        }
    }
}
