use std::path::PathBuf;

use serde::Serialize;

use crate::migration::State;

/// The result of `status`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StatusReport {
    /// The journals that are not finished, in the order of folders and names.
    pub unfinished: Vec<JournalStatus>,
    /// How many are finished.
    pub finished: u64,
    /// Where the stores of a project stand; in JSON an object with a member for each, absent without a project.
    #[serde(serialize_with = "by_name", skip_serializing_if = "Vec::is_empty")]
    pub stores: Vec<StoreStatus>,
}

/// Where one store of a project stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StoreStatus {
    /// The store's name.
    #[serde(skip)]
    pub store: String,
    /// The last state that it has reached.
    pub state: Option<State>,
    /// When it reached that.
    pub since: Option<String>,
    /// Documents, as the command that led to the state counted them.
    pub documents: Option<u64>,
    /// The state that a run was to lead to and did not.
    pub stopped_before: Option<State>,
    /// Why: what the run said, or that it was interrupted.
    pub problem: Option<String>,
    /// The command that goes on; `None` where nothing is left to do.
    pub next: Option<String>,
}

fn by_name<S: serde::Serializer>(stores: &[StoreStatus], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(stores.iter().map(|it| (&it.store, it)))
}

/// One journal that is not finished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JournalStatus {
    /// Its file.
    #[serde(serialize_with = "super::shown")]
    pub journal: PathBuf,
    /// What is the matter with it.
    pub state: JournalState,
    /// The command.
    pub command: Option<String>,
    /// The archive's file name.
    pub archive: Option<String>,
    /// The target, as the journal is bound to it.
    pub target: Option<String>,
    /// Documents with their final outcome.
    pub done: u64,
    /// All documents.
    pub documents: Option<u64>,
    /// When the first of its runs began (RFC 3339, UTC).
    pub since: Option<String>,
    /// When the last one began.
    pub last_run: Option<String>,
    /// The process of the last run.
    pub process: Option<u32>,
    /// What to type to go on, credentials left out.
    pub resume: Option<String>,
    /// What is wrong with a damaged one.
    pub problem: Option<String>,
}

/// What is the matter with a journal that is not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum JournalState {
    /// A run works with it now.
    Running,
    /// Its run was interrupted or killed; the same command goes on.
    Resumable,
    /// It cannot be read.
    Damaged,
}
