use tokio::sync::Mutex;

use super::store::pending;
use crate::migration::State;
use crate::options::{RunOptions, StoreRun};
use crate::signal::StopSignal;
use crate::ui::Ui;
use crate::ui::format::count;
use crate::{Error, Result};

/// Asks before a store is changed.
pub(super) struct Confirmation {
    yes: bool,
    /// One question at a time.
    asking: Mutex<()>,
}

impl Confirmation {
    pub fn new(yes: bool) -> Self {
        Self { yes, asking: Mutex::new(()) }
    }

    /// Asks whether a state may be gone into.
    ///
    /// # Errors
    /// Usage: it may not.
    pub async fn ask(
        &self,
        state: State,
        store: &StoreRun,
        documents: Option<u64>,
        ui: &Ui,
        stop: &StopSignal,
    ) -> Result<()> {
        if self.yes || !state.changes_a_store() {
            return Ok(());
        }
        let _one = self.asking.lock().await;
        let documents = documents.map_or_else(|| "the documents".to_owned(), |it| count(it, "document"));
        let (place, what) = match state {
            State::Pruned => {
                (&store.prune.from, format!("delete {documents} that are proven to be moved from"))
            }
            _ => (&store.import.to, format!("write {documents} into")),
        };
        let question = format!("{}: {what} {} {}?", store.name, place.address, place.collection);
        if ui.confirm(&question, stop).await? {
            return Ok(());
        }
        Err(Error::usage(format!("{} was not confirmed; nothing was changed", state.verb()))
            .hint("Run the same command again when it may go on."))
    }
}

/// Where nobody can be asked, a run that would have to ask is refused before it begins.
pub(super) fn refuse_without_answers(options: &RunOptions, ui: &Ui) -> Result<()> {
    if options.yes || ui.can_ask() {
        return Ok(());
    }
    for store in &options.stores {
        let pending = pending(store, options)?;
        if let Some(state) = pending.into_iter().find(|state| state.changes_a_store()) {
            return Err(Error::usage(format!(
                "{}: {} must be confirmed, and nobody can be asked here; nothing was done",
                store.name,
                state.verb()
            ))
            .hint("Pass --yes to confirm it, or run it on a terminal."));
        }
    }
    Ok(())
}
