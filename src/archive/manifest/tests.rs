use super::*;
use crate::ErrorKind;

fn manifest() -> Manifest {
    let time = |text: &str| text.parse().unwrap();
    let tenant = |documents| TenantAccount {
        streams: 1,
        documents,
        last_versions_sum: i128::from(i64::MAX) * 3,
        content: "ab".repeat(32).parse().unwrap(),
    };
    Manifest {
        format: FORMAT,
        tool: "rekey 0.1.0".into(),
        archive: "a.ndjson".into(),
        layout: LayoutAccount {
            name: "mongodb-events".into(),
            digest: "cd".repeat(32),
            parameters: BTreeMap::from([("b".into(), "2".into()), ("a".into(), "1".into())]),
        },
        store: StoreKind::MongoDb,
        shard: None,
        source: None,
        started: time("2026-11-30T10:00:00.25Z"),
        ended: time("2026-11-30T10:00:01Z"),
        consistent: true,
        snapshot: None,
        counter: None,
        totals: Totals { documents: 3, bytes: 33, sha256: "ef".repeat(32) },
        streams: 2,
        sorted: true,
        escape_records: 0,
        notices: BTreeMap::new(),
        rekey: Some(RekeyAccount {
            input_sha256: "01".repeat(32),
            rule: RuleDescription {
                rule: crate::tenant::DescribedRule::Constant { tenant: "acme".into() },
                known_tenants: None,
            },
            escaping: RecordedEscaping::Unneeded,
            allowances: vec!["--allow-gaps".into()],
            key_map_sha256: None,
            already_rekeyed: 0,
            merged: 0,
            out_of_scope: 0,
            set_aside: 0,
            tenants: BTreeMap::from([("b".into(), tenant(1)), ("a".into(), tenant(2))]),
        }),
    }
}

/// Writes `change` of a manifest's JSON and reads it.
fn read_changed(change: impl FnOnce(String) -> String) -> Result<Manifest> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.ndjson.manifest.json");
    fs::write(&path, change(serde_json::to_string_pretty(&manifest()).unwrap())).unwrap();
    Manifest::read(&path)
}

fn kind_of(change: impl FnOnce(String) -> String) -> ErrorKind {
    let error = read_changed(change).unwrap_err();
    assert!(error.to_string().contains("a.ndjson.manifest.json"), "{error}");
    error.kind()
}

#[test]
fn a_manifest_is_read_back_as_it_was_written_and_always_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.ndjson.manifest.json");
    let write = || {
        let mut staged = crate::archive::Staged::new();
        staged.add(manifest().stage(&path).unwrap());
        staged.commit().unwrap();
        fs::read_to_string(&path).unwrap()
    };
    let text = write();
    assert_eq!(write(), text);
    assert_eq!(Manifest::read(&path).unwrap(), manifest());
    assert!(text.contains("\"last_versions_sum\": \"27670116110564327421\""), "{text}");
    assert!(text.contains("\"started\": \"2026-11-30T10:00:00.25Z\""), "{text}");
    assert!(text.find("\"a\": {") < text.find("\"b\": {"), "{text}");
    assert!(text.ends_with("}\n"));
}

#[test]
fn unknown_members_are_ignored() {
    let read = read_changed(|text| text.replace("\"tool\"", "\"new\": {\"x\": [1]}, \"tool\"")).unwrap();
    assert_eq!(read, manifest());
}

#[test]
fn a_newer_format_is_a_usage_error_whatever_else_it_holds() {
    assert_eq!(kind_of(|_| "{\"format\": 2, \"documents\": \"many\"}".into()), ErrorKind::Usage);
}

#[test]
fn damage_is_a_file_error() {
    assert_eq!(kind_of(|text| text[..text.len() / 2].into()), ErrorKind::File);
    assert_eq!(kind_of(|_| String::new()), ErrorKind::File);
    assert_eq!(kind_of(|text| text.replace("\"format\": 1", "\"format\": 0")), ErrorKind::File);
    assert_eq!(kind_of(|text| text.replace("\"documents\": 3", "\"documents\": 4")), ErrorKind::File);
    assert_eq!(kind_of(|text| text.replace("\"streams\": 2", "\"streams\": 3")), ErrorKind::File);
    assert_eq!(kind_of(|text| text.replace("abab", "ab b")), ErrorKind::File);
}
