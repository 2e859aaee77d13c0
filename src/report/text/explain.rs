use crate::error::Result;
use crate::report::{ExplainReport, Explanation};
use crate::ui::{Align, Table, Ui};

/// Shows one code in full, or the list of all.
pub(super) fn explain(report: &ExplainReport, ui: &Ui) -> Result<()> {
    if report.code.is_some() {
        return report.explanations.iter().try_for_each(|it| one(it, ui));
    }
    for kind in report.explanations.chunk_by(|a, b| a.kind == b.kind) {
        let mut table = Table::new([("code", Align::Left), ("meaning", Align::Left)]);
        for it in kind {
            table.row([&it.code, &it.meaning]);
        }
        ui.line("")?;
        ui.heading(&kind[0].kind)?;
        ui.table(&table)?;
    }
    ui.line("")?;
    ui.line("`rekey explain CODE` says what to do about one of them.")
}

fn one(it: &Explanation, ui: &Ui) -> Result<()> {
    ui.line("")?;
    ui.heading(&it.code)?;
    let mut facts = vec![("kind", it.kind.clone()), ("meaning", it.meaning.clone())];
    facts.extend(it.remedy.clone().map(|remedy| ("what to do", remedy)));
    ui.facts(&facts)
}
