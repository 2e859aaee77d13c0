//! The command line: from arguments to an exit code. Nothing past the options knows clap.

mod apply;
mod archive;
mod combine;
mod completions;
mod conclude;
mod demo;
mod doctor;
mod explain;
mod export;
mod global;
mod help;
mod import;
mod init;
mod layout;
mod log;
mod man;
mod panic;
mod paths;
mod plan;
mod project;
mod prune;
mod rehearse;
mod rekey;
mod report;
mod restore;
mod run;
mod sagas;
mod shard;
mod shards;
mod status;
mod store;
mod tenant;
mod undo;
mod usage;
mod verb;
mod verify;
mod words;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{FromArgMatches as _, Parser};

use crate::error::{Error, ErrorKind, Result};
use crate::exit::ExitStatus;
use crate::report::Outcome;
use crate::signal::StopSignal;
use crate::ui::{Ui, UiOptions};
use global::GlobalArgs;
use verb::{Command, Verb};

/// Moves legacy event and saga documents to tenant-carrying keys
///
/// Moves event and saga documents of the Excalibur framework to keys that carry their tenant, on MongoDB, DynamoDB,
/// Firestore and Cosmos DB: every document out (export), its key rewritten (rekey), back in (import), and proof that
/// nothing else changed (verify). `rekey demo` shows all of it without any database.
#[derive(Parser, Debug)]
#[command(
    name = "rekey",
    version,
    max_term_width = 100,
    arg_required_else_help = true,
    subcommand_required = true,
    disable_help_subcommand = true,
    after_help = "`rekey --help` lists the store addresses and all exit codes; `rekey COMMAND --help` has examples.",
    after_long_help = format!("{}\n{}", help::STORES, help::EXIT_CODES)
)]
struct Cli {
    #[command(flatten)]
    global: GlobalArgs,

    #[command(subcommand)]
    verb: Verb,
}

/// Runs the command that `arguments` (the program's name first) ask for.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    panic::report_bugs();
    let status = match project::expand(arguments.into_iter().collect(), &command()) {
        Ok(expanded) => match parse(expanded.arguments) {
            Ok(cli) => panic::catch(|| start(cli, expanded.origin.as_ref())),
            Err(error) => usage::conclude(&error, expanded.origin.as_ref()),
        },
        Err(error) => {
            plain_ui().error(&error);
            ExitStatus::from(&error)
        }
    };
    panic::seen().map_or(status, |bug| status.worst(bug)).into()
}

/// The whole command line, as clap knows it.
fn command() -> clap::Command {
    project::offer(<Cli as clap::CommandFactory>::command())
}

/// Reads arguments, the program's name first.
fn parse(arguments: Vec<OsString>) -> Result<Cli, clap::Error> {
    let mut matches = command().try_get_matches_from(arguments)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command()))
}

/// Runs a command whose arguments clap accepts.
fn start(cli: Cli, origin: Option<&project::Origin>) -> ExitStatus {
    let Cli { global, verb } = cli;
    let explain = |error| match origin {
        Some(origin) => origin.explain(error),
        None => error,
    };
    let started = jiff::Timestamp::now();
    let ui = Ui::new(global.ui_options(verb.takes_stdout()));
    let name = verb.name();
    let mut reports = Vec::new();
    let result = global
        .validate(verb.out_is_stdout())
        .and_then(|()| log::start(global.log_level, &ui))
        .and_then(|()| verb.reports())
        .and_then(|targets| {
            let command = verb.into_command(&global).map_err(explain)?;
            reports = targets;
            Ok(command)
        })
        .and_then(|command| run(command, &ui));
    let conclusion = conclude::Conclusion { command: name, started, file: global.result.as_deref(), reports };
    conclusion.conclude(result, &ui)
}

/// Runs a validated command to its end, or until it is asked to stop.
fn run(command: Command, ui: &Ui) -> Result<Outcome> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|source| {
        Error::caused(ErrorKind::File, "Cannot start the threads that do the work", source)
    })?;
    let result = runtime.block_on(async {
        let stop = StopSignal::listen(ui.stopping())?;
        command.run(ui, &stop).await
    });
    panic::work_is_over();
    // What still runs in the background must not hold up the end.
    runtime.shutdown_background();
    result
}

/// The terminal before the flags about it are known.
fn plain_ui() -> Ui {
    Ui::new(UiOptions::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_has_no_contradictions() {
        command().debug_assert();
    }

    /// The words of each `rekey` in the help's examples, continuation lines joined and quotes removed.
    fn examples(help: &str) -> Vec<Vec<String>> {
        let examples = help.split("\n\n").next().unwrap_or_default().replace("\\\n", " ");
        let commands = examples.lines().flat_map(|line| line.split(['|', '>']));
        let words = |command: &str| {
            let mut quoted = false;
            let cut = command.split(|character| {
                quoted ^= character == '\'';
                character == ' ' && !quoted
            });
            cut.filter(|word| !word.is_empty()).map(|word| word.replace('\'', "")).collect::<Vec<_>>()
        };
        commands.map(words).filter(|words| words.first().is_some_and(|word| word == "rekey")).collect()
    }

    fn reads_a_project(words: &[String]) -> bool {
        let always = ["run", "plan", "apply", "rehearse"];
        words.iter().any(|word| word == "--project")
            || words.get(1).is_some_and(|verb| always.contains(&verb.as_str()))
    }

    #[test]
    fn every_example_of_the_help_is_accepted() {
        for command in command().get_subcommands() {
            let help = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
            let examples = examples(&help);
            assert!(examples.len() >= 2, "{}: {examples:?}", command.get_name());
            for example in examples {
                let arguments = example.iter().map(OsString::from).collect();
                let cli = parse(arguments).unwrap_or_else(|error| panic!("{example:?}: {error}"));
                cli.global.validate(cli.verb.out_is_stdout()).unwrap();
                assert_eq!(cli.verb.name(), command.get_name(), "{example:?}");
                // What is read from a project needs one.
                if !reads_a_project(&example) {
                    let _ = cli.verb.into_command(&cli.global).unwrap();
                }
            }
        }
    }
}
