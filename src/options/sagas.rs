use std::time::Duration;

use super::{ArchiveOptions, LayoutOptions, StoreOptions};

/// What `sagas` is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SagasOptions {
    /// Where the sagas are.
    pub source: SagasSource,
    /// Whether running sagas are a finding.
    pub fail_if_running: bool,
    /// How to wait until none is running; `None` looks once.
    pub wait: Option<Wait>,
}

/// Where sagas are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SagasSource {
    /// In a store; the name of their layout is always given.
    Store(StoreOptions, LayoutOptions),
    /// In an archive.
    Archive(ArchiveOptions),
}

/// How to wait for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// How long at most.
    pub most: Duration,
    /// How long between two looks.
    pub every: Duration,
}
