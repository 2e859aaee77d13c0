use std::path::PathBuf;

/// What `init` is to do.
#[derive(Clone, Debug, PartialEq)]
pub struct InitOptions {
    /// The project file to write, or to add a store to.
    pub project: PathBuf,
    /// The store's name; asked for if `None`.
    pub store: Option<String>,
    /// What is known of it: the name of a field and its value; what is needed and missing is asked for.
    pub fields: Vec<(&'static str, toml::Value)>,
}
