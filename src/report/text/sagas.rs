use crate::error::Result;
use crate::report::{SagaGroup, SagasReport};
use crate::ui::format::{number, part, subject};
use crate::ui::{Align, Table, Ui};

/// How many groups the screen lists; the JSON result has all of them.
const SHOWN_GROUPS: usize = 60;

/// Shows the sagas, the groups with the most running ones first.
pub(super) fn sagas(report: &SagasReport, ui: &Ui) -> Result<()> {
    if report.running == 0 {
        ui.heading(&format!(
            "No saga is running; {}.",
            subject(report.completed, "saga", ["is completed", "are completed"])
        ))?;
    } else {
        ui.heading(&format!(
            "{}.",
            part(report.running, report.sagas, "saga", ["is running", "are running"])
        ))?;
        let ages = report.ages.parts().into_iter().filter(|(sagas, _)| *sagas > 0);
        let ages: Vec<_> = ages.map(|(sagas, age)| format!("{age}: {}", number(sagas))).collect();
        ui.line(&format!("Their age is {}.", ages.join("; ")))?;
    }
    if let (Some(oldest), Some(last)) = (&report.oldest_running, &report.last_change) {
        ui.line(&format!("The oldest was created {oldest}; one was changed last {last}."))?;
    }
    if report.unclear > 0 {
        let unclear = ["does not say whether it is completed", "do not say whether they are completed"];
        ui.line(&format!("{}: counted as running.", subject(report.unclear, "saga", unclear)))?;
    }
    if !report.unreadable.is_empty() {
        let reasons: Vec<_> =
            report.unreadable.iter().map(|(reason, count)| format!("{} {reason}", number(*count))).collect();
        ui.line(&format!("Not read as sagas, and perhaps running: {}.", reasons.join(", ")))?;
    }
    if report.foreign > 0 {
        let others = subject(report.foreign, "document", ["of another kind shares", "of other kinds share"]);
        ui.line(&format!("{others} the collection."))?;
    }
    groups(report, ui)
}

fn groups(report: &SagasReport, ui: &Ui) -> Result<()> {
    if report.groups.is_empty() {
        return Ok(());
    }
    let mut groups: Vec<&SagaGroup> = report.groups.iter().collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.running));
    let mut table = Table::new([
        ("type", Align::Left),
        ("tenant", Align::Left),
        ("key", Align::Left),
        ("running", Align::Right),
        ("completed", Align::Right),
        ("oldest running", Align::Left),
        ("last change", Align::Left),
    ]);
    let time = |time: &Option<String>| time.clone().unwrap_or_default();
    for group in groups.iter().take(SHOWN_GROUPS) {
        table.row([
            group.type_name.clone(),
            group.tenant.clone().unwrap_or_else(|| "(none)".to_owned()),
            (if group.legacy { "legacy" } else { "rekeyed" }).to_owned(),
            number(group.running),
            number(group.completed),
            time(&group.oldest_running),
            time(&group.last_change),
        ]);
    }
    ui.line("")?;
    ui.table(&table)?;
    match groups.len().saturating_sub(SHOWN_GROUPS) {
        0 => Ok(()),
        more => ui.line(&format!("and {} more groups, in the JSON result", number(more as u64))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Reason;
    use crate::report::SagaAges;

    #[test]
    fn the_groups_with_the_most_running_sagas_come_first() {
        let (ui, screen) = Ui::recording();
        let group = |tenant: Option<&str>, running| SagaGroup {
            type_name: "OrderSagaState".into(),
            tenant: tenant.map(Into::into),
            legacy: tenant.is_none(),
            running,
            completed: 1,
            oldest_running: (running > 0).then(|| "2026-01-02T03:04:05Z".into()),
            ..SagaGroup::default()
        };
        let report = SagasReport {
            sagas: 1_203,
            running: 1_200,
            completed: 3,
            unreadable: [(Reason::KeyMismatch, 2)].into(),
            oldest_running: Some("2026-01-02T03:04:05Z".into()),
            last_change: Some("2026-01-03T00:00:00Z".into()),
            ages: SagaAges { under_1_day: 1_200, ..SagaAges::default() },
            groups: vec![group(Some("acme"), 0), group(None, 1_200)],
            ..SagasReport::default()
        };
        sagas(&report, &ui).unwrap();
        assert_eq!(
            screen.text(),
            "1,200 of 1,203 sagas are running.\n\
             Their age is under a day: 1,200.\n\
             The oldest was created 2026-01-02T03:04:05Z; one was changed last 2026-01-03T00:00:00Z.\n\
             Not read as sagas, and perhaps running: 2 key-mismatch.\n\
             \n\
             type            tenant  key      running  completed  oldest running        last change\n\
             OrderSagaState  (none)  legacy     1,200          1  2026-01-02T03:04:05Z\n\
             OrderSagaState  acme    rekeyed        0          1\n"
        );
    }

    #[test]
    fn where_none_is_running_that_is_said_first() {
        let (ui, screen) = Ui::recording();
        sagas(&SagasReport { sagas: 1, completed: 1, ..SagasReport::default() }, &ui).unwrap();
        assert_eq!(screen.text(), "No saga is running; 1 saga is completed.\n");
    }
}
