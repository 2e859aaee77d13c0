use std::path::PathBuf;

use serde::Serialize;

use super::Verdict;

/// The result of `demo`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DemoReport {
    /// What was moved, layout by layout.
    pub layouts: Vec<DemoLayout>,
    /// Whether `verify` found the document that was changed behind the tool's back.
    pub change_found: bool,
    /// The folder, if it was kept.
    #[serde(serialize_with = "super::path")]
    pub folder: Option<PathBuf>,
}

/// One layout of the demonstration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DemoLayout {
    /// The layout's full name.
    pub layout: String,
    /// Documents moved.
    pub documents: u64,
    /// Tenants they belong to.
    pub tenants: u64,
    /// What `verify` said.
    pub verdict: Verdict,
}
