use std::collections::BTreeMap;
use std::path::Path;

use crate::archive::{ArchiveInput, Chunk, Companions, KeyMapReader, Manifest, OpenOptions};
use crate::plan::{PlannedTenant, StorePlan};
use crate::signal::StopSignal;
use crate::{Error, Result};

/// What one pass over a rekeyed archive and its key map tells.
pub(super) struct Survey {
    tenants: BTreeMap<String, PlannedTenant>,
    documents: u64,
    streams: u64,
    bytes: u64,
}

impl Survey {
    /// Reads the archive and its key map side by side: they have the same order.
    pub fn of(rekeyed: &Path, stop: &StopSignal) -> Result<Self> {
        let companions = Companions::of(rekeyed);
        let manifest = Manifest::read(&companions.manifest)?;
        let account =
            manifest.rekey.as_ref().ok_or_else(|| Error::bug("A rekeyed archive has no account"))?;
        let mut tenants: BTreeMap<String, PlannedTenant> = BTreeMap::new();
        for (tenant, owned) in &account.tenants {
            let planned = PlannedTenant {
                documents: owned.documents,
                streams: owned.streams,
                ..PlannedTenant::default()
            };
            let _new = tenants.insert(tenant.clone(), planned);
        }
        let documents = manifest.totals.documents;
        let mut rows =
            KeyMapReader::open(&companions.key_map, Some(documents), account.key_map_sha256.as_deref());
        let folder = rekeyed.parent().unwrap_or(Path::new("."));
        let input = ArchiveInput::open(&[rekeyed.to_owned()], &OpenOptions::new(folder))?;
        let mut lines = input.line_reader();
        let mut chunk = Chunk::new();
        while lines.fill(&mut chunk)? {
            stop.check("Interrupted; no plan was made.")?;
            for line in chunk.lines() {
                let Some(row) = rows.next()? else {
                    return Err(Error::file(format!("{:?} ends too early", companions.key_map)));
                };
                if let Some(tenant) = tenants.get_mut(row.tenant.as_ref()) {
                    tenant.bytes += line.bytes.len() as u64 + 1;
                    tenant.longest_key = tenant.longest_key.max(row.new.len() as u64);
                }
            }
        }
        let _whole = (lines.finish()?, rows.finish()?);
        Ok(Self { tenants, documents, streams: manifest.streams, bytes: manifest.totals.bytes })
    }

    /// Puts what was found into a plan.
    pub fn into_plan(self, plan: &mut StorePlan) {
        plan.longest_key = self.tenants.values().map(|tenant| tenant.longest_key).max().unwrap_or_default();
        plan.documents = self.documents;
        plan.streams = self.streams;
        plan.bytes = self.bytes;
        plan.tenants = self.tenants;
    }
}
