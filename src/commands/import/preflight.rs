use std::collections::BTreeSet;

use super::{Job, Plan, What};
use crate::archive::Chunk;
use crate::check::{Reason, Refusal};
use crate::document::json::Tape;
use crate::layout::{Identity, Inspector, KeyState};
use crate::report::{Finding, Findings};
use crate::rewrite::{StreamId, stream_id};
use crate::signal::StopSignal;
use crate::ui::Ui;
use crate::{Error, Result};

/// What a pass over the whole archive found before anything is written.
#[derive(Default)]
pub(super) struct Checked {
    /// Documents in the archive.
    pub documents: u64,
    /// Documents refused for a reason of their own.
    pub refused: u64,
    /// Their streams, which are set aside whole.
    pub refused_streams: BTreeSet<StreamId>,
}

/// Reads the whole archive: it must be whole, in order, of the right kind and within the store's limits.
/// Every refused document is a finding.
pub(super) fn check(
    job: &Job,
    plan: &Plan,
    findings: &mut Findings,
    ui: &Ui,
    stop: &StopSignal,
) -> Result<Checked> {
    let mut checked = Checked::default();
    let mut document = Examined::new(plan);
    let mut reader = plan.input.line_reader();
    let mut chunk = Chunk::new();
    let task = ui.progress().start("checking", plan.input.expected_documents());
    let sorted = plan.input.is_sorted();
    let mut last_key = Vec::new();
    while reader.fill(&mut chunk)? {
        stop.check("Interrupted; nothing was written. Run the same command again.")?;
        for line in chunk.lines() {
            checked.documents += 1;
            match document.examine(line.bytes, job.what) {
                Ok(()) => {}
                Err(refusal) if refusal.reason == Reason::Malformed && chunk.last_line_unterminated() => {
                    return Err(Error::file(format!(
                        "The archive is cut off: line {} is not a whole document",
                        line.number
                    ))
                    .hint("Copy or write the file again."));
                }
                Err(refusal) => {
                    findings.push(checked.refuse(&document, line.bytes, line.number, &refusal))?;
                }
            }
            if sorted && document.key < last_key {
                return Err(crate::rewrite::out_of_order(line.number));
            }
            std::mem::swap(&mut last_key, &mut document.key);
        }
        task.add(chunk.len() as u64, chunk.bytes() as u64);
    }
    let _totals = reader.finish()?;
    Ok(checked)
}

/// One document being looked at.
struct Examined {
    tape: Tape,
    inspector: Inspector,
    identity: Identity,
    key: Vec<u8>,
    stream_len: usize,
}

impl Examined {
    fn new(plan: &Plan) -> Self {
        Self {
            tape: Tape::new(),
            inspector: Inspector::new(&plan.layout, plan.escaping),
            identity: Identity::default(),
            key: Vec::new(),
            stream_len: 0,
        }
    }

    fn examine(&mut self, line: &[u8], what: What) -> Result<(), Refusal> {
        self.key.clear();
        self.stream_len = 0;
        self.tape.read(line).map_err(|error| {
            let reason = if error.duplicate { Reason::DuplicateName } else { Reason::Malformed };
            Refusal::new(reason, error.to_string())
        })?;
        self.stream_len = self.inspector.order_key(&self.tape, line, &mut self.key)?;
        if what == What::Legacy {
            // Whatever was exported goes back, also what a rewrite would refuse.
            return Ok(());
        }
        self.inspector.inspect(&self.tape, line, &mut self.identity)?;
        if self.identity.state == KeyState::Legacy {
            return Err(Refusal::new(
                Reason::KeyMismatch,
                "the document carries a legacy key, not a rekeyed one",
            ));
        }
        self.inspector.check_stored(&self.tape, line)
    }
}

impl Checked {
    /// Whether the stream of the line that `tape` has read is set aside.
    pub fn refuses(&self, inspector: &Inspector, tape: &Tape, line: &[u8], key: &mut Vec<u8>) -> bool {
        if self.refused_streams.is_empty() {
            return false;
        }
        key.clear();
        let length = inspector.order_key(tape, line, key).unwrap_or_default();
        self.refused_streams.contains(&stream_id(key.get(..length).unwrap_or_default()))
    }

    fn refuse(&mut self, document: &Examined, line: &[u8], number: u64, refusal: &Refusal) -> Finding {
        self.refused += 1;
        let stream = document.key.get(..document.stream_len).unwrap_or_default();
        let _ = self.refused_streams.insert(stream_id(stream));
        let key = document.inspector.display_key(&document.tape, line).into_owned();
        Finding {
            key: Some(key).filter(|key| !key.is_empty()),
            version: document.identity.version,
            line: Some(number),
            ..Finding::refused(refusal)
        }
    }
}
