use std::io;

use clap::builder::Resettable;
use clap::{Args, Command};
use clap_mangen::Man;
use roff::{Roff, roman};

use crate::error::{Error, ErrorKind, Result};
use crate::project::closest;
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
        render(command, &mut page)
            .map_err(|error| Error::caused(ErrorKind::Bug, "Cannot render the manual page", error))?;
        Ok(PageReport { text: String::from_utf8_lossy(&page).into_owned() })
    }
}

fn render(command: Command, page: &mut Vec<u8>) -> io::Result<()> {
    let title = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let end = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    let beginning = command.after_help(Resettable::Reset).after_long_help(Resettable::Reset);
    Man::new(beginning).title(title).source(crate::report::tool()).manual("Rekey").render(page)?;
    sections(&end).to_writer(page)
}

/// How a paragraph at the end of a help text begins, and the section of the manual page that begins with it.
const SECTIONS: [(&str, &str); 3] =
    [("Examples:", "EXAMPLES"), ("Stores ", "STORES"), ("Exit codes:", "EXIT STATUS")];

/// The paragraphs at the end of a help text as sections of a manual page.
fn sections(help: &str) -> Roff {
    let mut roff = Roff::new();
    for paragraph in help.split("\n\n") {
        let section = SECTIONS.iter().find_map(|(beginning, heading)| {
            paragraph.strip_prefix(beginning).map(|text| (heading, text.trim_start_matches('\n')))
        });
        let _ = match section {
            Some((heading, _)) => roff.control("SH", [*heading]),
            None => roff.control("PP", []),
        };
        lines(section.map_or(paragraph, |(_, text)| text), &mut roff);
    }
    roff
}

/// Adds lines; those that are indented stay as they are, since an example that is filled up to the width of the page is
/// a command no more.
fn lines(paragraph: &str, roff: &mut Roff) {
    let mut kept = false;
    for line in paragraph.lines() {
        let example = line.strip_prefix("  ");
        let keeps = example.is_some();
        if keeps != kept {
            let _ = roff.control(if keeps { "nf" } else { "fi" }, []);
            kept = keeps;
        }
        let _ = roff.text([roman(example.unwrap_or_else(|| line.trim_start()))]);
    }
    if kept {
        let _ = roff.control("fi", []);
    }
}

fn find(root: &Command, name: &str) -> Result<Command> {
    root.find_subcommand(name).cloned().ok_or_else(|| {
        let names: Vec<&str> = root.get_subcommands().map(Command::get_name).collect();
        let hint = match closest(name, names.iter().copied()) {
            Some(closest) => format!("Try `rekey man {closest}`."),
            None => format!("The commands are {}.", names.join(", ")),
        };
        Error::usage(format!("There is no command {name:?}")).hint(hint)
    })
}
