//! `rekey rehearse`: a project's run on embedded storage with the rules of the real stores, from the archives, offline.
//!
//! ```text
//! legacy archive ─▶ restore into embedded storage ─▶ export ─▶ rekey ─▶ import ─▶ verify ─▶ prune
//! ```

use std::num::NonZeroUsize;

use super::{export, import, run};
use crate::options::{Rehearsal, RehearseOptions, RunOptions, is_dash};
use crate::report::{Met, Outcome, RehearsalReport, Report, RunReport};
use crate::signal::StopSignal;
use crate::ui::Ui;
use crate::{Error, Result};

/// Rehearses the run of a project.
pub async fn run(options: RehearseOptions, ui: &Ui, stop: &StopSignal) -> Result<Outcome> {
    for store in &options.stores {
        clear(store)?;
        export(store, ui, stop).await?;
        seed(store, ui, stop).await?;
    }
    let run = RunOptions {
        project: options.project,
        stores: options.stores.into_iter().map(|store| store.run).collect(),
        prune: true,
        yes: true,
        parallel: NonZeroUsize::MIN,
        plan: None,
        anew: true,
    };
    let mut outcome = run::run(run, ui, stop).await?;
    let Report::Run(RunReport { mut stores }) = outcome.report else {
        return Err(Error::bug("A run gave another command's result"));
    };
    // What goes on is the real run's to say.
    for store in &mut stores {
        store.next = None;
    }
    let met = stores.iter().flat_map(Met::of).collect();
    if let Some(dossier) = &mut outcome.dossier {
        dossier.title = String::from("Rehearsal of a migration");
    }
    outcome.report = Report::Rehearsal(RehearsalReport { stores, met });
    Ok(outcome)
}

/// Begins with nothing: what an earlier rehearsal left would be in the way.
fn clear(store: &Rehearsal) -> Result<()> {
    let folder = &store.run.folder;
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(Error::io("clear the folder", folder, error));
        }
        _ => {}
    }
    std::fs::create_dir_all(folder).map_err(|error| Error::io("create the folder", folder, error))
}

/// Reads the real source, where the rehearsal is to be of what it holds now.
async fn export(store: &Rehearsal, ui: &Ui, stop: &StopSignal) -> Result<()> {
    let Some(options) = &store.export else { return Ok(()) };
    let part = ui.part(&store.run.name);
    let exported = Box::pin(export::run(options.clone(), &part, stop)).await;
    stop.explain(exported, "Interrupted; no store was written.").map(drop)
}

/// Puts the legacy documents into embedded storage, as the source holds them.
async fn seed(store: &Rehearsal, ui: &Ui, stop: &StopSignal) -> Result<()> {
    let archive = store.seed.archive.paths.first().filter(|path| !is_dash(path));
    if let Some(archive) = archive.filter(|path| !path.is_file()) {
        return Err(Error::usage(format!("The store {} has no legacy archive {archive:?}", store.run.name))
            .hint("Pass --export to read the store for the rehearsal, or export it first."));
    }
    let part = ui.part(&store.run.name);
    part.status("rehearse …");
    let seeded = import::restore(store.seed.clone(), &Ui::silent(), stop).await;
    let outcome = stop.explain(seeded, "Interrupted; nothing but the rehearsal's own files was written.")?;
    match outcome.error {
        Some(error) => {
            Err(error.context(format!("The archive of {} cannot be rehearsed with", store.run.name)))
        }
        None => Ok(()),
    }
}
