use clap::Subcommand;

use super::apply::ApplyArgs;
use super::combine::CombineArgs;
use super::completions::CompletionsArgs;
use super::demo::DemoArgs;
use super::doctor::DoctorArgs;
use super::explain::ExplainArgs;
use super::export::ExportArgs;
use super::global::GlobalArgs;
use super::import::ImportArgs;
use super::init::InitArgs;
use super::man::ManArgs;
use super::plan::PlanArgs;
use super::prune::PruneArgs;
use super::rehearse::RehearseArgs;
use super::rekey::RekeyArgs;
use super::restore::RestoreArgs;
use super::run::RunArgs;
use super::sagas::SagasArgs;
use super::shard::ShardArgs;
use super::status::StatusArgs;
use super::undo::UndoArgs;
use super::verify::VerifyArgs;
use crate::commands;
use crate::error::Result;
use crate::options::{
    CombineOptions, DemoOptions, DoctorOptions, ExplainOptions, ExportOptions, ImportOptions, InitOptions,
    PlanOptions, PruneOptions, RehearseOptions, RekeyOptions, RestoreOptions, RunOptions, SagasOptions,
    ShardOptions, StatusOptions, UndoOptions, VerifyOptions,
};
use crate::report::dossier::ReportTarget;
use crate::report::{Outcome, PageReport, Report};
use crate::signal::StopSignal;
use crate::ui::Ui;

/// The verbs as typed.
// One is made a run, so their sizes do not matter.
#[allow(clippy::large_enum_variant)]
#[derive(Subcommand, Debug)]
pub(super) enum Verb {
    Export(ExportArgs),
    Rekey(RekeyArgs),
    Import(ImportArgs),
    Verify(VerifyArgs),
    Prune(PruneArgs),
    Restore(RestoreArgs),
    Undo(UndoArgs),
    Plan(PlanArgs),
    Apply(ApplyArgs),
    Run(RunArgs),
    Rehearse(RehearseArgs),
    Sagas(SagasArgs),
    Shard(ShardArgs),
    Combine(CombineArgs),
    Status(StatusArgs),
    Init(InitArgs),
    Doctor(DoctorArgs),
    Demo(DemoArgs),
    Explain(ExplainArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// The verbs as validated.
#[allow(clippy::large_enum_variant)]
#[derive(Debug)]
pub(super) enum Command {
    Export(ExportOptions),
    Rekey(RekeyOptions),
    Import(ImportOptions),
    Verify(VerifyOptions),
    Prune(PruneOptions),
    Restore(RestoreOptions),
    Undo(UndoOptions),
    Plan(PlanOptions),
    Apply(RunOptions),
    Run(RunOptions),
    Rehearse(RehearseOptions),
    Sagas(SagasOptions),
    Shard(ShardOptions),
    Combine(CombineOptions),
    Status(StatusOptions),
    Init(InitOptions),
    Doctor(DoctorOptions),
    Demo(DemoOptions),
    Explain(ExplainOptions),
    Print(PageReport),
}

impl Verb {
    /// The verb's name on the command line and in the JSON result.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Export(_) => "export",
            Self::Rekey(_) => "rekey",
            Self::Import(_) => "import",
            Self::Verify(_) => "verify",
            Self::Prune(_) => "prune",
            Self::Restore(_) => "restore",
            Self::Undo(_) => "undo",
            Self::Plan(_) => "plan",
            Self::Apply(_) => "apply",
            Self::Run(_) => "run",
            Self::Rehearse(_) => "rehearse",
            Self::Sagas(_) => "sagas",
            Self::Shard(_) => "shard",
            Self::Combine(_) => "combine",
            Self::Status(_) => "status",
            Self::Init(_) => "init",
            Self::Doctor(_) => "doctor",
            Self::Demo(_) => "demo",
            Self::Explain(_) => "explain",
            Self::Completions(_) => "completions",
            Self::Man(_) => "man",
        }
    }

    /// Tells whether `--out -` was typed.
    pub(super) fn out_is_stdout(&self) -> bool {
        match self {
            Self::Export(args) => args.out_is_stdout(),
            Self::Rekey(args) => args.out_is_stdout(),
            Self::Shard(_) => true,
            _ => false,
        }
    }

    /// Tells whether lines of an archive will go to standard output.
    pub(super) fn takes_stdout(&self) -> bool {
        match self {
            Self::Rekey(args) => args.takes_stdout(),
            other => other.out_is_stdout(),
        }
    }

    /// The reports that were asked for.
    pub(super) fn reports(&self) -> Result<Vec<ReportTarget>> {
        match self {
            Self::Verify(args) => args.reports().targets(),
            Self::Plan(args) => args.reports().targets(),
            Self::Apply(args) => args.reports().targets(),
            Self::Run(args) => args.reports().targets(),
            Self::Rehearse(args) => args.reports().targets(),
            _ => Ok(Vec::new()),
        }
    }

    /// Checks what clap cannot.
    pub(super) fn into_command(self, global: &GlobalArgs) -> Result<Command> {
        Ok(match self {
            Self::Export(args) => Command::Export(args.into_options(global)?),
            Self::Rekey(args) => Command::Rekey(args.into_options(global)?),
            Self::Import(args) => Command::Import(args.into_options(global)?),
            Self::Verify(args) => Command::Verify(args.into_options(global)?),
            Self::Prune(args) => Command::Prune(args.into_options(global)?),
            Self::Restore(args) => Command::Restore(args.into_options(global)?),
            Self::Undo(args) => Command::Undo(args.into_options(global)?),
            Self::Plan(args) => Command::Plan(args.into_options(global)?),
            Self::Apply(args) => Command::Apply(args.into_options(global)?),
            Self::Run(args) => Command::Run(args.into_options(global)?),
            Self::Rehearse(args) => Command::Rehearse(args.into_options(global)?),
            Self::Status(args) => Command::Status(args.into_options(global)?),
            Self::Init(args) => args.into_command(),
            Self::Sagas(args) => Command::Sagas(args.into_options()?),
            Self::Combine(args) => Command::Combine(args.into_options(global)?),
            Self::Shard(args) => Command::Shard(args.into_options(global)?),
            Self::Doctor(args) => Command::Doctor(args.into_options()?),
            Self::Demo(args) => Command::Demo(args.into_options()),
            Self::Explain(args) => Command::Explain(args.into_options()),
            Self::Completions(args) => Command::Print(args.page()),
            Self::Man(args) => Command::Print(args.page()?),
        })
    }
}

impl Command {
    /// Does it.
    pub(super) async fn run(self, ui: &Ui, stop: &StopSignal) -> Result<Outcome> {
        let interrupted = self.interrupted();
        let result = match self {
            Self::Export(options) => commands::export::run(options, ui, stop).await,
            Self::Rekey(options) => commands::rekey::run(&options, ui, stop),
            Self::Import(options) => commands::import::run(options, ui, stop).await,
            Self::Verify(options) => commands::verify::run(options, ui, stop).await,
            Self::Prune(options) => commands::prune::run(options, ui, stop).await,
            Self::Restore(options) => commands::import::restore(options, ui, stop).await,
            Self::Undo(options) => commands::undo::run(options, ui, stop).await,
            Self::Plan(options) => commands::plan::run(options, ui, stop).await,
            Self::Apply(options) | Self::Run(options) => commands::run::run(options, ui, stop).await,
            Self::Rehearse(options) => commands::rehearse::run(options, ui, stop).await,
            Self::Sagas(options) => commands::sagas::run(options, ui, stop).await,
            Self::Combine(options) => commands::combine::run(&options, ui, stop),
            Self::Shard(options) => commands::shard::run(&options, ui, stop),
            Self::Status(options) => commands::status::run(&options),
            Self::Init(options) => commands::init::run(options, ui, stop).await,
            Self::Doctor(options) => commands::doctor::run(options, ui, stop).await,
            Self::Demo(options) => commands::demo::run(options, ui, stop).await,
            Self::Explain(options) => commands::explain::run(options),
            Self::Print(page) => Ok(Outcome::done(Report::Page(page))),
        };
        stop.explain(result, interrupted)
    }

    /// What a signal leaves behind that comes before the first write; a command that has begun to write says it itself.
    fn interrupted(&self) -> &'static str {
        match self {
            Self::Prune(_) => "Interrupted; nothing more is deleted. Run the same command again to go on.",
            Self::Apply(_) | Self::Run(_) => "Interrupted. Run the same command again to go on.",
            Self::Verify(_) | Self::Sagas(_) | Self::Doctor(_) => {
                "Interrupted; nothing was changed. Run the same command again."
            }
            _ => "Interrupted; nothing was written. Run the same command again.",
        }
    }
}
