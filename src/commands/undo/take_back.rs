use super::Job;
use super::decide::{Going, Left};
use super::document::{Document, Standing, standing};
use crate::commands::batches::Batch;
use crate::commands::withdraw::{Pass, Reason as _, Verdicts, Withdrawal, go_on};
use crate::document::{Lines, StoreKey};
use crate::journal::Tally;
use crate::report::{Finding, FindingCode, Findings};
use crate::signal::StopSignal;
use crate::sort::{Sorted, Sorter};
use crate::stores::{Collection, Guarded, GuardedUpdate, outcome};
use crate::ui::Ui;
use crate::{Error, Result};

/// How many documents are read together, so that a batch of large ones does not fill the memory.
const READ_TOGETHER: usize = 200;

const INTERRUPTED: &str = "Interrupted; what was under way is finished";

/// Takes back the documents of every stream that is not left; each only if it still is what was imported. What came of
/// them; one that is kept was changed meanwhile.
pub(super) async fn run(
    job: &Job,
    (verdicts, going): (&Verdicts, Sorter),
    collection: &dyn Collection,
    findings: &mut Findings,
    ui: &Ui,
    stop: &StopSignal,
) -> Result<Tally> {
    let pass = Pass { doing: "taking back", documents: verdicts.going(), ui, stop };
    let going = tokio::task::block_in_place(|| going.finish())?;
    let document = Document::new(job);
    let mut taking = TakingBack { job, collection, verdicts, going, document, findings };
    pass.run(&mut taking).await
}

/// Keys of the list, each with its entries.
#[derive(Default)]
struct KeyBatch {
    keys: Vec<StoreKey>,
    entries: Vec<Vec<u8>>,
}

impl Batch for KeyBatch {
    fn documents(&self) -> usize {
        self.keys.len()
    }

    fn bytes(&self) -> usize {
        self.entries.iter().map(Vec::len).sum()
    }
}

/// What of a batch is to be changed in the store.
#[derive(Default)]
struct Changes {
    keys: Vec<StoreKey>,
    lines: Lines,
    updates: Vec<GuardedUpdate>,
    /// The keys as a person sees them, of the deletes or of the updates.
    shown: Vec<String>,
}

struct TakingBack<'a> {
    job: &'a Job,
    collection: &'a dyn Collection,
    verdicts: &'a Verdicts,
    going: Sorted,
    document: Document,
    findings: &'a mut Findings,
}

impl Withdrawal for TakingBack<'_> {
    type Batch = KeyBatch;

    fn next(&mut self) -> Result<Option<(u64, KeyBatch)>> {
        let most = self.collection.batch_limits().documents.clamp(1, READ_TOGETHER);
        let mut batch = KeyBatch::default();
        while batch.keys.len() < most {
            let Some((order_key, row)) = self.going.next()? else { break };
            let going = Going::read(order_key, row)?;
            if !self.verdicts.keeps(going.stream) {
                batch.keys.push(StoreKey(going.store_key.into()));
                batch.entries.push(going.entries.to_vec());
            }
        }
        let documents = batch.keys.len() as u64;
        Ok((documents > 0).then_some((documents, batch)))
    }

    async fn settle(&mut self, batch: KeyBatch, pass: &Pass<'_>) -> Result<Tally> {
        let mut tally = Tally::default();
        let collection = self.collection;
        let stored = collection.read(&batch.keys).await;
        let stored = pass.stop.explain(stored.map_err(Error::from), INTERRUPTED).map_err(go_on)?;
        let bytes = collection.batch_limits().bytes;
        let mut changes = Changes::default();
        for ((key, entries), line) in batch.keys.into_iter().zip(&batch.entries).zip(stored) {
            let Some(line) = line else {
                tally.gone += 1;
                continue;
            };
            if !changes.lines.is_empty() && changes.lines.bytes() + line.len() > bytes {
                self.send(std::mem::take(&mut changes), pass, &mut tally).await?;
            }
            self.look(key, entries, &line, &mut changes, &mut tally)?;
        }
        self.send(changes, pass, &mut tally).await?;
        Ok(tally)
    }
}

impl TakingBack<'_> {
    /// Decides about a document as it is now.
    fn look(
        &mut self,
        key: StoreKey,
        entries: &[u8],
        line: &[u8],
        changes: &mut Changes,
        tally: &mut Tally,
    ) -> Result<()> {
        let _ = self.document.read(line)?;
        let shown = self.document.shown(line);
        let whole = self.document.whole(line);
        let version = self.document.identity.version.filter(|_| self.document.is_readable);
        let standing = standing(entries, &whole, &shown, version)?;
        match standing {
            Standing::Created => {
                changes.keys.push(key);
                changes.lines.push(line);
                changes.shown.push(shown);
            }
            Standing::Changed { old, new } => {
                changes.updates.push(self.back(key, old, new, version));
                changes.shown.push(shown);
            }
            Standing::PutBack => tally.gone += 1,
            Standing::Another => self.leave(shown, tally)?,
        }
        Ok(())
    }

    /// The change that gives a document its old key where it is.
    fn back(&self, key: StoreKey, old: String, new: String, version: Option<i64>) -> GuardedUpdate {
        let layout = &self.job.layout;
        let field = layout.keys.first().map(|place| place.at.clone()).unwrap_or_default();
        let version_field = layout.fields.version.as_ref().and_then(|field| field.at.clone());
        GuardedUpdate {
            key,
            set: (field.clone(), old),
            when_text: vec![(field, new)],
            when_integer: version_field.zip(version).into_iter().collect(),
        }
    }

    /// Carries changes out and says what became of each.
    async fn send(&mut self, changes: Changes, pass: &Pass<'_>, tally: &mut Tally) -> Result<()> {
        let Changes { keys, lines, updates, shown } = changes;
        let in_place = !updates.is_empty();
        let answers = if in_place {
            outcome::update(self.collection, &updates).await
        } else {
            outcome::delete(self.collection, &keys, &lines).await
        };
        for (outcome, shown) in pass.answered(answers)?.into_iter().zip(shown) {
            match outcome {
                Guarded::Done if in_place => tally.written += 1,
                Guarded::Done => tally.deleted += 1,
                Guarded::Missing => tally.gone += 1,
                Guarded::Differs(_) | Guarded::UniqueTaken(_) => self.leave(shown, tally)?,
                Guarded::Failed(error) => {
                    let what = format!("The imported document {shown:?} was left");
                    return Err(go_on(Error::from(error).context(what)));
                }
            }
        }
        Ok(())
    }

    /// Leaves a document of a stream that was to go.
    fn leave(&mut self, shown: String, tally: &mut Tally) -> Result<()> {
        tally.kept += 1;
        let message = format!(
            "The imported document alone is left: {}. Others of its stream may be gone; the legacy stream is whole.",
            Left::ChangedMeanwhile.message()
        );
        let key = Some(shown).filter(|key| !key.is_empty());
        self.findings.push(Finding { key, ..Finding::new(FindingCode::Left, message) })
    }
}
