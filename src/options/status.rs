use std::path::PathBuf;

/// What `status` is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusOptions {
    /// The folders that journals are looked for in.
    pub folders: Vec<PathBuf>,
}
