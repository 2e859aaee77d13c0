use clap::Args;

use crate::options::ExplainOptions;

pub(super) const ABOUT: &str =
    "Say what a reason, finding, notice or exit code means and what to do about it";

pub(super) const LONG_ABOUT: &str = "\
Say what a reason, finding, notice or exit code means and what to do about it.

Every refused document, finding and notice carries a stable code (`key-too-long`, `doubled`, `not-consistent`), on the \
screen, in the JSON result and in the lists beside the archives. Without a code all of them are listed.";

const EXAMPLES: &str = "\
Examples:
  rekey explain key-too-long
  rekey explain 3
  rekey explain

Exit codes: 0 explained; 2 there is no such code.
";

/// The arguments of `explain`.
#[derive(Args, Debug)]
#[command(about = ABOUT, long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(super) struct ExplainArgs {
    /// The code as it stands in a result, or an exit code
    #[arg(value_name = "CODE")]
    code: Option<String>,
}

impl ExplainArgs {
    pub(super) fn into_options(self) -> ExplainOptions {
        ExplainOptions { code: self.code }
    }
}
