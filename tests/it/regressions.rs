//! Mistakes that were found by using the command, each with the promise it broke.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const STORE: &str = "embedded:store.redb?as=dynamodb";

fn rekey(folder: &Path, arguments: &str) -> Output {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("rekey"));
    let _ = command.env_clear().current_dir(folder).args(arguments.split_whitespace());
    command.args(["--progress", "none"]).output().unwrap()
}

/// Runs a command that must end with `code`, and reads its result.
fn result(folder: &Path, arguments: &str, code: i32) -> Value {
    let output = rekey(folder, &format!("{arguments} --output json"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments}: {said}");
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}

/// Runs a command that must end with `code`; what it said.
fn said(folder: &Path, arguments: &str, code: i32) -> String {
    let output = rekey(folder, arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments}: {said}");
    said
}

/// An event as DynamoDB exports it; `prefix` is what stands before its legacy key.
fn event(prefix: &str, aggregate_type: &str, id: &str, version: u32) -> String {
    let key = format!("{prefix}{aggregate_type}:{id}");
    format!(
        r#"{{"Item":{{"pk":{{"S":"{key}"}},"sk":{{"N":"{version}"}},"eventId":{{"S":"{aggregate_type}-{id}-{version}"}},"aggregateId":{{"S":"{id}"}},"aggregateType":{{"S":"{aggregate_type}"}},"eventType":{{"S":"E"}},"version":{{"N":"{version}"}},"timestamp":{{"S":"2026-01-02T03:04:05.6780000+00:00"}},"eventData":{{"S":"e30="}},"metadata":{{"NULL":true}}}}}}"#
    )
}

fn write(folder: &Path, name: &str, lines: &[String]) {
    std::fs::write(folder.join(name), lines.join("\n") + "\n").unwrap();
}

fn lines(folder: &Path, name: &str) -> usize {
    std::fs::read_to_string(folder.join(name)).unwrap().lines().count()
}

/// "Beside an equal legacy twin it is emitted once": and counted once, or import refuses the manifest.
#[test]
fn a_half_moved_collection_goes_the_whole_way() {
    // `user` sorts behind `t:`: there the rekeyed twin comes first.
    for aggregate_type in ["Order", "user"] {
        for twins_stay in [true, false] {
            let dir = tempfile::tempdir().unwrap();
            let folder = dir.path();
            let legacy = (0..3).filter(|version| twins_stay || *version > 1);
            let mut events: Vec<_> = legacy.map(|version| event("", aggregate_type, "a", version)).collect();
            events.extend((0..2).map(|version| event("t:acme:", aggregate_type, "a", version)));
            write(folder, "half", &events);
            let given = format!("half --layout dynamodb-events --expect-documents {}", events.len());
            let rewrite = format!("rekey {given} --tenant acme --already-rekeyed keep --out new");
            assert_eq!(result(folder, &rewrite, 0)["tenants"]["acme"], 3);
            let manifest: Value =
                serde_json::from_slice(&std::fs::read(folder.join("new.manifest.json")).unwrap()).unwrap();
            let acme = &manifest["rekey"]["tenants"]["acme"];
            assert_eq!((&acme["streams"], &acme["documents"]), (&Value::from(1), &Value::from(3)));
            assert_eq!(acme["last_versions_sum"], "2");

            let to = format!("--to {STORE} --collection events");
            let _ = result(folder, &format!("restore {given} {to} --create-target"), 0);
            assert_eq!(result(folder, &format!("import new {to}"), 0)["identical"], 2);
            let against = format!("--against {STORE} --collection events");
            let _ = result(folder, &format!("verify new {against} --legacy half"), 0);
            let _ = result(folder, &format!("verify new.manifest.json {against}"), 0);
            // What is legacy goes, what was rekeyed before stays.
            let prune = format!("prune {given} --rekeyed new --from {STORE} --collection events");
            for dry_run in [" --dry-run", ""] {
                let pruned = result(folder, &format!("{prune}{dry_run}"), 0);
                assert_eq!(pruned["deleted"], if twins_stay { 3 } else { 1 });
                assert_eq!((&pruned["gone"], &pruned["kept"]), (&Value::from(2), &Value::from(0)));
            }
            let _ = result(folder, &format!("verify new {against} --pruned"), 0);
        }
    }
}

/// A finished file is renamed into place: over a device it would stand there instead.
#[test]
fn an_output_never_replaces_what_is_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    write(folder, "legacy", &[event("", "Order", "a", 0)]);
    // A socket stands for every kind of file that is not one, and needs no privilege.
    let _socket = std::os::unix::net::UnixListener::bind(folder.join("special")).unwrap();
    let given = "rekey legacy --layout dynamodb-events --expect-documents 1 --tenant acme";
    for outputs in ["--out special", "--out new --result special", "--dry-run --preview special"] {
        let said = said(folder, &format!("{given} {outputs}"), 2);
        assert!(said.contains("special is no file"), "{said}");
        assert!(!folder.join("special").symlink_metadata().unwrap().is_file());
        assert!(!folder.join("new").exists());
    }
}

/// A verdict about nothing is no proof: with a mistyped tenant nothing was compared, and matched.
#[test]
fn verify_does_not_match_tenants_that_no_archive_has() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    write(folder, "legacy", &[event("", "Order", "a", 0)]);
    let given = "legacy --layout dynamodb-events --expect-documents 1";
    let _ = result(folder, &format!("rekey {given} --tenant acme --out new"), 0);
    let _ = result(folder, &format!("import new --to {STORE} --collection events --create-target"), 0);
    for archive in ["new", "new.manifest.json"] {
        let verify = format!("verify {archive} --against {STORE} --collection events --only-tenants");
        let _ = result(folder, &format!("{verify} acme"), 0);
        for tenants in ["amce", "acme,amce"] {
            let said = said(folder, &format!("{verify} {tenants}"), 2);
            assert!(said.contains("amce"), "{said}");
        }
    }
}

/// "Archives of other tools may be in any order", and have no manifest: for `verify --legacy` and `prune`, too.
#[test]
fn an_archive_of_another_tool_proves_and_prunes_in_any_order() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    let mut events: Vec<_> = (0..12).map(|version| event("", "Order", "a", version)).collect();
    events.extend((0..2).map(|version| event("", "Order", "Z", version)));
    events.reverse();
    write(folder, "legacy", &events);
    let given = "legacy --layout dynamodb-events --expect-documents 14";
    let _ = result(folder, &format!("rekey {given} --tenant acme --out new"), 0);
    let to = format!("--to {STORE} --collection events");
    let _ = result(folder, &format!("restore {given} {to} --create-target"), 0);
    let _ = result(folder, &format!("import new {to}"), 0);

    let verify = format!("verify new --against {STORE} --collection events");
    let _ = result(folder, &format!("{verify} --legacy legacy"), 0);
    // The rekeyed archive's manifest says which archive it was made from, so a cut-off one is noticed.
    write(folder, "cut", &events[1..]);
    let _ = said(folder, &format!("{verify} --legacy cut"), 74);

    let prune = format!("prune {given} --rekeyed new --from {STORE} --collection events");
    assert_eq!(result(folder, &prune, 0)["deleted"], 14);
    let _ = result(folder, &format!("{verify} --pruned"), 0);
}

/// "All of them are in the file that `findings_file` names."
#[test]
fn every_document_that_import_refuses_is_in_the_findings_file() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    let events: Vec<_> = (0..120).map(|version| event("", "Order", "a", version)).collect();
    write(folder, "legacy", &events);
    let import = "import legacy --layout dynamodb-events --expect-documents 120 --create-target";
    let refused = result(folder, &format!("{import} --to {STORE} --collection events"), 5);
    assert_eq!(refused["findings_total"], 120);
    assert_eq!(lines(folder, refused["findings_file"].as_str().unwrap()), 120);
}

/// "A later command with another layout is refused": before anything is made.
#[test]
fn an_archive_is_not_imported_with_another_layout() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    write(folder, "legacy", &[event("", "Order", "a", 0)]);
    let given = "legacy --layout dynamodb-events --expect-documents 1";
    let _ = result(folder, &format!("rekey {given} --tenant acme --out new"), 0);
    let import = format!("import new --layout sagas --to {STORE} --collection events --create-target");
    let said = said(folder, &import, 2);
    assert!(said.contains("dynamodb-events, not dynamodb-sagas"), "{said}");
    assert!(!folder.join("store.redb").exists());
}

/// `unneeded` is recorded where no term holds `:` or `%`, and nowhere else: verify asks the framework's query.
#[test]
fn kept_documents_need_their_escaping_stated_too() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    write(folder, "legacy", &[event("", "Order", "a:b", 0)]);
    let given = "rekey legacy --layout dynamodb-events --expect-documents 1 --tenant acme";
    let _ = result(folder, &format!("{given} --escaping escaped --out new"), 0);
    let again = "rekey new --tenant acme --already-rekeyed keep --out again";
    // The manifest says how the keys are joined, and a contradiction is not guessed away.
    let said = said(folder, &format!("{again} --escaping raw"), 2);
    assert!(said.contains("escaped, not raw"), "{said}");
    let refused = result(folder, again, 5);
    assert_eq!(refused["reasons"], serde_json::json!({ "escaping-needed": 1 }));
    let _ = result(folder, &format!("{again} --escaping escaped"), 0);
}

/// A tenant that is misspelt would leave everybody out: an empty archive, exit 0.
#[test]
fn a_tenant_asked_for_that_nobody_is_is_a_usage_error() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    let tenant = |id: &str, tenant: &str| {
        let metadata = format!(r#""metadata":{{"S":"{{\"tenantId\":\"{tenant}\"}}"}}"#);
        event("", "Order", id, 0).replacen(r#""metadata":{"NULL":true}"#, &metadata, 1)
    };
    write(folder, "old", &[tenant("a", "acme"), tenant("b", "globex")]);
    std::fs::write(folder.join("map.csv"), "key,tenant\nOrder:a,acme\nOrder:b,globex\n").unwrap();
    let rules = ["--tenant acme", "--tenant-map map.csv", "--tenant-field metadata#/tenantId"];
    for rule in rules {
        let rewrite = format!("rekey old --layout dynamodb-events --expect-documents 2 {rule}");
        for how in ["--out new", "--dry-run --preview preview.csv"] {
            let said = said(folder, &format!("{rewrite} {how} --only-tenants acme,acmee"), 2);
            assert!(said.contains(r#""acmee""#) && said.contains(r#""acme""#), "{said}");
        }
    }
    let left: Vec<_> = std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
    for rule in &rules[1..] {
        let rewrite = format!("rekey old --layout dynamodb-events --expect-documents 2 {rule} --out new");
        assert_eq!(result(folder, &format!("{rewrite} --only-tenants globex"), 0)["rekeyed"], 1);
    }
}

/// A line that cannot be read was set aside; whoever moved the rest must be able to verify and prune it.
#[test]
fn a_line_that_cannot_be_read_is_kept_and_hinders_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    let good: Vec<_> =
        ["a", "b"].into_iter().flat_map(|id| (0..2).map(|it| event("", "Order", id, it))).collect();
    write(folder, "good", &good);
    let cut_off = event("", "Order", "c", 0);
    write(folder, "old", &[good, vec![cut_off[..cut_off.len() - 40].to_owned()]].concat());
    let at = format!("{STORE} --collection events");
    let given = "--layout dynamodb-events --expect-documents";
    let _ = result(folder, &format!("restore good {given} 4 --to {at} --create-target"), 0);
    let rewrite = format!("rekey old {given} 5 --tenant acme --out new --on-refused set-aside");
    assert_eq!(result(folder, &rewrite, 3)["set_aside"], 1);
    let _ = result(folder, &format!("import new --to {at}"), 0);
    let _ = result(folder, &format!("verify new --against {at} --legacy old"), 0);
    let pruned = result(folder, &format!("prune old {given} 5 --rekeyed new --from {at}"), 3);
    assert_eq!((&pruned["deleted"], &pruned["kept"]), (&Value::from(4), &Value::from(1)));
    assert_eq!(pruned["reasons"], serde_json::json!({ "unreadable": 1 }));
    assert_eq!(pruned["findings"][0]["line"], 5);
}

/// The second of two archives with one document would miss its own copy in the store.
#[test]
fn a_document_of_two_archives_is_named_with_both() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    let all: Vec<_> = (0..3).map(|version| event("", "Order", "a", version)).collect();
    write(folder, "old", &all);
    write(folder, "rest", &all[2..]);
    let given = "--layout dynamodb-events --tenant acme --allow-gaps --expect-documents";
    let _ = result(folder, &format!("rekey old {given} 3 --out a"), 0);
    let _ = result(folder, &format!("rekey rest {given} 1 --out b"), 0);
    let _ = result(folder, &format!("import a --to {STORE} --collection events --create-target"), 0);
    let verified = result(folder, &format!("verify a b --against {STORE} --collection events"), 1);
    let totals = &verified["totals"];
    assert_eq!((&totals["doubled"], &totals["missing"]), (&Value::from(1), &Value::from(0)), "{verified}");
    let finding = &verified["findings"][0];
    assert_eq!((&finding["code"], &finding["version"]), (&Value::from("doubled"), &Value::from(2)));
    assert_eq!(
        (&finding["key"], &finding["other_key"]),
        (&"t:acme:Order:a".into(), &"t:acme:Order:a".into())
    );
    let message = finding["message"].as_str().unwrap();
    assert!(message.contains("\"a\"") && message.contains("\"b\""), "{message}");
    assert_eq!(verified["tenants"][0]["verdict"], "mismatch");
}

/// What a dry run did not see the real import would have run into, in the window.
#[test]
fn a_dry_run_foresees_the_conflicts_of_the_import() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    let at = "--to embedded:store.redb?as=mongodb --collection events";
    let event = |id: u32, stream: &str, version: u32| {
        format!(
            r#"{{"_id":{{"$oid":"{id:024x}"}},"eventId":"e{id}","streamId":"{stream}","aggregateType":"Order","version":{{"$numberLong":"{version}"}}}}"#
        )
    };
    write(folder, "old", &[event(1, "A", 0), event(2, "A", 1), event(3, "B", 0)]);
    // Somebody else has written version 1 of A.
    write(folder, "other", &[event(9, "t:acme:A", 1)]);
    let given = "--layout mongodb-events --expect-documents";
    let _ = result(folder, &format!("restore other {given} 1 {at} --create-target"), 0);
    let _ = result(folder, &format!("rekey old {given} 3 --tenant acme --out new"), 0);
    let foreseen = result(folder, &format!("import new {at} --dry-run"), 1);
    let done = result(folder, &format!("import new {at}"), 1);
    for count in ["written", "identical", "conflict"] {
        assert_eq!(foreseen[count], done[count], "{count}");
    }
    assert_eq!((&done["conflict"], &foreseen["findings"]), (&Value::from(1), &done["findings"]));
}
