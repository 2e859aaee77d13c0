use super::*;
use crate::report::{Finding, FindingCode, FindingsAccount, Notice, NoticeCode};

/// A report with something in every part, and keys that try to break out of it.
pub(in crate::report) fn sheet() -> Sheet {
    let row = |tenant: &str, found, standing| TenantRow {
        tenant: tenant.into(),
        cells: vec![Cell::Count(3), Cell::Count(found)],
        standing,
    };
    let check = |name: &str, tenant: Option<&str>, standing, detail: &str| Check {
        name: name.into(),
        how: "Every document is compared with the archive's.".into(),
        tenant: tenant.map(Into::into),
        standing,
        detail: detail.into(),
    };
    let finding = Finding {
        key: Some("t:<b>globex</b>:Order:\u{1b}[2J:0".into()),
        tenant: Some("<b>globex</b>".into()),
        ..Finding::new(FindingCode::Missing, "It is in the archive and not in the store.")
    };
    let mut section = Section::new("embedded:a.db events");
    section.fact("layout", "cosmosdb-events");
    section.steps.push(Step {
        name: "exported".into(),
        standing: Standing::Passed,
        started: Some("2026-12-01T03:00:00Z".into()),
        ended: None,
        documents: Some(6),
        note: String::new(),
    });
    section.tenants = Some(TenantTable {
        columns: vec!["events expected".into(), "events found".into()],
        documents: Some(0),
        rows: vec![row("acme", 3, Standing::Passed), row("<b>globex</b>", 2, Standing::Failed)],
    });
    section.checks = vec![
        check("documents", Some("acme"), Standing::Passed, ""),
        check("documents", Some("<b>globex</b>"), Standing::Failed, "1 missing"),
        check("legacy documents", None, Standing::Skipped, "no legacy archive was given"),
    ];
    section.samples.push(KeySample {
        tenant: "acme".into(),
        old_key: "Order:A-1|`x`:0".into(),
        new_key: "t:acme:Order:A-1|`x`:0".into(),
        document: Some(r#"{"id":"t:acme:Order:A-1|`x`:0"}"#.into()),
    });
    section.findings = FindingList::of(&FindingsAccount {
        total: 1,
        by_code: [(FindingCode::Missing, 1)].into(),
        first: vec![finding],
        file: Some("a.findings.ndjson".into()),
        ..FindingsAccount::default()
    });
    section.throughput.push(Throughput {
        what: "reading".into(),
        documents: 600,
        bytes: 60_000,
        milliseconds: 400,
        points: vec![(100, 100), (200, 300), (300, 550), (400, 600)],
    });
    section.digests.push(Digest { of: "lines of rekeyed.ndjson".into(), sha256: "0".repeat(64) });
    let conclusion = Conclusion {
        standing: Standing::Failed,
        word: "mismatch".into(),
        sentence: "The store is not what the archive says: 5 of 6 documents found.".into(),
    };
    let dossier =
        Dossier { title: "Verification of cosmosdb-events".into(), conclusion, sections: vec![section] };
    let notice = Notice { code: NoticeCode::Sampled, message: "A sample is read.".into() };
    Sheet::new(Some(dossier), Circumstances::of("verify", jiff::Timestamp::UNIX_EPOCH, 1), &[notice], None)
}

#[test]
fn checks_are_summed_up_by_name() {
    let sheet = sheet();
    let summaries = sheet.dossier.sections[0].check_summaries();
    let shown: Vec<_> = summaries.iter().map(|it| (it.name, it.standing, it.result.as_str())).collect();
    assert_eq!(
        shown,
        [
            ("documents", Standing::Failed, "failed for 1 of 2 tenants: <b>globex</b>: 1 missing"),
            ("legacy documents", Standing::Skipped, "skipped: no legacy archive was given"),
        ]
    );
}

#[test]
fn tenants_that_failed_come_first_and_the_largest_leads_the_chart() {
    let sheet = sheet();
    let table = sheet.dossier.sections[0].tenants.as_ref().unwrap();
    assert_eq!(table.by_standing()[0].tenant, "<b>globex</b>");
    assert_eq!(table.documents_by_tenant(), [("<b>globex</b>", 3), ("acme", 3)]);
}

#[test]
fn the_json_form_holds_what_the_command_said_and_who_ran_it() {
    let json: serde_json::Value = serde_json::from_str(&sheet().render(ReportFormat::Json).unwrap()).unwrap();
    assert_eq!(json["format"], 1);
    assert_eq!(json["conclusion"]["standing"], "failed");
    assert_eq!(json["sections"][0]["tenants"]["rows"][1]["cells"][1], 2);
    assert_eq!(json["sections"][0]["findings"]["groups"][0]["code"], "missing");
    assert_eq!(json["run"]["started"], "1970-01-01T00:00:00Z");
}
