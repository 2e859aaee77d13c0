//! `rekey rekey`: a legacy archive in, a rekeyed archive, its key map and its manifest out.

mod outputs;
mod rules;
mod show;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use jiff::Timestamp;

use super::legacy_blocks::{SORT_BUDGET, legacy_blocks};
use super::manifest::{TOOL, count_notices, file_name, layout_account, prefix_conflicts};
use super::{OpenedArchive, open_archive, state_folder};
use crate::archive::{
    ArchiveWriter, FORMAT, KeyMapWriter, Manifest, RecordedEscaping, RekeyAccount, Staged, Totals, now,
};
use crate::check::{Reason, Refusal};
use crate::exit::ExitStatus;
use crate::key::Escaping;
use crate::options::{OnRefused, RekeyOptions, TenantRuleChoice, is_dash};
use crate::report::{Finding, Findings, NoticeCode, Outcome, RekeyReport, Report};
use crate::rewrite::{
    Account, Collected, Collector, Lines, OrderedOutput, Pass, Preview, Rules, Side, StreamId, Suspicion,
    Written,
};
use crate::signal::StopSignal;
use crate::tenant::{PrefixConflict, TenantResolver, UnusedRows};
use crate::ui::{Ui, format};
use crate::{Error, Result};
use outputs::Outputs;

/// Rewrites an archive, or says what a rewrite would do.
pub fn run(options: &RekeyOptions, ui: &Ui, stop: &StopSignal) -> Result<Outcome> {
    tokio::task::block_in_place(|| Rewrite::prepare(options, ui, stop)?.run())
}

struct Rewrite<'a> {
    options: &'a RekeyOptions,
    ui: &'a Ui,
    stop: &'a StopSignal,
    archive: OpenedArchive,
    rules: Arc<Rules>,
    tenants: TenantResolver,
    folder: PathBuf,
    started: Timestamp,
}

/// What the passes so far have found out for the next one.
#[derive(Default)]
struct Learned {
    refused: BTreeMap<StreamId, Refusal>,
    suspicion: Suspicion,
    sort: bool,
}

impl<'a> Rewrite<'a> {
    fn prepare(options: &'a RekeyOptions, ui: &'a Ui, stop: &'a StopSignal) -> Result<Self> {
        let started = now();
        let out = options.out.as_ref().and_then(|out| out.file());
        let input = options.archive.paths.first().filter(|path| !is_dash(path)).map(PathBuf::as_path);
        let dry_run_folder = std::env::temp_dir();
        let asked = options.state_dir.as_deref().or(options.dry_run.then_some(dry_run_folder.as_path()));
        let folder = state_folder(asked, out.or(options.manifest.as_deref()).or(input))?;
        let archive = open_archive(&options.archive, None, &folder, stop)?;
        refuse_other_escaping(options.escaping, &archive)?;
        let (rules, resolver) = rules::build(options, archive.layout.clone(), &folder)?;
        Ok(Self { options, ui, stop, archive, rules: Arc::new(rules), tenants: resolver, folder, started })
    }

    /// Passes over the archive until nothing new is found out, then puts the files in their places.
    fn run(mut self) -> Result<Outcome> {
        let mut learned = Learned { sort: self.sorts_from_the_start(), ..Learned::default() };
        loop {
            let collected = self.pass(&learned)?;
            let late = &collected.written.refused;
            // A stream that is suspected is not looked at as closely as before: what is known stays known.
            let suspects_more = learned.suspicion.extend(collected.suspicion.clone());
            if late.keys().any(|id| !learned.refused.contains_key(id)) {
                learned.refused.extend(late.clone());
            } else if collected.written.needs_sorting {
                learned.sort = true;
            } else if !suspects_more {
                return self.conclude(collected);
            }
            self.rules = Arc::new(Rules {
                refused_streams: learned.refused.clone(),
                suspicion: learned.suspicion.clone(),
                escaping_mattered: Arc::default(),
                ..(*self.rules).clone()
            });
        }
    }

    /// With one tenant the new order is the old one, unless escaping changes it (noticed while writing).
    fn sorts_from_the_start(&self) -> bool {
        let one_tenant = matches!(
            self.options.tenant,
            TenantRuleChoice::SingleTenant | TenantRuleChoice::Untenanted | TenantRuleChoice::Tenant(_)
        );
        !one_tenant || self.rules.keeps_rekeyed()
    }

    fn pass(&self, learned: &Learned) -> Result<Collected> {
        self.tenants.begin_pass();
        let progress = self.ui.progress();
        let watch_sort = progress.start("sorting", self.archive.input.expected_documents());
        let sorting = |documents, bytes| {
            watch_sort.add(documents, bytes);
            self.stop.check(NOTHING_WRITTEN)
        };
        let mut blocks = legacy_blocks(&self.archive.input, &self.rules, &self.folder, sorting)?;
        watch_sort.finish();
        let task = progress.start("rewriting", self.archive.input.expected_documents());
        let watch = |documents, bytes| {
            task.add(documents, bytes);
            self.stop.check(NOTHING_WRITTEN)
        };
        let outputs = Outputs::of(self.options);
        let lines = outputs.lines(&self.folder)?;
        let output = if learned.sort {
            OrderedOutput::sorted(lines, &self.folder, SORT_BUDGET, &self.rules)
        } else {
            OrderedOutput::as_it_comes(lines)
        };
        let side = Side {
            refused: outputs.refused()?,
            set_aside: self.options.on_refused == OnRefused::SetAside,
            preview: self
                .options
                .preview
                .as_deref()
                .map(|path| Preview::create(path, &self.rules))
                .transpose()?,
            findings: Some(Findings::new(None)),
        };
        let pass = Pass {
            rules: Arc::clone(&self.rules),
            tenants: &self.tenants,
            workers: std::thread::available_parallelism().map_or(2, usize::from),
            spill_folder: self.folder.clone(),
            watch: &watch,
        };
        let collected = pass.run(&mut *blocks, Collector::new(&self.rules, output, side))?;
        task.finish();
        Ok(collected)
    }
}

const NOTHING_WRITTEN: &str = "Interrupted; nothing was written. Run the same command again.";

impl Rewrite<'_> {
    /// Decides, puts the files in their places and says what it came to.
    fn conclude(self, collected: Collected) -> Result<Outcome> {
        let Collected { mut account, mut written, side, .. } = collected;
        if let Some(joined) = written.joined.take() {
            (account.streams, account.tenants) = (joined.streams, joined.tenants);
        }
        let outputs = Outputs::of(self.options);
        let overlaps = self.prefix_conflicts(&account);
        let conflicts: &[_] = if self.options.allow_prefix_tenants { &[] } else { &overlaps };
        let stops =
            (self.options.on_refused == OnRefused::Stop && account.refused > 0) || !conflicts.is_empty();
        // Of one shard a tenant may well have no stream.
        let looks_at_all = self.archive.shards.is_none();
        if let Some(error) = self.tenants.unseen().filter(|_| !stops && looks_at_all) {
            return Err(error);
        }
        let preview = side.preview.map(Preview::finish).transpose()?;
        let refused_list = side.refused.filter(|_| account.refused > 0);
        let mut findings = side.findings.unwrap_or_else(|| Findings::new(None));
        refuse_overlapping(conflicts, &mut account, &mut findings)?;
        let mut findings = findings.finish()?;
        findings.file = refused_list.as_ref().and(outputs.refused.clone());
        let mut report = show::report(&self, &account, preview);
        self.notices(&account, &overlaps);
        let mut staged = Staged::new();
        if stops {
            if let Some(list) = refused_list {
                staged.add(list.finish()?.output);
            }
            staged.commit()?;
            // Nothing is written, so nothing is set aside either.
            report.set_aside = 0;
            let error = match conflicts {
                [] => self.refusal(&account, &outputs),
                conflicts => prefix_refusal(conflicts),
            };
            let outcome = Outcome::done(Report::Rekey(report)).of_shards(self.archive.shards.clone());
            return Ok(outcome.with_findings(findings).with_error(error));
        }
        let set_aside = account.refused;
        self.commit(&outputs, &account, written, refused_list, staged, &mut report)?;
        let exit = if set_aside > 0 { ExitStatus::Partial } else { ExitStatus::Done };
        let outcome = Outcome::done(Report::Rekey(report)).of_shards(self.archive.shards.clone());
        Ok(outcome.with_findings(findings).and(exit))
    }

    /// Names the files and renames them, the manifest last.
    fn commit(
        &self,
        outputs: &Outputs,
        account: &Account,
        written: Written,
        refused_list: Option<ArchiveWriter>,
        mut staged: Staged,
        report: &mut RekeyReport,
    ) -> Result<()> {
        let Lines { archive, key_map } = written.lines;
        let Some(archive) = archive else { return Ok(()) };
        let archive = archive.finish()?;
        let key_map = key_map.map(KeyMapWriter::finish).transpose()?;
        let key_map_sha256 = key_map.as_ref().map(|key_map| key_map.totals.sha256.clone());
        report.sha256 = Some(archive.totals.sha256.clone());
        report.archive = outputs.file();
        let manifest = self.manifest(account, written.merged, &archive.totals, key_map_sha256, outputs)?;
        staged.add(archive.output);
        if let Some(key_map) = key_map {
            staged.add(key_map.output);
        }
        if let Some(path) = &outputs.refused {
            match refused_list {
                Some(list) => {
                    staged.add(list.finish()?.output);
                    report.set_aside_file = Some(path.clone());
                }
                None => staged.remove(path.clone()),
            }
        }
        if let Some(files) = &outputs.companions {
            staged.add(manifest.stage(&files.manifest)?);
            report.manifest = Some(files.manifest.clone());
        }
        staged.commit()
    }

    fn manifest(
        &self,
        account: &Account,
        merged: u64,
        totals: &Totals,
        key_map_sha256: Option<String>,
        outputs: &Outputs,
    ) -> Result<Manifest> {
        let legacy = self.archive.input.manifest();
        let input = self.archive.input.totals();
        let input = input.ok_or_else(|| Error::bug("The legacy archive was not read to its end"))?;
        let layout = &self.rules.layout;
        Ok(Manifest {
            format: FORMAT,
            tool: TOOL.to_owned(),
            archive: file_name(outputs.file().as_deref()),
            layout: layout_account(layout),
            store: layout.store,
            source: legacy.and_then(|legacy| legacy.source.clone()),
            shard: self.archive.shards.clone(),
            started: self.started,
            ended: now(),
            consistent: legacy.is_some_and(|legacy| legacy.consistent),
            snapshot: legacy.and_then(|legacy| legacy.snapshot.clone()),
            counter: legacy.and_then(|legacy| legacy.counter.clone()),
            totals: totals.clone(),
            streams: account.streams,
            sorted: true,
            escape_records: account.escape_records,
            notices: count_notices(self.ui),
            rekey: Some(RekeyAccount {
                input_sha256: input.sha256.clone(),
                rule: self.tenants.describe(),
                escaping: self.escaping(),
                allowances: rules::allowances(self.options),
                key_map_sha256,
                already_rekeyed: account.already_rekeyed,
                merged,
                out_of_scope: account.out_of_scope,
                set_aside: account.refused,
                tenants: account.tenants.clone(),
            }),
        })
    }

    /// The escaping as recorded: it is of no matter where no term holds what it would change.
    fn escaping(&self) -> RecordedEscaping {
        match self.rules.escaping.filter(|_| self.rules.escaping_mattered.load(Relaxed)) {
            Some(Escaping::Raw) => RecordedEscaping::Raw,
            Some(Escaping::Escaped) => RecordedEscaping::Escaped,
            None => RecordedEscaping::Unneeded,
        }
    }

    /// Tenants whose keys could be read two ways.
    fn prefix_conflicts(&self, account: &Account) -> Vec<PrefixConflict> {
        prefix_conflicts(&self.rules.layout, self.rules.escaping, account.tenants.keys())
    }

    fn refusal(&self, account: &Account, outputs: &Outputs) -> Error {
        let reasons = account.reasons.iter().filter(|(reason, _)| **reason != Reason::StreamRefused);
        let reasons: Vec<_> = reasons.map(|(reason, count)| format!("{reason} ×{count}")).collect();
        let nothing =
            if self.options.dry_run { "a rewrite would write nothing" } else { "nothing was written" };
        let mut error = Error::refused(format!(
            "{} refused ({}); {nothing}",
            format::part(account.refused, account.documents, "document", ["is", "are"]),
            reasons.join(", ")
        ));
        if let Some(path) = &outputs.refused {
            error =
                error.hint(format!("Read {path:?}: every refused document with its reason and what to do."));
        }
        for reason in account.reasons.keys().filter(|reason| **reason != Reason::StreamRefused).take(3) {
            error = error.hint(format!("{reason}: {}", reason.advice()));
        }
        error.hint("Pass --on-refused set-aside to move the other streams and keep these in a side file.")
    }

    /// The rows of the tenant map that matched nothing; those of other shards' streams cannot.
    fn unused_rows(&self) -> Option<UnusedRows> {
        let unused = self.tenants.unused_rows().filter(|_| self.archive.shards.is_none());
        unused.filter(|unused| unused.unused > 0)
    }

    fn notices(&self, account: &Account, overlaps: &[PrefixConflict]) {
        if let Some(first) = overlaps.first().filter(|_| self.options.allow_prefix_tenants) {
            let more = match overlaps.len() {
                1 => String::new(),
                several => format!(" ({} more)", several - 1),
            };
            self.ui.notice(
                NoticeCode::PrefixTenants,
                format!("Keys can be read two ways, as was allowed: {first}{more}."),
            );
        }
        let replaced = account.owners_replaced;
        if replaced > 0 {
            let message = format!(
                "{} another owner, which was replaced.",
                format::subject(replaced, "document", ["named", "named"])
            );
            self.ui.notice(NoticeCode::OwnersReplaced, message);
        }
        if let Some(unused) = self.unused_rows() {
            let lines: Vec<_> = unused.first_lines.iter().map(u64::to_string).collect();
            let message = format!(
                "{} of {} of the tenant map matched nothing (first lines: {}).",
                format::number(unused.unused),
                format::count(unused.rows, "row"),
                lines.join(", ")
            );
            self.ui.notice(NoticeCode::UnusedRows, message);
        }
        let without_json = self.tenants.documents_without_json();
        if without_json > 0 {
            let message = format!(
                "{} no JSON where the tenant is looked for, and inherit{} it.",
                format::subject(without_json, "document", ["holds", "hold"]),
                if without_json == 1 { "s" } else { "" }
            );
            self.ui.notice(NoticeCode::NotJson, message);
        }
        if account.streams_with_holes > 0 {
            let message = format!(
                "{} gaps in the versions.",
                format::subject(account.streams_with_holes, "stream", ["has", "have"])
            );
            self.ui.notice(NoticeCode::Gaps, message);
        }
        if account.out_of_scope > 0 {
            let message = format!(
                "{} to tenants that were not asked for.",
                format::subject(account.out_of_scope, "document", ["belongs", "belong"])
            );
            self.ui.notice(NoticeCode::OutOfScope, message);
        }
    }
}

/// Counts the documents of overlapping tenants as refused; each overlap is a finding.
fn refuse_overlapping(
    conflicts: &[PrefixConflict],
    account: &mut Account,
    findings: &mut Findings,
) -> Result<()> {
    let tenants: BTreeSet<_> = conflicts.iter().flat_map(|it| [&it.shorter, &it.longer]).collect();
    let refused = tenants.iter().filter_map(|tenant| account.tenants.get(*tenant));
    let refused: u64 = refused.map(|tenant| tenant.documents).sum();
    if refused > 0 {
        account.rekeyed = account.rekeyed.saturating_sub(refused);
        account.refused += refused;
        *account.reasons.entry(Reason::PrefixTenants).or_default() += refused;
    }
    conflicts.iter().try_for_each(|conflict| {
        let refusal = Refusal::new(Reason::PrefixTenants, format!("{conflict}."));
        findings.push(Finding { tenant: Some(conflict.longer.clone()), ..Finding::refused(&refusal) })
    })
}

fn prefix_refusal(conflicts: &[PrefixConflict]) -> Error {
    let first: Vec<_> = conflicts.iter().take(3).map(ToString::to_string).collect();
    Error::refused(format!(
        "Keys could be read two ways ({}): {}; nothing was written",
        Reason::PrefixTenants,
        first.join("; ")
    ))
    .hint(Reason::PrefixTenants.advice())
}

/// An archive that was rekeyed says how its terms are joined, which some keys alone do not.
fn refuse_other_escaping(stated: Option<Escaping>, archive: &OpenedArchive) -> Result<()> {
    for (path, manifest) in archive.input.manifests() {
        let recorded = manifest.rekey.as_ref().and_then(|rekey| rekey.escaping.escaping());
        match (stated, recorded) {
            (Some(stated), Some(recorded)) if stated != recorded => {
                return Err(Error::usage(format!(
                    "The manifest {path:?} says that the keys are {}, not {}; nothing was written",
                    recorded.name(),
                    stated.name()
                ))
                .hint("Rewrite the legacy archive to join the keys in another way."));
            }
            _ => {}
        }
    }
    Ok(())
}
