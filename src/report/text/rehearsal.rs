use super::{SHOWN_KEY, run};
use crate::error::Result;
use crate::report::{RehearsalReport, RunReport};
use crate::ui::format::{count, shortened};
use crate::ui::{Align, Table, Ui};

/// How much of what will be met the screen shows; the JSON result has the first hundred of each command.
const SHOWN: usize = 20;

/// Shows how far each store came, and what the real run will meet.
pub(super) fn rehearsal(report: &RehearsalReport, ui: &Ui) -> Result<()> {
    run::run(&RunReport { stores: report.stores.clone() }, ui)?;
    ui.line("")?;
    if report.met.is_empty() {
        return ui
            .line("The real run will meet nothing unusual that the archives and the stores' rules show.");
    }
    ui.heading("the real run will meet")?;
    let columns = [
        ("store", Align::Left),
        ("before", Align::Left),
        ("code", Align::Left),
        ("times", Align::Right),
        ("the first one", Align::Left),
    ];
    let mut table = Table::new(columns);
    for met in report.met.iter().take(SHOWN) {
        let what = shortened(&met.message, 2 * SHOWN_KEY);
        table.row([met.store.as_str(), met.state.name(), &met.code, &met.times.to_string(), &what]);
    }
    ui.table(&table)?;
    match report.met.len().saturating_sub(SHOWN) {
        0 => Ok(()),
        more => ui.line(&format!("{} more in the JSON result.", count(more as u64, "thing"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migration::State;
    use crate::report::{Met, StoreReport};

    fn report() -> RehearsalReport {
        let met = Met {
            store: "orders-of-the-western-region".into(),
            state: State::Rekeyed,
            code: "tenant-missing".into(),
            times: 17,
            message: format!("{}: no row of the tenant map matches it", "Order:".repeat(60)),
        };
        let stores = vec![StoreReport::not_begun("orders-of-the-western-region")];
        RehearsalReport { stores, met: vec![met] }
    }

    #[test]
    fn on_no_terminal_is_a_line_of_a_table_wider_than_it() {
        for columns in [60, 80, 200] {
            let (ui, screen) = Ui::recording_on(columns);
            rehearsal(&report(), &ui).unwrap();
            let shown = screen.text();
            let widest = shown.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(columns.into()), "{columns}: {shown}");
            assert!(shown.contains("tenant-m") && shown.contains("the real run will meet"), "{shown}");
        }
    }

    #[test]
    fn in_a_pipe_every_row_is_one_line() {
        let (ui, screen) = Ui::recording();
        rehearsal(&report(), &ui).unwrap();
        let rows = screen.text().lines().filter(|line| line.starts_with("orders-of")).count();
        assert_eq!(rows, 2, "{}", screen.text());
    }
}
