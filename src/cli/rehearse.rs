use clap::Args;

use super::report::ReportArgs;
use super::run::{StoresArgs, store_run};
use super::{GlobalArgs, help};
use crate::error::{Error, Result};
use crate::options::{
    ArchiveOptions, Destination, LayoutOptions, Rehearsal, RehearseOptions, RestoreOptions,
};
use crate::project::{Project, ProjectStore};

pub(super) const ABOUT: &str = "Rehearse the run of a project on embedded storage, offline";

pub(super) const LONG_ABOUT: &str = "\
Rehearse the run of a project on embedded storage, offline.

Puts the documents of each store's legacy archive into a local file that keeps the rules of the store it stands for (what \
is unique, limits, forbidden characters), and takes them through the whole run there: export, rekey, import, verify and \
prune, in the same collections or beside each other as the project says. No store is reached, unless \
--export asks for their documents as they are now, and the project's archives are only read. The result names what the real run will meet. What is left to look at is in FOLDER/rehearsal; the next \
rehearsal begins anew.

Reading does no harm, so --export may be given while production runs.";

const EXAMPLES: &str = "\
Examples:
  rekey rehearse --export
  rekey rehearse --project shop/rekey.toml --store orders --output json

Exit codes: those of the run that was rehearsed: 0 it will go through, 1 conflicts or a mismatch, 2 an archive is missing, 3 streams will be set aside or kept, 5 it will be refused.
";

/// The arguments of `rehearse`.
#[derive(Args, Debug)]
#[command(about = ABOUT, long_about = LONG_ABOUT, after_long_help = format!("{EXAMPLES}{}", help::MORE))]
pub(super) struct RehearseArgs {
    #[command(flatten)]
    stores: StoresArgs,

    /// Export the stores for it as they are now, instead of taking the legacy archives in their folders
    #[arg(long)]
    export: bool,

    #[command(flatten)]
    report: ReportArgs,
}

impl RehearseArgs {
    pub(super) fn reports(&self) -> &ReportArgs {
        &self.report
    }

    pub(super) fn into_options(self, global: &GlobalArgs) -> Result<RehearseOptions> {
        self.report.check(global)?;
        let project = self.stores.load()?;
        let stores = self.stores.chosen(&project)?;
        let stores = stores.into_iter().map(|store| rehearsal(&project, store, &self, global));
        let stores = stores.collect::<Result<_>>()?;
        Ok(RehearseOptions { stores, project: self.stores.project })
    }
}

/// The archive of an export for the rehearsal alone.
const EXPORTED: &str = "production.ndjson.zst";

/// What is to be done for a store, on embedded storage.
fn rehearsal(
    project: &Project,
    store: &ProjectStore,
    asked: &RehearseArgs,
    global: &GlobalArgs,
) -> Result<Rehearsal> {
    let run = asked.report.store_run(project.path(), &store.rehearsal()?, global)?;
    let mut export = store_run(project.path(), store, global)?.export;
    if asked.export {
        // Nothing depends on it but the rehearsal, and production may run meanwhile.
        export.out = Destination::File(run.folder.join(EXPORTED));
        export.no_snapshot = true;
    }
    let Some(legacy) = export.out.file().map(ToOwned::to_owned) else {
        return Err(Error::bug("A store of a project exports to standard output"));
    };
    let seed = RestoreOptions {
        archive: ArchiveOptions {
            paths: vec![legacy],
            layout: if store.layout_is_file() { run.export.layout.clone() } else { LayoutOptions::default() },
            ..ArchiveOptions::default()
        },
        to: run.export.from.clone(),
        create_target: true,
        subscribers_handled: true,
        dry_run: false,
        findings: None,
        state_dir: Some(run.folder.clone()),
    };
    Ok(Rehearsal { export: asked.export.then_some(export), seed, run })
}
