use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::account::{Account, KeySample};
use super::buffer::Output;
use super::document::{DocumentRewriter, Reading};
use super::lines::{BlockLines, LineSource};
use super::output::{OrderedOutput, Written};
use super::preview::Preview;
use super::refused::write_entry;
use super::rules::Rules;
use super::suspicion::Suspicion;
use super::verdict::{RefusedDocument, StreamResult, Verdict, stream_refused};
use crate::Result;
use crate::archive::{ArchiveWriter, Chunk, KeyMapRow};
use crate::check::Reason;
use crate::report::{Finding, Findings};

/// Takes what became of each stream, in the archive's order: counts, writes, lists.
pub struct Collector {
    rules: Arc<Rules>,
    document: DocumentRewriter,
    account: Account,
    output: OrderedOutput,
    side: Side,
    suspicion: Suspicion,
}

/// What is written besides the rekeyed documents.
#[derive(Default)]
pub struct Side {
    /// The list of refused documents.
    pub refused: Option<ArchiveWriter>,
    /// Whether that list holds the documents whole.
    pub set_aside: bool,
    /// The preview of a dry run.
    pub preview: Option<Preview>,
    /// The first refusals, for the screen and the result.
    pub findings: Option<Findings>,
}

/// What one pass over the archive came to.
pub struct Collected {
    /// The counts.
    pub account: Account,
    /// What was written.
    pub written: Written,
    /// The other files.
    pub side: Side,
    /// What the documents cast suspicion on that are set aside and belong to nobody knows which stream.
    pub suspicion: Suspicion,
}

impl Collector {
    /// Makes a collector.
    pub fn new(rules: &Arc<Rules>, output: OrderedOutput, side: Side) -> Self {
        Self {
            rules: Arc::clone(rules),
            document: DocumentRewriter::new(rules),
            account: Account::default(),
            output,
            side,
            suspicion: Suspicion::default(),
        }
    }

    /// Takes a stream of a block.
    pub fn take(&mut self, block: &Chunk, out: &Output, result: &StreamResult) -> Result<()> {
        if let Verdict::Moved(moved) = &result.verdict {
            if self.account.wants_sample(&moved.tenant) {
                self.sample(&moved.tenant, out, result.written.start);
            }
            self.documents(&result.stream, out, result.written.clone())?;
        }
        self.settled(&result.stream, &result.verdict, &BlockLines(block, result.lines.clone()))
    }

    /// Takes some rewritten documents of one stream.
    pub fn documents(&mut self, stream: &[u8], out: &Output, documents: Range<usize>) -> Result<()> {
        self.output.take(stream, out, documents)
    }

    /// Takes what became of a stream whose documents have been taken.
    pub fn settled(&mut self, _stream: &[u8], verdict: &Verdict, lines: &dyn LineSource) -> Result<()> {
        match verdict {
            Verdict::Moved(moved) => self.account.moved(moved),
            Verdict::OutOfScope => {
                let mut documents = 0;
                lines.visit(&mut |_| {
                    documents += 1;
                    Ok(())
                })?;
                self.account.out_of_scope(documents);
            }
            Verdict::Refused(refused) => {
                self.refuse(refused, lines)?;
                if self.side.set_aside {
                    self.suspect(refused, lines)?;
                }
            }
        }
        match &mut self.side.preview {
            Some(preview) => preview.stream(verdict, lines),
            None => Ok(()),
        }
    }

    /// Writes what is left.
    pub fn finish(self) -> Result<Collected> {
        let Self { account, output, side, suspicion, .. } = self;
        Ok(Collected { account, written: output.finish()?, side, suspicion })
    }

    /// Notes which other streams a document may be missing from whose key says too little.
    fn suspect(&mut self, own: &[RefusedDocument], lines: &dyn LineSource) -> Result<()> {
        let is_vague = |reason| matches!(reason, Reason::FieldMissing | Reason::FieldType);
        let Self { document, suspicion, rules, .. } = self;
        lines.visit(&mut |line| {
            let Some(refused) = own.iter().find(|refused| refused.line == line.number) else { return Ok(()) };
            match document.read(line.bytes) {
                Reading::Unattributable(_) => suspicion.add(&rules.layout, refused, line.bytes),
                Reading::Refused(refusal) if is_vague(refusal.reason) => {
                    suspicion.add(&rules.layout, refused, line.bytes);
                }
                _ => {}
            }
            Ok(())
        })
    }

    fn sample(&mut self, tenant: &str, out: &Output, document: usize) {
        let start = out.starts(document).key_line;
        let end = out.documents.get(document).map_or(start, |document| document.key_line_end);
        if let Some(row) = KeyMapRow::parse(out.key_lines.get(start..end).unwrap_or_default()) {
            let sample = KeySample { old: row.old.into_owned(), new: row.new.into_owned() };
            self.account.sample(tenant, sample);
        }
    }

    /// Lists every document of a refused stream: those with a reason of their own, and the others.
    fn refuse(&mut self, own: &[RefusedDocument], lines: &dyn LineSource) -> Result<()> {
        let mut own_by_line: BTreeMap<u64, Vec<&RefusedDocument>> = BTreeMap::new();
        for refused in own {
            own_by_line.entry(refused.line).or_default().push(refused);
        }
        let mut entry = Vec::new();
        let Self { document, account, side, .. } = self;
        lines.visit(&mut |line| {
            let own = own_by_line.get(&line.number).and_then(|refused| refused.first());
            let listed = if let Some(refused) = own {
                (*refused).clone()
            } else {
                let readable = !matches!(document.read(line.bytes), Reading::Unattributable(_));
                document.refuse(line, stream_refused(), readable)
            };
            account.refused(&listed);
            entry.clear();
            write_entry(&listed, side.set_aside.then_some(line.bytes), &mut entry)?;
            if let Some(list) = &mut side.refused {
                list.write_block(&entry, 1)?;
            }
            match &mut side.findings {
                Some(findings) => findings.push(Finding {
                    key: Some(listed.key).filter(|key| !key.is_empty()),
                    version: listed.version,
                    line: Some(listed.line),
                    ..Finding::refused(&listed.refusal)
                }),
                None => Ok(()),
            }
        })
    }
}
