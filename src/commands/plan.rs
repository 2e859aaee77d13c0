//! `rekey plan`: what a run will do, by the dry runs of its own commands; no store is written.
//!
//! ```text
//! export into a folder of its own ─▶ rekey there ─▶ survey of lines and key map ─▶ import --dry-run ─▶ plan
//! ```

mod dossier;
mod survey;

use std::path::{Path, PathBuf};

use super::{export, import, rekey};
use crate::exit::ExitStatus;
use crate::layout::Layout;
use crate::migration::Archives;
use crate::options::{Destination, OnRefused, PlanOptions, StoreRun, is_dash};
use crate::plan::{Basis, Forecast, Plan, Remark, Sample, StorePlan, settings_of};
use crate::report::{ImportReport, Notice, Outcome, PlanReport, RekeyReport, Report};
use crate::signal::StopSignal;
use crate::ui::Ui;
use crate::{Error, ErrorKind, Result};
use survey::Survey;

/// Where a plan's own archives are while it is made, in the store's folder.
const FOLDER: &str = "plan.tmp";

/// Makes a plan.
pub async fn run(options: PlanOptions, ui: &Ui, stop: &StopSignal) -> Result<Outcome> {
    let (mut stores, mut exit) = (Vec::new(), ExitStatus::Done);
    for store in &options.stores {
        let part = ui.part(&store.name);
        let folder = WorkFolder::make(&store.folder)?;
        let planned =
            Box::pin(Planner { store, folder: &folder, ui: &part, stop }.plan(options.basis)).await?;
        exit = exit.worst(exit_of(&planned));
        stores.push(planned);
    }
    let plan = Plan::new(options.basis, options.project, options.max_growth, stores)?;
    plan.write(&options.out)?;
    let dossier = dossier::dossier(&plan);
    let report = Report::Plan(PlanReport { plan, file: options.out });
    Ok(Outcome::done(report).and(exit).with_dossier(dossier))
}

/// How a run of the plan would end, as a dry run says it.
fn exit_of(store: &StorePlan) -> ExitStatus {
    match (store.stops.is_empty(), store.import.conflict, store.refused) {
        (false, ..) => ExitStatus::Failed(ErrorKind::Refused),
        (true, conflict, _) if conflict > 0 => ExitStatus::Finding,
        (true, _, refused) if refused > 0 => ExitStatus::Partial,
        _ => ExitStatus::Done,
    }
}

/// A folder that goes with the plan's making, also the one that an earlier plan left when it was killed.
struct WorkFolder(PathBuf);

impl WorkFolder {
    fn make(folder: &Path) -> Result<Self> {
        let path = folder.join(FOLDER);
        if path.exists() {
            std::fs::remove_dir_all(&path).map_err(|source| Error::io("clear the folder", &path, source))?;
        }
        std::fs::create_dir_all(&path).map_err(|source| Error::io("create the folder", &path, source))?;
        Ok(Self(path))
    }

    /// The place in it of a file of the store's folder.
    fn place_of(&self, archive: Option<&Path>) -> PathBuf {
        self.0.join(archive.and_then(Path::file_name).unwrap_or_default())
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // What stays is cleared by the next plan.
        let _left = std::fs::remove_dir_all(&self.0);
    }
}

/// The making of one store's plan.
struct Planner<'a> {
    store: &'a StoreRun,
    folder: &'a WorkFolder,
    ui: &'a Ui,
    stop: &'a StopSignal,
}

impl Planner<'_> {
    async fn plan(&self, basis: Basis) -> Result<StorePlan> {
        let mut plan = StorePlan {
            store: self.store.name.clone(),
            settings: settings_of(self.store)?,
            ..StorePlan::default()
        };
        let legacy = match basis {
            Basis::Archives => self.archive()?,
            Basis::Stores => self.export(&mut plan).await?,
        };
        let rekeyed = self.rekey(legacy, &mut plan)?;
        if let Some(rekeyed) = &rekeyed {
            let planning = self.planning(rekeyed);
            if basis == Basis::Archives {
                let archives = Archives::of(&planning)?;
                plan.archives = archives.outputs(crate::migration::State::Exported);
                plan.archives.extend(archives.outputs(crate::migration::State::Rekeyed));
            }
            tokio::task::block_in_place(|| Survey::of(rekeyed, self.stop))?.into_plan(&mut plan);
            self.import(rekeyed, &mut plan).await?;
        }
        Ok(plan)
    }

    /// The legacy archive of the store's folder, which must be there.
    fn archive(&self) -> Result<PathBuf> {
        let legacy = self.store.rekey.archive.paths.first().filter(|path| !is_dash(path) && path.is_file());
        legacy.cloned().ok_or_else(|| {
            Error::usage(format!("The store {} has no legacy archive to plan from", self.store.name))
                .hint("Export it first, or leave --archives out to plan from the store.")
        })
    }

    async fn export(&self, plan: &mut StorePlan) -> Result<PathBuf> {
        let mut options = self.store.export.clone();
        let out = self.folder.place_of(options.out.file());
        options.out = Destination::File(out.clone());
        // The plan says it all, once.
        let ui = self.ui.with_own_notices().quietly();
        let outcome = self.explained(Box::pin(export::run(options, &ui, self.stop)).await)?;
        take_notices(plan, ui.notices());
        take_outcome(plan, &outcome);
        Ok(out)
    }

    /// Rewrites the archive with refused streams set aside, so that the plan covers what is left; `None` where nothing
    /// was written at all.
    fn rekey(&self, legacy: PathBuf, plan: &mut StorePlan) -> Result<Option<PathBuf>> {
        let mut options = self.store.rekey.clone();
        let out = self.folder.place_of(options.out.as_ref().and_then(Destination::file));
        options.archive.paths = vec![legacy];
        options.out = Some(Destination::File(out.clone()));
        options.on_refused = OnRefused::SetAside;
        options.findings = None;
        let ui = self.ui.with_own_notices().quietly();
        let outcome = self.explained(rekey::run(&options, &ui, self.stop))?;
        take_notices(plan, ui.notices());
        take_outcome(plan, &outcome);
        let Report::Rekey(report) = outcome.report else {
            return Err(Error::bug("The rewrite of a plan gave another command's result"));
        };
        self.take_refusals(&report, plan);
        plan.key_limit = key_limit(&self.layout()?);
        Ok(report.archive.is_some().then_some(out))
    }

    fn take_refusals(&self, report: &RekeyReport, plan: &mut StorePlan) {
        plan.refused = report.refused;
        plan.reasons =
            report.reasons.iter().map(|(reason, count)| (reason.code().to_owned(), *count)).collect();
        plan.samples = report
            .samples
            .iter()
            .map(|it| Sample {
                tenant: it.tenant.clone(),
                old_key: it.old_key.clone(),
                new_key: it.new_key.clone(),
            })
            .collect();
        if report.refused > 0 && self.store.rekey.on_refused == OnRefused::Stop && plan.stops.is_empty() {
            let reasons: Vec<_> = plan.reasons.keys().cloned().collect();
            plan.stops.push(format!(
                "rekey will refuse {} documents ({})",
                report.refused,
                reasons.join(", ")
            ));
        }
    }

    async fn import(&self, rekeyed: &Path, plan: &mut StorePlan) -> Result<()> {
        let mut options = self.store.import.clone();
        options.archive.paths = vec![rekeyed.to_owned()];
        options.dry_run = true;
        options.findings = None;
        let ui = self.ui.with_own_notices().quietly();
        let outcome = self.explained(Box::pin(import::run(options, &ui, self.stop)).await)?;
        take_notices(plan, ui.notices());
        take_outcome(plan, &outcome);
        let Report::Import(report) = outcome.report else {
            return Err(Error::bug("The import of a plan gave another command's result"));
        };
        plan.import = self.forecast(&report);
        Ok(())
    }

    fn forecast(&self, report: &ImportReport) -> Forecast {
        let rate = self.store.import.to.rates.max_writes_per_second;
        Forecast {
            write: report.written,
            identical: report.identical,
            conflict: report.conflict,
            expired: report.expired,
            seconds: rate.map(|rate| report.written.div_ceil(rate.get().into())),
        }
    }

    /// The store with the archives that the plan has made.
    fn planning(&self, rekeyed: &Path) -> StoreRun {
        let mut store = self.store.clone();
        store.rekey.out = Some(Destination::File(rekeyed.to_owned()));
        store
    }

    fn layout(&self) -> Result<Layout> {
        let options = &self.store.export.layout;
        let kind = self.store.export.from.address.kind();
        Layout::resolve(options.layout.as_deref().unwrap_or_default(), Some(kind))?
            .with_parameters(&options.parameters)
    }

    fn explained(&self, result: Result<Outcome>) -> Result<Outcome> {
        self.stop
            .explain(result, "Interrupted; no plan was made.")
            .map_err(|error| error.context(format!("The store {} cannot be planned", self.store.name)))
    }
}

/// The limit of the key that people are shown, where the layout has one.
fn key_limit(layout: &Layout) -> Option<u64> {
    let key = layout.keys.first()?;
    let limit = layout.limits.iter().find(|limit| limit.at.contains(&key.at))?;
    u64::try_from(limit.max_bytes).ok()
}

/// Notes what a command said, once.
fn take_notices(plan: &mut StorePlan, notices: Vec<Notice>) {
    for notice in notices {
        let remark = Remark { code: notice.code.code().to_owned(), message: notice.message };
        if !plan.notices.contains(&remark) {
            plan.notices.push(remark);
        }
    }
}

/// Notes what a command found, and what it would stop for.
fn take_outcome(plan: &mut StorePlan, outcome: &Outcome) {
    plan.findings.extend(outcome.findings.first.iter().map(|finding| {
        let about = finding.key.as_ref().or(finding.stream.as_ref()).or(finding.tenant.as_ref());
        let message = match about {
            Some(about) => format!("{about}: {}", finding.message),
            None => finding.message.clone(),
        };
        Remark { code: finding.code.code().to_owned(), message }
    }));
    if let Some(error) = &outcome.error {
        plan.stops.push(error.messages().join(": "));
    }
}
