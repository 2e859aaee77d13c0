use serde::Serialize;
use serde_json::Value;

use super::run::by_name;
use super::{StateReport, StoreReport};
use crate::migration::State;

/// The result of `rehearse`: what became of each store, and what the real run will meet.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RehearsalReport {
    /// The stores, in the order of the project; in JSON an object with a member for each.
    #[serde(serialize_with = "by_name")]
    pub stores: Vec<StoreReport>,
    /// What the real run will meet, in the order in which it will.
    pub met: Vec<Met>,
}

/// Something that the real run will meet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Met {
    /// The store.
    pub store: String,
    /// On the way to which state.
    pub state: State,
    /// The stable code of a notice or finding.
    pub code: String,
    /// How often, of the first hundred findings of the command.
    pub times: u64,
    /// The first one.
    pub message: String,
}

impl Met {
    /// What a store has met, by the results of its commands.
    pub fn of(store: &StoreReport) -> Vec<Self> {
        store.states.iter().flat_map(|state| of_state(&store.store, state)).collect()
    }
}

/// What one command said and found, each code once.
fn of_state(store: &str, report: &StateReport) -> Vec<Met> {
    let list =
        |member: &str| report.result.as_ref().and_then(|it| it.get(member)?.as_array()).into_iter().flatten();
    let text = |value: &Value, member: &str| value.get(member).and_then(Value::as_str).map(str::to_owned);
    let mut all: Vec<Met> = Vec::new();
    for value in list("findings").chain(list("notices")) {
        let Some(code) = text(value, "code") else { continue };
        if let Some(met) = all.iter_mut().find(|met| met.code == code) {
            met.times += 1;
            continue;
        }
        let message = text(value, "message").unwrap_or_default();
        let about = text(value, "key").or_else(|| text(value, "stream"));
        let message = about.map_or(message.clone(), |about| format!("{about}: {message}"));
        all.push(Met { store: store.to_owned(), state: report.state, code, times: 1, message });
    }
    all
}
