use super::Job;
use super::decide::Left;
use crate::commands::withdraw::Verdicts;
use crate::exit::ExitStatus;
use crate::journal::Tally;
use crate::options::UndoOptions;
use crate::report::{Findings, Outcome, Report, UndoReport};
use crate::{Error, Result};

/// What taking back comes to if nobody writes meanwhile.
pub(super) fn foreseen(job: &Job, decided: &Verdicts) -> Tally {
    let tally = Tally { kept: decided.staying(), gone: decided.gone, ..Tally::default() };
    if job.in_place {
        Tally { written: decided.going(), ..tally }
    } else {
        Tally { deleted: decided.going(), ..tally }
    }
}

/// What taking back came to whose changes came to `taken`.
pub(super) fn with(decided: &mut Verdicts, taken: &Tally) -> Tally {
    if taken.kept > 0 {
        decided.count(Left::ChangedMeanwhile, taken.kept);
    }
    Tally { kept: decided.staying(), gone: decided.gone + taken.gone, ..*taken }
}

/// The result: what was taken back, was gone, or is left and why.
pub(super) fn finish(
    options: &UndoOptions,
    job: &Job,
    decided: Verdicts,
    tally: Tally,
    findings: Findings,
) -> Result<Outcome> {
    let account = findings.finish()?;
    let report = UndoReport {
        dry_run: options.dry_run,
        layout: job.layout.name.clone(),
        documents: decided.documents,
        removed: tally.deleted,
        put_back: tally.written,
        gone: tally.gone,
        left: tally.kept,
        reasons: decided
            .reasons
            .into_iter()
            .map(|(reason, documents)| (reason.to_owned(), documents))
            .collect(),
    };
    if !report.adds_up() {
        return Err(Error::bug(format!("The outcomes do not add up to the documents: {report:?}")));
    }
    let exit = if report.left > 0 { ExitStatus::Partial } else { ExitStatus::Done };
    Ok(Outcome::done(Report::Undo(report)).with_findings(account).and(exit))
}
