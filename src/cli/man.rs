use clap::{Args, Command};

use crate::error::{Error, ErrorKind, Result};
use crate::report::PageReport;

pub(super) const ABOUT: &str = "Print the manual page of the tool or of one command";

pub(super) const LONG_ABOUT: &str = "\
Print the manual page of the tool or of one command, as `man` reads it.

The text is that of --help. Packages put the pages where `man rekey` and `man rekey-import` find them.";

const EXAMPLES: &str = "\
Examples:
  rekey man > /usr/local/share/man/man1/rekey.1
  rekey man import > /usr/local/share/man/man1/rekey-import.1

Exit codes: 0 printed; 2 there is no such command.
";

/// The arguments of `man`.
#[derive(Args, Debug)]
#[command(about = ABOUT, long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(super) struct ManArgs {
    /// The command; the tool as a whole without it
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

impl ManArgs {
    pub(super) fn page(&self) -> Result<PageReport> {
        let mut root = super::command();
        root.build();
        let command = match &self.command {
            None => root,
            Some(name) => find(&root, name)?,
        };
        let mut page = Vec::new();
        let title = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
        clap_mangen::Man::new(command)
            .title(title)
            .source(crate::report::tool())
            .manual("Rekey")
            .render(&mut page)
            .map_err(|error| Error::caused(ErrorKind::Bug, "Cannot render the manual page", error))?;
        Ok(PageReport { text: String::from_utf8_lossy(&page).into_owned() })
    }
}

fn find(root: &Command, name: &str) -> Result<Command> {
    root.find_subcommand(name).cloned().ok_or_else(|| {
        let names: Vec<&str> = root.get_subcommands().map(Command::get_name).collect();
        Error::usage(format!("There is no command {name:?}"))
            .hint(format!("The commands are {}.", names.join(", ")))
    })
}
