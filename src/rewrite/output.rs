use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use super::buffer::Output;
use super::document::content_entry;
use super::rules::Rules;
use super::stream_id::{StreamId, stream_id};
use crate::archive::{ArchiveWriter, KeyMapRow, KeyMapWriter, TenantAccount};
use crate::check::{Reason, Refusal};
use crate::document::canonical::DocumentDigest;
use crate::sort::Sorter;
use crate::{Error, Result};

/// Where rewritten documents go at last: the archive and its key map, or nowhere in a dry run.
#[derive(Default)]
pub struct Lines {
    /// The archive.
    pub archive: Option<ArchiveWriter>,
    /// The key map.
    pub key_map: Option<KeyMapWriter>,
}

impl Lines {
    fn write(&mut self, lines: &[u8], key_lines: &[u8], documents: u64) -> Result<()> {
        if let Some(archive) = &mut self.archive {
            archive.write_block(lines, documents)?;
        }
        if let Some(key_map) = &mut self.key_map {
            key_map.write_block(key_lines, documents)?;
        }
        Ok(())
    }
}

/// Takes rewritten streams in the order of the legacy archive and writes them in the order of their new keys.
pub enum OrderedOutput {
    /// The new order is expected to be the legacy one: written as it comes.
    AsItComes(AsItComes),
    /// The new order is another one.
    Sorted(ByNewKey),
}

/// What writing came to.
pub struct Written {
    /// The archive and the key map.
    pub lines: Lines,
    /// Streams that must not be written, by their short digests: found out only now.
    pub refused: BTreeMap<StreamId, Refusal>,
    /// Whether the order was another one than expected: nothing is usable, sort instead.
    pub needs_sorting: bool,
    /// Documents that were there twice, as legacy and rekeyed, and are written once.
    pub merged: u64,
    /// What the output holds, where halves of one stream may have met in it: the account of the streams as
    /// they were read counts them apart.
    pub joined: Option<Joined>,
}

/// The account of an output in which halves of streams have met.
#[derive(Clone, Debug, Default)]
pub struct Joined {
    /// Streams.
    pub streams: u64,
    /// Tenant → streams, documents, last versions and contents.
    pub tenants: BTreeMap<String, TenantAccount>,
}

/// Writes streams as they come.
pub struct AsItComes {
    lines: Lines,
    last_stream: Vec<u8>,
    last_legacy: StreamId,
    refused: BTreeMap<StreamId, Refusal>,
    needs_sorting: bool,
}

/// Sorts documents by their new keys.
pub struct ByNewKey {
    lines: Lines,
    sorter: Sorter,
    payload: Vec<u8>,
    first_version: Option<i64>,
    allow_gaps: bool,
    one_document: bool,
    keeps_rekeyed: bool,
}

impl OrderedOutput {
    /// Writes as it comes.
    pub fn as_it_comes(lines: Lines) -> Self {
        Self::AsItComes(AsItComes {
            lines,
            last_stream: Vec::new(),
            last_legacy: StreamId::default(),
            refused: BTreeMap::new(),
            needs_sorting: false,
        })
    }

    /// Sorts within `budget` bytes of memory, in `folder`. Where rekeyed documents are kept, the versions of
    /// each new stream are checked here, since it may come in two halves.
    pub fn sorted(lines: Lines, folder: &Path, budget: usize, rules: &Rules) -> Self {
        Self::Sorted(ByNewKey {
            lines,
            sorter: Sorter::new(folder, budget),
            payload: Vec::new(),
            first_version: rules.layout.stream.first_version.filter(|_| rules.keeps_rekeyed()),
            allow_gaps: rules.allow_gaps,
            one_document: rules.has_one_document_a_stream(),
            keeps_rekeyed: rules.keeps_rekeyed(),
        })
    }

    /// Takes some documents of one stream.
    pub fn take(&mut self, legacy_stream: &[u8], out: &Output, documents: Range<usize>) -> Result<()> {
        match self {
            Self::AsItComes(direct) => direct.take(legacy_stream, out, documents),
            Self::Sorted(sorted) => sorted.take(legacy_stream, out, documents),
        }
    }

    /// Writes what is left.
    pub fn finish(self) -> Result<Written> {
        match self {
            Self::AsItComes(AsItComes { lines, refused, needs_sorting, .. }) => {
                Ok(Written { lines, refused, needs_sorting, merged: 0, joined: None })
            }
            Self::Sorted(sorted) => sorted.finish(),
        }
    }
}

impl AsItComes {
    fn take(&mut self, legacy_stream: &[u8], out: &Output, documents: Range<usize>) -> Result<()> {
        let Some(first) = out.documents.get(documents.start) else { return Ok(()) };
        let legacy = stream_id(legacy_stream);
        let start = out.starts(documents.start);
        let stream =
            out.order_keys.get(start.order_key..start.order_key + first.stream_len).unwrap_or_default();
        if legacy != self.last_legacy {
            match stream.cmp(self.last_stream.as_slice()) {
                std::cmp::Ordering::Greater => {}
                std::cmp::Ordering::Equal => {
                    for id in [self.last_legacy, legacy] {
                        let _ = self.refused.insert(id, collision());
                    }
                }
                std::cmp::Ordering::Less => self.needs_sorting = true,
            }
            self.last_stream.clear();
            self.last_stream.extend_from_slice(stream);
            self.last_legacy = legacy;
        }
        if self.needs_sorting || !self.refused.is_empty() {
            return Ok(()); // What is written from here on would be thrown away.
        }
        let end = out.starts(documents.end);
        let lines = out.lines.get(start.line..end.line).unwrap_or_default();
        let key_lines = out.key_lines.get(start.key_line..end.key_line).unwrap_or_default();
        self.lines.write(lines, key_lines, documents.len() as u64)
    }
}

/// The refusal of two streams that get one new key.
pub fn collision() -> Refusal {
    Refusal::new(Reason::KeyCollision, "another document of the archive gets the same new key")
}

impl ByNewKey {
    fn take(&mut self, legacy_stream: &[u8], out: &Output, documents: Range<usize>) -> Result<()> {
        let legacy = stream_id(legacy_stream);
        for index in documents {
            let Some(document) = out.documents.get(index) else { continue };
            let start = out.starts(index);
            let key_line = out.key_lines.get(start.key_line..document.key_line_end).unwrap_or_default();
            self.payload.clear();
            self.payload.extend_from_slice(&legacy);
            self.payload.push(u8::from(document.kept));
            self.payload.extend_from_slice(&document.body.0);
            self.payload.extend_from_slice(&(document.stream_len as u64).to_le_bytes());
            self.payload.extend_from_slice(&(key_line.len() as u64).to_le_bytes());
            self.payload.extend_from_slice(key_line);
            self.payload.extend_from_slice(out.lines.get(start.line..document.line_end).unwrap_or_default());
            let key = out.order_keys.get(start.order_key..document.order_key_end).unwrap_or_default();
            self.sorter.push(key, &self.payload)?;
        }
        Ok(())
    }

    fn finish(self) -> Result<Written> {
        let Self { mut lines, sorter, first_version, allow_gaps, one_document, keeps_rekeyed, .. } = self;
        let mut sorted = sorter.finish()?;
        let mut meeting = Meeting { first_version, allow_gaps, one_document, ..Meeting::default() };
        let mut joining = keeps_rekeyed.then(Joining::default);
        while let Some((key, payload)) = sorted.next()? {
            let document = SortedDocument::read(payload)?;
            let met = meeting.take(key, &document);
            if !meeting.refused.is_empty() {
                continue; // What is written from here on would be thrown away.
            }
            match (&mut joining, met) {
                (Some(joining), Met::Twin) => joining.twin(&document),
                (Some(joining), met) => joining.take(key, &document, met == Met::Stream, &mut lines)?,
                (None, Met::Twin) => {}
                (None, _) => lines.write(document.line, document.key_line, 1)?,
            }
        }
        let joined = joining.map(|joining| joining.finish(&mut lines)).transpose()?;
        let (refused, merged) = (meeting.refused, meeting.merged);
        Ok(Written { lines, refused, needs_sorting: false, merged, joined })
    }
}

/// Writes documents of which a twin may follow, and accounts for what is written.
#[derive(Default)]
struct Joining {
    line: Vec<u8>,
    key_line: Vec<u8>,
    waits: bool,
    is_kept: bool,
    last_version: i64,
    joined: Joined,
}

impl Joining {
    fn take(
        &mut self,
        key: &[u8],
        document: &SortedDocument<'_>,
        begins_stream: bool,
        lines: &mut Lines,
    ) -> Result<()> {
        self.write(lines)?;
        self.line.extend_from_slice(document.line);
        self.key_line.extend_from_slice(document.key_line);
        (self.waits, self.is_kept) = (true, document.kept);
        let row = KeyMapRow::parse(document.key_line)
            .ok_or_else(|| Error::bug("A row of the key map has lost its form"))?;
        let tenant = match self.joined.tenants.get_mut(row.tenant.as_ref()) {
            Some(tenant) => tenant,
            None => self.joined.tenants.entry(row.tenant.clone().into_owned()).or_default(),
        };
        if begins_stream {
            self.joined.streams += 1;
            tenant.streams += 1;
            self.last_version = 0;
        }
        let version = row.version.unwrap_or(self.last_version);
        tenant.documents += 1;
        tenant.last_versions_sum += i128::from(version) - i128::from(self.last_version);
        tenant.content.add(&content_entry(key, &document.body));
        self.last_version = version;
        Ok(())
    }

    /// The key map names the legacy one of two twins, whichever came first: `prune` looks for it.
    fn twin(&mut self, document: &SortedDocument<'_>) {
        if self.is_kept && !document.kept {
            self.key_line.clear();
            self.key_line.extend_from_slice(document.key_line);
        }
    }

    fn write(&mut self, lines: &mut Lines) -> Result<()> {
        if std::mem::take(&mut self.waits) {
            lines.write(&self.line, &self.key_line, 1)?;
        }
        self.line.clear();
        self.key_line.clear();
        Ok(())
    }

    fn finish(mut self, lines: &mut Lines) -> Result<Joined> {
        self.write(lines)?;
        Ok(self.joined)
    }
}

/// One row of the sort.
struct SortedDocument<'a> {
    legacy: StreamId,
    kept: bool,
    body: DocumentDigest,
    stream_len: usize,
    key_line: &'a [u8],
    line: &'a [u8],
}

impl<'a> SortedDocument<'a> {
    fn read(payload: &'a [u8]) -> Result<Self> {
        let read = || {
            let (legacy, rest) = payload.split_first_chunk::<16>()?;
            let (kept, rest) = rest.split_first()?;
            let (body, rest) = rest.split_first_chunk::<32>()?;
            let (stream_len, rest) = rest.split_first_chunk::<8>()?;
            let (key_line_len, rest) = rest.split_first_chunk::<8>()?;
            let stream_len = usize::try_from(u64::from_le_bytes(*stream_len)).ok()?;
            let (key_line, line) =
                rest.split_at_checked(usize::try_from(u64::from_le_bytes(*key_line_len)).ok()?)?;
            Some(Self {
                legacy: *legacy,
                kept: *kept == 1,
                body: DocumentDigest(*body),
                stream_len,
                key_line,
                line,
            })
        };
        read().ok_or_else(|| Error::bug("A sorted row has lost its form"))
    }
}

/// Notices documents and streams that meet under one new key.
#[derive(Default)]
struct Meeting {
    first_version: Option<i64>,
    allow_gaps: bool,
    one_document: bool,
    key: Vec<u8>,
    stream_len: usize,
    legacy: StreamId,
    kept: bool,
    body: Option<DocumentDigest>,
    refused: BTreeMap<StreamId, Refusal>,
    merged: u64,
    versions: super::VersionRun,
}

/// What a document is to those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Met {
    /// It begins a stream.
    Stream,
    /// It goes on with one.
    Document,
    /// It was there already as its twin.
    Twin,
}

impl Meeting {
    /// Takes the next document.
    fn take(&mut self, key: &[u8], document: &SortedDocument<'_>) -> Met {
        let same_stream = self.body.is_some()
            && self.stream_len == document.stream_len
            && self.key.get(..self.stream_len) == key.get(..document.stream_len);
        let same_document = same_stream && (self.one_document || self.key == key);
        let twin = same_document && self.kept != document.kept && self.body == Some(document.body);
        // Two halves of one stream, one moved earlier, may meet; two legacy streams may not.
        let halves = self.kept != document.kept;
        if (same_document && !twin) || (same_stream && self.legacy != document.legacy && !halves) {
            self.refuse(document.legacy, &collision());
        }
        if twin {
            self.merged += 1;
            return Met::Twin;
        }
        if !same_stream {
            self.versions = super::VersionRun::default();
        }
        self.key.clear();
        self.key.extend_from_slice(key);
        (self.stream_len, self.legacy, self.kept, self.body) =
            (document.stream_len, document.legacy, document.kept, Some(document.body));
        self.check_version(key, document);
        if same_stream { Met::Document } else { Met::Stream }
    }

    fn check_version(&mut self, key: &[u8], document: &SortedDocument<'_>) {
        let Some(first) = self.first_version else { return };
        let Some(version) = crate::key::version_of(key.get(document.stream_len..).unwrap_or_default()) else {
            return;
        };
        if let Err(refusal) = self.versions.push(version, first, self.allow_gaps) {
            self.refuse(document.legacy, &refusal);
        }
    }

    fn refuse(&mut self, legacy: StreamId, refusal: &Refusal) {
        for id in [self.legacy, legacy] {
            if id != StreamId::default() {
                let _ = self.refused.entry(id).or_insert_with(|| refusal.clone());
            }
        }
    }
}
