//! What a run did and found, for people who were not there: a change board, a reviewer, CI. `--report` writes it.
//!
//! A command fills one [`Dossier`] with data and knows no format; [`Sheet`] adds what is the same for every command (who
//! ran it, when, where, what went wrong), and each format lays the whole out:
//!
//! ```text
//! command ─▶ Dossier ─▶ Sheet ─┬─▶ .html   for people; self-contained, no script, no network
//!            (sections)        ├─▶ .md     for a terminal or a pull request
//!                              ├─▶ .json   for scripts
//!                              └─▶ .xml    JUnit: one test case per tenant and check
//! ```
//!
//! A command that works on several stores makes one [`Section`] for each. Every list of a section may be empty, and is
//! then left out. Texts stand as they are, unescaped and with whatever a key may hold: escaping is the formats' affair.
//! Keys may stand in a dossier; the content of a document only in [`KeySample::document`], and only where the operator
//! asked for it with `--show-content`. No secret ever does.

mod chart;
mod circumstances;
mod html;
mod junit;
mod list;
mod markdown;
mod sheet;
mod target;

use serde::Serialize;

pub use circumstances::Circumstances;
pub use list::{FindingGroup, FindingList};
pub use sheet::{Sheet, Trouble};
pub use target::{ReportFormat, ReportTarget};

/// What one run did and found, in sections of one store each.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dossier {
    /// What was done, in a few words: `Verification of mongodb-events`.
    pub title: String,
    /// What it came to; the first thing a reader sees.
    pub conclusion: Conclusion,
    /// One for each store, in the order of the run.
    pub sections: Vec<Section>,
}

/// What something came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conclusion {
    /// Whether it is as it should be.
    pub standing: Standing,
    /// One or two words, lower case: `match`, `ready`, `refused`.
    pub word: String,
    /// One or two sentences with the figures that matter most.
    pub sentence: String,
}

/// Whether something is as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// It is.
    Passed,
    /// It is not.
    Failed,
    /// It was not looked at, or not yet.
    Skipped,
}

/// One store of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Section {
    /// The store's name in the project, or where its collection is.
    pub title: String,
    /// What it came to for this store; `None` where the dossier's conclusion says it.
    pub conclusion: Option<Conclusion>,
    /// What was worked on and by which rules: source, target, layout, tenant rule, escaping. In the order shown.
    pub facts: Vec<Fact>,
    /// The states that a run went through; empty for a command of one step.
    pub steps: Vec<Step>,
    /// The figures of each tenant.
    pub tenants: Option<TenantTable>,
    /// What was checked and how: one entry for each tenant and check, and for each check of the whole store.
    pub checks: Vec<Check>,
    /// A few old and new keys of each tenant.
    pub samples: Vec<KeySample>,
    /// What was found, by code.
    pub findings: FindingList,
    /// How fast the long work went.
    pub throughput: Vec<Throughput>,
    /// The digests that bind the report to its files.
    pub digests: Vec<Digest>,
}

/// One thing worth knowing, with its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// What it is, lower case: `layout`.
    pub label: String,
    /// As a person reads it.
    pub value: String,
}

/// One state that a run went through.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Its name: `exported`.
    pub name: String,
    /// What became of it; skipped where it was not reached.
    pub standing: Standing,
    /// When it began (RFC 3339, UTC).
    pub started: Option<String>,
    /// When it ended (RFC 3339, UTC).
    pub ended: Option<String>,
    /// How many documents it handled.
    pub documents: Option<u64>,
    /// Its evidence file, or why it stopped: one sentence, may be empty.
    pub note: String,
}

/// Figures by tenant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TenantTable {
    /// What the figures are, without the tenant's own column.
    pub columns: Vec<String>,
    /// Which of the columns is the number of documents, for the chart.
    pub documents: Option<usize>,
    /// One for each tenant, in the tenants' order.
    pub rows: Vec<TenantRow>,
}

/// The figures of one tenant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TenantRow {
    /// The tenant.
    pub tenant: String,
    /// One for each column.
    pub cells: Vec<Cell>,
    /// What it comes to for this tenant; those that failed are shown first.
    pub standing: Standing,
}

/// One figure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// A number of things.
    Count(u64),
    /// A size.
    Bytes(u64),
    /// Words.
    Text(String),
}

/// One thing that was checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// A short name, the same in every run: `documents`.
    pub name: String,
    /// What was compared with what, one sentence.
    pub how: String,
    /// The tenant it was checked for; `None` for the whole store.
    pub tenant: Option<String>,
    /// What it came to.
    pub standing: Standing,
    /// What was found, or why it was skipped; empty if it passed.
    pub detail: String,
}

/// One old key with its new one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeySample {
    /// The tenant.
    pub tenant: String,
    /// The key as it was.
    pub old_key: String,
    /// The key as it becomes, or is.
    pub new_key: String,
    /// The document in its store's lossless form, only where the operator asked to see content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
}

/// How fast one piece of long work went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Throughput {
    /// What was done: `reading`.
    pub what: String,
    /// How many documents in all.
    pub documents: u64,
    /// How many bytes in all.
    pub bytes: u64,
    /// How long it took.
    pub milliseconds: u64,
    /// How far it was at which moment: milliseconds since its begin, documents done; both grow.
    pub points: Vec<(u64, u64)>,
}

/// The digest of something that took part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Digest {
    /// Of what: `lines of rekeyed.ndjson`.
    pub of: String,
    /// SHA-256, 64 hex digits.
    pub sha256: String,
}

/// One check over all its tenants, as people are shown it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::report) struct CheckSummary<'a> {
    pub name: &'a str,
    pub how: &'a str,
    pub standing: Standing,
    /// `passed for 3 tenants`, `failed for 1 of 4 tenants: …`.
    pub result: String,
}

impl Standing {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

impl Section {
    /// A section with nothing in it yet.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            conclusion: None,
            facts: Vec::new(),
            steps: Vec::new(),
            tenants: None,
            checks: Vec::new(),
            samples: Vec::new(),
            findings: FindingList::default(),
            throughput: Vec::new(),
            digests: Vec::new(),
        }
    }

    /// Adds a fact.
    pub fn fact(&mut self, label: &str, value: impl Into<String>) {
        self.facts.push(Fact { label: label.to_owned(), value: value.into() });
    }

    /// The checks by name, in the order they were first named.
    pub(in crate::report) fn check_summaries(&self) -> Vec<CheckSummary<'_>> {
        let mut names: Vec<&str> = Vec::new();
        for check in &self.checks {
            if !names.contains(&check.name.as_str()) {
                names.push(&check.name);
            }
        }
        names.into_iter().filter_map(|name| CheckSummary::of(name, &self.checks)).collect()
    }
}

impl<'a> CheckSummary<'a> {
    fn of(name: &'a str, checks: &'a [Check]) -> Option<Self> {
        let all: Vec<_> = checks.iter().filter(|check| check.name == name).collect();
        let count = |standing| all.iter().filter(|check| check.standing == standing).count();
        let (failed, passed) = (count(Standing::Failed), count(Standing::Passed));
        let standing = match (failed, passed) {
            (0, 0) => Standing::Skipped,
            (0, _) => Standing::Passed,
            _ => Standing::Failed,
        };
        let shown = all.iter().find(|check| check.standing == standing)?;
        let tenants = all.iter().filter(|check| check.tenant.is_some()).count();
        let of_tenants = |number: usize| match tenants {
            0 => String::new(),
            _ if number == all.len() => format!(" for {}", plural(number, "tenant")),
            _ => format!(" for {number} of {}", plural(all.len(), "tenant")),
        };
        let number = if standing == Standing::Failed { failed } else { count(standing) };
        let whose =
            shown.tenant.as_ref().filter(|_| failed > 0).map_or(String::new(), |it| format!("{it}: "));
        let detail =
            if shown.detail.is_empty() { String::new() } else { format!(": {whose}{}", shown.detail) };
        let result = format!("{}{}{detail}", standing.word(), of_tenants(number));
        Some(Self { name, how: &shown.how, standing, result })
    }
}

fn plural(number: usize, noun: &str) -> String {
    crate::ui::format::count(number as u64, noun)
}

impl TenantTable {
    /// The rows, those that failed first.
    pub(in crate::report) fn by_standing(&self) -> Vec<&TenantRow> {
        let mut rows: Vec<_> = self.rows.iter().collect();
        rows.sort_by_key(|row| row.standing != Standing::Failed);
        rows
    }

    /// Each tenant's documents, where the table has that column; the most first.
    pub(in crate::report) fn documents_by_tenant(&self) -> Vec<(&str, u64)> {
        let Some(column) = self.documents else { return Vec::new() };
        let count = |row: &TenantRow| match row.cells.get(column) {
            Some(Cell::Count(count)) => Some(*count),
            _ => None,
        };
        let mut all: Vec<_> =
            self.rows.iter().filter_map(|row| Some((row.tenant.as_str(), count(row)?))).collect();
        all.sort_by(|(a, more), (b, less)| less.cmp(more).then(a.cmp(b)));
        all
    }
}

impl Cell {
    /// The figure as a person reads it.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Count(count) => crate::ui::format::number(*count),
            Self::Bytes(bytes) => crate::ui::format::bytes(*bytes),
            Self::Text(text) => text.clone(),
        }
    }

    /// Whether it stands to the right, as numbers do.
    #[must_use]
    pub fn is_number(&self) -> bool {
        !matches!(self, Self::Text(_))
    }
}

#[cfg(test)]
pub(in crate::report) mod tests;
