use std::collections::BTreeMap;

use super::{SHOWN_KEY, SHOWN_TENANTS, parts, reasons};
use crate::error::Result;
use crate::report::{KeySample, RekeyReport};
use crate::ui::format::{count, number, shortened};
use crate::ui::{Align, Table, Ui};

pub(super) fn rekey(report: &RekeyReport, ui: &Ui) -> Result<()> {
    headline(report, ui)?;
    tenants(report, ui)?;
    reasons(&report.reasons, |reason| reason.advice().to_owned(), ui)?;
    let files = [
        ("archive", &report.archive),
        ("manifest", &report.manifest),
        ("set aside in", &report.set_aside_file),
        ("preview", &report.preview),
    ];
    let mut facts: Vec<(&str, String)> = files
        .into_iter()
        .filter_map(|(label, path)| Some((label, path.as_ref()?.display().to_string())))
        .collect();
    // Of nothing but refused documents it is not known.
    let is_known =
        report.refused == 0 || report.refused < report.documents || report.escaping == "not stated";
    if !report.escaping.is_empty() && is_known {
        facts.push(("escaping", report.escaping.clone()));
    }
    ui.line("")?;
    ui.facts(&facts)
}

/// A key as a table shows it.
fn key(key: &str) -> String {
    shortened(key, SHOWN_KEY).into_owned()
}

fn headline(report: &RekeyReport, ui: &Ui) -> Result<()> {
    let refused_not_set_aside = report.refused.saturating_sub(report.set_aside);
    let outcomes = parts(&[
        (report.rekeyed, if report.dry_run || refused_not_set_aside > 0 { "to rekey" } else { "rekeyed" }),
        (report.already_rekeyed, "already rekeyed"),
        (report.out_of_scope, "out of scope"),
        (report.set_aside, if report.dry_run { "to set aside" } else { "set aside" }),
        (refused_not_set_aside, "refused"),
    ]);
    if report.dry_run {
        ui.line("Nothing was written: this is a dry run.")?;
    } else if refused_not_set_aside > 0 {
        ui.line("Nothing was written: documents were refused.")?;
    }
    ui.line(&format!("{}: {outcomes}.", count(report.documents, "document")))
}

/// Counts per tenant, and in a dry run what becomes of a few keys of each.
fn tenants(report: &RekeyReport, ui: &Ui) -> Result<()> {
    if report.tenants.is_empty() {
        return Ok(());
    }
    let mut columns = vec![("tenant", Align::Left), ("documents", Align::Right)];
    if report.dry_run {
        columns.extend([("old key", Align::Left), ("new key", Align::Left)]);
    }
    let samples = samples(&report.samples);
    let mut table = Table::new(columns);
    for (tenant, documents) in report.tenants.iter().take(SHOWN_TENANTS) {
        let of_tenant = samples.get(tenant.as_str()).filter(|_| report.dry_run);
        let mut samples = of_tenant.into_iter().flatten();
        let mut row = vec![tenant.clone(), number(*documents)];
        row.extend(
            samples.next().into_iter().flat_map(|sample| [key(&sample.old_key), key(&sample.new_key)]),
        );
        table.row(row);
        for sample in samples {
            table.row(["", "", &key(&sample.old_key), &key(&sample.new_key)]);
        }
    }
    ui.line("")?;
    ui.table(&table)?;
    match report.tenants.len().saturating_sub(SHOWN_TENANTS) {
        0 => Ok(()),
        more => ui.line(&format!("and {}", count(u64::try_from(more).unwrap_or(u64::MAX), "more tenant"))),
    }
}

fn samples(samples: &[KeySample]) -> BTreeMap<&str, Vec<&KeySample>> {
    let mut by_tenant: BTreeMap<&str, Vec<&KeySample>> = BTreeMap::new();
    for sample in samples {
        let of_tenant = by_tenant.entry(&sample.tenant).or_default();
        // Two streams of different types may share a key (MongoDB).
        if !of_tenant.contains(&sample) {
            of_tenant.push(sample);
        }
    }
    by_tenant
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Reason;

    #[test]
    fn a_dry_run_shows_old_and_new_keys_of_each_tenant() {
        let (ui, screen) = Ui::recording();
        let sample = |tenant: &str, id: &str| KeySample {
            tenant: tenant.into(),
            old_key: format!("Order:{id}"),
            new_key: format!("t:{tenant}:Order:{id}"),
        };
        let report = RekeyReport {
            dry_run: true,
            documents: 5,
            rekeyed: 5,
            escaping: "unneeded".into(),
            tenants: [("acme".into(), 4), ("globex".into(), 1)].into(),
            samples: vec![
                sample("acme", "1"),
                sample("acme", "1"),
                sample("acme", "2"),
                sample("globex", "3"),
            ],
            ..RekeyReport::default()
        };
        rekey(&report, &ui).unwrap();
        assert_eq!(
            screen.text(),
            "Nothing was written: this is a dry run.\n\
             5 documents: 5 to rekey.\n\
             \n\
             tenant  documents  old key  new key\n\
             acme            4  Order:1  t:acme:Order:1\n                   \
             Order:2  t:acme:Order:2\n\
             globex          1  Order:3  t:globex:Order:3\n\
             \n  \
             escaping  unneeded\n"
        );
    }

    #[test]
    fn a_refused_run_says_that_nothing_was_written_and_what_to_do() {
        let (ui, screen) = Ui::recording();
        let report = RekeyReport {
            documents: 5,
            refused: 2,
            reasons: [(Reason::TenantMissing, 1), (Reason::VersionGap, 1)].into(),
            ..RekeyReport::default()
        };
        rekey(&report, &ui).unwrap();
        let shown = screen.text();
        assert!(
            shown.starts_with("Nothing was written: documents were refused.\n5 documents: 2 refused.\n"),
            "{shown}"
        );
        for reason in [Reason::TenantMissing, Reason::VersionGap] {
            assert!(shown.contains(reason.code()) && shown.contains(reason.advice()), "{shown}");
        }
    }

    #[test]
    fn many_tenants_are_cut_and_counted() {
        let (ui, screen) = Ui::recording();
        let report = RekeyReport {
            tenants: (0..1_000).map(|number| (format!("tenant-{number:04}"), 1)).collect(),
            ..RekeyReport::default()
        };
        tenants(&report, &ui).unwrap();
        assert!(screen.text().ends_with("and 960 more tenants\n"));
    }
}
