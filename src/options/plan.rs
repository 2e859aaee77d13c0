use std::path::PathBuf;

use super::StoreRun;
use crate::plan::Basis;

/// What `plan` is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanOptions {
    /// The project file, as it was named.
    pub project: PathBuf,
    /// The stores, in the order in which they are moved.
    pub stores: Vec<StoreRun>,
    /// What it is made from.
    pub basis: Basis,
    /// By how many percent the documents may grow until it is applied.
    pub max_growth: u32,
    /// Where the plan goes.
    pub out: PathBuf,
}
