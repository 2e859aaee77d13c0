use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::migration::{Archives, Inputs, State, inputs_of};
use crate::options::{Rates, StoreRun};

/// What will happen to one store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorePlan {
    /// The store's name in the project.
    pub store: String,
    /// Everything that decides what the run does, by the names of the project's fields; files by digest.
    pub settings: Inputs,
    /// The digests of legacy archive, rekeyed archive and key map; empty in a plan made from stores.
    pub archives: Inputs,
    /// Documents to move.
    pub documents: u64,
    /// Their streams, or sagas.
    pub streams: u64,
    /// Bytes of their lines once rekeyed.
    pub bytes: u64,
    /// Tenant → what it owns.
    pub tenants: BTreeMap<String, PlannedTenant>,
    /// Old and new keys, a few of each tenant.
    pub samples: Vec<Sample>,
    /// Documents refused.
    pub refused: u64,
    /// Reason → documents refused for it.
    pub reasons: BTreeMap<String, u64>,
    /// The longest new key, in bytes.
    pub longest_key: u64,
    /// The most that the store takes, where the layout has a limit.
    pub key_limit: Option<u64>,
    /// What the import will do.
    pub import: Forecast,
    /// Side effects and whatever else is worth knowing: time to live, subscribers, missing indexes, capacity.
    pub notices: Vec<Remark>,
    /// What the commands would find, the first hundred.
    pub findings: Vec<Remark>,
    /// What would stop the run.
    pub stops: Vec<String>,
}

/// What one tenant owns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedTenant {
    /// Documents.
    pub documents: u64,
    /// Streams, or sagas.
    pub streams: u64,
    /// Bytes of the rekeyed lines.
    pub bytes: u64,
    /// The longest new key, in bytes.
    pub longest_key: u64,
}

/// One old key with its new one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// The tenant.
    pub tenant: String,
    /// The key as it was.
    pub old_key: String,
    /// The key as it becomes.
    pub new_key: String,
}

/// What an import will do, by its dry run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forecast {
    /// Documents to write.
    pub write: u64,
    /// There already.
    pub identical: u64,
    /// A different document is there.
    pub conflict: u64,
    /// Expired by their own time to live.
    pub expired: u64,
    /// The least seconds that takes at `max-writes-per-second`, where that is set.
    pub seconds: Option<u64>,
}

/// A notice or a finding, with its stable code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    /// The stable code.
    pub code: String,
    /// One sentence.
    pub message: String,
}

/// Digests that a plan binds by themselves, if at all.
const OF_ARCHIVES: [&str; 2] = ["legacy", "rekeyed"];

/// What a run rests on besides the documents: rule, layout, places, options and limits.
///
/// # Errors
/// Usage: the layout cannot be used. File: a file of the tenant rule cannot be read.
pub fn settings_of(store: &StoreRun) -> Result<Inputs> {
    let mut settings = Inputs::new();
    for state in State::ALL {
        settings.extend(inputs_of(state, store, &Archives::default())?);
    }
    settings.retain(|name, _| !OF_ARCHIVES.contains(&name.as_str()));
    settings.extend(limits(&store.import.to.rates));
    Ok(settings)
}

fn limits(rates: &Rates) -> Inputs {
    let number = |limit: Option<NonZeroU32>| limit.map_or_else(|| "none".to_owned(), |it| it.to_string());
    [
        ("max-rcu", number(rates.max_rcu)),
        ("max-wcu", number(rates.max_wcu)),
        ("max-ru", number(rates.max_ru)),
        ("max-writes-per-second", number(rates.max_writes_per_second)),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}
