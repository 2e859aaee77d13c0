use std::path::PathBuf;

use clap::Args;

use super::GlobalArgs;
use super::run::{StoresArgs, store_run};
use crate::error::Result;
use crate::options::{AskedStore, StatusOptions};

pub(super) const ABOUT: &str = "Say which runs did not come to their end, and how to go on with each";

pub(super) const LONG_ABOUT: &str = "\
Say which runs did not come to their end, and how to go on with each.

`import` and `restore` keep a journal beside their archive, or in --state-dir, of what has its final outcome. One that is \
not finished belongs to a run that works now, or to one that was interrupted or killed: status names its command, archive \
and target, how far it came, since when, and the command that goes on with it. Credentials are left out of that command, \
as everywhere. The other commands need no journal: run again, they begin anew and end the same.

With --project it tells for each store of a project which state it has reached, when, and the exact command that goes \
on, from the evidence in the store's folder; no store is reached. Nothing is changed.";

const EXAMPLES: &str = "\
Examples:
  rekey status
  rekey status /data/migration /var/lib/rekey --output json
  rekey status --project rekey.toml

Exit codes: 0 told, also if runs are unfinished; 74 a folder cannot be read.
";

/// The arguments of `status`.
#[derive(Args, Debug)]
#[command(about = ABOUT, long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(super) struct StatusArgs {
    /// The folders with the archives, or those given with --state-dir
    #[arg(value_name = "FOLDER", default_value = ".")]
    folders: Vec<PathBuf>,

    /// Tell where each store of this project file stands
    #[arg(long, value_name = "FILE", conflicts_with = "folders")]
    project: Option<PathBuf>,

    /// A store of it; once for each. All of them if left out
    #[arg(long, value_name = "NAME", requires = "project")]
    store: Vec<String>,
}

impl StatusArgs {
    pub(super) fn into_options(self, global: &GlobalArgs) -> Result<StatusOptions> {
        let Some(project) = self.project else {
            return Ok(StatusOptions { folders: self.folders, project: None, stores: Vec::new() });
        };
        let chosen = StoresArgs { project: project.clone(), store: self.store };
        let read = chosen.load()?;
        let (mut folders, mut stores) = (Vec::new(), Vec::new());
        for store in chosen.chosen(&read)? {
            // A store that nothing was done for has no folder, and gets none by being asked about.
            let run = if store.folder().is_dir() {
                folders.push(store.folder().to_owned());
                Some(store_run(read.path(), store, global)?)
            } else {
                None
            };
            let state_dir = run.as_ref().and_then(|run| run.import.state_dir.clone());
            folders.extend(state_dir.filter(|folder| folder.is_dir() && !folders.contains(folder)));
            stores.push(AskedStore { name: store.name().to_owned(), run });
        }
        Ok(StatusOptions { folders, project: Some(project), stores })
    }
}
