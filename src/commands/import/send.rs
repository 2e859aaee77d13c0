use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt as _, StreamExt as _};

use super::batch::{WriteBatches, Writes};
use super::capacity::WriteUnits;
use super::preflight::Checked;
use super::target::Target;
use super::undo::{self, Noted};
use super::{Job, Plan, What, resume};
use crate::commands::batches::interrupted;
use crate::commands::journal_stem;
use crate::commands::store::notice_expired;
use crate::document::canonical::differing_fields;
use crate::document::json::Tape;
use crate::document::{StoreKind, integer_field, text_field};
use crate::failpoint::{self, Point};
use crate::journal::{self, Context, Done, Journal, Ranges, Tally};
use crate::report::{Finding, FindingCode, Findings, NoticeCode};
use crate::signal::StopSignal;
use crate::stores::outcome::{self, Conflict, Outcome};
use crate::stores::relocate::relocate;
use crate::stores::{BatchLimits, Expiry, Guarded, GuardedUpdate, StoreError, StoreErrorKind, StoreResult};
use crate::ui::{ProgressTask, Ui};
use crate::{Error, Result};

/// How many batches are on their way at one time, if nobody says.
const BATCHES: usize = 8;

/// What sending came to, earlier runs that were resumed included.
pub(super) struct Sent {
    pub tally: Tally,
}

/// Sends every document that has no outcome yet and notes what became of it.
#[allow(clippy::too_many_arguments)] // Each is a part that this function alone brings together.
pub(super) async fn send(
    job: &Job,
    plan: &Plan,
    target: &Target,
    checked: &Checked,
    folder: &Path,
    findings: &mut Findings,
    ui: &Ui,
    stop: &StopSignal,
) -> Result<Sent> {
    let mut journal = if job.dry_run {
        None
    } else {
        let run = journal::Run::now(checked.documents, resume::command(job));
        Some(Journal::open(folder, &context(job, plan, target)?, run)?)
    };
    let resumed = journal.as_ref().is_some_and(Journal::is_resumed);
    let done = journal.as_ref().map(|journal| journal.done().clone()).unwrap_or_default();
    if let Some(journal) = journal.as_ref().filter(|_| resumed) {
        ui.notice(NoticeCode::Resumed, format!("Resuming the unfinished run of {:?}.", journal.path()));
        for key in journal.conflicts() {
            findings.push(Finding {
                key: Some(key.clone()),
                ..Finding::new(FindingCode::Conflict, "A different document stood under the key.")
            })?;
        }
    }
    // The faster call replaces: of two documents with one key the second would take the first one's place.
    let in_empty = target.was_empty && !resumed && plan.input.is_sorted() && !checked.repeats_keys;
    let touched = plan.layout.touched_fields().into_iter().map(str::to_owned).collect();
    let sender = Sender { job, plan, target, in_empty, touched };
    let undo = match &journal {
        Some(journal) => Noted::open(journal.path(), plan, target)?,
        None => None,
    };
    let task =
        ui.progress().start(if job.dry_run { "comparing" } else { "writing" }, Some(checked.documents));
    let mut run = Run {
        sender: &sender,
        journal: &mut journal,
        undo,
        tally: Tally::default(),
        units: WriteUnits::default(),
        unanswered: 0,
        findings,
        task: &*task,
    };
    run.all(checked, &done, stop).await?;
    let mut tally = run.tally;
    if job.dry_run {
        run.units.notice(job, target, undo::must_look(plan, target), ui);
    }
    if let Some(journal) = journal {
        tally = *journal.tally();
        journal.finish()?;
    }
    task.finish();
    notice_expired(tally.expired, "and are not written", ui);
    Ok(Sent { tally })
}

/// What the journal is bound to.
fn context(job: &Job, plan: &Plan, target: &Target) -> Result<Context> {
    let totals =
        plan.input.totals().ok_or_else(|| Error::bug("The archive was not checked before it is sent"))?;
    let identity = target.description.identity.as_deref().unwrap_or_default();
    Ok(Context {
        command: job.what.command().to_owned(),
        archive: journal_stem(&plan.input, plan.shards.as_ref()),
        archive_sha256: totals.sha256.clone(),
        target: format!("{} {} {identity}", plan.address.identity(), job.to.collection),
        options: BTreeMap::from([
            ("layout".to_owned(), plan.layout.digest()),
            ("in-place".to_owned(), job.what.is_in_place().to_string()),
            ("move".to_owned(), (job.what == What::Move).to_string()),
            ("on-refused".to_owned(), format!("{:?}", job.on_refused)),
        ]),
    })
}

/// Sends one batch.
struct Sender<'a> {
    job: &'a Job,
    plan: &'a Plan,
    target: &'a Target,
    in_empty: bool,
    /// The fields that change with the key.
    touched: Vec<String>,
}

/// What was learnt of a batch.
enum Step {
    /// Which of its documents are there; none was sent.
    Looked { range: Range<u64>, batch: Writes, present: StoreResult<Vec<bool>> },
    /// What became of them.
    Sent(Answer),
}

/// What became of the documents of a batch.
struct Answer {
    range: Range<u64>,
    batch: Writes,
    outcomes: Vec<Settled>,
}

enum Settled {
    Written,
    Identical,
    Conflict { message: String, fields: Vec<String> },
    Failed(StoreError),
}

impl Sender<'_> {
    async fn send(&self, range: Range<u64>, batch: Writes) -> Answer {
        let collection = &*self.target.collection;
        let outcomes = if self.job.what == What::Move {
            let origins = (&batch.origins[..], &self.touched[..]);
            let outcomes = relocate(collection, origins, &batch.keys, &batch.lines).await;
            outcomes
                .into_iter()
                .zip(batch.lines.iter())
                .map(|(it, line)| self.settle_created(it, line))
                .collect()
        } else if self.job.what.is_in_place() {
            let guarded = outcome::update(collection, &batch.updates).await;
            let kind = self.plan.layout.store;
            guarded
                .into_iter()
                .zip(&batch.updates)
                .map(|(it, update)| settle_update(kind, it, update))
                .collect()
        } else {
            let outcomes = outcome::create(collection, &batch.keys, &batch.lines, self.in_empty).await;
            outcomes
                .into_iter()
                .zip(batch.lines.iter())
                .map(|(it, line)| self.settle_created(it, line))
                .collect()
        };
        Answer { range, batch, outcomes }
    }

    fn limits(&self) -> BatchLimits {
        self.target.collection.batch_limits()
    }

    fn settle_created(&self, outcome: Outcome, line: &[u8]) -> Settled {
        match outcome {
            Outcome::Written => Settled::Written,
            Outcome::Identical => Settled::Identical,
            Outcome::Failed(error) => Settled::Failed(error),
            Outcome::Conflict(Conflict::Different(stored)) => Settled::Conflict {
                message: "A different document stands under the key.".to_owned(),
                fields: differing_fields(self.plan.layout.store, line, &stored),
            },
            Outcome::Conflict(Conflict::Gone) => {
                Settled::Conflict { message: "The legacy document is gone.".to_owned(), fields: Vec::new() }
            }
            Outcome::Conflict(Conflict::Changed(stored)) => Settled::Conflict {
                message: "The legacy document is no longer what was exported; it was left where it is."
                    .to_owned(),
                fields: differing_fields(self.plan.layout.store, line, &stored)
                    .into_iter()
                    .filter(|name| !self.touched.contains(name))
                    .collect(),
            },
            Outcome::Conflict(Conflict::UniqueTaken(index)) => Settled::Conflict {
                message: format!(
                    "Another document holds the same values in the unique index{}.",
                    index.map(|index| format!(" {index}")).unwrap_or_default()
                ),
                fields: Vec::new(),
            },
        }
    }
}

/// A document changed in place is identical once it holds the new key and the guarded version, whatever else
/// happened to it since.
fn settle_update(kind: StoreKind, guarded: Guarded, update: &GuardedUpdate) -> Settled {
    match guarded {
        // What was carried over under its key had nothing to change.
        Guarded::Done if update.when_text.contains(&update.set) => Settled::Identical,
        Guarded::Done => Settled::Written,
        Guarded::Failed(error) => Settled::Failed(error),
        Guarded::UniqueTaken(index) => Settled::Conflict {
            message: format!("Another document holds the new key already, by the unique index {index}."),
            fields: vec![update.set.0.clone()],
        },
        Guarded::Missing => {
            Settled::Conflict { message: "The document is gone.".to_owned(), fields: Vec::new() }
        }
        Guarded::Differs(stored) => {
            let (field, new) = &update.set;
            if stored.as_deref().is_some_and(|stored| holds(kind, stored, field, new, update)) {
                return Settled::Identical;
            }
            Settled::Conflict {
                message: "The document no longer holds the key or the version that was exported.".to_owned(),
                fields: vec![field.clone()],
            }
        }
    }
}

fn holds(kind: StoreKind, stored: &[u8], field: &str, text: &str, update: &GuardedUpdate) -> bool {
    let mut tape = Tape::new();
    if tape.read(stored).is_err() {
        return false;
    }
    let has_text = text_field(kind, &tape, stored, field).is_some_and(|it| it == text);
    has_text
        && update
            .when_integer
            .iter()
            .all(|(name, value)| integer_field(kind, &tape, stored, name) == Some(*value))
}

/// One run over the archive.
struct Run<'a> {
    sender: &'a Sender<'a>,
    journal: &'a mut Option<Journal>,
    undo: Option<Noted>,
    tally: Tally,
    units: WriteUnits,
    /// Documents under way when the run was asked to stop, of which it is not known what became.
    unanswered: u64,
    findings: &'a mut Findings,
    task: &'a dyn ProgressTask,
}

impl<'a> Run<'a> {
    async fn all(&mut self, checked: &Checked, done: &Ranges, stop: &StopSignal) -> Result<()> {
        let sender = self.sender;
        let at_once = sender
            .job
            .to
            .rates
            .concurrency
            .map_or(BATCHES, |it| usize::try_from(it.get()).unwrap_or(BATCHES));
        let Target { collection, description, .. } = sender.target;
        let expiry = Expiry::of(description, sender.plan.layout.document.expires.as_deref());
        let mut batches = WriteBatches::new(sender.plan, checked, &**collection, expiry, sender.limits());
        let mut under_way: FuturesUnordered<BoxFuture<'_, Step>> = FuturesUnordered::new();
        let mut failed = None;
        let mut more = true;
        loop {
            while more && failed.is_none() && !stop.is_set() && under_way.len() < at_once {
                match tokio::task::block_in_place(|| batches.next(done))? {
                    None => more = false,
                    Some((range, batch)) => under_way.push(self.begin(range, batch)?),
                }
            }
            let Some(learnt) = under_way.next().await else { break };
            let noted = match learnt {
                Step::Sent(answer) => self.note(answer),
                // It was not sent: the next run begins with it.
                Step::Looked { .. } if failed.is_some() || stop.is_set() => {
                    more = true;
                    Ok(())
                }
                Step::Looked { range, batch, present } => present
                    .map_err(|error| Error::from(error).context("What the target holds could not be read"))
                    .and_then(|present| self.send(range, batch, Some(&present)))
                    .map(|sending| under_way.push(sending)),
            };
            if let Err(error) = noted {
                failed = failed.or(Some(error));
            }
        }
        match failed {
            Some(error) => Err(error.hint("Run the same command again to go on where this run ended.")),
            None if stop.is_set() && (more || self.unanswered > 0) => Err(interrupted(stop, self.unanswered)),
            None => Ok(()),
        }
    }

    /// Begins with a batch: sends it, or looks first what of it is there.
    fn begin(&mut self, range: Range<u64>, batch: Writes) -> Result<BoxFuture<'a, Step>> {
        let sender = self.sender;
        if self.undo.is_none() || !undo::must_look(sender.plan, sender.target) {
            return self.send(range, batch, None);
        }
        Ok(async move {
            let present = undo::look(sender.target, &batch).await;
            Step::Looked { range, batch, present }
        }
        .boxed())
    }

    /// Sends a batch, once it is noted what it will write.
    fn send(
        &mut self,
        range: Range<u64>,
        batch: Writes,
        present: Option<&[bool]>,
    ) -> Result<BoxFuture<'a, Step>> {
        if let Some(undo) = &mut self.undo {
            undo.note(&batch, present)?;
        }
        if let Some(journal) = &mut *self.journal {
            journal.intend(range.start, range.end)?;
            failpoint::pass(Point::BatchUnsent)?;
        }
        let sender = self.sender;
        Ok(async move { Step::Sent(sender.send(range, batch).await) }.boxed())
    }

    /// Notes what became of a batch; on the first failure nothing more is sent.
    fn note(&mut self, answer: Answer) -> Result<()> {
        let Answer { range, batch, outcomes } = answer;
        let is_interrupted = |settled: &Settled| matches!(settled, Settled::Failed(error) if error.kind == StoreErrorKind::Interrupted);
        if outcomes.iter().any(is_interrupted) {
            // The journal says that they were sent and not what became of them: the next run looks.
            self.unanswered += outcomes.len() as u64;
            return Ok(());
        }
        let mut tally = Tally { expired: batch.expired, set_aside: batch.set_aside, ..Tally::default() };
        let mut conflicts = Vec::new();
        for (index, settled) in outcomes.into_iter().enumerate() {
            let key = batch.shown.get(index).cloned().unwrap_or_default();
            match settled {
                Settled::Written => tally.written += 1,
                Settled::Identical => tally.identical += 1,
                Settled::Conflict { message, fields } => {
                    tally.conflict += 1;
                    conflicts.push(key.clone());
                    let version = batch.versions.get(index).copied().flatten();
                    self.findings.push(Finding {
                        key: Some(key),
                        version,
                        fields,
                        ..Finding::new(FindingCode::Conflict, message)
                    })?;
                }
                Settled::Failed(error) => {
                    return Err(Error::from(error).context(format!("The document {key:?} was not written")));
                }
            }
        }
        self.tally.add(&tally);
        if self.sender.job.dry_run {
            self.units.add(self.sender.plan.layout.store, &batch.lines);
        }
        self.task.add(range.end - range.start, batch.lines.bytes() as u64);
        if self.journal.is_some() {
            failpoint::pass(Point::BatchSent)?;
        }
        match &mut *self.journal {
            Some(journal) => {
                journal.finish_range(Done { from: range.start, to: range.end, tally, conflicts })
            }
            None => Ok(()),
        }
    }
}
