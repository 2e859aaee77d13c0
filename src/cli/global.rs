use std::path::PathBuf;

use clap::{ArgAction, Args};

use super::log::LogLevel;
use super::words::{Word, one_of};
use crate::error::{Error, Result};
use crate::options::is_dash;
use crate::ui::{ColorMode, OutputFormat, ProgressMode, UiOptions};

/// The flags that every command takes.
#[derive(Args, Debug)]
pub(super) struct GlobalArgs {
    /// What the result looks like on standard output
    #[arg(long, global = true, help_heading = "Output", value_name = "FORMAT", default_value = "text", value_parser = one_of(FORMATS))]
    pub(super) output: OutputFormat,

    /// Write the JSON result into FILE, too
    #[arg(long, global = true, help_heading = "Output", value_name = "FILE")]
    pub(super) result: Option<PathBuf>,

    /// How progress is shown on standard error
    #[arg(long, global = true, help_heading = "Output", value_name = "HOW", default_value = "auto", value_parser = one_of(PROGRESS))]
    pub(super) progress: ProgressMode,

    /// Leave out progress and notices; the stores in use, warnings, errors and the result stay
    #[arg(long, short, global = true, help_heading = "Output", action = ArgAction::SetTrue)]
    pub(super) quiet: bool,

    /// How much of the tool's own log goes to standard error
    #[arg(
        long,
        global = true, help_heading = "Output",
        value_name = "LEVEL",
        default_value = "warn",
        env = "REKEY_LOG_LEVEL",
        hide_env_values = true,
        value_parser = one_of(LogLevel::WORDS)
    )]
    pub(super) log_level: LogLevel,

    /// Whether there is colour; `NO_COLOR` is respected
    #[arg(long, global = true, help_heading = "Output", value_name = "WHEN", default_value = "auto", value_parser = one_of(COLORS))]
    pub(super) color: ColorMode,
}

const FORMATS: &[Word<OutputFormat>] = &[
    ("text", "Sentences and tables", OutputFormat::Text),
    ("json", "One JSON object, for the exit codes 0, 1, 3 and 5", OutputFormat::Json),
];

const PROGRESS: &[Word<ProgressMode>] = &[
    ("auto", "A bar on a terminal, plain lines elsewhere", ProgressMode::Auto),
    ("bar", "A bar that is drawn over; nothing where there is no terminal", ProgressMode::Bar),
    ("plain", "A line every few seconds", ProgressMode::Plain),
    ("json", "A JSON line every second", ProgressMode::Json),
    ("none", "Nothing", ProgressMode::None),
];

const COLORS: &[Word<ColorMode>] = &[
    ("auto", "On a terminal", ColorMode::Auto),
    ("always", "Also in a pipe", ColorMode::Always),
    ("never", "Never", ColorMode::Never),
];

impl GlobalArgs {
    /// How the terminal is to be used.
    pub(super) fn ui_options(&self, stdout_taken: bool) -> UiOptions {
        UiOptions {
            output: self.output,
            progress: self.progress,
            color: self.color,
            quiet: self.quiet,
            stdout_taken,
        }
    }

    /// Checks what no single flag can say.
    pub(super) fn validate(&self, out_is_stdout: bool) -> Result<()> {
        if out_is_stdout && self.output == OutputFormat::Json {
            return Err(Error::usage("--output json and --out - both want standard output.")
                .hint("Use --result FILE for the JSON result, and --manifest FILE for the manifest."));
        }
        match &self.result {
            Some(path) if is_dash(path) => Err(Error::usage("--result needs the name of a file.")
                .hint("Use --output json for the result on standard output.")),
            _ => Ok(()),
        }
    }
}
