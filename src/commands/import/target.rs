use super::{Job, Plan, What};
use crate::commands::store::{describe, notice_time_to_live, same_key, shown_key};
use crate::document::StoreKind;
use crate::layout::Layout;
use crate::report::{Finding, FindingCode, NoticeCode};
use crate::stores::connect;
use crate::stores::dry_run::DryRun;
use crate::stores::lookup::is_empty;
use crate::stores::{Collection, Description, Index, StoreErrorKind, Subscribers, collection_noun};
use crate::ui::Ui;
use crate::{Error, Result};

/// The collection that is written, as it was before.
pub(super) struct Target {
    /// Absent in a dry run whose target does not exist yet.
    pub collection: Option<Box<dyn Collection>>,
    /// Absent as well.
    pub description: Option<Description>,
    /// Whether it held nothing when the run began.
    pub was_empty: bool,
    findings: Vec<Finding>,
}

impl Target {
    /// What is wrong with the target that does not stand in the way of writing.
    pub fn findings(&self) -> Vec<Finding> {
        self.findings.clone()
    }
}

/// Opens the target, makes it if asked to, and checks what only the live store knows.
pub(super) async fn open(job: &Job, plan: &Plan, ui: &Ui) -> Result<Target> {
    let mut target = if job.dry_run {
        open_for_dry_run(job, plan, ui).await?
    } else {
        open_for_writing(job, plan, ui).await?
    };
    let Some(description) = &target.description else { return Ok(target) };
    refuse_other_key_schema(description, &plan.layout)?;
    refuse_own_source(job, plan, description)?;
    check_subscribers(job, description, ui)?;
    notice_time_to_live(description, ui);
    target.findings = check_indexes(description, &plan.layout, ui);
    Ok(target)
}

async fn open_for_writing(job: &Job, plan: &Plan, ui: &Ui) -> Result<Target> {
    let collection = connect::open(&job.to, job.create_target).await?;
    if job.create_target {
        match collection.create_collection(&plan.layout.collection_spec()).await {
            Ok(()) => notice_not_copied(plan, ui),
            Err(error) if error.kind == StoreErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.into()),
        }
    }
    let description = describe(collection.as_ref(), "target", ui).await?;
    let was_empty = is_empty(collection.as_ref()).await?;
    Ok(Target {
        collection: Some(collection),
        description: Some(description),
        was_empty,
        findings: Vec::new(),
    })
}

/// A dry run holds nothing that could write.
async fn open_for_dry_run(job: &Job, plan: &Plan, ui: &Ui) -> Result<Target> {
    let opened = connect::open_reader(&job.to).await;
    let reader = match opened {
        Err(error) if job.create_target && error.kind() == crate::ErrorKind::Usage => {
            ui.target("target", &format!("{} (does not exist yet)", plan.address));
            return Ok(Target { collection: None, description: None, was_empty: true, findings: Vec::new() });
        }
        opened => opened?,
    };
    let description = match reader.describe().await {
        Err(error) if error.kind == StoreErrorKind::NotFound && job.create_target => {
            ui.target("target", &format!("{} (does not exist yet)", reader.location()));
            return Ok(Target { collection: None, description: None, was_empty: true, findings: Vec::new() });
        }
        _ => describe(reader.as_ref(), "target", ui).await?,
    };
    let was_empty = is_empty(reader.as_ref()).await?;
    let collection = Box::new(DryRun::new(reader, description.clone()));
    Ok(Target {
        collection: Some(collection),
        description: Some(description),
        was_empty,
        findings: Vec::new(),
    })
}

fn refuse_other_key_schema(target: &Description, layout: &Layout) -> Result<()> {
    let wanted = layout.collection_spec().key_fields;
    if wanted.is_empty() || target.key_fields.is_empty() || same_key(&wanted, &target.key_fields) {
        return Ok(());
    }
    Err(Error::refused(format!(
        "The target {} has the key {}, the layout {} needs {}; nothing was written",
        target.location,
        shown_key(&target.key_fields),
        layout.name,
        shown_key(&wanted)
    ))
    .hint("Choose another target, or set the layout's parameters with --set."))
}

/// A document that keeps its store key cannot be created beside itself; one changed in place must be there.
fn refuse_own_source(job: &Job, plan: &Plan, target: &Description) -> Result<()> {
    let source = plan.manifest().and_then(|manifest| manifest.source.as_ref());
    let is_source = source.is_some_and(|source| match (&source.identity, &target.identity) {
        (Some(source), Some(target)) => source == target,
        _ => source.location == target.location,
    });
    if job.what == What::Rekeyed && is_source && plan.layout.keeps_store_key() {
        return Err(Error::usage(format!(
            "{} is the collection the documents were exported from, and they keep their _id; nothing was written",
            target.location
        ))
        .hint("Pass --in-place to change their keys where they are, or import into another collection."));
    }
    if job.what == What::InPlace && source.is_some() && !is_source {
        return Err(Error::usage(format!(
            "{} is not the collection the documents were exported from; nothing was written",
            target.location
        ))
        .hint("Leave --in-place out to create the documents there."));
    }
    Ok(())
}

fn check_subscribers(job: &Job, target: &Description, ui: &Ui) -> Result<()> {
    let message = match target.subscribers {
        Subscribers::None => return Ok(()),
        Subscribers::Present => {
            format!("Somebody reads the changes of {} and will see every document as new", target.location)
        }
        Subscribers::Unknown => format!(
            "It cannot be seen whether somebody reads the changes of {}; they would see every document as new",
            target.location
        ),
    };
    if job.subscribers_handled || job.dry_run {
        ui.notice(NoticeCode::Subscribers, format!("{message}."));
        return Ok(());
    }
    Err(Error::refused(format!("{message}; nothing was written"))
        .hint("Stop the subscribers or make them skip what is imported, then pass --subscribers-handled."))
}

/// Says what of the source a collection that was just made does not have.
fn notice_not_copied(plan: &Plan, ui: &Ui) {
    let Some(source) = plan.manifest().and_then(|manifest| manifest.source.as_ref()) else { return };
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
