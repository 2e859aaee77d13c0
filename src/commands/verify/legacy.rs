use super::Verification;
use crate::Result;
use crate::archive::{ArchiveInput, Chunk};
use crate::commands::legacy_blocks::SORT_BUDGET;
use crate::commands::{OpenedArchive, open_archive};
use crate::document::canonical::{Scratch, digest};
use crate::document::json::Tape;
use crate::layout::Inspector;
use crate::options::{ArchiveOptions, LayoutOptions};
use crate::report::{Finding, FindingCode, Findings};
use crate::sort::{SortedTable, Sorter};
use crate::verify::compare_bodies;

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
    let layout = LayoutOptions {
        layout: run.options.archive.layout.layout.clone(),
        parameters: run.options.archive.layout.parameters.clone(),
    };
    let options =
        ArchiveOptions { paths: run.options.legacy.clone(), expect_documents: None, manifest: None, layout };
    let OpenedArchive { input, .. } =
        open_archive(&options, Some(run.expectation.layout.store), &run.expectation.folder)?;
    Ok(Some(input))
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
    let mut key_maps = run.expectation.key_maps()?;
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
