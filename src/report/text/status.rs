use crate::error::Result;
use crate::migration::State;
use crate::report::{JournalState, JournalStatus, StatusReport, StoreStatus};
use crate::ui::format::{count, number};
use crate::ui::{Align, Table, Ui};

/// Shows each run that did not come to its end.
pub(super) fn status(report: &StatusReport, ui: &Ui) -> Result<()> {
    if !report.stores.is_empty() {
        stores(&report.stores, ui)?;
        if report.unfinished.is_empty() {
            return Ok(());
        }
    }
    let finished = count(report.finished, "finished journal");
    if report.unfinished.is_empty() {
        return ui.line(&format!("No run is unfinished; {finished}."));
    }
    report.unfinished.iter().try_for_each(|journal| one(journal, ui))?;
    ui.line("")?;
    ui.line(&format!("{}; {finished}.", count(report.unfinished.len() as u64, "unfinished run")))
}

/// Where each store of a project stands.
fn stores(stores: &[StoreStatus], ui: &Ui) -> Result<()> {
    let columns =
        [("store", Align::Left), ("state", Align::Left), ("documents", Align::Right), ("since", Align::Left)];
    let mut table = Table::new(columns);
    for it in stores {
        let state = it.state.map_or("not begun", State::name);
        let documents = it.documents.map(number).unwrap_or_default();
        table.row([&it.store, state, &documents, it.since.as_deref().unwrap_or_default()]);
    }
    ui.table(&table)?;
    for it in stores {
        if let (Some(state), Some(problem)) = (it.stopped_before, &it.problem) {
            ui.line(&format!("{}: not {}: {problem}", it.store, state.name()))?;
        }
    }
    let next: Vec<&String> = stores.iter().filter_map(|it| it.next.as_ref()).collect();
    if !next.is_empty() {
        ui.line("")?;
        ui.heading("next")?;
        next.iter().try_for_each(|command| ui.line(&format!("  {command}")))?;
    }
    Ok(())
}

fn one(it: &JournalStatus, ui: &Ui) -> Result<()> {
    let named = |text: &Option<String>| text.clone().unwrap_or_else(|| "?".to_owned());
    ui.line("")?;
    let mut facts = vec![("journal", it.journal.display().to_string())];
    if let Some(problem) = &it.problem {
        ui.heading("a damaged journal")?;
        facts.push(("problem", problem.clone()));
        return ui.facts(&facts);
    }
    ui.heading(&format!("{} of {}", named(&it.command), named(&it.archive)))?;
    facts.push(("target", named(&it.target)));
    let all = it.documents.map_or_else(String::new, |documents| format!(" of {}", number(documents)));
    facts.push(("done", format!("{}{all} documents", number(it.done))));
    facts.push(("since", named(&it.since)));
    let process = it.process.map_or_else(|| "?".to_owned(), |process| process.to_string());
    match (it.state, &it.resume) {
        (JournalState::Running, _) => facts.push(("state", format!("process {process} works with it now"))),
        (_, Some(resume)) => {
            facts.push(("state", format!("process {process} stopped before the end")));
            facts.push(("go on with", resume.clone()));
        }
        (_, None) => facts.push(("go on with", "the same command as before".to_owned())),
    }
    ui.facts(&facts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_stopped_is_shown_with_the_command_that_goes_on() {
        let (ui, screen) = Ui::recording();
        let journal = JournalStatus {
            journal: "a.ndjson.import-0123.journal".into(),
            state: JournalState::Resumable,
            command: Some("import".into()),
            archive: Some("a.ndjson".into()),
            target: Some("embedded:x moved".into()),
            done: 1_200,
            documents: Some(10_000),
            since: Some("2026-12-01T03:00:00Z".into()),
            last_run: None,
            process: Some(7),
            resume: Some("rekey import a.ndjson".into()),
            problem: None,
        };
        status(&StatusReport { unfinished: vec![journal], finished: 1, stores: Vec::new() }, &ui).unwrap();
        let shown = screen.text();
        assert!(
            shown.contains("import of a.ndjson\n") && shown.contains("1,200 of 10,000 documents"),
            "{shown}"
        );
        assert!(shown.contains("go on with  rekey import a.ndjson\n"), "{shown}");
        assert!(shown.ends_with("1 unfinished run; 1 finished journal.\n"), "{shown}");
    }
}
