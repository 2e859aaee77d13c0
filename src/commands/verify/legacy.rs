use std::collections::BTreeSet;
use std::path::PathBuf;

use super::Verification;
use crate::archive::{ArchiveInput, Chunk, Manifest, OpenOptions};
use crate::commands::legacy_blocks::SORT_BUDGET;
use crate::document::canonical::{Scratch, digest};
use crate::document::json::Tape;
use crate::layout::Inspector;
use crate::report::{Finding, FindingCode, Findings};
use crate::shard::ShardFilter;
use crate::sort::{SortedTable, Sorter};
use crate::verify::compare_bodies;
use crate::{Error, Result};

/// Holds the legacy documents that are still stored against the legacy archive, and that against the key maps.
pub(super) fn compare(
    run: &mut Verification<'_>,
    stored: Sorter,
    legacy_is_finding: bool,
    findings: &mut Findings,
) -> Result<()> {
    let archive = open(run)?;
    let mut known = match &archive {
        Some(archive) if !legacy_is_finding => Some(table(run, archive)?),
        _ => None,
    };
    let mut rows = stored.finish()?;
    while let Some((key, row)) = rows.next()? {
        let (digest, shown) = row.split_at_checked(32).unwrap_or((row, &[]));
        let message = match &mut known {
            _ if legacy_is_finding => "A legacy document is still there.",
            None => continue,
            Some(known) => match known.first(key)? {
                Some(known) if known == digest => continue,
                Some(_) => "A legacy document is not the one that was exported.",
                None => "A legacy document is there that was not exported.",
            },
        };
        let key = Some(String::from_utf8_lossy(shown).into_owned());
        findings.push(Finding { key, ..Finding::new(FindingCode::Legacy, message) })?;
    }
    match archive {
        Some(archive) => compare_with_key_maps(run, &archive, findings),
        None => Ok(()),
    }
}

fn open(run: &Verification<'_>) -> Result<Option<ArchiveInput>> {
    if run.options.legacy.is_empty() {
        return Ok(None);
    }
    // One that another tool wrote has no manifest; the rekeyed one's says which it was made from.
    let made_from: BTreeSet<_> = run.expectation.manifests().iter().filter_map(made_from).collect();
    let digest = match made_from.len() {
        1 => made_from.into_iter().next(),
        _ => None,
    };
    let options = OpenOptions { layout_given: true, digest, ..OpenOptions::new(&run.expectation.folder) };
    let input = ArchiveInput::open(&run.options.legacy, &options)?;
    let layout = &run.expectation.layout;
    if let Some((path, other)) = input.manifests().find(|(_, other)| other.layout.name != layout.name) {
        return Err(Error::usage(format!(
            "{path:?} is of the layout {}, the rekeyed archive of {}",
            other.layout.name, layout.name
        ))
        .hint("Pass the legacy archive that rekey read."));
    }
    refuse_unrelated(run, &input)?;
    // What is in other shards is in rekeyed archives that are not looked at here.
    Ok(Some(match &run.expectation.shards {
        Some(shards) => input.of_shards(ShardFilter::new(shards.clone(), layout)),
        None => input,
    }))
}

/// Refuses a legacy archive that no rekeyed one was made from: every document of it would count as missing.
fn refuse_unrelated(run: &Verification<'_>, legacy: &ArchiveInput) -> Result<()> {
    let Some(manifest) = legacy.manifest() else { return Ok(()) };
    let mut made_from = run.expectation.manifests().iter().filter_map(made_from).peekable();
    if made_from.peek().is_none() || made_from.any(|(_, digest)| digest == manifest.totals.sha256) {
        return Ok(());
    }
    Err(Error::usage(format!(
        "The rekeyed archive was not made from {}; nothing was compared",
        legacy.name()
    ))
    .hint("Pass with --legacy the legacy archive that rekey read: their manifests name it by its SHA-256."))
}

/// What a rekeyed archive was made from.
fn made_from((_, manifest): &(PathBuf, Manifest)) -> Option<(&'static str, &str)> {
    let rekey = manifest.rekey.as_ref()?;
    Some(("the rekeyed archive's manifest", rekey.input_sha256.as_str()))
}

/// The legacy archive's documents by order key.
fn table(run: &Verification<'_>, archive: &ArchiveInput) -> Result<SortedTable> {
    let layout = &run.expectation.layout;
    let mut rows = Sorter::new(&run.expectation.folder, SORT_BUDGET);
    let inspector = Inspector::new(layout, None);
    let (mut tape, mut key, mut scratch) = (Tape::new(), Vec::new(), Scratch::default());
    let mut reader = archive.line_reader();
    let mut chunk = Chunk::new();
    while reader.fill(&mut chunk)? {
        for line in chunk.lines() {
            key.clear();
            if tape.read(line.bytes).is_ok() && inspector.order_key(&tape, line.bytes, &mut key).is_ok() {
                rows.push(&key, &digest(layout.store, &tape, line.bytes, &[], &mut scratch).0)?;
            }
        }
    }
    let _totals = reader.finish()?;
    rows.into_table()
}

/// Proves, for each document, that nothing but its key and the filled-in fields changed.
fn compare_with_key_maps(
    run: &mut Verification<'_>,
    legacy: &ArchiveInput,
    findings: &mut Findings,
) -> Result<()> {
    let Some(rekeyed) = run.expectation.input() else { return Ok(()) };
    let mut key_maps = run.expectation.key_maps("--legacy needs")?;
    let mut changed = 0;
    let mut differs = |key: &str, version, what: &str| {
        changed += 1;
        let key = Some(key.to_owned()).filter(|key| !key.is_empty());
        findings.push(Finding {
            key,
            version,
            ..Finding::new(FindingCode::ChangedBesidesKey, format!("{what}."))
        })
    };
    let bodies = compare_bodies(
        legacy,
        rekeyed,
        &mut key_maps,
        &run.expectation.layout,
        &run.expectation.folder,
        SORT_BUDGET,
        &mut differs,
    )?;
    // What an archive leaves out on purpose is in its manifest; of several, what all of them leave out at most.
    let left_out = run.expectation.manifests().iter().filter_map(|(_, manifest)| manifest.rekey.as_ref());
    let left_out =
        left_out.map(|rekey| rekey.out_of_scope + rekey.set_aside + rekey.merged).min().unwrap_or_default();
    if bodies.not_moved > left_out {
        let message = format!(
            "{} legacy documents are in no rekeyed archive; the manifests account for {left_out}.",
            bodies.not_moved
        );
        run.totals.missing += bodies.not_moved - left_out;
        findings.push(Finding::new(FindingCode::Missing, message))?;
    }
    run.totals.different += changed;
    Ok(())
}
