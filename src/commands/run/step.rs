use crate::Result;
use crate::commands::{export, import, prune, rekey, verify};
use crate::migration::State;
use crate::options::StoreRun;
use crate::report::Outcome;
use crate::signal::StopSignal;
use crate::ui::Ui;

/// Runs the command that leads to a state.
pub(super) async fn take(state: State, store: &StoreRun, ui: &Ui, stop: &StopSignal) -> Result<Outcome> {
    let result = match state {
        State::Exported => Box::pin(export::run(store.export.clone(), ui, stop)).await,
        State::Rekeyed => rekey::run(&store.rekey, ui, stop),
        State::Imported => Box::pin(import::run(store.import.clone(), ui, stop)).await,
        State::Verified => Box::pin(verify::run(store.verify.clone(), ui, stop)).await,
        State::Pruned => Box::pin(prune::run(store.prune.clone(), ui, stop)).await,
    };
    stop.explain(result, "Interrupted. Run the same command again to go on.")
}
