use super::Archives;
use super::decide::Kept;
use crate::archive::Line;
use crate::commands::batches::{Batch, Batches};
use crate::commands::withdraw::{Pass, Reason as _, Verdicts, Withdrawal, go_on};
use crate::document::json::Tape;
use crate::document::{Lines, StoreKey};
use crate::journal::{Ranges, Tally};
use crate::layout::{Identity, Inspector};
use crate::report::{Finding, FindingCode, Findings};
use crate::signal::StopSignal;
use crate::stores::{Collection, Guarded, outcome};
use crate::ui::Ui;
use crate::{Error, Result};

/// Deletes the documents of every stream that is not kept; each only if it still has the content that was exported. What
/// came of them, those of kept streams left out; one that is kept was changed meanwhile.
pub(super) async fn delete(
    archives: &Archives,
    decided: &Verdicts,
    collection: &dyn Collection,
    findings: &mut Findings,
    ui: &Ui,
    stop: &StopSignal,
) -> Result<Tally> {
    let inspector = Inspector::new(&archives.layout, archives.escaping);
    let selector =
        Selector { decided, tape: Tape::new(), inspector, identity: Identity::default(), key: Vec::new() };
    let batches = Batches::new(&archives.legacy, collection.batch_limits());
    let mut deletes = Deletes { collection, batches, selector, twins: Twins::new(archives), findings };
    Pass { doing: "deleting", documents: decided.documents, ui, stop }.run(&mut deletes).await
}

/// The deletes of one run.
struct Deletes<'a> {
    collection: &'a dyn Collection,
    batches: Batches,
    selector: Selector<'a>,
    twins: Twins,
    findings: &'a mut Findings,
}

impl Withdrawal for Deletes<'_> {
    type Batch = DeleteBatch;

    fn next(&mut self) -> Result<Option<(u64, DeleteBatch)>> {
        let Self { batches, selector, .. } = self;
        let take = |batch: Option<&mut DeleteBatch>, line: Line<'_>, _| {
            batch.map_or(Ok(()), |batch| selector.take(batch, line))
        };
        let next = batches.next(&Ranges::default(), take)?;
        Ok(next.map(|(range, batch)| (range.end - range.start, batch)))
    }

    async fn settle(&mut self, batch: DeleteBatch, pass: &Pass<'_>) -> Result<Tally> {
        let answers = outcome::delete(self.collection, &batch.keys, &batch.lines).await;
        let mut tally = Tally { gone: batch.gone, ..Tally::default() };
        for (outcome, shown) in pass.answered(answers)?.into_iter().zip(&batch.shown) {
            match outcome {
                Guarded::Done => tally.deleted += 1,
                Guarded::Missing => tally.gone += 1,
                // A document that keeps its store key got the new key where it is: the legacy one is gone.
                Guarded::Differs(Some(stored)) if self.twins.is_one(&stored) => tally.gone += 1,
                Guarded::Differs(_) | Guarded::UniqueTaken(_) => {
                    tally.kept += 1;
                    let message = format!(
                        "The legacy document alone is kept: {}. Others of its stream may be gone; the rekeyed stream is whole.",
                        Kept::ChangedMeanwhile.message()
                    );
                    let key = Some(shown.clone());
                    self.findings.push(Finding { key, ..Finding::new(FindingCode::Kept, message) })?;
                }
                Guarded::Failed(error) => {
                    let what = format!("The legacy document {shown:?} was not deleted");
                    return Err(go_on(Error::from(error).context(what)));
                }
            }
        }
        Ok(tally)
    }
}

/// Tells a document's twin that stands in its place from one that somebody changed.
struct Twins {
    tape: Tape,
    inspector: Inspector,
    identity: Identity,
}

impl Twins {
    fn new(archives: &Archives) -> Self {
        let inspector = Inspector::new(&archives.layout, archives.escaping);
        Self { tape: Tape::new(), inspector, identity: Identity::default() }
    }

    fn is_one(&mut self, stored: &[u8]) -> bool {
        self.tape.read(stored).is_ok()
            && self.inspector.inspect(&self.tape, stored, &mut self.identity).is_ok()
            && self.identity.tenant().is_some()
    }
}

/// Consecutive documents of the archive.
#[derive(Default)]
struct DeleteBatch {
    keys: Vec<StoreKey>,
    lines: Lines,
    shown: Vec<String>,
    /// Documents that carried a tenant already when they were exported; they are never deleted.
    gone: u64,
}

impl Batch for DeleteBatch {
    fn documents(&self) -> usize {
        self.keys.len()
    }

    fn bytes(&self) -> usize {
        self.lines.bytes()
    }
}

/// Reads legacy documents and leaves out those whose streams are kept.
struct Selector<'a> {
    decided: &'a Verdicts,
    tape: Tape,
    inspector: Inspector,
    identity: Identity,
    key: Vec<u8>,
}

impl Selector<'_> {
    fn take(&mut self, batch: &mut DeleteBatch, line: Line<'_>) -> Result<()> {
        let damaged = |what: String| {
            Error::file(format!("Line {} of the legacy archive is damaged: {what}", line.number))
        };
        self.key.clear();
        let is_json = self.tape.read(line.bytes).is_ok();
        let order = |key| self.inspector.order_key(&self.tape, line.bytes, key).unwrap_or_default();
        let stream_len = if is_json { order(&mut self.key) } else { 0 };
        let stream = self.key.get(..stream_len).unwrap_or_default();
        if self.decided.keeps(stream) {
            return Ok(());
        }
        if self.inspector.inspect(&self.tape, line.bytes, &mut self.identity).is_ok()
            && self.identity.tenant().is_some()
        {
            batch.gone += 1;
            return Ok(());
        }
        let key =
            self.inspector.store_key(&self.tape, line.bytes).map_err(|refusal| damaged(refusal.detail))?;
        batch.keys.push(key);
        batch.lines.push(line.bytes);
        batch.shown.push(self.inspector.display_key(&self.tape, line.bytes).into_owned());
        Ok(())
    }
}
