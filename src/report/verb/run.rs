use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::exit::ExitStatus;
use crate::migration::{Evidence, State};
use crate::report::{Finding, Notice};

/// The result of `run` and of `apply`: what became of each store.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunReport {
    /// The stores, in the order of the project; in JSON an object with a member for each.
    #[serde(serialize_with = "by_name")]
    pub stores: Vec<StoreReport>,
}

/// What became of one store.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StoreReport {
    /// The store's name in the project.
    #[serde(skip)]
    pub store: String,
    /// The last state that it has reached; `None` if none.
    pub state: Option<State>,
    /// How its run ended.
    #[serde(serialize_with = "code", rename = "exit_code")]
    pub exit: ExitStatus,
    /// The states that the run went through or found reached, in order; in JSON an object with a member for each.
    #[serde(serialize_with = "by_state")]
    pub states: Vec<StateReport>,
    /// What is worth knowing about its run, beside what its commands said.
    pub notices: Vec<Notice>,
    /// What is not as it was planned.
    #[serde(skip)]
    pub differences: Vec<Finding>,
    /// Why it stopped.
    pub error: Option<String>,
    /// The command that goes on; `None` where nothing is left to do.
    pub next: Option<String>,
}

/// What became of one state.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StateReport {
    /// The state.
    #[serde(skip)]
    pub state: State,
    /// Whether it was reached before, by an earlier run.
    pub kept: bool,
    /// How its command ended.
    pub exit_code: u8,
    /// When it began (RFC 3339, UTC).
    pub started: String,
    /// When it ended.
    pub ended: Option<String>,
    /// The JSON result of its command.
    pub result: Option<Value>,
}

impl StoreReport {
    /// The report of a store for which nothing was done.
    pub fn not_begun(store: &str) -> Self {
        Self {
            store: store.to_owned(),
            state: None,
            exit: ExitStatus::Done,
            states: Vec::new(),
            notices: Vec::new(),
            differences: Vec::new(),
            error: None,
            next: None,
        }
    }
}

impl StateReport {
    /// What the evidence of a state says.
    pub fn of(evidence: Evidence, kept: bool) -> Self {
        Self {
            state: evidence.state,
            kept,
            exit_code: evidence.exit_code.unwrap_or_default(),
            started: evidence.started,
            ended: evidence.ended,
            result: evidence.result,
        }
    }

    /// Whether the state was reached, now or before.
    pub fn is_reached(&self) -> bool {
        self.kept || self.state.is_reached_with(self.exit_code)
    }

    /// A number in the result of the command.
    pub fn number(&self, member: &str) -> Option<u64> {
        self.result.as_ref()?.get(member)?.as_u64()
    }
}

// serde hands over a reference to the member.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn code<S: Serializer>(exit: &ExitStatus, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u8(exit.code())
}

pub(super) fn by_name<S: Serializer>(stores: &[StoreReport], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(stores.iter().map(|it| (&it.store, it)))
}

fn by_state<S: Serializer>(states: &[StateReport], serializer: S) -> Result<S::Ok, S::Error> {
    let states: BTreeMap<State, &StateReport> = states.iter().map(|it| (it.state, it)).collect();
    serializer.collect_map(states)
}
