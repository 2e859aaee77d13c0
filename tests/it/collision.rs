//! Two documents never leave `rekey rekey` under one key.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const ID: &str = "6f9619ff-8b86-d011-b42d-00c04fc964ff";

fn saga(id: &str, tenant: &str, version: u32) -> String {
    format!(
        r#"{{"_id":"{id}","sagaId":"{ID}","sagaType":"OrderSagaState","tenantId":{tenant},"stateJson":"{{}}","isCompleted":false,"version":{{"$numberLong":"{version}"}}}}"#
    )
}

fn rekey(folder: &Path, sagas: &[String], rule: &[&str]) -> Output {
    let archive = folder.join("sagas.ndjson");
    std::fs::write(&archive, sagas.join("\n") + "\n").unwrap();
    std::fs::write(folder.join("map.csv"), format!("key,tenant\n{ID},acme\n")).unwrap();
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("rekey"));
    let _ =
        command.env_clear().current_dir(folder).args(["rekey", "sagas.ndjson", "--layout", "mongodb-sagas"]);
    let _ = command.args(["--expect-documents", &sagas.len().to_string(), "--out", "out.ndjson"]);
    command.args(["--output", "json"]).args(rule).output().unwrap()
}

fn reasons(output: &Output) -> Value {
    serde_json::from_slice::<Value>(&output.stdout).unwrap()["reasons"].clone()
}

#[test]
fn a_saga_that_is_there_twice_is_refused_whatever_its_versions() {
    for versions in [[2, 2], [2, 3]] {
        for rule in [["--tenant", "acme"], ["--tenant-map", "map.csv"]] {
            let dir = tempfile::tempdir().unwrap();
            let sagas = versions.map(|version| saga(ID, "null", version));
            let output = rekey(dir.path(), &sagas, &rule);
            assert_eq!(output.status.code(), Some(5), "{versions:?} {rule:?}");
            let expected = serde_json::json!({ "key-collision": 1, "stream-refused": 1 });
            assert_eq!(reasons(&output), expected, "{versions:?} {rule:?}");
        }
    }
}

#[test]
fn a_rekeyed_saga_beside_its_legacy_self_is_merged_if_equal_and_refused_if_not() {
    let rekeyed = format!("t:acme:{ID}");
    let rule = ["--tenant", "acme", "--already-rekeyed", "keep"];
    for (version, code) in [(2, 0), (3, 5)] {
        let dir = tempfile::tempdir().unwrap();
        let sagas = [saga(ID, "null", 2), saga(&rekeyed, r#""acme""#, version)];
        let output = rekey(dir.path(), &sagas, &rule);
        assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
        if code == 0 {
            let written = std::fs::read_to_string(dir.path().join("out.ndjson")).unwrap();
            assert_eq!(written.lines().count(), 1);
        } else {
            assert_eq!(reasons(&output), serde_json::json!({ "key-collision": 2 }));
        }
    }
}
