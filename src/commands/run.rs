//! `rekey run`: every store of a project through the states of a migration, by the verbs themselves.
//!
//! ```text
//! for each store:   is the state reached?  ─▶ keep it
//!                   else confirm, note that it begins, run the verb, note what came of it ─▶ stop or go on
//! ```

mod bound;
mod confirm;
mod dossier;
mod lock;
mod result;
mod source;
mod step;
mod store;

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::exit::ExitStatus;
use crate::options::{RunOptions, StoreRun};
use crate::report::dossier::Section;
use crate::report::{Outcome, StoreReport};
use crate::signal::StopSignal;
use crate::ui::Ui;
use crate::{Error, ErrorKind, Result};
use confirm::Confirmation;
pub(super) use lock::is_held;
pub(super) use result::next_command;
use result::outcome_of;
use store::StoreMigration;
pub(super) use store::kept;

/// What the report of a run is called.
const TITLE: &str = "Run of a migration";

/// Moves the stores of a project.
pub async fn run(options: RunOptions, ui: &Ui, stop: &StopSignal) -> Result<Outcome> {
    if let Some(refused) = refuse_unplanned(&options)? {
        return Ok(refused);
    }
    confirm::refuse_without_answers(&options, ui)?;
    let confirmation = Confirmation::new(options.yes);
    let moved = if options.parallel.get() == 1 {
        one_after_the_other(&options, &confirmation, ui, stop).await
    } else {
        tokio::task::block_in_place(|| side_by_side(&options, &confirmation, ui, stop))?
    };
    let (reports, sections): (Vec<_>, Vec<_>) = moved.into_iter().unzip();
    let dossier = dossier::dossier(TITLE, &reports, &options.stores, sections);
    Ok(outcome_of(reports).with_dossier(dossier))
}

/// Refuses all of a run of which anything is not as it was planned.
fn refuse_unplanned(options: &RunOptions) -> Result<Option<Outcome>> {
    let mut reports = Vec::with_capacity(options.stores.len());
    for store in &options.stores {
        let differences = bound::before_the_run(store, options)?;
        let exit =
            if differences.is_empty() { ExitStatus::Done } else { ExitStatus::Failed(ErrorKind::Refused) };
        reports.push(StoreReport { exit, differences, ..StoreReport::not_begun(&store.name) });
    }
    let sections = options.stores.iter().map(|store| Section::new(&store.name)).collect();
    let dossier = dossier::dossier(TITLE, &reports, &options.stores, sections);
    let outcome = outcome_of(reports).with_dossier(dossier);
    let total = usize::try_from(outcome.findings.total).unwrap_or(usize::MAX);
    Ok((total > 0).then(|| outcome.with_error(bound::refusal(total, "nothing was done"))))
}

/// What became of a store, and what a report says about it.
type Moved = (StoreReport, Section);

async fn one_after_the_other(
    options: &RunOptions,
    confirmation: &Confirmation,
    ui: &Ui,
    stop: &StopSignal,
) -> Vec<Moved> {
    let mut reports = Vec::with_capacity(options.stores.len());
    for store in &options.stores {
        reports.push(moved(store, options, confirmation, ui, stop).await);
    }
    reports
}

/// Each store on a thread of its own, `parallel` of them at one time.
fn side_by_side(
    options: &RunOptions,
    confirmation: &Confirmation,
    ui: &Ui,
    stop: &StopSignal,
) -> Result<Vec<Moved>> {
    let runtime = tokio::runtime::Handle::current();
    let waiting: Mutex<VecDeque<_>> = Mutex::new(options.stores.iter().enumerate().collect());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let work = || {
        let mut reports = Vec::new();
        while let Some((number, store)) = next() {
            reports.push((number, runtime.block_on(moved(store, options, confirmation, ui, stop))));
        }
        reports
    };
    let mut all = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..options.parallel.get()).map(|_| scope.spawn(work)).collect();
        let results = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
        results
            .collect::<Result<Vec<_>, _>>()
            .map_err(|_panic| Error::bug("The run of a store ended at once"))
    })?
    .concat();
    all.sort_by_key(|(number, _)| *number);
    Ok(all.into_iter().map(|(_, report)| report).collect())
}

/// Moves one store; whatever stops it is part of its report, and no other store's concern.
async fn moved(
    store: &StoreRun,
    options: &RunOptions,
    confirmation: &Confirmation,
    ui: &Ui,
    stop: &StopSignal,
) -> Moved {
    let part = ui.part(&store.name);
    let mut migration = StoreMigration::new(store, options, confirmation, &part, stop);
    let result = Box::pin(migration.run()).await;
    migration.conclude(result)
}
