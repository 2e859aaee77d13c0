//! `rekey verify`: what a store holds against what the archives say, read from end to end.

mod difference;
mod dossier;
mod expectation;
mod legacy;
mod result;

use crate::ui::format::{count, subject};
use std::collections::BTreeSet;
use std::path::PathBuf;

use super::legacy_blocks::SORT_BUDGET;
use super::store::{describe, notice_expired, reader_concurrency, refuse_other_key};
use super::{companion, counter, state_folder};
use crate::key::Escaping;
use crate::options::{ProbeStreams, VerifyOptions, is_dash};
use crate::report::{Finding, FindingCode, Findings, Level, NoticeCode, Outcome, Totals};
use crate::scan::scan;
use crate::signal::StopSignal;
use crate::sort::Sorter;
use crate::stores::{CollectionReader, Description, Expiry, Snapshot, StoreError, StoreErrorKind, connect};
use crate::ui::Ui;
use crate::verify::{
    Comparison, Found, FoundConsumer, KeySamples, Receivers, Record, SampledStream, StreamChoice,
    StreamSample, TenantNames, compare, compare_counts, find_doubled, query_streams,
};
use crate::{Error, Result};
use difference::Differences;
use expectation::Expectation;

/// Verifies a store.
pub async fn run(options: VerifyOptions, ui: &Ui, stop: &StopSignal) -> Result<Outcome> {
    let first = options.archive.paths.first().filter(|path| !is_dash(path)).map(PathBuf::as_path);
    let folder = state_folder(options.state_dir.as_deref(), first)?;
    let reader = connect::open_reader(&options.against, stop).await?;
    let mut expectation = tokio::task::block_in_place(|| Expectation::open(&options, &folder, stop))?;
    expectation.refuse_unknown_tenants(&options.only_tenants)?;
    let description = describe(reader.as_ref(), "store", ui).await?;
    refuse_other_key(&description, &expectation.layout, "nothing was compared")?;
    let mut findings = Findings::new(findings_path(&options, &expectation));
    let stopped = || stop.check("Interrupted; nothing was changed. Run the same command again.");

    let activity = reader.activity().await?;
    let snapshot = reader.snapshot().await?;
    let read = |snapshot| read(reader.as_ref(), &options, &expectation, snapshot, ui, &stopped);
    let found = match read(snapshot.as_ref()).await {
        // The store keeps too little history for so large a collection. Its count of writes, which is looked
        // at below, says as well whether it was quiet.
        Err(error) if is_too_old(&error) && activity.is_some() => {
            ui.status(
                "The store no longer keeps the moment at which it is read; it is read again without one.",
            );
            read(None).await?
        }
        found => found?,
    };
    let mut run = Verification {
        options: &options,
        ui,
        reader: reader.as_ref(),
        expiry: Expiry::of(&description, expectation.layout.document.expires.as_deref()),
        expectation: &mut expectation,
        totals: Totals::default(),
    };
    let names = found.tenants.clone();
    let (samples, has_sequence) = (found.samples.clone(), found.highest.is_some());
    let counter = counter::check(&options.against, &run.expectation.layout, found.highest, stop).await?;
    counter.into_iter().try_for_each(|finding| findings.push(finding))?;
    let legacy_is_finding = options.pruned || run.is_separate(&description);
    let (comparison, sample) = tokio::task::block_in_place(|| {
        run.compare(found, legacy_is_finding, &folder, &mut findings, &stopped)
    })?;
    let probed = run.ask_as_the_framework_does(sample, &names, legacy_is_finding, &mut findings).await?;
    if activity.is_some() && reader.activity().await? != activity {
        let message = format!("{} was written while it was read.", description.location);
        ui.notice(NoticeCode::NotConsistent, message);
    }
    let totals = run.totals;
    notice_expired(totals.expired, "and need not be there", ui);
    let (outcome, report) = result::finish(&expectation, comparison, &names, totals, probed, findings)?;
    let (options, expectation, location) = (&options, &expectation, &description.location);
    let looked = dossier::Looked { options, expectation, location, legacy_is_finding, has_sequence };
    let throughput = ui.take_throughput();
    let dossier = dossier::dossier(&looked, &report, &outcome.findings, samples, &names, throughput);
    Ok(outcome.with_dossier(dossier))
}

/// Reads the whole store.
async fn read(
    reader: &dyn CollectionReader,
    options: &VerifyOptions,
    expectation: &Expectation,
    snapshot: Option<&Snapshot>,
    ui: &Ui,
    stopped: &(impl Fn() -> Result<()> + Sync),
) -> Result<Found> {
    let task = ui.progress().start("reading", None);
    let watch = Box::new(move |documents, bytes| task.add(documents, bytes));
    let names = expectation.tenant_names();
    let consumer = FoundConsumer::new(
        &expectation.layout,
        expectation.escaping,
        names,
        &expectation.folder,
        SORT_BUDGET,
        watch,
    )
    .of_shards(expectation.shards.as_ref())
    .with_samples(KeySamples::new(&expectation.layout, options.show_content));
    let concurrency = reader_concurrency(&options.against.rates);
    Ok(scan(reader, snapshot, concurrency, consumer, stopped).await?.into_found())
}

/// Whether the moment of a snapshot is no longer kept.
fn is_too_old(error: &Error) -> bool {
    error.cause::<StoreError>().is_some_and(|error| error.kind == StoreErrorKind::SnapshotTooOld)
}

/// One verification, after the store was read.
struct Verification<'a> {
    options: &'a VerifyOptions,
    ui: &'a Ui,
    reader: &'a dyn CollectionReader,
    expiry: Expiry,
    expectation: &'a mut Expectation,
    totals: Totals,
}

impl Verification<'_> {
    /// Whether the store is another one than the documents were exported from: nothing legacy belongs there.
    fn is_separate(&self, target: &Description) -> bool {
        self.expectation.sources().any(|source| match (&source.identity, &target.identity) {
            (Some(source), Some(target)) => source != target,
            _ => source.location != target.location,
        })
    }

    fn compare(
        &mut self,
        found: Found,
        legacy_is_finding: bool,
        folder: &std::path::Path,
        findings: &mut Findings,
        stopped: &dyn Fn() -> Result<()>,
    ) -> Result<(Comparison, Vec<SampledStream>)> {
        let mut names = found.tenants.clone();
        let Found { rekeyed, legacy, legacy_documents, foreign, blocking, mismatched, .. } = found;
        self.totals.foreign = foreign;
        self.totals.blocking = blocking;
        self.totals.legacy = legacy_documents;
        found.findings.into_iter().try_for_each(|finding| findings.push(finding))?;
        if foreign > blocking {
            let message = format!(
                "{} the collection.",
                subject(foreign - blocking, "other document", ["shares", "share"])
            );
            self.ui.notice(NoticeCode::Foreign, message);
        }
        let content = self.expectation.level() == Level::Content;
        let expected = if content {
            let task = self.ui.progress().start("reading the archive", self.expectation.documents());
            let watch = |documents, bytes| {
                task.add(documents, bytes);
                stopped()
            };
            Some(self.expectation.collect(&mut names, &watch)?)
        } else {
            None
        };
        let (expected_rows, files) = expected.map_or((None, Vec::new()), |it| (Some(it.rows), it.files));

        let scope: BTreeSet<u32> =
            self.options.only_tenants.iter().map(|tenant| names.number(tenant)).collect();
        let in_scope = |tenant| scope.is_empty() || scope.contains(&tenant);
        let mut events = Sorter::new(folder, SORT_BUDGET);
        let mut sample = StreamSample::new(self.stream_choice(), self.expectation.streams());
        let accounts = self.expectation.accounts(&mut names);
        let mut differences = Differences::new(&names, self.expectation.layout.kind, &files);
        let mut difference = |kind, record: &Record<'_>, other: Option<&Record<'_>>| {
            differences.take(kind, record, other, findings)
        };
        let mut receivers = Receivers {
            difference: &mut difference,
            events: &mut events,
            sample: &mut sample,
            in_scope: &in_scope,
            expiry: self.expiry,
        };
        let found_rows = rekeyed.finish()?;
        let comparison = match expected_rows {
            Some(expected) => compare(expected.finish()?, found_rows, &mut receivers)?,
            None => compare_counts(&accounts, found_rows, &mut receivers)?,
        };
        if sample.is_sample() {
            self.ui.notice(NoticeCode::Sampled, "A sample of the streams is read the way the framework reads them; --probe-streams all reads every one.");
        }
        self.add_totals(&comparison, mismatched);
        if !content {
            found.owner_findings.into_iter().try_for_each(|finding| findings.push(finding))?;
            self.totals.different += found.wrong_owner;
            result::count_findings(&comparison, &names, findings)?;
        }
        self.totals.doubled += find_doubled(events, self.expectation.layout.kind, &mut |record, other| {
            findings.push(Finding {
                key: Some(record.shown.clone().into_owned()),
                other_key: Some(other.to_owned()),
                tenant: Some(names.name(record.tenant).to_owned()),
                version: record.version,
                ..Finding::new(FindingCode::Doubled, format!("It stands under the key {other:?}, too."))
            })
        })?;
        legacy::compare(self, legacy, legacy_is_finding, findings)?;
        Ok((comparison, sample.finish()))
    }

    fn add_totals(&mut self, comparison: &Comparison, mismatched: u64) {
        let totals = &mut self.totals;
        for tenant in comparison.tenants.values() {
            totals.expected += tenant.expected.documents;
            totals.found += tenant.found.documents;
            totals.missing += tenant.missing;
            totals.unexpected += tenant.unexpected;
            totals.different += tenant.different;
            totals.expired += tenant.expired;
            totals.doubled += tenant.doubled;
        }
        totals.unexpected += mismatched;
        totals.found += mismatched;
    }

    fn stream_choice(&self) -> StreamChoice {
        match self.options.probe_streams {
            ProbeStreams::All => StreamChoice::All,
            ProbeStreams::UpTo(streams) => StreamChoice::UpTo(streams),
        }
    }

    /// The framework's probe, and its read of streams.
    async fn ask_as_the_framework_does(
        &mut self,
        sample: Vec<SampledStream>,
        names: &TenantNames,
        legacy_is_finding: bool,
        findings: &mut Findings,
    ) -> Result<u64> {
        let layout = &self.expectation.layout;
        // The probe looks at all streams at once, which another shard may not have moved yet.
        if let Some(probe) = layout.probe().filter(|_| self.expectation.shards.is_none()) {
            let offending = self.reader.probe(&probe).await?;
            // Before prune, the legacy documents that are still to go trip it, as they must.
            let excused = !legacy_is_finding && self.totals.legacy > 0;
            if !offending.is_empty() && !excused {
                let message = format!("The framework's own probe reports legacy keys in {}.", probe.field);
                let key = offending.first().cloned();
                findings.push(Finding { key, ..Finding::new(FindingCode::ProbeTripped, message) })?;
            }
        }
        let escaping = self.expectation.escaping.unwrap_or(Escaping::Raw);
        let mut differs = |stream: &SampledStream, documents: u64| {
            let expected = stream.documents;
            let message = if documents == expected {
                format!("The framework's own read gives other documents than the {expected} of the stream.")
            } else {
                format!(
                    "The framework's own read gives {} where {expected} must be.",
                    count(documents, "document")
                )
            };
            findings.push(Finding {
                key: Some(stream.shown.clone()),
                tenant: Some(names.name(stream.tenant).to_owned()),
                stream: Some(format!("{}:{}", stream.type_name, stream.id)),
                ..Finding::new(FindingCode::QueryDiffers, message)
            })
        };
        query_streams(self.reader, layout, escaping, sample, names, &mut differs).await
    }
}

fn findings_path(options: &VerifyOptions, expectation: &Expectation) -> Option<PathBuf> {
    options.findings.clone().or_else(|| {
        let beside = options.archive.paths.first().filter(|path| !is_dash(path))?;
        Some(companion(beside, expectation.shards.as_ref(), "verify.findings.ndjson"))
    })
}
