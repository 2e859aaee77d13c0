//! `rekey status`: which runs did not come to their end, and how to go on with each.

use std::path::Path;

use super::run::{is_held, kept, next_command};
use crate::Result;
use crate::journal::{JournalAccount, Run, inspect, journals_in};
use crate::migration::{Archives, Evidence, State, Status};
use crate::options::{AskedStore, StatusOptions};
use crate::project::FILE_NAME;
use crate::report::{JournalState, JournalStatus, Outcome, Report, StatusReport, StoreStatus};

/// Looks at every journal of the folders.
pub fn run(options: &StatusOptions) -> Result<Outcome> {
    let mut report = StatusReport::default();
    for folder in &options.folders {
        for path in journals_in(folder)? {
            match inspect(&path) {
                Ok(account) if account.is_finished => report.finished += 1,
                Ok(account) => report.unfinished.push(unfinished(&path, account)),
                Err(error) => report.unfinished.push(damaged(&path, error.to_string())),
            }
        }
    }
    for store in &options.stores {
        let project = options.project.as_deref().unwrap_or(Path::new(FILE_NAME));
        report.stores.push(store_status(project, store)?);
    }
    Ok(Outcome::done(Report::Status(report)))
}

/// Where a store stands by its evidence: the last state whose evidence still holds, and what came of the next one.
fn store_status(project: &Path, store: &AskedStore) -> Result<StoreStatus> {
    let mut status = StoreStatus {
        store: store.name.clone(),
        state: None,
        since: None,
        documents: None,
        stopped_before: None,
        problem: None,
        next: None,
    };
    if let Some(run) = &store.run {
        let archives = Archives::of(run)?;
        for state in State::ALL {
            if let Some(evidence) = kept(state, run, &archives)? {
                status.state = Some(state);
                status.since = evidence.ended;
                status.documents =
                    evidence.result.and_then(|it| it.get("documents")?.as_u64()).or(status.documents);
                continue;
            }
            if let Some(evidence) = Evidence::read(&run.folder, state)? {
                status.stopped_before = Some(state);
                status.problem = Some(match (evidence.status, evidence.error) {
                    (Status::Begun, _) if is_held(&run.folder) => {
                        format!("a run works on it now, since {}", evidence.started)
                    }
                    (Status::Begun, _) => format!("begun {} and interrupted", evidence.started),
                    (Status::Done, _) => "what it rests on has changed since".to_owned(),
                    (Status::Stopped, Some(error)) => error,
                    (Status::Stopped, None) => {
                        format!("{} ended with exit {}", state.verb(), evidence.exit_code.unwrap_or_default())
                    }
                });
            }
            break;
        }
    }
    status.next = next_command(project, &store.name, status.state);
    Ok(status)
}

fn unfinished(path: &Path, account: JournalAccount) -> JournalStatus {
    let JournalAccount { context, is_running, done, since, run, .. } = account;
    let (command, archive, target) = match context {
        Some(context) => (Some(context.command), Some(context.archive), Some(context.target)),
        None => (None, None, None),
    };
    JournalStatus {
        journal: path.to_owned(),
        state: if is_running { JournalState::Running } else { JournalState::Resumable },
        command,
        archive,
        target: target.map(|target| target.trim_end().to_owned()),
        done,
        documents: run.as_ref().map(|run| run.documents),
        since,
        last_run: run.as_ref().map(|run| run.started.clone()),
        process: run.as_ref().map(|run| run.process),
        resume: run.as_ref().map(resume),
        problem: None,
    }
}

fn damaged(path: &Path, problem: String) -> JournalStatus {
    JournalStatus {
        journal: path.to_owned(),
        state: JournalState::Damaged,
        command: None,
        archive: None,
        target: None,
        done: 0,
        documents: None,
        since: None,
        last_run: None,
        process: None,
        resume: None,
        problem: Some(problem),
    }
}

/// What to type to go on: from where the command was typed, if that is somewhere else.
fn resume(run: &Run) -> String {
    let command: Vec<String> = run.command.iter().map(|word| quoted(word)).collect();
    let command = command.join(" ");
    let here = std::env::current_dir().is_ok_and(|here| here.to_string_lossy() == run.folder);
    if here || run.folder.is_empty() { command } else { format!("cd {} && {command}", quoted(&run.folder)) }
}

/// A word as a shell takes it.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=,+@%".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_change_them() {
        assert_eq!(quoted("a.ndjson"), "a.ndjson");
        assert_eq!(quoted("embedded:x?as=mongodb"), "'embedded:x?as=mongodb'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
        let run = Run { folder: "/some where".into(), command: vec!["rekey".into()], ..Run::default() };
        assert_eq!(resume(&run), "cd '/some where' && rekey");
    }
}
