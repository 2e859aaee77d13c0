use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a journal is bound to: a run with another context does not resume it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Context {
    /// The command's name.
    pub command: String,
    /// The archive's file name.
    pub archive: String,
    /// The SHA-256 of the archive's lines.
    pub archive_sha256: String,
    /// The target's identity: where it is and which collection; no secret.
    pub target: String,
    /// Everything else that decides what is written (layout digest, in place, on-refused …).
    pub options: BTreeMap<String, String>,
}

impl Context {
    /// What differs between two contexts, for a person.
    pub(super) fn differences(&self, now: &Self) -> Vec<String> {
        let names: std::collections::BTreeSet<_> = self.options.keys().chain(now.options.keys()).collect();
        let value = |options: &BTreeMap<String, String>, name: &String| {
            options.get(name).cloned().unwrap_or_else(|| "nothing".to_owned())
        };
        let mut differences: Vec<_> = names
            .into_iter()
            .filter(|name| self.options.get(*name) != now.options.get(*name))
            .map(|name| {
                format!("{name}: {} then, {} now", value(&self.options, name), value(&now.options, name))
            })
            .collect();
        for (name, then, now) in [
            ("command", &self.command, &now.command),
            ("archive digest", &self.archive_sha256, &now.archive_sha256),
            ("target", &self.target, &now.target),
        ] {
            if then != now {
                differences.push(format!("{name}: {then} then, {now} now"));
            }
        }
        differences
    }
}

/// One process that works with a journal, for whoever asks about it later; no secret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The process id.
    pub process: u32,
    /// When it began (RFC 3339, UTC).
    pub started: String,
    /// How many documents there are to write.
    pub documents: u64,
    /// The folder that the paths of the command are relative to.
    pub folder: String,
    /// The words of the command that goes on with it.
    pub command: Vec<String>,
}

impl Run {
    /// This process, from now on.
    pub fn now(documents: u64, command: Vec<String>) -> Self {
        let folder = std::env::current_dir().unwrap_or_default();
        Self {
            process: std::process::id(),
            started: crate::archive::now().to_string(),
            documents,
            folder: folder.to_string_lossy().into_owned(),
            command,
        }
    }
}

/// How many documents came to which outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tally {
    /// Written by this run.
    pub written: u64,
    /// The same document was there.
    pub identical: u64,
    /// A different one was there.
    pub conflict: u64,
    /// Its own time to live has passed.
    pub expired: u64,
    /// Deleted (prune).
    pub deleted: u64,
    /// Deleted before (prune).
    pub gone: u64,
    /// Kept, with a reason (prune).
    pub kept: u64,
    /// Set aside before it was sent.
    pub set_aside: u64,
}

impl Tally {
    /// Adds another tally.
    pub fn add(&mut self, other: &Self) {
        self.written += other.written;
        self.identical += other.identical;
        self.conflict += other.conflict;
        self.expired += other.expired;
        self.deleted += other.deleted;
        self.gone += other.gone;
        self.kept += other.kept;
        self.set_aside += other.set_aside;
    }
}

/// The final outcome of a range of documents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    /// The first document's position in the archive, from 0.
    pub from: u64,
    /// The position after the last document's.
    pub to: u64,
    /// What became of them.
    #[serde(flatten)]
    pub tally: Tally,
    /// The keys of those in conflict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<String>,
}

/// One line of a journal.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Record {
    Begin(Context),
    Run(Run),
    Intent { from: u64, to: u64 },
    Done(Done),
    Finished,
    TakenBack,
}
