use super::{parts, reasons};
use crate::error::Result;
use crate::report::{Explanation, ExportReport, ImportReport, PruneReport, UndoReport};
use crate::ui::Ui;
use crate::ui::format::{bytes, count};

pub(super) fn export(report: &ExportReport, ui: &Ui) -> Result<()> {
    let place =
        report.archive.as_ref().map_or_else(|| "standard output".into(), |path| path.display().to_string());
    ui.line(&format!(
        "Exported {} of {}, {}, to {place}.",
        count(report.documents, "document"),
        count(report.streams, "stream"),
        bytes(report.bytes)
    ))?;
    let mut facts = vec![("sha256", report.sha256.clone())];
    if let Some(manifest) = &report.manifest {
        facts.push(("manifest", manifest.display().to_string()));
    }
    let consistent = if report.consistent {
        "yes, all of it was read at one moment"
    } else {
        "no, what was written meanwhile may be in it or not"
    };
    facts.push(("consistent", consistent.into()));
    if report.escape_records > 0 {
        facts.push(("escape records", count(report.escape_records, "document")));
    }
    ui.facts(&facts)
}

pub(super) fn import(report: &ImportReport, ui: &Ui) -> Result<()> {
    let outcomes = parts(&[
        (report.written, if report.dry_run { "to write" } else { "written" }),
        (report.identical, "identical"),
        (report.conflict, "in conflict"),
        (report.expired, "expired"),
        (report.stale, "stale"),
        (report.set_aside, if report.dry_run { "to set aside" } else { "set aside" }),
    ]);
    if report.dry_run {
        ui.line("Nothing was written: this is a dry run.")?;
    }
    let outcomes = if report.not_sent > 0 { "nothing was written".into() } else { outcomes };
    ui.line(&format!("{}: {outcomes}.", count(report.documents, "document")))?;
    reasons(&report.reasons, |reason| reason.advice().to_owned(), ui)?;
    match &report.set_aside_file {
        Some(file) => ui.facts(&[("set aside in", file.display().to_string())]),
        None => Ok(()),
    }
}

pub(super) fn prune(report: &PruneReport, ui: &Ui) -> Result<()> {
    let outcomes = parts(&[
        (report.deleted, if report.dry_run { "to delete" } else { "deleted" }),
        (report.gone, "gone before"),
        (report.kept, if report.dry_run { "to keep" } else { "kept" }),
    ]);
    if report.dry_run {
        ui.line("Nothing was deleted: this is a dry run.")?;
    }
    ui.line(&format!("{}: {outcomes}.", count(report.documents, "legacy document")))?;
    reasons(&report.reasons, |reason| remedy_of_kept(reason), ui)
}

pub(super) fn undo(report: &UndoReport, ui: &Ui) -> Result<()> {
    let outcomes = parts(&[
        (report.removed, if report.dry_run { "to remove" } else { "removed" }),
        (report.put_back, if report.dry_run { "to put back" } else { "put back" }),
        (report.gone, "gone before"),
        (report.left, if report.dry_run { "to leave" } else { "left" }),
    ]);
    if report.dry_run {
        ui.line("Nothing was changed: this is a dry run.")?;
    }
    ui.line(&format!("{}: {outcomes}.", count(report.documents, "imported document")))?;
    reasons(&report.reasons, |reason| remedy_of_kept(reason), ui)
}

/// What to do about documents that were kept or left.
fn remedy_of_kept(reason: &str) -> String {
    Explanation::find(reason)
        .continue_value()
        .into_iter()
        .flatten()
        .find_map(|it| it.remedy)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_export_says_what_is_where() {
        let (ui, screen) = Ui::recording();
        let report = ExportReport {
            documents: 1_200,
            streams: 1,
            bytes: 1_234_567,
            sha256: "ab12".into(),
            consistent: true,
            archive: Some("legacy.ndjson".into()),
            manifest: Some("legacy.ndjson.manifest.json".into()),
            ..ExportReport::default()
        };
        export(&report, &ui).unwrap();
        assert_eq!(
            screen.text(),
            "Exported 1,200 documents of 1 stream, 1.23 MB, to legacy.ndjson.\n  \
             sha256      ab12\n  \
             manifest    legacy.ndjson.manifest.json\n  \
             consistent  yes, all of it was read at one moment\n"
        );
    }

    #[test]
    fn a_dry_run_does_not_say_that_it_wrote() {
        let (ui, screen) = Ui::recording();
        let report =
            ImportReport { dry_run: true, documents: 5, written: 3, conflict: 2, ..ImportReport::default() };
        import(&report, &ui).unwrap();
        assert_eq!(
            screen.text(),
            "Nothing was written: this is a dry run.\n5 documents: 3 to write, 2 in conflict.\n"
        );
    }

    #[test]
    fn an_import_that_was_refused_says_that_nothing_was_written() {
        let (ui, screen) = Ui::recording();
        import(&ImportReport { documents: 5, not_sent: 5, ..ImportReport::default() }, &ui).unwrap();
        assert_eq!(screen.text(), "5 documents: nothing was written.\n");
    }

    #[test]
    fn prune_says_what_was_kept_and_why() {
        let (ui, screen) = Ui::recording();
        let report = PruneReport {
            documents: 1_003,
            deleted: 1_000,
            kept: 3,
            reasons: [("no-twin".to_owned(), 3)].into(),
            ..PruneReport::default()
        };
        prune(&report, &ui).unwrap();
        let shown = screen.text();
        assert!(shown.starts_with("1,003 legacy documents: 1,000 deleted, 3 kept.\n"), "{shown}");
        assert!(shown.contains("no-twin"), "{shown}");
    }
}
