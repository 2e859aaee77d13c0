//! `rekey combine`: the archives of all shards of a division in, the one archive of the whole out.
//!
//! ```text
//! part, key map ─┐
//! part, key map ─┼─▶ merge by the archive's order ─▶ archive, key map ─▶ manifest of the whole
//! part, key map ─┘
//! ```

mod lines;
mod manifest;
mod set_aside;

use std::path::{Path, PathBuf};

use super::source::find_layout;
use super::state_folder;
use crate::archive::{ArchiveInput, Companions, Manifest, OpenOptions, Staged};
use crate::layout::Layout;
use crate::options::CombineOptions;
use crate::report::{CombineReport, NoticeCode, Outcome, Report};
use crate::signal::StopSignal;
use crate::ui::Ui;
use crate::{Error, Result};

const NOTHING_WRITTEN: &str = "Interrupted; nothing was written. Run the same command again.";

/// The archive of one shard.
struct Part {
    input: ArchiveInput,
    manifest_path: PathBuf,
    manifest: Manifest,
}

impl Part {
    /// Opens the archive that is one file.
    fn open(file: &Path, folder: &Path, stop: &StopSignal) -> Result<Self> {
        let input = ArchiveInput::open(
            &[file.to_owned()],
            &OpenOptions { stop: stop.clone(), ..OpenOptions::new(folder) },
        )?;
        let found = input.manifests().next().cloned();
        let (manifest_path, manifest) = found.ok_or_else(|| {
            Error::usage(format!("{file:?} has no manifest that says which shard it is; nothing was written"))
                .hint("Pass the archives that export --shard or rekey --shard wrote, each with its manifest beside it.")
        })?;
        Ok(Self { input, manifest_path, manifest })
    }

    fn companions(&self) -> Companions {
        Companions::beside_manifest(&self.manifest_path)
    }
}

/// Makes one archive of the parts.
pub fn run(options: &CombineOptions, ui: &Ui, stop: &StopSignal) -> Result<Outcome> {
    tokio::task::block_in_place(|| combine(options, ui, stop))
}

fn combine(options: &CombineOptions, ui: &Ui, stop: &StopSignal) -> Result<Outcome> {
    let folder = state_folder(options.state_dir.as_deref(), Some(&options.out))?;
    let open = OpenOptions { stop: stop.clone(), layout_given: true, ..OpenOptions::new(&folder) };
    // A folder of parts stands for its files.
    let files = ArchiveInput::open(&options.parts, &open)?.files().to_vec();
    let parts: Vec<_> = files.iter().map(|file| Part::open(file, &folder, stop)).collect::<Result<_>>()?;
    let layout = layout_of(options, &parts)?;
    let mut manifest = manifest::combined(&parts, &layout, options)?;

    let merged = lines::merge(&parts, &layout, &manifest, &options.out, ui, stop)?;
    let list = set_aside::merge(&parts, &folder, &options.out)?;
    manifest.totals = merged.archive.totals.clone();
    if let Some(rekey) = &mut manifest.rekey {
        rekey.key_map_sha256 = merged.key_map.as_ref().map(|key_map| key_map.totals.sha256.clone());
        rekey.set_aside = list.as_ref().map_or(0, |list| list.totals.documents);
    }
    if parts.iter().all(|part| part.manifest.consistent) && !manifest.consistent {
        let message = "The shards were exported at different moments; nobody must have written meanwhile.";
        ui.notice(NoticeCode::NotConsistent, message.to_owned());
        manifest.count_notice(NoticeCode::NotConsistent, 1);
    }
    let files = Companions::of(&options.out);
    let report = CombineReport {
        layout: layout.name.clone(),
        parts: parts.len() as u64,
        documents: manifest.totals.documents,
        streams: manifest.streams,
        bytes: manifest.totals.bytes,
        sha256: manifest.totals.sha256.clone(),
        set_aside: manifest.rekey.as_ref().map_or(0, |rekey| rekey.set_aside),
        archive: options.out.clone(),
        manifest: files.manifest.clone(),
    };
    let mut staged = Staged::new();
    staged.add(merged.archive.output);
    if let Some(key_map) = merged.key_map {
        staged.add(key_map.output);
    }
    match list {
        Some(list) => staged.add(list.output),
        None => staged.remove(files.refused),
    }
    staged.add(manifest.stage(&files.manifest)?);
    staged.commit()?;
    Ok(Outcome::done(Report::Combine(report)))
}

/// The one layout of all parts.
fn layout_of(options: &CombineOptions, parts: &[Part]) -> Result<Layout> {
    let recorded = parts.first().map(|part| (&part.manifest.layout, part.manifest.store));
    find_layout(&options.layout, None, recorded)
}
