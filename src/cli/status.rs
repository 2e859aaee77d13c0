use std::path::PathBuf;

use clap::Args;

use crate::options::StatusOptions;

pub(super) const ABOUT: &str = "Say which runs did not come to their end, and how to go on with each";

pub(super) const LONG_ABOUT: &str = "\
Say which runs did not come to their end, and how to go on with each.

`import` and `restore` keep a journal beside their archive, or in --state-dir, of what has its final outcome. One that is \
not finished belongs to a run that works now, or to one that was interrupted or killed: status names its command, archive \
and target, how far it came, since when, and the command that goes on with it. Credentials are left out of that command, \
as everywhere. The other commands need no journal: run again, they begin anew and end the same.

Nothing is changed.";

const EXAMPLES: &str = "\
Examples:
  rekey status
  rekey status /data/migration /var/lib/rekey --output json

Exit codes: 0 told, also if runs are unfinished; 74 a folder cannot be read.
";

/// The arguments of `status`.
#[derive(Args, Debug)]
#[command(about = ABOUT, long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(super) struct StatusArgs {
    /// The folders with the archives, or those given with --state-dir
    #[arg(value_name = "FOLDER", default_value = ".")]
    folders: Vec<PathBuf>,
}

impl StatusArgs {
    pub(super) fn into_options(self) -> StatusOptions {
        StatusOptions { folders: self.folders }
    }
}
