//! `rekey prune`: deletes legacy documents whose streams are proven to be moved, and nothing else.
//!
//! ```text
//! legacy archive ─┐
//! key maps ───────┼─▶ decide by whole stream ─▶ delete what is still as it was exported
//! store (scan) ───┘
//! ```

mod decide;
mod delete;
mod evidence;
mod result;

use std::path::PathBuf;

use super::legacy_blocks::SORT_BUDGET;
use super::store::{Opened, describe, reader_concurrency, refuse_other_key, tell_what_was_seen};
use super::{OpenedArchive, companion, open_archive, state_folder};
use crate::archive::{ArchiveInput, RecordedEscaping};
use crate::key::Escaping;
use crate::layout::Layout;
use crate::options::{ArchiveOptions, PruneOptions, StoreOptions, is_dash};
use crate::report::{Findings, Outcome};
use crate::scan::scan;
use crate::shard::{ShardFilter, Shards};
use crate::signal::StopSignal;
use crate::stores::{CollectionReader, Description, Expiry, connect};
use crate::ui::Ui;
use crate::verify::{Found, FoundConsumer, TenantNames};
use crate::{Error, Result};

/// What is known about the archives.
pub(super) struct Archives {
    pub legacy: ArchiveInput,
    pub rekeyed: ArchiveInput,
    pub layout: Layout,
    pub shards: Option<Shards>,
    pub escaping: Option<Escaping>,
    pub folder: PathBuf,
}

/// Prunes, or says what a prune would delete.
pub async fn run(options: PruneOptions, ui: &Ui, stop: &StopSignal) -> Result<Outcome> {
    let archives = tokio::task::block_in_place(|| open_archives(&options, stop))?;
    let store = Opened::open(&options.from, options.dry_run, stop).await?;
    let read_from = store.reader();
    let description = describe(read_from, "source", ui).await?;
    refuse_other_key(&description, &archives.layout, "nothing was deleted")?;
    let stopped = || stop.check("Interrupted; nothing more is deleted. Run the same command again to go on.");

    let expiry = |store: &Description| Expiry::of(store, archives.layout.document.expires.as_deref());
    let mut expiries = [expiry(&description); 2];
    let mut found = read(read_from, &options.from, &archives, ui, &stopped).await?;
    tell_what_was_seen(read_from, "source", ui);
    if let Some(twins) = &options.twins {
        let reader = connect::open_reader(twins, stop).await?;
        let described = describe(reader.as_ref(), "twins", ui).await?;
        refuse_other_key(&described, &archives.layout, "nothing was deleted")?;
        expiries[1] = expiry(&described);
        found.rekeyed = read(reader.as_ref(), twins, &archives, ui, &stopped).await?.rekeyed;
    }
    let mut findings = Findings::new(findings_path(&options, &archives).filter(|_| !options.dry_run));
    let mut decided = tokio::task::block_in_place(|| {
        let evidence = evidence::gather(&archives, found, expiries)?;
        decide::decide(&archives, evidence, &mut findings, ui, &stopped)
    })?;
    let tally = match store {
        Opened::Reading(_) => result::foreseen(&decided),
        Opened::Writing(collection) => {
            let deleted =
                delete::delete(&archives, &decided, collection.as_ref(), &mut findings, ui, stop).await?;
            result::with(&mut decided, &deleted)
        }
    };
    result::finish(&options, &archives, decided, tally, findings)
}

async fn read(
    reader: &dyn CollectionReader,
    options: &StoreOptions,
    archives: &Archives,
    ui: &Ui,
    stopped: &(impl Fn() -> Result<()> + Sync),
) -> Result<Found> {
    let task = ui.progress().start("reading", None);
    let watch = Box::new(move |documents, bytes| task.add(documents, bytes));
    let manifests = archives.rekeyed.manifests().filter_map(|(_, manifest)| manifest.rekey.as_ref());
    let tenants: Vec<_> = manifests.flat_map(|rekey| rekey.tenants.keys().map(String::as_str)).collect();
    let names = TenantNames::new(tenants, &archives.layout, archives.escaping.unwrap_or(Escaping::Raw));
    let consumer =
        FoundConsumer::new(&archives.layout, archives.escaping, names, &archives.folder, SORT_BUDGET, watch)
            .of_shards(archives.shards.as_ref());
    let snapshot = reader.snapshot().await?;
    let concurrency = reader_concurrency(&options.rates);
    Ok(scan(reader, snapshot.as_ref(), concurrency, consumer, stopped).await?.into_found())
}

/// Opens both archives; the rekeyed one must have been made from the legacy one.
fn open_archives(options: &PruneOptions, stop: &StopSignal) -> Result<Archives> {
    let first = options.legacy.paths.first().filter(|path| !is_dash(path)).map(PathBuf::as_path);
    let temporary = std::env::temp_dir();
    let asked = options.state_dir.as_deref().or(options.dry_run.then_some(temporary.as_path()));
    let folder = state_folder(asked, first)?;
    let OpenedArchive { input: legacy, layout, shards: of_legacy } =
        open_archive(&options.legacy, Some(options.from.address.kind()), &folder, stop)?;
    let rekeyed_options = ArchiveOptions {
        paths: options.rekeyed.clone(),
        shard: options.legacy.shard.clone(),
        ..ArchiveOptions::default()
    };
    let OpenedArchive { input: rekeyed, layout: rekeyed_layout, shards } =
        open_archive(&rekeyed_options, Some(layout.store), &folder, stop)?;
    if layout.digest() != rekeyed_layout.digest() {
        return Err(Error::usage(format!(
            "The legacy archive is of the layout {}, the rekeyed one of {}; nothing was deleted",
            layout.name, rekeyed_layout.name
        )));
    }
    if let Some((path, _)) = legacy.manifests().find(|(_, manifest)| manifest.rekey.is_some()) {
        return Err(Error::usage(format!("{path:?} is of a rekeyed archive; nothing was deleted")).hint(
            "Pass the legacy archive first and the rekeyed one with --rekeyed, once for each of its files.",
        ));
    }
    let mut escaping = Vec::new();
    for (path, manifest) in rekeyed.manifests() {
        let Some(rekey) = &manifest.rekey else {
            return Err(Error::usage(format!(
                "{path:?} is not the manifest of a rekeyed archive; nothing was deleted"
            ))
            .hint("Pass the archive that rekey wrote with --rekeyed."));
        };
        escaping.push(rekey.escaping);
    }
    let escaping = RecordedEscaping::together(escaping)?.escaping();
    let (legacy, shards) = match (of_legacy, shards) {
        // The rest of the legacy archive belongs to rekeyed ones that are not named here.
        (None, Some(shards)) => (legacy.of_shards(ShardFilter::new(shards.clone(), &layout)), Some(shards)),
        (of_legacy, shards) => (legacy, of_legacy.or(shards)),
    };
    Ok(Archives { legacy, rekeyed, layout, shards, escaping, folder })
}

fn findings_path(options: &PruneOptions, archives: &Archives) -> Option<PathBuf> {
    options.findings.clone().or_else(|| {
        let beside = options.legacy.paths.first().filter(|path| !is_dash(path))?;
        Some(companion(beside, archives.shards.as_ref(), "prune.findings.ndjson"))
    })
}
