use std::path::PathBuf;

use super::preflight::Checked;
use super::send::Sent;
use super::{Job, Plan, What};
use crate::exit::ExitStatus;
use crate::report::{Findings, FindingsAccount, ImportReport, Outcome, Report};
use crate::ui::format::part;
use crate::{Error, Result};

/// The result of an archive that the target would refuse parts of: nothing was written.
pub(super) fn refused(job: &Job, plan: &Plan, checked: &Checked, findings: Findings) -> Result<Outcome> {
    let (refused, documents) = (checked.refused, checked.documents);
    let account = findings.finish()?;
    let report = ImportReport {
        dry_run: job.dry_run,
        layout: plan.layout.name.clone(),
        documents,
        not_sent: documents,
        refused,
        reasons: checked.reasons.clone(),
        ..ImportReport::default()
    };
    let error = Error::refused(format!(
        "{} refused; nothing was written",
        part(refused, documents, "document", ["is", "are"])
    ));
    let error = error.hint(if job.what == What::Legacy {
        "Choose a target that takes them, or leave their streams out of the archive."
    } else {
        "Pass --on-refused set-aside to write the other streams and keep these in a side file."
    });
    Ok(outcome(job, plan, report, account).with_error(error))
}

/// The result of a run that came to its end.
pub(super) fn done(
    job: &Job,
    plan: &Plan,
    checked: &Checked,
    sent: &Sent,
    findings: Findings,
    set_aside_file: Option<PathBuf>,
) -> Result<Outcome> {
    let has_findings = findings.total() > checked.refused;
    let account = findings.finish()?;
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
        not_sent: 0,
        refused: checked.refused,
        reasons: checked.reasons.clone(),
        set_aside_file,
    };
    if !report.adds_up() {
        return Err(Error::bug(format!("The outcomes do not add up to the documents: {report:?}")));
    }
    let mut outcome = outcome(job, plan, report, account).and(sent.into());
    if has_findings {
        outcome = outcome.and(ExitStatus::Finding);
    }
    if sent.tally.set_aside > 0 {
        outcome = outcome.and(ExitStatus::Partial);
    }
    Ok(outcome)
}

fn outcome(job: &Job, plan: &Plan, report: ImportReport, account: FindingsAccount) -> Outcome {
    let report = if job.what == What::Legacy { Report::Restore(report) } else { Report::Import(report) };
    Outcome::done(report).with_findings(account).of_shards(plan.shards.clone())
}
