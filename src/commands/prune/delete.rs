use super::Archives;
use super::decide::{Decided, Kept};
use crate::archive::Line;
use crate::commands::batches::{Batch, Batches, interrupted};
use crate::document::json::Tape;
use crate::document::{Lines, StoreKey};
use crate::journal::{Ranges, Tally};
use crate::layout::{Identity, Inspector};
use crate::report::{Finding, FindingCode, Findings};
use crate::rewrite::stream_id;
use crate::signal::StopSignal;
use crate::stores::{Collection, Guarded, StoreErrorKind, outcome};
use crate::ui::Ui;
use crate::{Error, Result};

/// Deletes the documents of every stream that is not kept; each only if it still has the content that was exported. What
/// came of them, those of kept streams left out; one that is kept was changed meanwhile.
///
/// No journal says what an earlier run has finished: the decision was made by what the store holds now, and what was
/// deleted before, or restored since, shows there.
pub(super) async fn delete(
    archives: &Archives,
    decided: &Decided,
    collection: &dyn Collection,
    findings: &mut Findings,
    ui: &Ui,
    stop: &StopSignal,
) -> Result<Tally> {
    let task = ui.progress().start("deleting", Some(decided.documents));
    let mut batches = Batches::new(&archives.legacy, collection.batch_limits());
    let inspector = Inspector::new(&archives.layout, archives.escaping);
    let mut selector =
        Selector { decided, tape: Tape::new(), inspector, identity: Identity::default(), key: Vec::new() };
    let mut twins = Twins::new(archives);
    let none_done = Ranges::default();
    let mut next = || {
        tokio::task::block_in_place(|| {
            batches.next(&none_done, |batch, line| batch.map_or(Ok(()), |batch| selector.take(batch, line)))
        })
    };
    let mut tally = Tally::default();
    while let Some((range, batch)) = next()? {
        if stop.is_set() {
            return Err(interrupted(stop, 0));
        }
        let outcomes = outcome::delete(collection, &batch.keys, &batch.lines).await;
        if outcomes.iter().any(|it| it.failure() == Some(StoreErrorKind::Interrupted)) {
            return Err(interrupted(stop, outcomes.len() as u64));
        }
        tally.add(&settle(&batch, outcomes, &mut twins, findings)?);
        task.add(range.end - range.start, batch.lines.bytes() as u64);
    }
    task.finish();
    Ok(tally)
}

fn settle(
    batch: &Deletes,
    outcomes: Vec<Guarded>,
    twins: &mut Twins,
    findings: &mut Findings,
) -> Result<Tally> {
    let mut tally = Tally { gone: batch.gone, ..Tally::default() };
    for (outcome, shown) in outcomes.into_iter().zip(&batch.shown) {
        match outcome {
            Guarded::Done => tally.deleted += 1,
            Guarded::Missing => tally.gone += 1,
            // A document that keeps its store key got the new key where it is: the legacy one is gone.
            Guarded::Differs(Some(stored)) if twins.is_one(&stored) => tally.gone += 1,
            Guarded::Differs(_) | Guarded::UniqueTaken(_) => {
                tally.kept += 1;
                let message = format!(
                    "The legacy document alone is kept: {}. Others of its stream may be gone; the rekeyed stream is whole.",
                    Kept::ChangedMeanwhile.message()
                );
                findings
                    .push(Finding { key: Some(shown.clone()), ..Finding::new(FindingCode::Kept, message) })?;
            }
            Guarded::Failed(error) => {
                return Err(Error::from(error)
                    .context(format!("The legacy document {shown:?} was not deleted"))
                    .hint("Run the same command again to go on where this run ended."));
            }
        }
    }
    Ok(tally)
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
struct Deletes {
    keys: Vec<StoreKey>,
    lines: Lines,
    shown: Vec<String>,
    /// Documents that carried a tenant already when they were exported; they are never deleted.
    gone: u64,
}

impl Batch for Deletes {
    fn documents(&self) -> usize {
        self.keys.len()
    }

    fn bytes(&self) -> usize {
        self.lines.bytes()
    }
}

/// Reads legacy documents and leaves out those whose streams are kept.
struct Selector<'a> {
    decided: &'a Decided,
    tape: Tape,
    inspector: Inspector,
    identity: Identity,
    key: Vec<u8>,
}

impl Selector<'_> {
    fn take(&mut self, batch: &mut Deletes, line: Line<'_>) -> Result<()> {
        let damaged = |what: String| {
            Error::file(format!("Line {} of the legacy archive is damaged: {what}", line.number))
        };
        self.key.clear();
        let is_json = self.tape.read(line.bytes).is_ok();
        let order = |key| self.inspector.order_key(&self.tape, line.bytes, key).unwrap_or_default();
        let stream_len = if is_json { order(&mut self.key) } else { 0 };
        let stream = self.key.get(..stream_len).unwrap_or_default();
        if self.decided.kept.contains_key(&stream_id(stream)) {
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
