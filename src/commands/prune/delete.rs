use std::collections::BTreeMap;

use super::Archives;
use super::decide::{Decided, Kept};
use crate::archive::Line;
use crate::commands::batches::{Batch, Batches};
use crate::commands::journal_stem;
use crate::document::json::Tape;
use crate::document::{Lines, StoreKey};
use crate::journal::{Context, Done, Journal, Ranges, Tally};
use crate::layout::{Identity, Inspector};
use crate::options::PruneOptions;
use crate::report::{Finding, FindingCode, Findings, NoticeCode};
use crate::rewrite::stream_id;
use crate::signal::StopSignal;
use crate::stores::{Collection, Guarded, outcome};
use crate::ui::Ui;
use crate::{Error, Result};

/// The collection that documents are deleted from.
pub(super) struct Target<'a> {
    pub collection: &'a dyn Collection,
    pub identity: Option<&'a str>,
}

/// What came of the deletes.
pub(super) struct Deleted {
    pub tally: Tally,
    /// Documents that were to go and were changed after that was decided.
    pub changed_meanwhile: u64,
}

/// Deletes the documents of every stream that is not kept; each only if it still has the content that was exported.
pub(super) async fn delete(
    options: &PruneOptions,
    archives: &Archives,
    decided: &Decided,
    target: &Target<'_>,
    findings: &mut Findings,
    ui: &Ui,
    stop: &StopSignal,
) -> Result<Deleted> {
    let mut journal = Journal::open(&archives.folder, &context(options, archives, target)?)?;
    if journal.is_resumed() {
        ui.notice(NoticeCode::Resumed, format!("Resuming the unfinished run of {:?}.", journal.path()));
    }
    let task = ui.progress().start("deleting", Some(decided.documents));
    let mut batches = Batches::new(&archives.legacy, target.collection.batch_limits());
    let inspector = Inspector::new(&archives.layout, archives.escaping);
    let mut selector =
        Selector { decided, tape: Tape::new(), inspector, identity: Identity::default(), key: Vec::new() };
    let mut twins = Twins::new(archives);
    let mut changed_meanwhile = 0;
    let mut next = |done: &Ranges| {
        tokio::task::block_in_place(|| {
            batches.next(done, |batch, line| batch.map_or(Ok(()), |batch| selector.take(batch, line)))
        })
    };
    while let Some((range, batch)) = next(journal.done())? {
        if stop.is_set() {
            return Err(stop
                .error("Interrupted; what was under way is finished and noted")
                .hint("Run the same command again to go on where this run ended."));
        }
        journal.intend(range.start, range.end)?;
        let outcomes = outcome::delete(target.collection, &batch.keys, &batch.lines).await;
        let (tally, documents) = (settle(&batch, outcomes, &mut twins, findings)?, range.end - range.start);
        changed_meanwhile += tally.kept - batch.kept;
        journal.finish_range(Done { from: range.start, to: range.end, tally, conflicts: Vec::new() })?;
        task.add(documents, batch.lines.bytes() as u64);
    }
    let tally = *journal.tally();
    journal.finish()?;
    task.finish();
    Ok(Deleted { tally, changed_meanwhile })
}

fn settle(
    batch: &Deletes,
    outcomes: Vec<Guarded>,
    twins: &mut Twins,
    findings: &mut Findings,
) -> Result<Tally> {
    let mut tally = Tally { kept: batch.kept, gone: batch.gone, ..Tally::default() };
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

fn context(options: &PruneOptions, archives: &Archives, target: &Target<'_>) -> Result<Context> {
    let totals =
        archives.legacy.totals().ok_or_else(|| Error::bug("The archive was not read before it is pruned"))?;
    let twins =
        options.twins.as_ref().map(|twins| format!("{} {}", twins.address.identity(), twins.collection));
    Ok(Context {
        command: "prune".to_owned(),
        archive: journal_stem(&archives.legacy),
        archive_sha256: totals.sha256.clone(),
        target: format!(
            "{} {} {}",
            options.from.address.identity(),
            options.from.collection,
            target.identity.unwrap_or_default()
        ),
        options: BTreeMap::from([
            ("layout".to_owned(), archives.layout.digest()),
            ("twins-in".to_owned(), twins.unwrap_or_else(|| "the same collection".to_owned())),
        ]),
    })
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
    kept: u64,
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
            batch.kept += 1;
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
