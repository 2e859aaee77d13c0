use super::Archives;
use super::decide::Kept;
use crate::Result;
use crate::commands::withdraw::Verdicts;
use crate::exit::ExitStatus;
use crate::journal::Tally;
use crate::options::PruneOptions;
use crate::report::{Findings, Outcome, PruneReport, Report};

/// What a prune comes to if nobody writes meanwhile.
pub(super) fn foreseen(decided: &Verdicts) -> Tally {
    Tally { kept: decided.staying(), gone: decided.gone, deleted: decided.going(), ..Tally::default() }
}

/// What a prune came to whose deletes came to `deleted`.
pub(super) fn with(decided: &mut Verdicts, deleted: &Tally) -> Tally {
    if deleted.kept > 0 {
        decided.count(Kept::ChangedMeanwhile, deleted.kept);
    }
    Tally { kept: decided.staying(), gone: decided.gone_of_kept + deleted.gone, ..*deleted }
}

/// The result: what was deleted, was gone, or is kept and why.
pub(super) fn finish(
    options: &PruneOptions,
    archives: &Archives,
    decided: Verdicts,
    tally: Tally,
    findings: Findings,
) -> Result<Outcome> {
    let account = findings.finish()?;
    // A stream whose exported documents are all gone is kept for what is stored of it besides.
    let is_partial = tally.kept > 0 || !decided.is_all();
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
    let outcome = Outcome::done(Report::Prune(report)).of_shards(archives.shards.clone());
    Ok(outcome.with_findings(account).and(exit))
}
