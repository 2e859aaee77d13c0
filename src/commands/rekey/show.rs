use std::path::PathBuf;

use super::Rewrite;
use crate::Result;
use crate::exit::ExitStatus;
use crate::options::OnRefused;
use crate::report::{FindingsAccount, KeySample, Outcome, RekeyReport, Report};
use crate::rewrite::Account;
use crate::ui::format::number;
use crate::ui::{Align, Table};

/// The result so far; the files are added when they are in their places.
pub(super) fn report(rewrite: &Rewrite<'_>, account: &Account, preview: Option<PathBuf>) -> RekeyReport {
    let samples = account.samples.iter().flat_map(|(tenant, samples)| {
        samples.iter().map(|sample| KeySample {
            tenant: tenant.clone(),
            old_key: sample.old.clone(),
            new_key: sample.new.clone(),
        })
    });
    let set_aside = if rewrite.options.on_refused == OnRefused::SetAside { account.refused } else { 0 };
    RekeyReport {
        dry_run: rewrite.options.dry_run,
        layout: rewrite.rules.layout.name.clone(),
        escaping: rewrite.escaping().name().to_owned(),
        documents: account.documents,
        rekeyed: account.rekeyed,
        already_rekeyed: account.already_rekeyed,
        out_of_scope: account.out_of_scope,
        refused: account.refused,
        set_aside,
        reasons: account.reasons.clone(),
        tenants: account.tenants.iter().map(|(tenant, it)| (tenant.clone(), it.documents)).collect(),
        samples: samples.collect(),
        preview,
        ..RekeyReport::default()
    }
}

/// Prints the result for a person and hands it on.
pub(super) fn finish(
    rewrite: &Rewrite<'_>,
    report: RekeyReport,
    findings: FindingsAccount,
    exit: ExitStatus,
) -> Result<Outcome> {
    let ui = rewrite.ui;
    let verb = if report.dry_run { "would get" } else { "got" };
    ui.heading(&format!(
        "{} of {} documents {verb} a new key",
        number(report.rekeyed),
        number(report.documents)
    ))?;
    let mut table = Table::new([
        ("tenant", Align::Left),
        ("documents", Align::Right),
        ("old key", Align::Left),
        ("new key", Align::Left),
    ]);
    for (tenant, documents) in &report.tenants {
        let samples: Vec<_> = report.samples.iter().filter(|sample| sample.tenant == *tenant).collect();
        let column =
            |of: fn(&KeySample) -> &str| samples.iter().map(|it| of(it)).collect::<Vec<_>>().join("\n");
        let (old, new) = (column(|it| &it.old_key), column(|it| &it.new_key));
        table.row([tenant.clone(), number(*documents), old, new]);
    }
    ui.table(&table)?;
    for (label, documents) in [
        ("already rekeyed, passed on", report.already_rekeyed),
        ("out of scope", report.out_of_scope),
        ("refused", report.refused),
        ("set aside", report.set_aside),
    ] {
        if documents > 0 {
            ui.line(&format!("{label}: {}", number(documents)))?;
        }
    }
    for (reason, documents) in &report.reasons {
        ui.line(&format!("  {reason}: {}", number(*documents)))?;
    }
    for (label, path) in
        [("archive", &report.archive), ("manifest", &report.manifest), ("preview", &report.preview)]
    {
        if let Some(path) = path {
            ui.line(&format!("{label}: {}", path.display()))?;
        }
    }
    Ok(Outcome::done(Report::Rekey(report)).with_findings(findings).and(exit))
}
