use std::path::Path;

use crate::commands::status::quoted;
use crate::exit::ExitStatus;
use crate::migration::State;
use crate::options::RunOptions;
use crate::project::FILE_NAME;
use crate::report::{
    FIRST_FINDINGS, Finding, FindingsAccount, Outcome, Report, RunReport, StateReport, StoreReport,
};
use crate::ui::format::{count, number};

/// The result of a run: the worst of its stores.
pub(in crate::commands) fn outcome_of(stores: Vec<StoreReport>) -> Outcome {
    let exit = stores.iter().fold(ExitStatus::Done, |exit, store| exit.worst(store.exit));
    let findings = account_of(stores.iter().flat_map(|store| &store.differences));
    Outcome::done(Report::Run(RunReport { stores })).with_findings(findings).and(exit)
}

/// Differences from a plan, counted.
pub(super) fn account_of<'a>(differences: impl Iterator<Item = &'a Finding>) -> FindingsAccount {
    let mut account = FindingsAccount::default();
    for finding in differences {
        account.total += 1;
        *account.by_code.entry(finding.code).or_default() += 1;
        if account.first.len() < FIRST_FINDINGS {
            account.first.push(finding.clone());
        }
    }
    account
}

/// What is said when a command has led to a state, or has not.
pub(super) fn phrase(report: &StateReport) -> String {
    let documents = report.number("documents").map(|it| count(it, "document"));
    let some = |member: &str, what: &str| {
        report.number(member).filter(|it| *it > 0).map(|it| format!("{} {what}", number(it)))
    };
    let mut parts: Vec<String> = documents.into_iter().collect();
    parts.extend(
        [
            some("written", "written"),
            some("identical", "identical"),
            some("conflict", "in conflict"),
            some("refused", "refused"),
            some("set_aside", "set aside"),
            some("deleted", "deleted"),
            some("gone", "gone before"),
            some("kept", "kept"),
        ]
        .into_iter()
        .flatten(),
    );
    let verdict = report.result.as_ref().and_then(|it| it.get("verdict")?.as_str());
    parts.extend(verdict.map(|verdict| format!("verdict {verdict}")));
    let state = report.state.name();
    match report.exit_code {
        0 => format!("{state}: {}", parts.join(", ")),
        code => format!("{}: exit {code}: {}", report.state.verb(), parts.join(", ")),
    }
}

/// The command that goes on with a store which has reached a state; `None` where nothing is left.
pub(super) fn next_of(options: &RunOptions, store: &str, reached: Option<State>) -> Option<String> {
    match &options.plan {
        Some((file, plan)) => {
            let prune = after(reached)?;
            let project = if options.project == plan.project {
                String::new()
            } else {
                format!(" --project {}", quoted(&options.project.to_string_lossy()))
            };
            Some(format!("rekey apply {}{project}{prune}", quoted(&file.to_string_lossy())))
        }
        None => next_command(&options.project, store, reached),
    }
}

/// The same for a run that no plan holds.
pub(in crate::commands) fn next_command(
    project: &Path,
    store: &str,
    reached: Option<State>,
) -> Option<String> {
    let project = if project == Path::new(FILE_NAME) {
        String::new()
    } else {
        format!(" --project {}", quoted(&project.to_string_lossy()))
    };
    let prune = after(reached)?;
    Some(format!("rekey run{project} --store {store}{prune}"))
}

/// The flag that leads on from a state.
fn after(reached: Option<State>) -> Option<&'static str> {
    match reached {
        Some(State::Pruned) => None,
        Some(State::Verified) => Some(" --prune"),
        _ => Some(""),
    }
}
