use super::Archives;
use super::decide::Decided;
use crate::Result;
use crate::exit::ExitStatus;
use crate::journal::Tally;
use crate::options::PruneOptions;
use crate::report::{Findings, Outcome, PruneReport, Report};

/// The result: what was deleted, was gone, or is kept and why.
pub(super) fn finish(
    options: &PruneOptions,
    archives: &Archives,
    decided: Decided,
    tally: Tally,
    findings: Findings,
) -> Result<Outcome> {
    let account = findings.finish()?;
    // A stream whose exported documents are all gone is kept for what is stored of it besides.
    let is_partial = tally.kept > 0 || !decided.kept.is_empty();
    let report = PruneReport {
        dry_run: options.dry_run,
        layout: archives.layout.name.clone(),
        documents: decided.documents,
        deleted: tally.deleted,
        gone: tally.gone,
        kept: tally.kept,
        reasons: decided
            .reasons
            .into_iter()
            .map(|(reason, documents)| (reason.to_owned(), documents))
            .collect(),
    };
    if !report.adds_up() {
        return Err(crate::Error::bug(format!("The outcomes do not add up to the documents: {report:?}")));
    }
    let exit = if is_partial { ExitStatus::Partial } else { ExitStatus::Done };
    Ok(Outcome::done(Report::Prune(report)).with_findings(account).and(exit))
}
