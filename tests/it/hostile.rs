//! Every line of the hostile fixtures is refused for its own reason, and nothing is written.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const LAYOUTS: [&str; 4] = ["mongodb-events", "dynamodb-sagas", "firestore-events", "cosmosdb-events"];

fn hostile() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/hostile")
}

/// Line → reason, as the fixture states it.
fn expected(layout: &str) -> BTreeMap<u64, String> {
    let mut rows = csv::Reader::from_path(hostile().join("expected.csv")).unwrap();
    let rows = rows.deserialize::<(String, u64, String)>().map(Result::unwrap);
    rows.filter(|row| row.0 == layout).map(|(_, line, reason)| (line, reason)).collect()
}

/// Line → reason, as the list of refusals beside `out` states it.
fn refused(out: &Path) -> BTreeMap<u64, String> {
    let list = fs::read_to_string(format!("{}.refused.ndjson", out.display())).unwrap();
    let entries = list.lines().map(|entry| serde_json::from_str::<Value>(entry).unwrap());
    let reasons =
        entries.map(|entry| (entry["line"].as_u64().unwrap(), entry["reason"].as_str().unwrap().to_owned()));
    reasons.collect()
}

fn rekey(layout: &str, out: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("rekey"));
    let _ = command.env_clear().current_dir(hostile()).arg("rekey").arg(format!("{layout}.ndjson"));
    let _ = command.args(["--layout", layout, "--expect-documents", &expected(layout).len().to_string()]);
    let _ = match layout {
        "cosmosdb-events" => command.args([
            "--tenant-field",
            "metadata#/tenantId",
            "--known-tenants",
            "cosmosdb-events.known.txt",
        ]),
        _ => command.arg("--tenant-map").arg(format!("{layout}.tenants.csv")),
    };
    command.arg("--out").arg(out).args(["--output", "json"]).args(more).output().unwrap()
}

#[test]
fn every_line_is_refused_for_its_reason_and_nothing_is_written() {
    for layout in LAYOUTS {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out.ndjson");
        assert_eq!(rekey(layout, &out, &[]).status.code(), Some(5), "{layout}");
        assert_eq!(refused(&out), expected(layout), "{layout}");
        let files: Vec<_> =
            fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(files, ["out.ndjson.refused.ndjson"], "{layout}");
    }
}

#[test]
fn every_line_is_set_aside_and_counted() {
    for layout in LAYOUTS {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out.ndjson");
        let output = rekey(layout, &out, &["--on-refused", "set-aside"]);
        assert_eq!(output.status.code(), Some(3), "{layout}");
        let result: Value = serde_json::from_slice(&output.stdout).unwrap();
        let lines = Some(expected(layout).len() as u64);
        assert_eq!((result["documents"].as_u64(), result["set_aside"].as_u64()), (lines, lines), "{layout}");
        assert_eq!(refused(&out), expected(layout), "{layout}");
        assert_eq!(fs::read(&out).unwrap(), b"", "{layout}");
    }
}
