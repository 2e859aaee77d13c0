use std::collections::{BTreeMap, BTreeSet};

use super::notable::Notable;
use super::{Plan, What};
use crate::archive::Chunk;
use crate::check::{Reason, Refusal};
use crate::document::json::Tape;
use crate::key::Escaping;
use crate::layout::{Identity, Inspector, KeyState, Layout};
use crate::report::{Finding, Findings};
use crate::rewrite::{RefusedDocument, StreamId, Suspicion, stream_id, stream_refused};
use crate::signal::StopSignal;
use crate::stores::CollectionReader;
use crate::stores::clashes::Clashes;
use crate::ui::Ui;
use crate::{Error, Result};

/// What a pass over the whole archive found before anything is written.
#[derive(Default)]
pub(super) struct Checked {
    /// Documents in the archive.
    pub documents: u64,
    /// Documents refused for a reason of their own.
    pub refused: u64,
    /// Reason → those documents.
    pub reasons: BTreeMap<Reason, u64>,
    /// Whether two neighbours in a sorted archive have one key.
    pub repeats_keys: bool,
    /// The highest number of the global sequence that a document holds.
    pub highest: Option<i64>,
    /// Those that the target would not keep apart from others, by their position in the archive from 0: looked at by
    /// itself each is right.
    clashing: BTreeMap<u64, Refusal>,
    /// Their streams, which are set aside whole.
    refused_streams: BTreeSet<StreamId>,
    /// Streams that those may be missing from of which nobody can tell the stream.
    suspicion: Suspicion,
}

/// Reads the whole archive: it must be whole, in order, of the right kind and within the store's limits.
/// Every refused document is a finding. `clashes` is what the target would not keep apart.
pub(super) fn check(
    plan: &Plan,
    target: &dyn CollectionReader,
    mut clashes: Clashes,
    findings: &mut Findings,
    ui: &Ui,
    stop: &StopSignal,
) -> Result<Checked> {
    let mut checked = Checked::default();
    let mut document = Examined::new(plan, target);
    let mut notable = Notable::default();
    let mut reader = plan.input.line_reader();
    let mut chunk = Chunk::new();
    let task = ui.progress().start("checking", plan.input.expected_documents());
    let sorted = plan.input.is_sorted();
    let mut last_key = Vec::new();
    while reader.fill(&mut chunk)? {
        stop.check("Interrupted; nothing was written. Run the same command again.")?;
        for line in chunk.lines() {
            let position = checked.documents;
            checked.documents += 1;
            let is_last_line = chunk.last_line_unterminated() && Some(line) == chunk.line(chunk.len() - 1);
            let examined = document.examine(line.bytes);
            let kept_apart = examined.and_then(|()| {
                let taken = clashes.take(&document.tape, line.bytes);
                taken.inspect_err(|clash| drop(checked.clashing.insert(position, clash.clone())))
            });
            match kept_apart {
                Ok(()) => {
                    let Examined { tape, inspector, .. } = &document;
                    notable.look(plan.layout.store, tape, line.bytes);
                    checked.highest = checked.highest.max(inspector.sequence(tape, line.bytes));
                }
                Err(refusal) if refusal.reason == Reason::Malformed && is_last_line => {
                    return Err(Error::file(format!(
                        "{:?} is cut off: its last line, {}, is not a whole document",
                        chunk.file(),
                        line.number
                    ))
                    .hint("Copy or write the file again."));
                }
                Err(refusal) => {
                    let refused = document.refused(line.bytes, line.number, refusal);
                    findings.push(checked.refuse(&plan.layout, &document, line.bytes, refused))?;
                }
            }
            if sorted && document.key < last_key {
                return Err(crate::rewrite::out_of_order(line.number));
            }
            checked.repeats_keys |= document.key == last_key;
            std::mem::swap(&mut last_key, &mut document.key);
        }
        task.add(chunk.len() as u64, chunk.bytes() as u64);
    }
    let _totals = reader.finish()?;
    notable.tell(ui);
    Ok(checked)
}

/// One document being looked at.
pub(super) struct Examined<'a> {
    what: What,
    /// The store that is asked what it would refuse.
    target: Option<&'a dyn CollectionReader>,
    pub tape: Tape,
    pub inspector: Inspector,
    pub identity: Identity,
    escaped: Inspector,
    key: Vec<u8>,
    stream_len: usize,
    escaped_id: String,
}

impl<'a> Examined<'a> {
    pub fn new(plan: &Plan, target: &'a dyn CollectionReader) -> Self {
        Self {
            what: plan.what,
            // A document that is changed where it is stands in the store already.
            target: Some(target).filter(|_| !plan.what.is_in_place()),
            tape: Tape::new(),
            inspector: Inspector::new(&plan.layout, plan.escaping.escaping()),
            identity: Identity::default(),
            escaped: Inspector::new(&plan.layout, Some(Escaping::Escaped)),
            key: Vec::new(),
            stream_len: 0,
            escaped_id: String::new(),
        }
    }

    fn examine(&mut self, line: &[u8]) -> Result<(), Refusal> {
        self.inspect(line)?;
        self.target.map_or(Ok(()), |target| target.check(&self.tape, line))
    }

    fn inspect(&mut self, line: &[u8]) -> Result<(), Refusal> {
        self.key.clear();
        self.stream_len = 0;
        self.identity.version = None;
        self.tape.read(line).map_err(|error| {
            let reason = if error.duplicate { Reason::DuplicateName } else { Reason::Malformed };
            Refusal::new(reason, error.to_string())
        })?;
        if self.what == What::Legacy {
            // Whatever was exported goes back, also what has no key of its layout or what a rewrite would refuse.
            let order = self.inspector.order_key(&self.tape, line, &mut self.key);
            self.stream_len = order.unwrap_or_default();
            return Ok(());
        }
        let reading = self.inspector.read(&self.tape, line, &mut self.identity, &mut self.key);
        self.stream_len = reading.stream_len?;
        match reading.inspected {
            // Whose a key is matters to whoever makes it; here it must agree with its fields, and it does so twice.
            Err(refusal) if refusal.reason == Reason::EscapingNeeded => {
                self.escaped.inspect(&self.tape, line, &mut self.identity)?;
            }
            inspected => inspected?,
        }
        if self.identity.state == KeyState::Legacy {
            return Err(Refusal::new(
                Reason::KeyMismatch,
                "the document carries a legacy key, not a rekeyed one",
            ));
        }
        self.inspector.check_stored(&self.tape, line)
    }

    /// Describes why the line examined last is refused.
    pub fn refused(&self, line: &[u8], number: u64, refusal: Refusal) -> RefusedDocument {
        let key = match refusal.reason {
            Reason::Malformed | Reason::DuplicateName => String::new(),
            _ => self.inspector.display_key(&self.tape, line).into_owned(),
        };
        RefusedDocument { line: number, key, version: self.identity.version, refusal }
    }

    fn stream(&self) -> &[u8] {
        self.key.get(..self.stream_len).unwrap_or_default()
    }
}

impl Checked {
    /// Why a line is set aside: it is refused, its stream is, or nobody can say that it is not.
    ///
    /// `position` is the line's in the archive, from 0.
    pub fn sets_aside(&self, document: &mut Examined<'_>, line: &[u8], position: u64) -> Option<Refusal> {
        if self.refused == 0 {
            return None;
        }
        if let Err(refusal) = document.examine(line) {
            return Some(refusal);
        }
        if let Some(clash) = self.clashing.get(&position) {
            return Some(clash.clone());
        }
        if self.refused_streams.contains(&stream_id(document.stream())) {
            return Some(stream_refused());
        }
        if self.suspicion.is_empty() {
            return None;
        }
        // A line that cannot be read may mention the id as it is, or as it stands in a key.
        document.escaped_id.clear();
        Escaping::Escaped.write(&document.identity.id, &mut document.escaped_id);
        self.suspicion.of(&document.identity.id).or_else(|| self.suspicion.of(&document.escaped_id))
    }

    fn refuse(
        &mut self,
        layout: &Layout,
        document: &Examined<'_>,
        line: &[u8],
        refused: RefusedDocument,
    ) -> Finding {
        let reason = refused.refusal.reason;
        self.refused += 1;
        *self.reasons.entry(reason).or_default() += 1;
        let _ = self.refused_streams.insert(stream_id(document.stream()));
        if document.stream_len == 0 || matches!(reason, Reason::FieldMissing | Reason::FieldType) {
            self.suspicion.add(layout, &refused, line);
        }
        Finding {
            key: Some(refused.key).filter(|key| !key.is_empty()),
            version: refused.version,
            line: Some(refused.line),
            ..Finding::refused(&refused.refusal)
        }
    }
}
