use std::path::PathBuf;

use super::Rewrite;
use crate::check::Reason;
use crate::options::OnRefused;
use crate::report::{KeySample, RekeyReport};
use crate::rewrite::Account;

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
        escaping: match account.reasons.get(&Reason::EscapingNeeded) {
            Some(_) => "not stated".to_owned(),
            None => rewrite.escaping().name().to_owned(),
        },
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
