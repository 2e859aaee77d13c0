use std::ops::Range;
use std::sync::Arc;

use super::buffer::Output;
use super::document::{DocumentRewriter, Reading};
use super::lines::{BlockLines, LineSource, line_at};
use super::output::collision;
use super::rules::Rules;
use super::verdict::{Moved, RefusedDocument, StreamResult, Verdict, stream_refused};
use super::versions::VersionRun;
use crate::Result;
use crate::archive::{Chunk, ContentSum, Line};
use crate::check::Refusal;
use crate::document::StoreKind;
use crate::document::bson::ESCAPE_RECORD;
use crate::tenant::TenantResolver;

/// How many documents of one stream are refused with a reason of their own.
const MAX_REASONS: usize = 1_000;

/// Some lines of one stream at an end of a block.
#[derive(Clone, Debug, Default)]
pub struct Fragment {
    /// The stream: the part of the order key that its documents share.
    pub stream: Vec<u8>,
    /// The lines: indexes into the block.
    pub lines: Range<usize>,
}

/// Rewrites streams, one after the other.
pub struct StreamRewriter {
    rules: Arc<Rules>,
    tenants: TenantResolver,
    document: DocumentRewriter,
}

/// A stream whose documents are still coming.
pub struct OpenStream {
    stream: Vec<u8>,
    lines: Range<usize>,
    first_document: usize,
    versions: VersionRun,
    last_version: Option<i64>,
    last_key: Vec<u8>,
    tenant: Option<String>,
    undecided: bool,
    kept: u64,
    owners_replaced: u64,
    escape_records: u64,
    refused: Vec<RefusedDocument>,
}

impl OpenStream {
    /// A stream that begins at the block's line `index`.
    fn at(index: usize, out: &mut Output) -> Self {
        out.content = ContentSum::default();
        Self {
            stream: Vec::new(),
            lines: index..index,
            first_document: out.documents.len(),
            versions: VersionRun::default(),
            last_version: None,
            last_key: Vec::new(),
            tenant: None,
            undecided: false,
            kept: 0,
            owners_replaced: 0,
            escape_records: 0,
            refused: Vec::new(),
        }
    }

    /// Takes back what was written of a stream that may go on elsewhere.
    pub fn abandon(self, out: &mut Output) -> Fragment {
        out.truncate(self.first_document);
        Fragment { stream: self.stream, lines: self.lines }
    }

    /// The part of the order key that identifies the stream.
    pub fn stream(&self) -> &[u8] {
        &self.stream
    }

    /// Whether its documents are to be written.
    pub fn is_to_be_moved(&self, rules: &Rules) -> bool {
        self.refused.is_empty() && self.tenant.as_deref().is_some_and(|tenant| rules.in_scope(tenant))
    }

    /// The same stream, to be written once more from its first document on.
    pub fn for_writing_again(&self) -> Self {
        Self {
            stream: self.stream.clone(),
            lines: 0..0,
            first_document: 0,
            versions: VersionRun::default(),
            last_version: None,
            last_key: Vec::new(),
            tenant: self.tenant.clone(),
            undecided: false,
            kept: 0,
            owners_replaced: 0,
            escape_records: 0,
            refused: Vec::new(),
        }
    }

    /// Notes a refused document; beyond [`MAX_REASONS`] the others share the refusal of the stream.
    pub fn refuse(&mut self, refused: RefusedDocument) {
        if self.refused.len() < MAX_REASONS {
            self.refused.push(refused);
        }
    }

    /// What becomes of the stream; `content` is what its documents add to the tenant's content sum.
    pub fn verdict(self, rules: &Rules, content: ContentSum) -> Verdict {
        match self.tenant {
            Some(tenant) if !rules.in_scope(&tenant) => Verdict::OutOfScope,
            Some(tenant) if self.refused.is_empty() => Verdict::Moved(Moved {
                tenant,
                documents: self.lines.len() as u64,
                last_version: self.last_version,
                holes: self.versions.holes(),
                kept: self.kept,
                owners_replaced: self.owners_replaced,
                escape_records: self.escape_records,
                content,
            }),
            _ => Verdict::Refused(self.refused),
        }
    }
}

impl StreamRewriter {
    /// Makes a rewriter for `rules`, with a clone of `tenants` of its own.
    pub fn new(rules: &Arc<Rules>, tenants: &TenantResolver) -> Self {
        Self { rules: Arc::clone(rules), tenants: tenants.clone(), document: DocumentRewriter::new(rules) }
    }

    /// The rules.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Whether a stream's tenant stands in its documents.
    pub fn reads_documents(&self) -> bool {
        self.tenants.reads_documents()
    }

    /// Reads a line; [`Self::stream`] then says which stream it belongs to.
    pub fn read(&mut self, line: &[u8]) -> Reading {
        self.document.read(line)
    }

    /// The stream of the line read last; empty if it is unattributable.
    pub fn stream(&self) -> &[u8] {
        self.document.stream()
    }

    /// The order key of the line read last.
    pub fn order_key(&self) -> &[u8] {
        self.document.order_key()
    }

    /// Rewrites the lines of one whole stream.
    pub fn rewrite(&mut self, block: &Chunk, lines: Range<usize>, out: &mut Output) -> Result<StreamResult> {
        let mut open = OpenStream::at(lines.start, out);
        for index in lines {
            let reading = self.document.read(line_at(block, index).bytes);
            if open.lines.is_empty() {
                open.stream.extend_from_slice(self.document.stream());
            }
            self.add(&mut open, reading, line_at(block, index), out)?;
        }
        self.close(open, block, out)
    }

    /// Begins the stream of the line read last, which is the block's line `index`.
    pub fn begin(&self, index: usize, out: &mut Output) -> OpenStream {
        OpenStream { stream: self.document.stream().to_vec(), ..OpenStream::at(index, out) }
    }

    /// Adds the line read last to its stream.
    pub fn add(
        &mut self,
        open: &mut OpenStream,
        reading: Reading,
        line: Line<'_>,
        out: &mut Output,
    ) -> Result<()> {
        open.lines.end += 1;
        let (refusal, readable) = match reading {
            Reading::Ready => match self.take(open, line.bytes, out)? {
                Ok(()) => return Ok(()),
                Err(refusal) => (refusal, true),
            },
            Reading::Refused(refusal) => (refusal, true),
            Reading::Unattributable(refusal) => (refusal, false),
        };
        open.refuse(self.document.refuse(line, refusal, readable));
        Ok(())
    }

    /// Ends the stream: decides, and writes what could not be written before its tenant was known.
    pub fn close(&mut self, mut open: OpenStream, block: &Chunk, out: &mut Output) -> Result<StreamResult> {
        let lines = BlockLines(block, open.lines.clone());
        self.settle(&mut open, &lines)?;
        if self.reads_documents() && open.is_to_be_moved(&self.rules) {
            lines.visit(&mut |line| {
                self.write_again(&mut open, line, out);
                Ok(())
            })?;
        }
        let content = std::mem::take(&mut out.content);
        let (stream, first, lines) = (open.stream.clone(), open.first_document, open.lines.clone());
        let verdict = open.verdict(&self.rules, content);
        if !matches!(verdict, Verdict::Moved(_)) {
            out.truncate(first);
        }
        Ok(StreamResult {
            lines,
            written: first..out.documents.len(),
            verdict,
            stream: stream.into_boxed_slice(),
        })
    }

    /// Finds the tenant in the stream's documents, where that is the rule.
    pub fn settle(&mut self, open: &mut OpenStream, lines: &dyn LineSource) -> Result<()> {
        if !self.reads_documents() || !open.refused.is_empty() || open.stream.is_empty() {
            return Ok(());
        }
        let mut first = None;
        let store = self.rules.layout.store;
        self.tenants.start_stream();
        lines.visit(&mut |line| {
            let _ = self.document.read(line.bytes);
            let observed = self.tenants.observe(store, self.document.tape(), line.bytes, line.number);
            if let Err(refusal) = observed {
                open.refuse(self.document.refuse(line, refusal, true));
            }
            let _ = first.get_or_insert_with(|| self.document.refuse(line, stream_refused(), true));
            Ok(())
        })?;
        let type_name = self.document.identity().type_name.clone();
        match self.tenants.decide(&type_name, self.document.map_key())? {
            Ok(tenant) => open.tenant = Some(tenant.to_owned()),
            Err(refusal) => {
                if let Some(first) = first {
                    open.refuse(RefusedDocument { refusal, ..first });
                }
            }
        }
        Ok(())
    }

    /// Reads and writes a line of a stream whose tenant is known.
    pub fn write_again(&mut self, open: &mut OpenStream, line: Line<'_>, out: &mut Output) {
        let _ = self.document.read(line.bytes);
        if let Err(refusal) = self.write(open, line.bytes, out) {
            let refused = self.document.refuse(line, refusal, true);
            open.refuse(refused);
        }
    }

    /// Checks a readable document and, where the tenant is known without the others, writes it.
    fn take(&mut self, open: &mut OpenStream, line: &[u8], out: &mut Output) -> Result<Result<(), Refusal>> {
        if let Some(refusal) = self.rules.refused_before(&open.stream) {
            return Ok(Err(refusal.clone()));
        }
        if let Some(refusal) = self.suspected(open) {
            return Ok(Err(refusal));
        }
        if let Err(refusal) = self.check_version(open).and_then(|()| self.check_key(open)) {
            return Ok(Err(refusal));
        }
        if self.reads_documents() || open.undecided {
            return Ok(Ok(()));
        }
        if open.tenant.is_none() {
            match self.decide()? {
                Ok(tenant) => open.tenant = Some(tenant),
                Err(refusal) => {
                    open.undecided = true;
                    return Ok(Err(refusal));
                }
            }
        }
        Ok(self.write(open, line, out))
    }

    /// Why a document that cannot be read may be one of the stream; asked of its first one only.
    fn suspected(&mut self, open: &OpenStream) -> Option<Refusal> {
        if self.rules.suspicion.is_empty() || open.lines.len() > 1 {
            return None;
        }
        self.rules.suspicion.of(self.document.map_key())
    }

    /// Writes the document read last, unless it is out of scope or its stream is refused already.
    fn write(&mut self, open: &mut OpenStream, line: &[u8], out: &mut Output) -> Result<(), Refusal> {
        let tenant = open.tenant.as_deref().unwrap_or_default();
        if !self.rules.in_scope(tenant) {
            return Ok(());
        }
        let identity = self.document.identity();
        open.kept += u64::from(identity.tenant().is_some());
        open.owners_replaced += u64::from(identity.stored_owner.iter().any(|owner| owner != tenant));
        let start = out.lines.len();
        self.document.write(line, tenant, out)?;
        let is_mongodb = self.rules.layout.store == StoreKind::MongoDb;
        let written = out.lines.get(start..).unwrap_or_default();
        open.escape_records += u64::from(is_mongodb && written.starts_with(ESCAPE_RECORD));
        Ok(())
    }

    fn check_version(&self, open: &mut OpenStream) -> Result<(), Refusal> {
        let version = self.document.identity().version;
        open.last_version = version.or(open.last_version);
        // With documents that carry the tenant already a stream may be in two halves: checked where they meet.
        let (Some(version), Some(first)) = (version, self.rules.layout.stream.first_version) else {
            return Ok(());
        };
        if self.rules.keeps_rekeyed() {
            return Ok(());
        }
        open.versions.push(version, first, self.rules.allow_gaps)
    }

    /// Refuses a second document under one key; in order, the two stand side by side.
    fn check_key(&self, open: &mut OpenStream) -> Result<(), Refusal> {
        let key = self.document.order_key();
        let is_repeated = if self.rules.has_one_document_a_stream() {
            !open.last_key.is_empty()
        } else {
            open.last_key == key
        };
        open.last_key.clear();
        open.last_key.extend_from_slice(key);
        if is_repeated { Err(collision()) } else { Ok(()) }
    }

    fn decide(&mut self) -> Result<Result<String, Refusal>> {
        let type_name = self.document.identity().type_name.clone();
        let decided = self.tenants.decide(&type_name, self.document.map_key())?;
        Ok(decided.map(str::to_owned))
    }
}
