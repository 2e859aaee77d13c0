use std::path::PathBuf;

use super::{ArchiveOptions, StoreOptions};

/// What `verify` is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyOptions {
    /// The rekeyed archives, or the manifests of rekeyed archives.
    pub archive: ArchiveOptions,
    /// The store to check.
    pub against: StoreOptions,
    /// The legacy archive whose documents may still be there; empty if not given.
    pub legacy: Vec<PathBuf>,
    /// Whether any legacy document is a finding.
    pub pruned: bool,
    /// Whether to compare counts only although an archive is there.
    pub counts_only: bool,
    /// The tenants to check, each once. Empty checks all.
    pub only_tenants: Vec<String>,
    /// How many streams are read the way the framework reads them.
    pub probe_streams: ProbeStreams,
    /// Where the findings go; beside the archive if `None`.
    pub findings: Option<PathBuf>,
    /// Whether reports may show the content of documents.
    pub show_content: bool,
    /// Where spill files go; beside the archive if `None`.
    pub state_dir: Option<PathBuf>,
}

/// How many streams are read the way the framework reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeStreams {
    /// Every one.
    All,
    /// Every one up to this number; beyond it each tenant's longest and a sample.
    UpTo(u64),
}

impl Default for ProbeStreams {
    fn default() -> Self {
        Self::UpTo(1_000)
    }
}
