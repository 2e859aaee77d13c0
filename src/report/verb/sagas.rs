use std::collections::BTreeMap;

use serde::Serialize;

use crate::check::Reason;

/// The result of `sagas`: which are running, so that an operator sees whether they can be waited for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SagasReport {
    /// The layout's full name.
    pub layout: String,
    /// The collection or archive.
    pub source: String,
    /// When they were looked at (RFC 3339, UTC); ages are counted up to then.
    pub read_at: String,
    /// How many times they were looked at.
    pub looks: u64,
    /// Sagas in all: `running` and `completed`.
    pub sagas: u64,
    /// Those that are not completed.
    pub running: u64,
    /// Those that are.
    pub completed: u64,
    /// Of the running ones, those that do not say whether they are completed.
    pub unclear: u64,
    /// Documents of other kinds that share the collection.
    pub foreign: u64,
    /// Documents that are no sagas of the layout, by reason; they may be running ones.
    pub unreadable: BTreeMap<Reason, u64>,
    /// When the oldest running one was created (RFC 3339, UTC).
    pub oldest_running: Option<String>,
    /// When a running one was changed last (RFC 3339, UTC): long ago, if they are stuck.
    pub last_change: Option<String>,
    /// The running ones by their age.
    pub ages: SagaAges,
    /// By type, tenant and kind of key.
    pub groups: Vec<SagaGroup>,
}

/// The sagas of one type and tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SagaGroup {
    /// The saga type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// The owner stored in them, else the tenant in their key; `None` where they name none.
    pub tenant: Option<String>,
    /// Whether their keys carry no tenant yet.
    pub legacy: bool,
    /// Those that are not completed.
    pub running: u64,
    /// Those that are.
    pub completed: u64,
    /// When the oldest running one was created (RFC 3339, UTC).
    pub oldest_running: Option<String>,
    /// When a running one was changed last (RFC 3339, UTC).
    pub last_change: Option<String>,
    /// The running ones by their age.
    pub ages: SagaAges,
}

/// How many running sagas were created how long ago.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SagaAges {
    /// Less than an hour.
    pub under_1_hour: u64,
    /// Less than a day, not less than an hour.
    pub under_1_day: u64,
    /// Less than seven days.
    pub under_7_days: u64,
    /// Less than thirty days.
    pub under_30_days: u64,
    /// Thirty days or more.
    pub older: u64,
    /// They do not say when they were created.
    pub unknown: u64,
}

impl SagaAges {
    /// Counts one more; `seconds` is its age.
    pub fn add(&mut self, seconds: Option<i64>) {
        const HOUR: i64 = 3_600;
        const DAY: i64 = 24 * HOUR;
        let count = match seconds {
            None => &mut self.unknown,
            Some(age) if age < HOUR => &mut self.under_1_hour,
            Some(age) if age < DAY => &mut self.under_1_day,
            Some(age) if age < 7 * DAY => &mut self.under_7_days,
            Some(age) if age < 30 * DAY => &mut self.under_30_days,
            Some(_) => &mut self.older,
        };
        *count += 1;
    }

    /// Adds those of another group.
    pub fn merge(&mut self, other: Self) {
        self.under_1_hour += other.under_1_hour;
        self.under_1_day += other.under_1_day;
        self.under_7_days += other.under_7_days;
        self.under_30_days += other.under_30_days;
        self.older += other.older;
        self.unknown += other.unknown;
    }

    /// Each count with what it counts.
    #[must_use]
    pub fn parts(self) -> [(u64, &'static str); 6] {
        [
            (self.under_1_hour, "under an hour"),
            (self.under_1_day, "under a day"),
            (self.under_7_days, "under 7 days"),
            (self.under_30_days, "under 30 days"),
            (self.older, "30 days or more"),
            (self.unknown, "not known"),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_counted_by_their_bounds() {
        let mut ages = SagaAges::default();
        let day = 86_400;
        // A clock ahead of ours makes an age below zero.
        for age in [-5, 0, 3_599, 3_600, day - 1, day, 7 * day - 1, 7 * day, 30 * day - 1, 30 * day] {
            ages.add(Some(age));
        }
        ages.add(None);
        assert_eq!(ages.parts().map(|(count, _)| count), [3, 2, 2, 2, 1, 1]);
        let mut twice = ages;
        twice.merge(ages);
        assert_eq!(twice.parts().map(|(count, _)| count), [6, 4, 4, 4, 2, 2]);
    }
}
