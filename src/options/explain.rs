/// What `explain` is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainOptions {
    /// The code; all of them if there is none.
    pub code: Option<String>,
}
