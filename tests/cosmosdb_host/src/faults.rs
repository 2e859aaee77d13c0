//! What goes wrong on purpose, for each container by itself, and what was seen.
//!
//! `PUT /__test/DATABASE/CONTAINER` sets a [`Plan`] and clears the tally, `GET` gives the [`Tally`].

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

/// What goes wrong, each once in so many requests for items; 0 is never.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Plan {
    /// Turned down for the rate, nothing done.
    throttle_every: u64,
    /// How long whoever is turned down is told to wait.
    pub(crate) retry_after_ms: u64,
    /// Of these writes the answer is lost after they were done.
    lose_every: u64,
    /// At these writes the connection is cut after they were done, with everything that is under way on it.
    cut_every: u64,
    /// These writes are done, and answered with an error that says nothing about it.
    fail_every: u64,
    /// Whether every write is turned down for the rate.
    refuse_writes: bool,
    /// At this query the first partition is split in two.
    split_at_query: u64,
    /// What the container tells of its partitions' sizes, if it is asked.
    pub(crate) statistics: Option<serde_json::Value>,
}

/// What was seen since the plan was set.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Tally {
    requests: u64,
    writes: u64,
    queries: u64,
    throttled: u64,
    lost: u64,
    cut: u64,
    failed: u64,
    pub(crate) splits: u64,
    /// Request units, as the engine told them.
    pub(crate) consumed: f64,
}

/// What a request for items does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Query,
    Write,
}

/// What is done about one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Answered,
    TurnedDown,
    AnswerLost,
    ConnectionCut,
    Failed,
}

/// The plans and tallies of all containers, by `DATABASE/CONTAINER`.
#[derive(Default)]
pub(crate) struct Faults(Mutex<HashMap<String, (Plan, Tally)>>);

impl Faults {
    pub(crate) fn with<T>(&self, container: &str, work: impl FnOnce(&mut Plan, &mut Tally) -> T) -> T {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (plan, tally) = known.entry(container.to_owned()).or_default();
        work(plan, tally)
    }

    /// Decides about one request; whether a partition is to be split before it.
    pub(crate) fn decide(&self, container: &str, kind: Kind) -> (Fate, bool) {
        self.with(container, |plan, tally| {
            tally.requests += 1;
            tally.queries += u64::from(kind == Kind::Query);
            let splits = kind == Kind::Query && tally.queries == plan.split_at_query;
            let turned_down =
                is_due(plan.throttle_every, tally.requests) || plan.refuse_writes && kind == Kind::Write;
            if turned_down {
                tally.throttled += 1;
                return (Fate::TurnedDown, splits);
            }
            if kind != Kind::Write {
                return (Fate::Answered, splits);
            }
            tally.writes += 1;
            let fates = [
                (plan.lose_every, &mut tally.lost, Fate::AnswerLost),
                (plan.cut_every, &mut tally.cut, Fate::ConnectionCut),
                (plan.fail_every, &mut tally.failed, Fate::Failed),
            ];
            for (every, seen, fate) in fates {
                if is_due(every, tally.writes) {
                    *seen += 1;
                    return (fate, splits);
                }
            }
            (Fate::Answered, splits)
        })
    }
}

/// Whether the one with this number is the last of so many.
fn is_due(every: u64, number: u64) -> bool {
    every > 0 && number.is_multiple_of(every)
}
