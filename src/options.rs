//! What a run is to do, validated: the wall between the command line and the program.
//!
//! `cli` turns arguments into these structs and is the only one that knows clap. A value that stands here
//! has passed every check that needs neither an archive nor a store.

mod combine;
mod demo;
mod doctor;
mod explain;
mod export;
mod import;
mod init;
mod plan;
mod prune;
mod rehearse;
mod rekey;
mod restore;
mod run;
mod sagas;
mod shard;
mod status;
mod undo;
mod verify;

use std::path::{Path, PathBuf};

pub use combine::CombineOptions;
pub use demo::DemoOptions;
pub use doctor::{DoctorOptions, ExaminedStore, Purpose, StoreRole};
pub use explain::ExplainOptions;
pub use export::ExportOptions;
pub use import::ImportOptions;
pub use init::InitOptions;
pub use plan::PlanOptions;
pub use prune::PruneOptions;
pub use rehearse::{Rehearsal, RehearseOptions};
pub use rekey::{AlreadyRekeyed, RekeyOptions, TenantRuleChoice};
pub use restore::RestoreOptions;
pub use run::{RunOptions, StoreRun};
pub use sagas::{SagasOptions, SagasSource, Wait};
pub use shard::ShardOptions;
pub use status::{AskedStore, StatusOptions};
pub use undo::UndoOptions;
pub use verify::{ProbeStreams, VerifyOptions};

pub use crate::shard::Shards;
pub use crate::stores::Rates;
pub use crate::stores::connect::StoreOptions;

/// A layout by name or file, with the names that users of the framework may change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayoutOptions {
    /// `events`, `sagas`, a full name or a TOML file; `None` takes the archive's.
    pub layout: Option<String>,
    /// Layout parameters: name and value, in the order given, each name once.
    pub parameters: Vec<(String, String)>,
}

/// One archive: a file, a folder of parts, several files in order, or standard input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchiveOptions {
    /// The paths, at least one; a single `-` is standard input.
    pub paths: Vec<PathBuf>,
    /// The number of documents that must be there, for archives without a manifest.
    pub expect_documents: Option<u64>,
    /// The archive's manifest, where it does not stand beside it.
    pub manifest: Option<PathBuf>,
    /// The layout, where the manifest does not say it or is not to be believed.
    pub layout: LayoutOptions,
    /// The shards that are looked at alone; `None` is all of it.
    pub shard: Option<Shards>,
}

impl ArchiveOptions {
    /// Looks at these shards alone.
    #[must_use]
    pub fn of_shard(self, shard: Option<Shards>) -> Self {
        Self { shard, ..self }
    }

    /// Tells whether the archive comes from standard input.
    pub fn is_stdin(&self) -> bool {
        self.paths.iter().any(|path| is_dash(path))
    }
}

/// Where lines go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Standard output, which then carries the lines alone.
    Stdout,
    /// A file, replaced once the new one is complete.
    File(PathBuf),
}

impl Destination {
    /// The file, if it is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Stdout => None,
            Self::File(path) => Some(path),
        }
    }

    /// Tells whether standard output carries the lines.
    pub fn is_stdout(&self) -> bool {
        *self == Self::Stdout
    }
}

/// What to do when documents are refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnRefused {
    /// Nothing is written; exit 5.
    #[default]
    Stop,
    /// Their whole streams go to a side file, the rest is done; exit 3.
    SetAside,
}

/// Tells whether a path is `-`: standard input or output.
pub fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_dash_is_standard_input_and_a_path_that_holds_one_is_not() {
        let archive = |path: &str| ArchiveOptions { paths: vec![path.into()], ..ArchiveOptions::default() };
        assert!(archive("-").is_stdin());
        assert!(!archive("./-").is_stdin());
        assert!(!archive("a-b").is_stdin());
    }
}
