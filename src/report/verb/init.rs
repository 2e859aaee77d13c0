use std::path::PathBuf;

use serde::Serialize;

/// The result of `init`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InitReport {
    /// The project file.
    #[serde(serialize_with = "super::shown")]
    pub project: PathBuf,
    /// The store that was written into it.
    pub store: String,
    /// Whether the file is new; otherwise the store was added to it.
    pub created: bool,
}
