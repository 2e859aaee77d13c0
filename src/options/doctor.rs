use std::path::PathBuf;

use super::StoreOptions;

/// What `doctor` is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoctorOptions {
    /// The stores to look at, in the order typed; at least one.
    pub stores: Vec<ExaminedStore>,
    /// What is to be done besides moving the documents out and in.
    pub purposes: Vec<Purpose>,
    /// Where archives and spill files will go; the current folder if `None`.
    pub state_dir: Option<PathBuf>,
}

/// A store and what is to be done with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExaminedStore {
    /// What is to be done with it.
    pub role: StoreRole,
    /// The store.
    pub store: StoreOptions,
}

/// What is to be done with a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreRole {
    /// Documents come from it.
    Source,
    /// Documents go to it.
    Target,
}

/// Something that needs a right of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// `import --create-target`.
    CreateTarget,
    /// `import --in-place`.
    InPlace,
    /// `import --move`.
    Move,
    /// `prune`.
    Prune,
    /// `undo`.
    Undo,
}

impl StoreRole {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Target => "target",
        }
    }
}
