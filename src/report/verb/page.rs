use serde::Serialize;

/// The result of `completions` and `man`: a text for another program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PageReport {
    /// The whole text, its last line end included.
    pub text: String,
}
