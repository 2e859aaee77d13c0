//! Results as a person reads them.

mod copy;
mod doctor;
mod explain;
mod plan;
mod rehearsal;
mod rewrite;
mod run;
mod sagas;
mod shard;
mod status;
mod verify;

pub use verify::what_was_found;

use std::collections::BTreeMap;
use std::fmt::Display;

use super::{Finding, FindingsAccount, InitReport, Outcome, Report};
use crate::error::Result;
use crate::ui::format::{count, number, shortened};
use crate::ui::{Align, Table, Ui};

/// How many findings the screen lists; more are in the JSON result and all of them in the findings file.
const SHOWN_FINDINGS: usize = 10;

/// The most characters of a key in a table; the JSON result and the files have all of it.
const SHOWN_KEY: usize = 80;

/// How many tenants the screen lists; the JSON result has all of them.
const SHOWN_TENANTS: usize = 40;

/// Shows what a command came to.
pub fn show(outcome: &Outcome, ui: &Ui) -> Result<()> {
    if let Some(shards) = &outcome.shard {
        ui.line(&format!("Shard {shards}: of the other streams nothing is said here."))?;
    }
    match &outcome.report {
        Report::Export(report) => copy::export(report, ui)?,
        Report::Rekey(report) => rewrite::rekey(report, ui)?,
        Report::Import(report) | Report::Restore(report) => copy::import(report, ui)?,
        Report::Verify(report) => verify::verify(report, ui)?,
        Report::Prune(report) => copy::prune(report, ui)?,
        Report::Undo(report) => copy::undo(report, ui)?,
        Report::Plan(report) => plan::plan(report, ui)?,
        Report::Run(report) => run::run(report, ui)?,
        Report::Rehearsal(report) => rehearsal::rehearsal(report, ui)?,
        Report::Sagas(report) => sagas::sagas(report, ui)?,
        Report::Combine(report) => shard::combine(report, ui)?,
        Report::Shard(report) => shard::shard(report, ui)?,
        Report::Status(report) => status::status(report, ui)?,
        Report::Init(report) => init(report, ui)?,
        Report::Doctor(report) => doctor::doctor(report, ui)?,
        // It shows itself as it goes.
        Report::Demo(_) => {}
        Report::Explain(report) => explain::explain(report, ui)?,
        Report::Page(report) => ui.line(report.text.trim_end_matches('\n'))?,
    }
    findings(&outcome.findings, ui)
}

fn init(report: &InitReport, ui: &Ui) -> Result<()> {
    let (project, store) = (report.project.display(), &report.store);
    let what = if report.created { "Wrote" } else { "Added to" };
    ui.line(&format!("{what} {project}: the store {store}."))?;
    ui.line(&format!("Next: rekey plan --project {project} --store {store}"))
}

fn findings(account: &FindingsAccount, ui: &Ui) -> Result<()> {
    if account.total == 0 {
        return Ok(());
    }
    ui.line("")?;
    ui.heading(&count(account.total, "finding"))?;
    // About a store or a machine there is no document to name.
    let named = account.first.iter().any(|finding| !document(finding).is_empty());
    let columns = [("finding", Align::Left), ("document", Align::Left), ("what", Align::Left)];
    let mut table = Table::new(columns.into_iter().filter(|(name, _)| named || *name != "document"));
    let followers: u64 =
        account.by_code.iter().filter(|(code, _)| code.follows()).map(|(_, count)| count).sum();
    // Where the causes are known, what follows from them is counted alone.
    let shown = account.first.iter().filter(|it| !it.code.follows() || followers == account.total);
    for finding in shown.take(SHOWN_FINDINGS) {
        let name = document(finding);
        let name = named.then(|| shortened(&name, SHOWN_KEY));
        let cells = [Some(finding.code.code()), name.as_deref(), Some(&finding.message)];
        table.row(cells.into_iter().flatten());
    }
    ui.table(&table)?;
    let shown = u64::try_from(table.len()).unwrap_or(u64::MAX);
    let of_these = match followers {
        0 => String::new(),
        all if all == account.total => String::new(),
        some => format!(", {} of them the other documents of refused streams", number(some)),
    };
    match (account.total.saturating_sub(shown), &account.file) {
        (0, None) => Ok(()),
        (0, Some(file)) => ui.line(&format!("The list is in {}.", file.display())),
        (more, Some(file)) => ui.line(&format!("{} in {}{of_these}.", are_more(more), file.display())),
        (more, None) => ui.line(&format!("{} not shown{of_these}.", are_more(more))),
    }
}

fn are_more(more: u64) -> String {
    format!("{} more {}", number(more), if more == 1 { "is" } else { "are" })
}

/// What the finding is about, as closely as it says.
pub(super) fn document(finding: &Finding) -> String {
    match (&finding.key, &finding.stream, finding.line) {
        (Some(name), _, _) | (None, Some(name), _) => match finding.version {
            // Most stores' keys end in the version; a MongoDB event's does not hold it.
            Some(version) if !name.ends_with(&format!(":{version}")) => format!("{name}, version {version}"),
            _ => name.clone(),
        },
        (None, None, Some(line)) => format!("line {}", number(line)),
        (None, None, None) => finding.tenant.clone().unwrap_or_default(),
    }
}

/// A table of reasons, the most frequent first.
fn reasons<R: Display>(reasons: &BTreeMap<R, u64>, advice: impl Fn(&R) -> String, ui: &Ui) -> Result<()> {
    if reasons.is_empty() {
        return Ok(());
    }
    let mut sorted: Vec<_> = reasons.iter().collect();
    sorted.sort_by_key(|(_, documents)| std::cmp::Reverse(**documents));
    let mut table =
        Table::new([("reason", Align::Left), ("documents", Align::Right), ("what to do", Align::Left)]);
    for (reason, documents) in sorted {
        table.row([reason.to_string(), number(*documents), advice(reason)]);
    }
    ui.line("")?;
    ui.table(&table)
}

/// `3 written, 2 identical`: what is not zero, or the first one if all are.
fn parts(parts: &[(u64, &str)]) -> String {
    let present = parts.iter().filter(|(documents, _)| *documents > 0);
    let mut texts: Vec<String> =
        present.map(|(documents, what)| format!("{} {what}", number(*documents))).collect();
    if texts.is_empty() {
        texts.extend(parts.first().map(|(_, what)| format!("0 {what}")));
    }
    texts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Reason;
    use crate::report::{ExportReport, FindingCode};

    #[test]
    fn the_first_ten_findings_are_shown_and_the_rest_is_counted() {
        let (ui, screen) = Ui::recording();
        let first = (0..100)
            .map(|number| Finding {
                key: Some(format!("t:acme:Order:{number}")),
                ..Finding::new(FindingCode::Missing, "It is not there.")
            })
            .collect();
        let account = FindingsAccount {
            total: 1_234,
            first,
            file: Some("a.findings.ndjson".into()),
            ..FindingsAccount::default()
        };
        let report = Report::Export(ExportReport::default());
        show(&Outcome::done(report).with_findings(account), &ui).unwrap();
        let shown = screen.text();
        assert!(shown.contains("1,234 findings\n"), "{shown}");
        assert_eq!(shown.matches("It is not there.").count(), SHOWN_FINDINGS);
        assert!(shown.ends_with("1,224 more are in a.findings.ndjson.\n"), "{shown}");
    }

    #[test]
    fn a_long_key_is_shortened_in_the_table_and_nothing_else_grows_with_it() {
        let (ui, screen) = Ui::recording();
        let long = format!("t:acme:Order:{}:7", "x".repeat(2_000));
        let finding = |key: &str| Finding {
            key: Some(key.to_owned()),
            ..Finding::new(FindingCode::Missing, "It is not there.")
        };
        let first = vec![finding(&long), finding("t:acme:Order:A-1:0")];
        let account = FindingsAccount { total: 3, first, ..FindingsAccount::default() };
        let report = Report::Export(ExportReport::default());
        show(&Outcome::done(report).with_findings(account), &ui).unwrap();
        let shown = screen.text();
        assert!(shown.contains("t:acme:Order:xxx") && shown.contains("xxx:7  It is"), "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() < 140), "{shown}");
        assert!(shown.ends_with("1 more is not shown.\n"), "{shown}");
    }

    #[test]
    fn a_finding_is_named_by_the_closest_thing_it_knows() {
        let finding = |key: Option<&str>, stream: Option<&str>, line| Finding {
            key: key.map(Into::into),
            stream: stream.map(Into::into),
            line,
            tenant: Some("acme".into()),
            ..Finding::new(FindingCode::Refused(Reason::Malformed), "It is no JSON.")
        };
        assert_eq!(document(&finding(Some("k"), Some("s"), Some(1))), "k");
        let versioned = |key| document(&Finding { version: Some(3), ..finding(Some(key), None, None) });
        assert_eq!(versioned("t:acme:A-1"), "t:acme:A-1, version 3");
        assert_eq!(versioned("t:acme:Order:A-1:3"), "t:acme:Order:A-1:3");
        assert_eq!(document(&finding(None, Some("s"), Some(1))), "s");
        assert_eq!(document(&finding(None, None, Some(1_000))), "line 1,000");
        assert_eq!(document(&finding(None, None, None)), "acme");
    }

    #[test]
    fn parts_leave_out_what_is_zero() {
        assert_eq!(
            parts(&[(3, "written"), (0, "identical"), (1_000, "in conflict")]),
            "3 written, 1,000 in conflict"
        );
        assert_eq!(parts(&[(0, "written"), (0, "identical")]), "0 written");
    }
}
