use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::record::{event_digest, join_key};
use super::{KeyMaps, Record, TenantNames};
use crate::archive::{ArchiveInput, Chunk};
use crate::check::Refusal;
use crate::document::canonical::{Scratch, digest};
use crate::document::json::Tape;
use crate::key::Escaping;
use crate::layout::{DocumentKind, Identity, Inspector, KeyState, Layout};
use crate::rewrite::content_entry;
use crate::sort::Sorter;
use crate::{Error, Result};

/// What the archives say must be there.
pub struct Expected {
    /// A row for each document: the join key, and its [`Record`].
    pub rows: Sorter,
    /// How many documents there are.
    pub documents: u64,
    /// The files they are from; an [archive number](Record::archive) is a place in this list, counted from 1.
    pub files: Vec<PathBuf>,
}

/// Turns documents into records; the buffers live as long as the reader.
pub(super) struct Recorder {
    layout: Layout,
    touched: Vec<String>,
    pub tape: Tape,
    pub inspector: Inspector,
    pub identity: Identity,
    pub order_key: Vec<u8>,
    pub join_key: Vec<u8>,
    pub row: Vec<u8>,
    scratch: Scratch,
}

impl Recorder {
    pub fn new(layout: &Layout, escaping: Option<Escaping>) -> Self {
        Self {
            layout: layout.clone(),
            touched: layout.touched_fields().into_iter().map(str::to_owned).collect(),
            tape: Tape::new(),
            inspector: Inspector::new(layout, escaping),
            identity: Identity::default(),
            order_key: Vec::new(),
            join_key: Vec::new(),
            row: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Reads a line: its identity, order key and join key.
    pub fn read(&mut self, line: &[u8]) -> Result<Result<usize, Refusal>> {
        self.order_key.clear();
        self.tape
            .read(line)
            .map_err(|error| Error::file(format!("A document is not strict JSON: {error}")))?;
        let attributed = self.inspector.order_key(&self.tape, line, &mut self.order_key);
        let inspected = self.inspector.inspect(&self.tape, line, &mut self.identity);
        Ok(attributed.and_then(|stream_len| {
            join_key(self.layout.kind, &self.order_key, stream_len, &mut self.join_key);
            inspected.map(|()| stream_len)
        }))
    }

    /// Puts right what was read of a key that can be read in more than one way, now that its tenant is known.
    pub fn read_as(&mut self, tenants: &TenantNames, tenant: u32, line: &[u8]) {
        if self.identity.tenant() != Some(tenants.name(tenant))
            && let Some(key) = self.inspector.bare_key(&self.tape, line)
            && let Some(term) = tenants.behind_prefix(tenant, &key)
        {
            self.inspector.set_bare(term, &mut self.identity);
        }
    }

    /// Writes the record of the line read last into [`Self::row`].
    pub fn record(&mut self, line: &[u8], stream_len: usize, tenant: u32, archive: u32) -> Result<()> {
        let body = digest(self.layout.store, &self.tape, line, &self.touched, &mut self.scratch);
        let whole = digest(self.layout.store, &self.tape, line, &[], &mut self.scratch);
        let store_key =
            self.inspector.store_key(&self.tape, line).map_err(|refusal| Error::file(refusal.to_string()))?;
        let event = match self.inspector.event_id(&self.tape, line) {
            Some(event_id) => event_digest(&[event_id.as_bytes()]),
            None if self.layout.kind == DocumentKind::Items => self.item_digest(&body.0),
            None => event_digest(&[self.identity.type_name.as_bytes(), self.identity.id.as_bytes()]),
        };
        let record = Record {
            whole: whole.0,
            content: content_entry(&self.order_key, &body),
            tenant,
            archive,
            expires_at: self.inspector.expires_at(&self.tape, line).unwrap_or_default(),
            event,
            stream_len: u32::try_from(stream_len).unwrap_or(u32::MAX),
            version: self.identity.version,
            shown: self.inspector.display_key(&self.tape, line),
            type_name: Cow::Borrowed(&self.identity.type_name),
            id: Cow::Borrowed(&self.identity.id),
            store_key: Cow::Borrowed(&store_key.0),
        };
        record.write(&mut self.row);
        Ok(())
    }

    /// What identifies an item whoever owns it. Its key is a natural one, which two tenants may well share, so that all
    /// of its content counts, too.
    fn item_digest(&self, body: &[u8]) -> [u8; 16] {
        let Identity { type_name, id, others, .. } = &self.identity;
        let terms = [type_name, id].into_iter().chain(others.iter().map(|other| &other.value));
        event_digest(&terms.map(String::as_bytes).chain([body]).collect::<Vec<_>>())
    }
}

/// Reads rekeyed archives into records. The tenants are those of the key maps, where they are given.
#[allow(clippy::too_many_arguments)] // Each is a part that only the caller has.
pub fn collect_expected(
    input: &ArchiveInput,
    mut key_maps: Option<KeyMaps>,
    layout: &Layout,
    escaping: Option<Escaping>,
    tenants: &mut TenantNames,
    folder: &Path,
    budget: usize,
    watch: &dyn Fn(u64, u64) -> Result<()>,
) -> Result<Expected> {
    let mut recorder = Recorder::new(layout, escaping);
    let mut expected = Expected { rows: Sorter::new(folder, budget), documents: 0, files: Vec::new() };
    let mut reader = input.line_reader();
    let mut chunk = Chunk::new();
    while reader.fill(&mut chunk)? {
        let files = &mut expected.files;
        let archive = files.iter().position(|file| file == chunk.file()).unwrap_or_else(|| {
            files.push(chunk.file().to_owned());
            files.len() - 1
        });
        for (index, line) in chunk.lines().enumerate() {
            let refused = |refusal: Refusal| {
                Error::file(format!(
                    "Line {} of {:?} is no rekeyed document: {refusal}",
                    line.number,
                    chunk.file()
                ))
                .hint("Pass the archive that rekey wrote.")
            };
            let stream_len = recorder.read(line.bytes)?.map_err(refused)?;
            let KeyState::Rekeyed { tenant } = &recorder.identity.state else {
                return Err(Error::usage(format!(
                    "Line {} of {:?} carries a legacy key",
                    line.number,
                    chunk.file()
                ))
                .hint("Pass the rekeyed archive; a legacy archive goes with --legacy."));
            };
            let shown = recorder.inspector.display_key(&recorder.tape, line.bytes).into_owned();
            let tenant = match &mut key_maps {
                Some(key_maps) => {
                    key_maps.row(chunk.position(index), &shown, |row| Ok(tenants.number(&row.tenant)))?
                }
                None => tenants.number_of_key(&shown, tenant),
            };
            recorder.read_as(tenants, tenant, line.bytes);
            recorder.record(
                line.bytes,
                stream_len,
                tenant,
                u32::try_from(archive).unwrap_or(u32::MAX) + 1,
            )?;
            expected.rows.push(&recorder.join_key, &recorder.row)?;
            expected.documents += 1;
        }
        watch(chunk.len() as u64, chunk.bytes() as u64)?;
    }
    let _totals = reader.finish()?;
    Ok(expected)
}
