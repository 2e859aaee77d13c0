use std::path::PathBuf;

use serde::Serialize;

use crate::plan::Plan;

/// The result of `plan`: the plan itself, and where it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlanReport {
    /// The plan.
    #[serde(rename = "plan")]
    pub plan: Plan,
    /// Its file.
    #[serde(serialize_with = "super::shown")]
    pub file: PathBuf,
}
