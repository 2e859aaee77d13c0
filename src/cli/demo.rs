use clap::Args;

use crate::options::DemoOptions;

pub(super) const ABOUT: &str = "Show a whole migration in a temporary folder, without any database";

pub(super) const LONG_ABOUT: &str = "\
Show a whole migration in a temporary folder, without any database.

Takes the legacy data that comes with the tool, for all eight kinds of document, through export, rekey, import, verify \
and prune in embedded storage, and prints the commands, a preview of old and new keys, the counts per tenant and the \
verdict. Then it changes one document behind the tool's back and lets verify find it. It needs no server, takes a few \
seconds, and leaves nothing behind unless --keep is given.";

const EXAMPLES: &str = "\
Examples:
  rekey demo
  rekey demo --keep

Exit codes: 0 it went as it should.
";

/// The arguments of `demo`.
#[derive(Args, Debug)]
#[command(about = ABOUT, long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(super) struct DemoArgs {
    /// Keep the folder with the archives, manifests and embedded stores for a look at them
    #[arg(long)]
    keep: bool,
}

impl DemoArgs {
    pub(super) fn into_options(self) -> DemoOptions {
        DemoOptions { keep: self.keep }
    }
}
