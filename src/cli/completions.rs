use clap::Args;
use clap_complete::Shell;

use crate::report::PageReport;

pub(super) const ABOUT: &str = "Print the completions for a shell";

pub(super) const LONG_ABOUT: &str = "\
Print the completions for a shell, for every command, flag and word.

Put what is printed where the shell looks for completions; the examples have the usual places.";

const EXAMPLES: &str = "\
Examples:
  rekey completions bash > /etc/bash_completion.d/rekey
  rekey completions zsh > /usr/local/share/zsh/site-functions/_rekey
  rekey completions fish > /etc/fish/completions/rekey.fish

Exit codes: 0 printed.
";

/// The arguments of `completions`.
#[derive(Args, Debug)]
#[command(about = ABOUT, long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl CompletionsArgs {
    pub(super) fn page(&self) -> PageReport {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut super::command(), "rekey", &mut script);
        PageReport { text: String::from_utf8_lossy(&script).into_owned() }
    }
}
