//! `rekey import` and `rekey restore`: an archive in, created documents out, each with its outcome.
//!
//! ```text
//! preflight (whole archive, nothing written) ─▶ batches ─▶ store ─▶ outcomes ─▶ journal
//! ```

mod batch;
mod capacity;
mod counter;
mod index_needed;
mod notable;
mod plan;
mod preflight;
mod result;
mod resume;
mod send;
mod set_aside;
mod target;
mod undo;
mod unique;

use std::path::{Path, PathBuf};

use super::{companion, state_folder};
use crate::archive::{ArchiveInput, Companions};
use crate::exit::ExitStatus;
use crate::options::{ArchiveOptions, ImportOptions, OnRefused, RestoreOptions, StoreOptions, is_dash};
use crate::report::{Findings, Outcome};
use crate::shard::Shards;
use crate::signal::StopSignal;
use crate::ui::Ui;
use crate::{Error, Result};
pub(crate) use plan::Plan;
pub(crate) use plan::What;

/// Imports a rekeyed archive.
pub async fn run(options: ImportOptions, ui: &Ui, stop: &StopSignal) -> Result<Outcome> {
    let job = Job {
        what: match (options.in_place, options.moves) {
            (true, _) => What::InPlace,
            (false, true) => What::Move,
            (false, false) => What::Rekeyed,
        },
        archive: options.archive,
        to: options.to,
        create_target: options.create_target,
        subscribers_handled: options.subscribers_handled,
        on_refused: options.on_refused,
        dry_run: options.dry_run,
        findings: options.findings,
        state_dir: options.state_dir,
    };
    job.run(ui, stop).await
}

/// Puts a legacy archive back.
pub async fn restore(options: RestoreOptions, ui: &Ui, stop: &StopSignal) -> Result<Outcome> {
    let job = Job {
        what: What::Legacy,
        archive: options.archive,
        to: options.to,
        create_target: options.create_target,
        subscribers_handled: options.subscribers_handled,
        on_refused: OnRefused::Stop,
        dry_run: options.dry_run,
        findings: options.findings,
        state_dir: options.state_dir,
    };
    job.run(ui, stop).await
}

/// One import or restore.
#[allow(clippy::struct_excessive_bools)] // Each is one flag of the command line.
pub(crate) struct Job {
    pub what: What,
    pub archive: ArchiveOptions,
    pub to: StoreOptions,
    pub create_target: bool,
    pub subscribers_handled: bool,
    pub on_refused: OnRefused,
    pub dry_run: bool,
    pub findings: Option<PathBuf>,
    pub state_dir: Option<PathBuf>,
}

impl Job {
    async fn run(self, ui: &Ui, stop: &StopSignal) -> Result<Outcome> {
        let first = self.archive.paths.first().filter(|path| !is_dash(path));
        let beside = first.map(PathBuf::as_path).or(self.archive.manifest.as_deref());
        let temporary = std::env::temp_dir();
        let asked = self.state_dir.as_deref().or(self.dry_run.then_some(temporary.as_path()));
        let folder = state_folder(asked, beside)?;
        let plan = tokio::task::block_in_place(|| Plan::make(&self, &folder, stop))?;
        let mut found = target::open(&self, &plan, ui, stop).await?;
        index_needed::notice(&self, &plan, ui);
        let findings_path = self.findings_path(beside, plan.shards.as_ref());
        let mut findings = Findings::new(findings_path.filter(|_| !self.dry_run));
        found.take_findings().into_iter().try_for_each(|finding| findings.push(finding))?;
        let clashes = unique::clashes(&self, &found, ui, stop).await?;
        let checked = tokio::task::block_in_place(|| {
            preflight::check(&plan, found.reader(), clashes, &mut findings, ui, stop)
        })?;
        if checked.refused > 0 && self.on_refused == OnRefused::Stop {
            return result::refused(&self, &plan, &checked, findings);
        }
        let set_aside_file = if self.dry_run {
            None
        } else {
            // Before the first write: whoever is left without room for it is left without a half-done import.
            let path = set_aside::path(&plan, beside, &folder);
            tokio::task::block_in_place(|| set_aside::write(&plan, &checked, found.reader(), path))?
        };
        let mut target = target::make(found, &self, &plan, ui, stop).await?;
        target.take_findings().into_iter().try_for_each(|finding| findings.push(finding))?;
        counter::carry_over(&self, &plan, checked.highest, ui, stop)
            .await?
            .into_iter()
            .try_for_each(|finding| findings.push(finding))?;
        let sent = send::send(&self, &plan, &target, &checked, &folder, &mut findings, ui, stop).await?;
        let outcome = result::done(&self, &plan, &checked, &sent, findings, set_aside_file)?;
        Ok(match target::foreseen_refusal(&self, &target) {
            Some(refusal) => outcome.with_error(refusal),
            None => outcome,
        })
    }

    fn findings_path(&self, beside: Option<&Path>, shards: Option<&Shards>) -> Option<PathBuf> {
        let name = format!("{}.findings.ndjson", self.what.command());
        self.findings.clone().or_else(|| beside.map(|beside| companion(beside, shards, &name)))
    }
}

/// The key map that belongs to an archive of one file.
pub(super) fn key_map_of(input: &ArchiveInput, manifest: Option<&Path>) -> Result<PathBuf> {
    let files = match (input.files(), manifest) {
        (_, Some(manifest)) => Companions::beside_manifest(manifest),
        ([path], None) => Companions::of(path),
        _ => {
            return Err(Error::usage("Only an archive of one file has a key map")
                .hint("Pass the file that rekey wrote."));
        }
    };
    Ok(files.key_map)
}

impl From<&send::Sent> for ExitStatus {
    fn from(sent: &send::Sent) -> Self {
        if sent.tally.conflict > 0 { Self::Finding } else { Self::Done }
    }
}
