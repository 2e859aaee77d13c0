use crate::error::Result;
use crate::exit::ExitStatus;
use crate::migration::State;
use crate::report::{RunReport, StoreReport};
use crate::ui::format::number;
use crate::ui::{Align, Table, Ui};

/// Shows where each store is, and what goes on with those that are not at their end.
pub(super) fn run(report: &RunReport, ui: &Ui) -> Result<()> {
    let columns = [
        ("store", Align::Left),
        ("state", Align::Left),
        ("documents", Align::Right),
        ("tenants", Align::Right),
        ("exit", Align::Right),
    ];
    let mut table = Table::new(columns);
    for store in &report.stores {
        let shown = |value: Option<u64>| value.map(number).unwrap_or_default();
        table.row([
            store.store.as_str(),
            store.state.map_or("not begun", State::name),
            &shown(documents(store)),
            &shown(tenants(store)),
            &store.exit.code().to_string(),
        ]);
    }
    ui.table(&table)?;
    let open: Vec<_> = report.stores.iter().filter(|store| store.next.is_some()).collect();
    if open.is_empty() {
        return Ok(());
    }
    ui.line("")?;
    ui.heading("next")?;
    open.iter().try_for_each(|store| match (&store.next, store.exit) {
        (Some(next), ExitStatus::Done | ExitStatus::Partial) if store.state == Some(State::Verified) => {
            ui.line(&format!("  {next}  # days later"))
        }
        (Some(next), _) => ui.line(&format!("  {next}")),
        (None, _) => Ok(()),
    })
}

/// The documents of the last state that counted them.
fn documents(store: &StoreReport) -> Option<u64> {
    store.states.iter().rev().find_map(|it| it.number("documents"))
}

fn tenants(store: &StoreReport) -> Option<u64> {
    let rekeyed = store.states.iter().find(|it| it.state == State::Rekeyed)?;
    let tenants = rekeyed.result.as_ref()?.get("tenants")?.as_object()?;
    u64::try_from(tenants.len()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::StateReport;
    use serde_json::json;

    #[test]
    fn each_store_has_a_row_and_the_command_that_goes_on() {
        let (ui, screen) = Ui::recording();
        let state = |state, result| StateReport {
            state,
            kept: false,
            exit_code: 0,
            started: "2026-12-01T03:00:00Z".into(),
            ended: None,
            result: Some(result),
        };
        let verified = StoreReport {
            store: "orders".into(),
            state: Some(State::Verified),
            exit: ExitStatus::Done,
            states: vec![state(State::Rekeyed, json!({ "documents": 1200, "tenants": { "a": 1, "b": 2 } }))],
            notices: Vec::new(),
            differences: Vec::new(),
            error: None,
            next: Some("rekey run --store orders --prune".into()),
        };
        let stopped = StoreReport {
            store: "carts".into(),
            state: None,
            exit: ExitStatus::Finding,
            states: Vec::new(),
            next: Some("rekey run --store carts".into()),
            ..verified.clone()
        };
        run(&RunReport { stores: vec![verified, stopped] }, &ui).unwrap();
        assert_eq!(
            screen.text(),
            "store   state      documents  tenants  exit\n\
             orders  verified       1,200        2     0\n\
             carts   not begun                         1\n\n\
             next\n  rekey run --store orders --prune  # days later\n  rekey run --store carts\n"
        );
    }
}
