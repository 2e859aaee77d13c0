use std::path::Path;

use super::expected::Recorder;
use super::{KeySamples, TenantNames};
use crate::Result;
use crate::check::Reason;
use crate::document::canonical::{Scratch, digest};
use crate::document::{Lines, StoreKind, text_field};
use crate::key::Escaping;
use crate::layout::{KeyState, Layout};
use crate::report::{Finding, FindingCode};
use crate::scan::PageConsumer;
use crate::shard::{ShardFilter, ShardSieve, Shards};
use crate::sort::Sorter;
use crate::stores::LegacyProbe;

/// How many documents of a kind are named at most while a collection is read.
const NAMED: usize = 10_000;

/// What a store holds.
pub struct Found {
    /// A row for each rekeyed document: the join key, and its record.
    pub rekeyed: Sorter,
    /// A row for each legacy document: its legacy order key; 32 bytes of digest, then its key as a person sees it.
    pub legacy: Sorter,
    /// Legacy documents.
    pub legacy_documents: u64,
    /// Documents outside the layout.
    pub foreign: u64,
    /// Of those, the ones that the framework's probe trips over.
    pub blocking: u64,
    /// Documents whose places of the key do not agree.
    pub mismatched: u64,
    /// The first of those, and of the blocking ones.
    pub findings: Vec<Finding>,
    /// Rekeyed documents that name another owner than their key, or none.
    pub wrong_owner: u64,
    /// The first of those; a comparison of contents finds them by itself.
    pub owner_findings: Vec<Finding>,
    /// The highest number of the global sequence.
    pub highest: Option<i64>,
    /// The tenants, with those that only the store knows.
    pub tenants: TenantNames,
    /// A few keys of each, where they were asked for.
    pub samples: Option<KeySamples>,
}

/// Reads a collection into records.
pub struct FoundConsumer {
    store: StoreKind,
    recorder: Recorder,
    probe: Option<LegacyProbe>,
    owner_fields: Vec<String>,
    scratch: Scratch,
    found: Found,
    sieve: Option<ShardSieve>,
    watch: Box<dyn Fn(u64, u64) + Send>,
}

impl FoundConsumer {
    /// Makes a consumer that knows the tenants of the archives.
    pub fn new(
        layout: &Layout,
        escaping: Option<Escaping>,
        tenants: TenantNames,
        folder: &Path,
        budget: usize,
        watch: Box<dyn Fn(u64, u64) + Send>,
    ) -> Self {
        let owner_fields = layout.sets.iter().filter(|set| set.value.names(&crate::key::Term::Tenant));
        Self {
            store: layout.store,
            recorder: Recorder::new(layout, escaping),
            probe: layout.probe(),
            owner_fields: owner_fields.map(|set| set.at.clone()).collect(),
            scratch: Scratch::default(),
            found: Found {
                rekeyed: Sorter::new(folder, budget),
                legacy: Sorter::new(folder, budget / 4),
                legacy_documents: 0,
                foreign: 0,
                blocking: 0,
                mismatched: 0,
                findings: Vec::new(),
                wrong_owner: 0,
                owner_findings: Vec::new(),
                highest: None,
                tenants,
                samples: None,
            },
            sieve: None,
            watch,
        }
    }

    /// Looks at the documents of certain shards alone, and at those of which nobody can tell the shard.
    #[must_use]
    pub fn of_shards(self, shards: Option<&Shards>) -> Self {
        let filter = |shards: &Shards| ShardFilter::new(shards.clone(), self.recorder.layout());
        let sieve = shards.map(|shards| filter(shards).sieve());
        Self { sieve, ..self }
    }

    /// Keeps a few keys of each tenant, too.
    #[must_use]
    pub fn with_samples(mut self, samples: KeySamples) -> Self {
        self.found.samples = Some(samples);
        self
    }

    /// What was found.
    pub fn into_found(self) -> Found {
        self.found
    }

    fn rekeyed(&mut self, line: &[u8], stream_len: usize) -> Result<()> {
        let Self { recorder, found, .. } = self;
        let shown = recorder.inspector.display_key(&recorder.tape, line).into_owned();
        let read_as = recorder.identity.tenant().unwrap_or_default();
        let tenant = found.tenants.number_of_key(&shown, read_as);
        recorder.read_as(&found.tenants, tenant, line);
        recorder.record(line, stream_len, tenant, 0)?;
        found.rekeyed.push(&recorder.join_key, &recorder.row)?;
        if let Some(samples) = &mut found.samples {
            samples.take(tenant, &shown, &recorder.identity, line);
        }
        self.check_owner(line, tenant, &shown);
        Ok(())
    }

    /// A saga that does not say its tenant is not found by the framework, however right its key is.
    fn check_owner(&mut self, line: &[u8], tenant: u32, shown: &str) {
        let tape = &self.recorder.tape;
        let wrong = self.owner_fields.iter().find(|name| {
            let owner = text_field(self.store, tape, line, name);
            owner.as_deref() != Some(self.found.tenants.name(tenant))
        });
        if let Some(field) = wrong {
            let tenant = self.found.tenants.name(tenant).to_owned();
            let message =
                format!("{field} is not {tenant:?}, the tenant in the key: the framework does not find it.");
            let finding = Finding {
                key: Some(shown.to_owned()),
                tenant: Some(tenant),
                version: self.recorder.identity.version,
                fields: vec![field.clone()],
                ..Finding::new(FindingCode::Different, message)
            };
            self.found.wrong_owner += 1;
            name(&mut self.found.owner_findings, finding);
        }
    }

    fn legacy(&mut self, line: &[u8]) -> Result<()> {
        let Self { recorder, found, scratch, store, .. } = self;
        let whole = digest(*store, &recorder.tape, line, &[], scratch);
        recorder.row.clear();
        recorder.row.extend_from_slice(&whole.0);
        recorder.row.extend_from_slice(recorder.inspector.display_key(&recorder.tape, line).as_bytes());
        found.legacy.push(&recorder.order_key, &recorder.row)?;
        found.legacy_documents += 1;
        Ok(())
    }

    /// A document that is not the layout's, or not as the framework writes it.
    fn outside(&mut self, line: &[u8], reason: Reason, detail: &str) {
        let shown = self.recorder.inspector.display_key(&self.recorder.tape, line).into_owned();
        if reason == Reason::KeyMismatch {
            let finding = Finding {
                key: Some(shown),
                ..Finding::new(
                    FindingCode::Unexpected,
                    format!("The places of its key do not agree: {detail}"),
                )
            };
            self.found.mismatched += 1;
            name(&mut self.found.findings, finding);
            return;
        }
        self.found.foreign += 1;
        if self.trips_probe(line) {
            self.found.blocking += 1;
            let message =
                "It is not of the layout, and the framework's probe takes it for a legacy document.";
            let finding = Finding { key: Some(shown), ..Finding::new(FindingCode::Blocking, message) };
            name(&mut self.found.findings, finding);
        }
    }

    fn trips_probe(&self, line: &[u8]) -> bool {
        let Some(probe) = &self.probe else { return false };
        let tape = &self.recorder.tape;
        let text = if probe.field == crate::document::DOCUMENT_ID {
            crate::document::document_id(tape, line)
        } else {
            text_field(self.store, tape, line, &probe.field)
        };
        text.is_some_and(|text| text.starts_with(&probe.within) && !text.starts_with(&probe.rekeyed_prefix))
    }
}

/// Keeps a finding, if there are not too many.
fn name(findings: &mut Vec<Finding>, finding: Finding) {
    if findings.len() < NAMED {
        findings.push(finding);
    }
}

impl PageConsumer for FoundConsumer {
    fn take(&mut self, lines: &Lines) -> Result<()> {
        for line in lines.iter() {
            let read = self.recorder.read(line)?;
            // The numbers of the global sequence are of all shards together.
            let number = self.recorder.inspector.sequence(&self.recorder.tape, line);
            self.found.highest = self.found.highest.max(number);
            if self.sieve.as_mut().is_some_and(|sieve| !sieve.keeps(line)) {
                continue;
            }
            match read {
                Ok(stream_len) if matches!(self.recorder.identity.state, KeyState::Rekeyed { .. }) => {
                    self.rekeyed(line, stream_len)?;
                }
                Ok(_) => self.legacy(line)?,
                Err(refusal) => self.outside(line, refusal.reason, &refusal.detail),
            }
        }
        (self.watch)(lines.len() as u64, lines.bytes() as u64);
        Ok(())
    }
}
