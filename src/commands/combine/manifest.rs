//! The manifest of the whole, of the manifests of its parts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Part;
use crate::archive::{Companions, Manifest, RecordedEscaping, RekeyAccount};
use crate::commands::manifest::{TOOL, file_name, layout_account, prefix_conflicts};
use crate::layout::Layout;
use crate::options::CombineOptions;
use crate::shard::Shards;
use crate::{Error, Result};

/// The flag that allows tenants of which one's key prefix begins another's.
const ALLOWED_PREFIXES: &str = "--allow-prefix-tenants";

/// What an unsharded run would have written, its totals left open.
///
/// # Errors
/// Usage: a part is no shard, is missing or there twice, or two are of different runs. Refused: tenants of different
/// parts have keys that could be read two ways.
pub(super) fn combined(parts: &[Part], layout: &Layout, options: &CombineOptions) -> Result<Manifest> {
    let legacy = options.legacy.as_deref();
    let Some(Part { manifest: first, .. }) = parts.first() else {
        return Err(Error::usage("There is nothing to combine; nothing was written"));
    };
    refuse_incomplete(parts)?;
    for part in parts {
        refuse_other_run(part, first, layout)?;
    }
    let all = || parts.iter().map(|part| &part.manifest);
    let one_moment = all().all(|it| it.snapshot == first.snapshot);
    let rekey = first.rekey.as_ref().map(|rekey| combined_rekey(parts, rekey, layout, legacy)).transpose()?;
    let mut notices = BTreeMap::new();
    for (code, times) in all().flat_map(|it| &it.notices) {
        // Each run of a shard says it of its own documents, an unsharded one once of all.
        let most = notices.entry(code.clone()).or_insert(0);
        *most = (*most).max(*times);
    }
    Ok(Manifest {
        tool: TOOL.to_owned(),
        archive: file_name(Some(&options.out)),
        layout: layout_account(layout),
        shard: None,
        started: all().map(|it| it.started).min().unwrap_or(first.started),
        ended: all().map(|it| it.ended).max().unwrap_or(first.ended),
        consistent: all().all(|it| it.consistent) && one_moment,
        snapshot: first.snapshot.clone().filter(|_| one_moment),
        streams: all().map(|it| it.streams).sum(),
        escape_records: all().map(|it| it.escape_records).sum(),
        notices,
        rekey,
        ..first.clone()
    })
}

/// Refuses parts that are not everything, each once.
fn refuse_incomplete(parts: &[Part]) -> Result<()> {
    let mut seen: BTreeMap<u32, &PathBuf> = BTreeMap::new();
    let mut of: Option<&Shards> = None;
    for Part { manifest, manifest_path, .. } in parts {
        let Some(shards) = &manifest.shard else {
            return Err(Error::usage(format!(
                "{manifest_path:?} is of a whole archive; nothing was written"
            ))
            .hint("Pass the archives that export --shard or rekey --shard wrote."));
        };
        if let Some(other) = of.filter(|other| other.of() != shards.of()) {
            return Err(Error::usage(format!(
                "The archives are parts of different divisions, {other} and {shards}; nothing was written"
            ))
            .hint("Pass the parts of one division."));
        }
        of = Some(shards);
        for number in shards.numbers() {
            if let Some(other) = seen.insert(number, manifest_path) {
                return Err(Error::usage(format!(
                    "{other:?} and {manifest_path:?} both are the shard {number}; nothing was written"
                ))
                .hint("Pass each shard once."));
            }
        }
    }
    let together = Shards::together(parts.iter().map(|part| part.manifest.shard.as_ref()))?;
    let missing: Vec<_> =
        together.iter().flat_map(Shards::missing).map(|number| number.to_string()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Error::usage(format!("The shards {} are missing; nothing was written", missing.join(", ")))
        .hint("Pass the archives of all shards."))
}

/// Refuses a part that another run wrote than the first one.
fn refuse_other_run(part: &Part, first: &Manifest, layout: &Layout) -> Result<()> {
    let Part { manifest, manifest_path, .. } = part;
    let place = |of: &Manifest| of.source.as_ref().map(|it| (it.location.clone(), it.identity.clone()));
    let differs = if manifest.layout.digest != layout.digest() {
        "layout"
    } else if place(manifest) != place(first) {
        "source"
    } else if !manifest.sorted {
        "order"
    } else {
        match (&manifest.rekey, &first.rekey) {
            (Some(this), Some(first)) if this.rule != first.rule => "tenant rule",
            (Some(this), Some(first)) if this.allowances != first.allowances => "allowed exceptions",
            (Some(_), Some(_)) | (None, None) => return Ok(()),
            _ => "kind: one is legacy, one rekeyed",
        }
    };
    Err(Error::usage(format!(
        "{manifest_path:?} is of another run than the first ({differs}); nothing was written"
    ))
    .hint("Pass the parts that one export or one rewrite made, shard by shard."))
}

fn combined_rekey(
    parts: &[Part],
    first: &RekeyAccount,
    layout: &Layout,
    legacy: Option<&Path>,
) -> Result<RekeyAccount> {
    let all = || parts.iter().filter_map(|part| part.manifest.rekey.as_ref());
    let sum = |of: fn(&RekeyAccount) -> u64| all().map(of).sum::<u64>();
    let mut combined = RekeyAccount {
        input_sha256: made_from(parts, first, legacy)?,
        escaping: RecordedEscaping::together(all().map(|it| it.escaping))?,
        already_rekeyed: sum(|it| it.already_rekeyed),
        merged: sum(|it| it.merged),
        out_of_scope: sum(|it| it.out_of_scope),
        set_aside: sum(|it| it.set_aside),
        tenants: BTreeMap::new(),
        ..first.clone()
    };
    for (tenant, account) in all().flat_map(|it| &it.tenants) {
        combined.tenants.entry(tenant.clone()).or_default().merge(account);
    }
    refuse_overlapping(&combined, layout)?;
    Ok(combined)
}

/// Each part knows its own tenants alone.
fn refuse_overlapping(combined: &RekeyAccount, layout: &Layout) -> Result<()> {
    if combined.allowances.iter().any(|allowed| allowed == ALLOWED_PREFIXES) {
        return Ok(());
    }
    match prefix_conflicts(layout, combined.escaping.escaping(), combined.tenants.keys()).first() {
        Some(first) => Err(Error::refused(format!(
            "Keys of different shards could be read two ways: {first}; nothing was written"
        ))
        .hint(crate::check::Reason::PrefixTenants.advice())),
        None => Ok(()),
    }
}

/// The digest of the whole legacy archive.
fn made_from(parts: &[Part], first: &RekeyAccount, legacy: Option<&Path>) -> Result<String> {
    let all = || parts.iter().filter_map(|part| part.manifest.rekey.as_ref());
    if all().all(|rekey| rekey.input_sha256 == first.input_sha256) {
        return Ok(first.input_sha256.clone());
    }
    let Some(legacy) = legacy else {
        return Err(Error::usage("Each part was made from a legacy archive of its own; nothing was written")
            .hint("Combine the legacy archives first, and pass the archive of all of them with --legacy."));
    };
    let path = Companions::of(legacy).manifest;
    let manifest = Manifest::read(&path)?;
    let into = |part: &Part| {
        let rekey = part.manifest.rekey.as_ref();
        part.manifest.totals.documents
            + rekey.map_or(0, |rekey| rekey.merged + rekey.out_of_scope + rekey.set_aside)
    };
    let made: u64 = parts.iter().map(into).sum();
    if manifest.rekey.is_some() || manifest.shard.is_some() || manifest.totals.documents != made {
        return Err(Error::usage(format!(
            "The parts were not made from {legacy:?}: it holds {} documents, and they account for {made}; nothing was written",
            manifest.totals.documents
        ))
        .hint("Pass the archive that rekey combine made of the legacy parts."));
    }
    Ok(manifest.totals.sha256)
}
