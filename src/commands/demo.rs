//! `rekey demo`: the whole road for all eight kinds of documents, on embedded storage, in a temporary folder.

mod fixtures;
mod tamper;
mod walk;

use std::path::Path;

use crate::exit::ExitStatus;
use crate::options::DemoOptions;
use crate::report::{DemoLayout, DemoReport, Outcome, Report, Verdict};
use crate::signal::StopSignal;
use crate::ui::{Align, Table, Ui, format};
use crate::{Error, Result};
use fixtures::{FIXTURES, Fixture};
use walk::{Walk, Walked};

/// The layout whose commands are shown one by one.
const SHOWN: &str = "cosmosdb-events";

/// Shows the tool at work.
pub async fn run(options: DemoOptions, ui: &Ui, stop: &StopSignal) -> Result<Outcome> {
    let folder = tempfile::Builder::new()
        .prefix("rekey-demo-")
        .tempdir()
        .map_err(|e| Error::io("create a folder in", std::env::temp_dir(), e))?;
    ui.heading("Moving a shop's events and sagas to keys that carry their tenant")?;
    ui.line(INTRODUCTION)?;
    ui.line("")?;

    let mut report = DemoReport::default();
    for fixture in FIXTURES.iter().filter(|fixture| fixture.layout == SHOWN) {
        let walked = Walk::new(fixture, folder.path(), stop)?.all(Some(ui)).await?;
        report.layouts.push(layout(fixture, &walked));
    }
    ui.line("")?;
    ui.heading("The other seven collections, the same way")?;
    for fixture in FIXTURES.iter().filter(|fixture| fixture.layout != SHOWN) {
        let walked = Walk::new(fixture, folder.path(), stop)?.all(None).await?;
        report.layouts.push(layout(fixture, &walked));
    }
    show_layouts(&report.layouts, ui)?;
    report.change_found = change_and_find(folder.path(), ui, stop).await?;
    if options.keep {
        report.folder = Some(folder.keep());
    }
    conclude(report, ui)
}

const INTRODUCTION: &str = "A shop keeps events and sagas in MongoDB, DynamoDB, Firestore and Cosmos DB. Its framework's \
new release looks for every document under a key with the owning tenant in it; the documents written before have none. \
Each database is stood for by one local file here.";

fn layout(fixture: &Fixture, walked: &Walked) -> DemoLayout {
    DemoLayout {
        layout: fixture.layout.to_owned(),
        documents: walked.documents,
        tenants: walked.tenants.len() as u64,
        verdict: walked.verdict,
    }
}

fn show_layouts(layouts: &[DemoLayout], ui: &Ui) -> Result<()> {
    let mut table = Table::new([
        ("collection", Align::Left),
        ("documents", Align::Right),
        ("tenants", Align::Right),
        ("verify says", Align::Left),
    ]);
    for layout in layouts {
        table.row([
            layout.layout.clone(),
            format::number(layout.documents),
            format::number(layout.tenants),
            layout.verdict.word().to_owned(),
        ]);
    }
    ui.table(&table)
}

/// Changes one document behind the tool's back; tells whether `verify` names it.
async fn change_and_find(folder: &Path, ui: &Ui, stop: &StopSignal) -> Result<bool> {
    ui.line("")?;
    ui.heading("One digit of one stored document is changed behind the tool's back")?;
    let Some(fixture) = FIXTURES.iter().find(|fixture| fixture.layout == SHOWN) else { return Ok(false) };
    let walk = Walk::new(fixture, folder, stop)?;
    let changed = tamper::change_one(&walk.target(), stop).await?;
    let found = walk.verify().await?;
    ui.line(&walk.shown_verify())?;
    for finding in &found.findings {
        let key = finding.key.as_deref().unwrap_or_default();
        ui.line(&format!("  {}: {} {}", finding.code, format::visible(key), finding.message))?;
    }
    let named = found.findings.iter().any(|finding| finding.key.as_deref() == Some(changed.as_str()));
    ui.line(&format!("  verdict: {} (exit {})", found.verdict.word(), found.exit.code()))?;
    Ok(named && found.verdict == Verdict::Mismatch)
}

fn conclude(report: DemoReport, ui: &Ui) -> Result<Outcome> {
    let moved = report.layouts.iter().all(|layout| layout.verdict == Verdict::Match);
    if !moved || !report.change_found {
        return Err(Error::bug("The demonstration did not come out as it must")
            .hint("Run it again with --keep and look at the files."));
    }
    let documents: u64 = report.layouts.iter().map(|layout| layout.documents).sum();
    ui.line("")?;
    ui.heading("Done")?;
    ui.line(&format!(
        "{} moved and proven to be unchanged but for their keys; the one that was tampered with was named.",
        format::count(documents, "document")
    ))?;
    match &report.folder {
        Some(folder) => ui.line(&format!("The files are in {}.", folder.display()))?,
        None => ui.line("Nothing is left behind; --keep keeps the files for a look.")?,
    }
    ui.line("Next: `rekey --help`, README.md, docs/runbook.md.")?;
    Ok(Outcome::done(Report::Demo(report)).and(ExitStatus::Done))
}
