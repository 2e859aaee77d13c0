//! `rekey undo`: takes back what an import wrote, by whole stream and only while nobody has used it.
//!
//! ```text
//! undo list ─────┐
//! target (scan) ─┼─▶ decide by whole stream ─▶ remove what is still as it was imported, or put its key back
//! legacy (scan) ─┘
//! ```

mod decide;
mod document;
mod evidence;
mod list;
mod result;
mod take_back;

use std::path::{Path, PathBuf};

use super::state_folder;
use super::store::{Opened, describe, refuse_other_key, tell_what_was_seen};
use crate::journal::HeldJournal;
use crate::key::Escaping;
use crate::layout::Layout;
use crate::options::UndoOptions;
use crate::report::{Findings, Outcome};
use crate::signal::StopSignal;
use crate::stores::{Description, Expiry, connect};
use crate::ui::Ui;
use crate::undo_list::{Place, journal_of};
use crate::{Error, Result};
use decide::Decided;

const NOTHING: &str = "nothing was changed";

/// What the lists say of themselves.
pub(super) struct Job {
    pub lists: Vec<PathBuf>,
    /// The archive's file name.
    pub archive: String,
    pub layout: Layout,
    pub escaping: Option<Escaping>,
    pub in_place: bool,
    /// Where spill files and the journal go.
    pub folder: PathBuf,
}

/// Takes an import back, or says what that would come to.
pub async fn run(options: UndoOptions, ui: &Ui, stop: &StopSignal) -> Result<Outcome> {
    let target = Opened::open(&options.from, options.dry_run, stop).await?;
    let description = describe(target.reader(), "target", ui).await?;
    let job = tokio::task::block_in_place(|| list::find(&options, &description))?;
    refuse_other_key(&description, &job.layout, NOTHING)?;
    // As long as it runs, no import goes on; one that is interrupted must not go on where it was afterwards.
    let mut journals = if options.dry_run { Vec::new() } else { hold_journals(&job)? };
    let listed = tokio::task::block_in_place(|| list::read(&job))?;
    let stopped =
        || stop.check("Interrupted; nothing more is taken back. Run the same command again to go on.");

    let evidence = evidence::Evidence::new(&job);
    let mut evidence = evidence.read_target(&job, &options, target.reader(), ui, &stopped).await?;
    tell_what_was_seen(target.reader(), "target", ui);
    if let Some(legacy) = &options.legacy {
        let reader = connect::open_reader(legacy, stop).await?;
        let described = describe(reader.as_ref(), "legacy", ui).await?;
        refuse_other_key(&described, &job.layout, NOTHING)?;
        evidence = evidence.read_legacy(&job, &options, reader.as_ref(), ui, &stopped).await?;
    }
    let mut findings = Findings::new(findings_path(&options, &job).filter(|_| !options.dry_run));
    let expiry = Expiry::of(&description, job.layout.document.expires.as_deref());
    let Decided { mut verdicts, going } = tokio::task::block_in_place(|| {
        decide::decide(&job, listed, evidence, expiry, &mut findings, ui, &stopped)
    })?;
    let tally = match target {
        Opened::Reading(_) => result::foreseen(&job, &verdicts),
        Opened::Writing(collection) => {
            journals.iter_mut().try_for_each(HeldJournal::take_back)?;
            let going = (&verdicts, going);
            let taken = take_back::run(&job, going, &*collection, &mut findings, ui, stop).await?;
            result::with(&mut verdicts, &taken)
        }
    };
    result::finish(&options, &job, verdicts, tally, findings)
}

/// Holds the journals of the imports, which stand beside their lists.
fn hold_journals(job: &Job) -> Result<Vec<HeldJournal>> {
    let journals = job.lists.iter().map(|list| HeldJournal::hold(&journal_of(list)));
    Ok(journals.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// The legacy documents must be somewhere to be looked for.
fn refuse_unknown_legacy(options: &UndoOptions, source: Option<&Place>, target: &Description) -> Result<()> {
    let target = Place::of(target);
    match source.filter(|source| options.legacy.is_none() && !source.is(&target)) {
        None => Ok(()),
        Some(source) => Err(Error::usage(format!(
            "The legacy documents were exported from {}, not from the collection they were imported into; nothing was changed",
            source.location
        ))
        .hint("Name that collection with --legacy-in and --legacy-collection: what was imported is removed only while its legacy document stands.")),
    }
}

fn findings_path(options: &UndoOptions, job: &Job) -> Option<PathBuf> {
    options.findings.clone().or_else(|| {
        let folder = job.lists.first()?.parent().unwrap_or(Path::new("."));
        Some(folder.join(format!("{}.undo.findings.ndjson", job.archive)))
    })
}

/// Where the state goes: a dry run leaves nothing beside the list.
fn folder(options: &UndoOptions, list: &Path) -> Result<PathBuf> {
    let temporary = std::env::temp_dir();
    let asked = options.state_dir.as_deref().or(options.dry_run.then_some(temporary.as_path()));
    state_folder(asked, Some(list))
}
