use super::{Job, Plan, What};
use crate::commands::store::{Opened, describe, notice_time_to_live, other_key};
use crate::document::StoreKind;
use crate::failpoint::{self, Point};
use crate::layout::Layout;
use crate::report::{Finding, FindingCode, NoticeCode};
use crate::signal::StopSignal;
use crate::stores::connect;
use crate::stores::dry_run::DryRun;
use crate::stores::lookup::is_empty;
use crate::stores::{
    Collection, CollectionReader, Description, Index, Remark, StoreErrorKind, Subscribers, collection_noun,
};
use crate::ui::Ui;
use crate::{Error, Result};

/// The collection that is written, as it was before.
pub(super) struct Target {
    /// What is written; in a dry run it says what writing would come to.
    pub collection: Box<dyn Collection>,
    pub description: Description,
    /// Whether it held nothing when the run began.
    pub was_empty: bool,
    /// What is wrong with it that does not stand in the way of writing.
    findings: Vec<Finding>,
}

/// How much of the target there is.
pub(super) enum Found {
    There(Target),
    /// It is to be made in a database, which knows its own rules.
    ToBeMade(Box<dyn Collection>),
    /// It is to be made in embedded storage, the file included where it is not `opened`; the rules are those of what
    /// stands in for it.
    Imagined {
        opened: Option<Box<dyn Collection>>,
        stand_in: Box<dyn CollectionReader>,
    },
}

impl Target {
    /// Takes out what is wrong with it.
    pub fn take_findings(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.findings)
    }
}

impl Found {
    /// What can say which documents the store would refuse.
    pub fn reader(&self) -> &dyn CollectionReader {
        match self {
            Self::There(target) => &*target.collection,
            Self::ToBeMade(collection) => &**collection,
            Self::Imagined { stand_in, .. } => &**stand_in,
        }
    }

    /// Takes out what is wrong with it that does not stand in the way of writing.
    pub fn take_findings(&mut self) -> Vec<Finding> {
        match self {
            Self::There(target) => target.take_findings(),
            Self::ToBeMade(_) | Self::Imagined { .. } => Vec::new(),
        }
    }
}

/// Opens the target and checks what only the live store knows. Nothing is made yet.
pub(super) async fn open(job: &Job, plan: &Plan, ui: &Ui, stop: &StopSignal) -> Result<Found> {
    if job.create_target && !connect::place_exists(&job.to.address) {
        return foresee(job, plan, None, ui).await;
    }
    let opened = Opened::open(&job.to, job.dry_run, stop).await?;
    let reader = opened.reader();
    let description = match reader.describe().await {
        Err(error) if error.kind == StoreErrorKind::NotFound && job.create_target => {
            return foresee(job, plan, Some(opened), ui).await;
        }
        _ => describe(reader, "target", ui).await?,
    };
    refuse_own_source(job, plan, &description)?;
    let findings = check_description(job, plan, &description, ui)?;
    let was_empty = is_empty(reader).await?;
    let collection = match opened {
        Opened::Reading(reader) => Box::new(DryRun::new(reader, description.clone())),
        Opened::Writing(collection) => collection,
    };
    Ok(Found::There(Target { collection, description, was_empty, findings }))
}

/// Finds what can be known of a target that does not exist yet.
async fn foresee(job: &Job, plan: &Plan, opened: Option<Opened>, ui: &Ui) -> Result<Found> {
    let spec = plan.layout.collection_spec();
    let imagined = connect::imagine(&job.to, &spec).await?;
    let missing = match (opened, imagined) {
        (Some(Opened::Writing(collection)), None) => Found::ToBeMade(collection),
        (Some(Opened::Writing(collection)), Some(stand_in)) => {
            Found::Imagined { opened: Some(collection), stand_in }
        }
        (_, Some(stand_in)) | (Some(Opened::Reading(stand_in)), None) => {
            Found::Imagined { opened: None, stand_in }
        }
        (None, None) => return Err(Error::bug("A database has no place that could be missing")),
    };
    let reader = missing.reader();
    ui.target("target", &format!("{} (does not exist yet)", reader.location()));
    let subscribers = reader.subscribers().await?;
    check_subscribers(job, subscribers, reader.location(), ui)?;
    let description =
        Description { subscribers, ..Description::of_new(plan.layout.store, reader.location(), spec) };
    match missing {
        Found::Imagined { stand_in, .. } if job.dry_run => {
            let collection = Box::new(DryRun::new(stand_in, description.clone()));
            Ok(Found::There(Target { collection, description, was_empty: true, findings: Vec::new() }))
        }
        missing => Ok(missing),
    }
}

/// Makes the target if it is not there: only after everything that may be refused has been checked, so that a refusal
/// leaves nothing behind.
pub(super) async fn make(found: Found, job: &Job, plan: &Plan, ui: &Ui, stop: &StopSignal) -> Result<Target> {
    let collection = match found {
        Found::There(target) => return Ok(target),
        Found::ToBeMade(collection) | Found::Imagined { opened: Some(collection), .. } => collection,
        Found::Imagined { opened: None, .. } => connect::open(&job.to, true, stop).await?,
    };
    match collection.create_collection(&plan.layout.collection_spec()).await {
        Ok(()) => {
            failpoint::pass(Point::TargetMade)?;
            notice_not_copied(plan, ui);
        }
        // Somebody else has made it meanwhile; it is looked at like any other.
        Err(error) if error.kind == StoreErrorKind::AlreadyExists => {}
        Err(error) => return Err(error.into()),
    }
    let description = collection.describe().await?;
    let findings = check_description(job, plan, &description, ui)?;
    let was_empty = is_empty(&*collection).await?;
    Ok(Target { collection, description, was_empty, findings })
}

/// What the collection is must fit the layout; what it lacks is told.
fn check_description(job: &Job, plan: &Plan, description: &Description, ui: &Ui) -> Result<Vec<Finding>> {
    refuse_other_key_schema(description, &plan.layout)?;
    refuse_capped(description)?;
    check_subscribers(job, description.subscribers, &description.location, ui)?;
    notice_time_to_live(description, ui);
    Ok(check_indexes(description, &plan.layout, ui))
}

fn refuse_other_key_schema(target: &Description, layout: &Layout) -> Result<()> {
    other_key(target, layout).map_or(Ok(()), |what| {
        Err(Error::refused(format!("The target {what}; nothing was written"))
            .hint("Choose another target, or set the layout's parameters with --set."))
    })
}

/// A capped collection forgets documents as others come.
fn refuse_capped(target: &Description) -> Result<()> {
    if !target.remarks.iter().any(|remark| remark.code == Remark::CAPPED) {
        return Ok(());
    }
    Err(Error::usage(format!("{} is capped and would lose documents; nothing was written", target.location))
        .hint("Choose a collection that is not capped, or pass --create-target with a new name."))
}

/// A document that keeps its store key cannot be created beside itself; one changed in place must be there.
fn refuse_own_source(job: &Job, plan: &Plan, target: &Description) -> Result<()> {
    let is_target = |source: &Description| match (&source.identity, &target.identity) {
        (Some(source), Some(target)) => source == target,
        _ => source.location == target.location,
    };
    let is_source = plan.sources().any(is_target);
    if job.what == What::Rekeyed && is_source && plan.layout.keeps_store_key() {
        return Err(Error::usage(format!(
            "{} is the collection the documents were exported from, and they keep their _id; nothing was written",
            target.location
        ))
        .hint("Pass --in-place to change their keys where they are, or import into another collection."));
    }
    let flag = match job.what {
        What::InPlace => "--in-place",
        What::Move => "--move",
        What::Rekeyed | What::Legacy => return Ok(()),
    };
    if !plan.sources().all(is_target) {
        return Err(Error::usage(format!(
            "{} is not the collection the documents were exported from; nothing was written",
            target.location
        ))
        .hint(format!(
            "Export it again if it was re-created since, or leave {flag} out to create the documents in an empty one."
        )));
    }
    Ok(())
}

/// Stops for subscribers, unless they are taken care of; a dry run only says so, and ends as the run would.
fn check_subscribers(job: &Job, subscribers: Subscribers, location: &str, ui: &Ui) -> Result<()> {
    let Some(message) = seen_by_subscribers(job, subscribers, location) else { return Ok(()) };
    if job.subscribers_handled || job.dry_run {
        ui.notice(NoticeCode::Subscribers, format!("{message}."));
        return Ok(());
    }
    Err(subscribers_unhandled(&message))
}

/// What a dry run found that the run would stop for.
pub(super) fn foreseen_refusal(job: &Job, target: &Target) -> Option<Error> {
    let Description { subscribers, location, .. } = &target.description;
    let message = seen_by_subscribers(job, *subscribers, location);
    message.filter(|_| job.dry_run && !job.subscribers_handled).map(|message| subscribers_unhandled(&message))
}

fn seen_by_subscribers(job: &Job, subscribers: Subscribers, location: &str) -> Option<String> {
    let seen = if job.what.is_in_place() { "every change of a key" } else { "every document as new" };
    match subscribers {
        Subscribers::None => None,
        Subscribers::Present => Some(format!("Somebody reads the changes of {location} and will see {seen}")),
        Subscribers::Unknown => Some(format!(
            "It cannot be seen whether somebody reads the changes of {location}; they would see {seen}"
        )),
    }
}

fn subscribers_unhandled(message: &str) -> Error {
    Error::refused(format!("{message}; nothing was written"))
        .hint("Stop the subscribers or make them skip what is imported, then pass --subscribers-handled.")
}

/// Says what of the source a collection that was just made does not have.
fn notice_not_copied(plan: &Plan, ui: &Ui) {
    let Some(source) = plan.sources().next() else { return };
    // Firestore makes nothing; MongoDB's index on _id is always there.
    if source.store == StoreKind::Firestore {
        return;
    }
    let spec = plan.layout.collection_spec();
    let is_made =
        |index: &Index| spec.indexes.iter().any(|it| it.fields == index.fields) || index.fields == ["_id"];
    let indexes = source.indexes.iter().filter(|index| !is_made(index));
    let mut lacking: Vec<String> = indexes.map(|index| format!("the index {}", index.name)).collect();
    if source.time_to_live.is_some() {
        lacking.push("the time to live".to_owned());
    }
    if source.subscribers == Subscribers::Present {
        lacking.push("the stream of changes".to_owned());
    }
    if !lacking.is_empty() {
        let message = format!(
            "The new {} does not have {} of the source.",
            collection_noun(source.store),
            lacking.join(", ")
        );
        ui.notice(NoticeCode::NotCopied, message);
    }
}

/// A missing unique index is a finding, since the framework relies on it; a missing ordinary one a notice.
fn check_indexes(target: &Description, layout: &Layout, ui: &Ui) -> Vec<Finding> {
    let mut findings = Vec::new();
    for index in layout.collection_spec().indexes {
        let there = target.indexes.iter().any(|it| it.fields == index.fields && (it.unique || !index.unique));
        if there {
            continue;
        }
        let message =
            format!("{} lacks the index {} on {}.", target.location, index.name, index.fields.join(", "));
        if index.unique {
            findings.push(Finding::new(FindingCode::UniqueIndexMissing, message));
        } else {
            ui.notice(NoticeCode::IndexMissing, message);
        }
    }
    findings
}
