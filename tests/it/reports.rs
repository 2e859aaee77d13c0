//! Reports: what a change board reads says the same as the result, shows no content, and other programs can read it.

use std::process::Command;

use rekey::document::StoreKind;
use serde_json::Value;

use crate::generated::Generated;
use crate::intruder::Intruder;
use crate::scene::{Ran, Scene};

const FILES: [&str; 4] = ["verify.html", "verify.md", "verify.json", "verify.xml"];

/// Verifies with a report in every format, and more arguments.
fn report(scene: &Scene, archive: &str, more: &[&str]) -> Ran {
    let reports: Vec<&str> = FILES.iter().flat_map(|file| ["--report", file]).collect();
    scene.verify(&[archive], "moved.db", "moved", &[&reports[..], more].concat())
}

/// Reads a file with Python's own XML parser (expat): each test case as `name class what`, one a line.
fn read_by_python(scene: &Scene, file: &str) -> Vec<String> {
    const READ: &str = "
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
assert root.tag == 'testsuites' and root.get('name'), root.attrib
counts = dict(tests=0, failures=0, errors=0)
for suite in root.findall('testsuite'):
    assert suite.get('hostname') and suite.get('timestamp') and suite.find('properties') is not None, suite.attrib
    cases = suite.findall('testcase')
    what = [next((child.tag for child in case if child.tag in ('failure', 'error', 'skipped')), 'passed') for case in cases]
    found = dict(tests=len(cases), failures=what.count('failure'), errors=what.count('error'))
    for name in counts:
        assert int(suite.get(name)) == found[name], (suite.attrib, found)
        counts[name] += found[name]
    for case, it in zip(cases, what):
        print(case.get('name'), case.get('classname'), it, sep='|')
for name in counts:
    assert int(root.get(name)) == counts[name], (root.attrib, counts)
";
    let output = Command::new("python3").args(["-c", READ]).arg(scene.path(file)).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn a_match_is_reported_alike_in_every_format() {
    for store in [StoreKind::MongoDb, StoreKind::CosmosDb] {
        let generated = Generated::events(store, 40);
        let scene = Scene::new(store);
        scene.moved(&generated);
        let result = report(&scene, "rekeyed.ndjson", &["--legacy", "legacy.ndjson"]).ended(0);
        assert_eq!(result["verdict"], "match");

        let json = scene.json("verify.json");
        assert_eq!((&json["conclusion"]["word"], &json["run"]["exit_code"]), (&"match".into(), &0.into()));
        let section = &json["sections"][0];
        let rows = section["tenants"]["rows"].as_array().unwrap();
        assert_eq!(rows.len(), generated.tenants.len());
        let manifest = scene.json("rekeyed.ndjson.manifest.json");
        assert_eq!(section["digests"][0]["sha256"], manifest["sha256"]);
        for sample in section["samples"].as_array().unwrap() {
            let moved = scene.text("rekeyed.ndjson.keys.ndjson");
            let row = format!(r#"{{"old":{},"new":{},"#, sample["old_key"], sample["new_key"]);
            assert!(moved.contains(&row), "no such row in the key map: {row}");
        }
        let read = section["throughput"].as_array().unwrap();
        let documents: Vec<_> = read.iter().map(|it| it["documents"].as_u64().unwrap()).collect();
        assert!(documents.contains(&(generated.lines.len() as u64)), "{read:?}");

        let cases = read_by_python(&scene, "verify.xml");
        for tenant in generated.tenants.keys() {
            for check in ["documents", "versions", "content", "one key each", "framework's read"] {
                let case = format!("{check}|rekey.verify.{tenant}|passed");
                assert!(cases.contains(&case), "{case} is missing: {cases:#?}");
            }
        }
        assert!(cases.iter().all(|case| !case.ends_with("|failure")), "{cases:#?}");

        let html = scene.text("verify.html");
        let page = roxmltree::Document::parse_with_options(
            &html,
            roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() },
        );
        let page = page.unwrap_or_else(|error| panic!("the page is not well-formed: {error}"));
        let text: String = page.root().descendants().filter_map(|it| it.text()).collect();
        for tenant in generated.tenants.keys() {
            assert!(text.contains(tenant), "the page does not name {tenant}");
        }
        assert!(
            scene.text("verify.md").starts_with(&format!("# Verification of {store}-events\n\n**MATCH**: "))
        );
    }
}

#[test]
fn a_mismatch_fails_the_cases_of_its_tenant_and_says_what_to_do() {
    let generated = Generated::events(StoreKind::CosmosDb, 40);
    let scene = Scene::new(StoreKind::CosmosDb);
    scene.moved(&generated);
    let missing = scene.lines("rekeyed.ndjson")[0].clone();
    let intruder = Intruder::open(&scene, "moved.db", "moved", "events");
    intruder.delete(&missing);
    let key = intruder.shown(&missing);
    drop(intruder);
    let tenant = key.split(':').nth(1).unwrap().to_owned();
    let result = report(&scene, "rekeyed.ndjson", &[]).ended(1);
    assert_eq!(result["verdict"], "mismatch");

    let cases = read_by_python(&scene, "verify.xml");
    let failed: Vec<_> = cases.iter().filter(|case| case.ends_with("|failure")).collect();
    assert!(failed.contains(&&format!("documents|rekey.verify.{tenant}|failure")), "{failed:?}");
    assert!(failed.iter().all(|case| case.contains(&format!("rekey.verify.{tenant}|"))), "{failed:?}");
    for file in ["verify.html", "verify.md"] {
        let text = scene.text(file);
        assert!(text.contains(&key) && text.contains("it writes what is missing"), "{file}: {text}");
    }
    assert_eq!(scene.json("verify.json")["sections"][0]["findings"]["groups"][0]["code"], "missing");

    // With the manifest alone it is the counts of the tenant that fail.
    let _ = report(&scene, "rekeyed.ndjson.manifest.json", &[]).ended(1);
    let cases = read_by_python(&scene, "verify.xml");
    assert!(cases.contains(&format!("documents|rekey.verify.{tenant}|failure")), "{cases:#?}");
}

#[test]
fn no_report_shows_content_unless_it_is_asked_to() {
    const MARK: &str = "CONTENT-OF-A-DOCUMENT";
    let generated = Generated::sagas(StoreKind::MongoDb, 20);
    let scene = Scene::new(StoreKind::MongoDb);
    let marked = |line: &String| line.replacen(r#"{"_id""#, &format!(r#"{{"note":"{MARK}","_id""#), 1);
    let lines = generated.lines.iter().map(marked).collect();
    scene.moved(&Generated { lines, ..generated });
    // One finding of each kind of difference, so that messages and examples are there to be looked at.
    let [changed, deleted] = [0, 1].map(|line| scene.lines("rekeyed.ndjson")[line].clone());
    let intruder = Intruder::open(&scene, "moved.db", "moved", "sagas");
    intruder.replace(&changed, &changed.replace(MARK, "CONTENT-OF-A-DOCUMENT, changed"));
    intruder.delete(&deleted);
    drop(intruder);
    for (more, shown) in [(&[][..], false), (&["--show-content"], true)] {
        let _ = report(&scene, "rekeyed.ndjson", more).ended(1);
        for file in ["verify.html", "verify.md", "verify.json"] {
            assert_eq!(scene.text(file).contains(MARK), shown, "{file} with {more:?}");
        }
        assert!(!scene.text("verify.xml").contains(MARK));
    }
}

#[test]
fn a_run_that_came_to_nothing_leaves_a_report_that_says_so() {
    let scene = Scene::new(StoreKind::CosmosDb);
    scene.moved(&Generated::events(StoreKind::CosmosDb, 4));
    std::fs::remove_file(scene.path("moved.db")).unwrap();
    report(&scene, "rekeyed.ndjson", &[]).ended_with(2);
    assert_eq!(read_by_python(&scene, "verify.xml"), ["came to its end|rekey.verify|error"]);
    let json: Value = scene.json("verify.json");
    assert_eq!((&json["conclusion"]["standing"], &json["run"]["exit_code"]), (&"failed".into(), &2.into()));
    for file in FILES {
        assert!(scene.text(file).contains("moved.db"), "{file} does not name what is missing");
    }
}

#[test]
fn a_report_that_cannot_be_written_is_exit_74_and_the_others_are_there() {
    let scene = Scene::new(StoreKind::CosmosDb);
    scene.moved(&Generated::events(StoreKind::CosmosDb, 4));
    let more = ["--report", "/proc/rekey.html", "--report", "verify.md"];
    let ran = scene.verify(&["rekeyed.ndjson"], "moved.db", "moved", &more);
    ran.ended_with(74);
    assert!(ran.stderr.contains("/proc/rekey.html"), "{}", ran.stderr);
    assert!(scene.text("verify.md").contains("MATCH"));
}

#[test]
fn a_report_is_no_other_file_of_the_run() {
    let scene = Scene::new(StoreKind::CosmosDb);
    let wrong: [(&[&str], &str); 5] = [
        (&["--report", "a.pdf"], ".html, .md, .json or .xml"),
        (&["--report", "a.json", "--result", "a.json"], "same file"),
        (&["--report", "a.json", "--report", "./a.json"], "same file"),
        (&["--report", "no/such/a.html"], "does not exist"),
        (&["--show-content"], "--report"),
    ];
    for (more, phrase) in wrong {
        let ran = scene.verify(&["rekeyed.ndjson"], "moved.db", "moved", more);
        ran.ended_with(2);
        assert!(ran.stderr.contains(phrase), "{more:?}: {}", ran.stderr);
    }
}

#[test]
fn a_plan_and_a_run_of_several_stores_are_reported_with_a_section_for_each() {
    let stores = [StoreKind::DynamoDb, StoreKind::MongoDb];
    let (scene, documents) = crate::run::project_of(&stores, 10, "");
    let asked = |verb: &[&'static str], name: &str| -> Vec<String> {
        let reports = ["html", "md", "json", "xml"].map(|ending| format!("{name}.{ending}"));
        let reports = reports.into_iter().flat_map(|file| ["--report".to_owned(), file]);
        verb.iter().map(|word| (*word).to_owned()).chain(reports).collect()
    };
    let run = |arguments: &[String], code: i32| {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let _ = scene.result(&arguments).ended(code);
    };
    run(&asked(&["plan"], "plan-report"), 0);
    let plan = scene.json("plan-report.json");
    assert_eq!(plan["conclusion"]["word"], "ready");
    assert_eq!(plan["sections"][0]["digests"][0]["sha256"], scene.json("plan.json")["digest"]);
    assert_eq!(plan["sections"][1]["tenants"]["columns"][0], "documents");

    // The second run keeps every state, and says the same of the tenants.
    for _ in 0..2 {
        run(&asked(&["run", "--yes"], "run"), 0);
        let report = scene.json("run.json");
        assert_eq!(
            (&report["title"], &report["conclusion"]["word"]),
            (&"Run of a migration".into(), &"verified".into())
        );
        for section in report["sections"].as_array().unwrap() {
            let steps = section["steps"].as_array().unwrap();
            let standing: Vec<_> = steps.iter().map(|step| step["standing"].as_str().unwrap()).collect();
            assert_eq!(standing, ["passed", "passed", "passed", "passed", "skipped"]);
            assert_eq!(steps[2]["documents"], documents);
            let column = usize::try_from(section["tenants"]["documents"].as_u64().unwrap()).unwrap();
            let rows = section["tenants"]["rows"].as_array().unwrap();
            let sum: u64 = rows.iter().map(|row| row["cells"][column].as_u64().unwrap()).sum();
            assert_eq!(sum, documents as u64, "{section}");
            assert!(!section["digests"].as_array().unwrap().is_empty());
        }
        let cases = read_by_python(&scene, "run.xml");
        for state in ["exported", "rekeyed", "imported", "verified"] {
            let of_state = cases.iter().filter(|case| case.starts_with(&format!("{state}|"))).count();
            assert_eq!(of_state, 2, "{cases:#?}");
        }
        assert!(cases.iter().all(|case| !case.ends_with("|failure")), "{cases:#?}");
    }

    scene.write("mongodb.csv", scene.text("mongodb.csv").replacen("initech", "globex", 1));
    run(&asked(&["apply", "plan.json", "--yes"], "apply"), 5);
    let report = scene.json("apply.json");
    assert_eq!(report["conclusion"]["standing"], "failed");
    assert_eq!(report["sections"][1]["findings"]["groups"][0]["code"], "plan-tenant-rule");
    let cases = read_by_python(&scene, "apply.xml");
    assert!(
        cases.iter().any(|case| case.starts_with("as planned|") && case.ends_with("|failure")),
        "{cases:#?}"
    );
    assert!(
        scene.text("apply.html").contains("plan-tenant-rule") && scene.text("run.md").contains("on-mongodb")
    );
}
