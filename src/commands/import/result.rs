use std::path::PathBuf;

use super::preflight::Checked;
use super::send::Sent;
use super::{Job, Plan, What};
use crate::archive::{ArchiveWriter, Chunk, Staged};
use crate::check::{Reason, Refusal};
use crate::document::json::Tape;
use crate::exit::ExitStatus;
use crate::layout::Inspector;
use crate::report::{Findings, FindingsAccount, ImportReport, Outcome, Report};
use crate::rewrite::{RefusedDocument, write_entry};
use crate::{Error, Result};

/// The result of an archive that the target would refuse parts of: nothing was written.
pub(super) fn refused(job: &Job, plan: &Plan, checked: &Checked, findings: Findings) -> Result<Outcome> {
    let (refused, documents) = (checked.refused, checked.documents);
    let account = findings.finish()?;
    let report = ImportReport {
        dry_run: job.dry_run,
        layout: plan.layout.name.clone(),
        documents,
        ..ImportReport::default()
    };
    let error =
        Error::refused(format!("{refused} of {documents} documents are refused; nothing was written"))
            .hint("Pass --on-refused set-aside to write the other streams and keep these in a side file.");
    Ok(outcome(job, report, account).with_error(error))
}

/// The result of a run that came to its end.
pub(super) fn done(
    job: &Job,
    plan: &Plan,
    checked: &Checked,
    sent: &Sent,
    findings: Findings,
) -> Result<Outcome> {
    let has_findings = findings.total() > checked.refused;
    let account = findings.finish()?;
    let set_aside_file = if job.dry_run { None } else { write_set_aside(plan, checked)? };
    let tally = &sent.tally;
    let report = ImportReport {
        dry_run: job.dry_run,
        layout: plan.layout.name.clone(),
        documents: checked.documents,
        written: tally.written,
        identical: tally.identical,
        conflict: tally.conflict,
        expired: tally.expired,
        stale: 0,
        set_aside: tally.set_aside,
        set_aside_file,
    };
    if !report.adds_up() {
        return Err(Error::bug(format!("The outcomes do not add up to the documents: {report:?}")));
    }
    let mut outcome = outcome(job, report, account).and(sent.into());
    if has_findings {
        outcome = outcome.and(ExitStatus::Finding);
    }
    if sent.tally.set_aside > 0 {
        outcome = outcome.and(ExitStatus::Partial);
    }
    Ok(outcome)
}

fn outcome(job: &Job, report: ImportReport, account: FindingsAccount) -> Outcome {
    let report = if job.what == What::Legacy { Report::Restore(report) } else { Report::Import(report) };
    Outcome::done(report).with_findings(account)
}

/// Writes the documents that were set aside, whole, each with why.
fn write_set_aside(plan: &Plan, checked: &Checked) -> Result<Option<PathBuf>> {
    let [archive] = plan.input.files() else { return Ok(None) };
    if checked.refused_streams.is_empty() {
        return Ok(None);
    }
    let mut name = archive.as_os_str().to_owned();
    name.push(".import.refused.ndjson");
    let path = PathBuf::from(name);
    let mut list = ArchiveWriter::create(&path)?;
    let inspector = Inspector::new(&plan.layout, plan.escaping);
    let (mut tape, mut key, mut entry) = (Tape::new(), Vec::new(), Vec::new());
    let mut reader = plan.input.line_reader();
    let mut chunk = Chunk::new();
    while reader.fill(&mut chunk)? {
        for line in chunk.lines() {
            if tape.read(line.bytes).is_err() || !checked.refuses(&inspector, &tape, line.bytes, &mut key) {
                continue;
            }
            let refusal =
                Refusal::new(Reason::StreamRefused, "a document of the stream is beyond the target's limits");
            let shown = inspector.display_key(&tape, line.bytes).into_owned();
            let refused = RefusedDocument { line: line.number, key: shown, version: None, refusal };
            entry.clear();
            write_entry(&refused, Some(line.bytes), &mut entry)?;
            list.write_block(&entry, 1)?;
        }
    }
    let _totals = reader.finish()?;
    let mut staged = Staged::new();
    staged.add(list.finish()?.output);
    staged.commit()?;
    Ok(Some(path))
}
