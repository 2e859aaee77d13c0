use serde::Serialize;

use crate::report::Explanation;

/// The result of `explain`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainReport {
    /// The code that was asked for; absent for the list of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What it means; two where a reason and a notice share the word.
    pub explanations: Vec<Explanation>,
}
