use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args;

use super::import::check_outputs;
use super::project::{self, Expanded};
use super::report::ReportArgs;
use super::verb::Command;
use super::{GlobalArgs, help};
use crate::error::{Error, Result};
use crate::options::{RunOptions, StoreRun};
use crate::project::{FILE_NAME, Project, ProjectStore};

pub(super) const ABOUT: &str = "Take the stores of a project through the window";

pub(super) const LONG_ABOUT: &str = "\
Take the stores of a project through the window: export, rekey, import and verify, and with --prune prune.

Each state leaves its evidence in the store's folder (exported.json, rekeyed.json …): what it rests on by digest, when \
it was reached, and the result of its command. A store stops at the first command that does not end well: an export \
that fails, a document refused, a conflict, a mismatch, a stream that prune keeps. The other stores go on. Before the \
first write to a store, and before the first delete, it asks; --yes answers.

Run again, it goes on where it was: a state whose evidence is complete and whose inputs are the same (archives, layout, \
tenant rule, map, target) is kept, everything after the first other one is gone through again. Killed at any moment, it \
ends as if it had not been. A source that was written since its export is exported again until the store is \
verified.";

const EXAMPLES: &str = "\
Examples:
  rekey run
  rekey run --project shop/rekey.toml --store orders --store carts
  rekey run --yes --parallel 4 --report run.html --report junit.xml
  rekey run --prune

Exit codes: the worst of the stores: 0 every store is verified (or pruned), 1 a conflict or mismatch, 2 not confirmed, 3 streams were set aside or kept, 4 a store failed (run again to go on), 5 refused, 130 interrupted (run again to go on).
";

/// The arguments of `run`.
#[derive(Args, Debug)]
#[command(about = ABOUT, long_about = LONG_ABOUT, after_long_help = format!("{EXAMPLES}{}", help::MORE))]
pub(super) struct RunArgs {
    #[command(flatten)]
    stores: StoresArgs,

    /// Delete the legacy documents, too, once every store is verified
    #[arg(long)]
    prune: bool,

    #[command(flatten)]
    how: HowArgs,

    /// Begin with a new export, whatever was done before
    #[arg(long)]
    anew: bool,

    #[command(flatten)]
    report: ReportArgs,
}

/// Which stores of which project.
#[derive(Args, Debug)]
pub(super) struct StoresArgs {
    /// The project file
    #[arg(long, value_name = "FILE", default_value = FILE_NAME)]
    pub(super) project: PathBuf,

    /// A store of it; once for each. All of them if left out
    #[arg(long, value_name = "NAME")]
    pub(super) store: Vec<String>,
}

/// How stores are moved.
#[derive(Args, Debug)]
pub(super) struct HowArgs {
    /// Answer every question with yes
    #[arg(long)]
    pub(super) yes: bool,

    /// How many stores are moved side by side
    #[arg(long, value_name = "N", default_value = "1")]
    pub(super) parallel: NonZeroUsize,
}

impl RunArgs {
    pub(super) fn reports(&self) -> &ReportArgs {
        &self.report
    }

    pub(super) fn into_options(self, global: &GlobalArgs) -> Result<RunOptions> {
        let project = self.stores.load()?;
        let stores = self.stores.chosen(&project)?;
        let stores = stores.into_iter().map(|store| self.report.store_run(project.path(), store, global));
        self.report.check(global)?;
        Ok(RunOptions {
            stores: stores.collect::<Result<_>>()?,
            project: self.stores.project,
            prune: self.prune,
            yes: self.how.yes,
            parallel: self.how.parallel,
            anew: self.anew,
            plan: None,
        })
    }
}

impl StoresArgs {
    pub(super) fn load(&self) -> Result<Project> {
        Project::load(&self.project)
    }

    /// The stores that were named, in the order of the project, each once; all of them if none was.
    pub(super) fn chosen<'a>(&self, project: &'a Project) -> Result<Vec<&'a ProjectStore>> {
        for name in &self.store {
            let _is_there = project.store(name)?;
        }
        let is_chosen = |store: &&ProjectStore| {
            self.store.is_empty() || self.store.iter().any(|name| name == store.name())
        };
        Ok(project.stores().iter().filter(is_chosen).collect())
    }
}

/// What each command is to do for a store, read as if its flags had been typed; makes the store's folder.
///
/// # Errors
/// Usage: what a command would say of the flags that the project gives.
pub(super) fn store_run(project: &Path, store: &ProjectStore, global: &GlobalArgs) -> Result<StoreRun> {
    project::make_folder(store)?;
    let read = |verb: &str| read(verb, project, store, global);
    let run = (read("export")?, read("rekey")?, read("import")?, read("verify")?, read("prune")?);
    let (
        Command::Export(export),
        Command::Rekey(rekey),
        Command::Import(import),
        Command::Verify(verify),
        Command::Prune(prune),
    ) = run
    else {
        return Err(Error::bug("A command was read as another one"));
    };
    let (name, folder) = (store.name().to_owned(), store.folder().to_owned());
    Ok(StoreRun { name, folder, export, rekey, import, verify, prune })
}

impl ReportArgs {
    /// What each command is to do for a store, with the content that a report may show.
    pub(super) fn store_run(
        &self,
        project: &Path,
        store: &ProjectStore,
        global: &GlobalArgs,
    ) -> Result<StoreRun> {
        let mut run = store_run(project, store, global)?;
        run.verify.show_content = self.show_content();
        Ok(run)
    }

    /// Checks that no report and no result is one file.
    pub(super) fn check(&self, global: &GlobalArgs) -> Result<()> {
        check_outputs(None, global, &self.paths().collect::<Vec<_>>(), &[])
    }
}

/// Reads the command line that a project gives to a verb.
fn read(verb: &str, project: &Path, store: &ProjectStore, global: &GlobalArgs) -> Result<Command> {
    let Expanded { arguments, origin } = project::command_line(verb, &super::command(), project, store)?;
    let explain = |error| match &origin {
        Some(origin) => origin.explain(error),
        None => error,
    };
    let of_store =
        |error: Error| error.context(format!("The store {} cannot be moved as it is", store.name()));
    let cli =
        super::parse(arguments).map_err(|error| of_store(explain(super::usage::usage_error(&error))))?;
    cli.verb.into_command(global).map_err(|error| of_store(explain(error)))
}
