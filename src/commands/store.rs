use std::num::NonZeroU32;

use crate::layout::Layout;
use crate::options::{Rates, StoreOptions};
use crate::report::NoticeCode;
use crate::signal::StopSignal;
use crate::stores::{
    Collection, CollectionReader, Description, KeyField, Remark, StoreErrorKind, connect, lookup,
};
use crate::ui::{Ui, format};
use crate::{Error, Result};

/// How many parts of a collection are read at one time, if nobody says.
const READERS: usize = 4;

/// A collection as a run holds it: a dry run holds nothing that could write.
pub(super) enum Opened {
    Reading(Box<dyn CollectionReader>),
    Writing(Box<dyn Collection>),
}

impl Opened {
    /// Opens a collection that exists, for writing only if the run is to write.
    pub async fn open(store: &StoreOptions, dry_run: bool, stop: &StopSignal) -> Result<Self> {
        Ok(if dry_run {
            Self::Reading(connect::open_reader(store, stop).await?)
        } else {
            Self::Writing(connect::open(store, false, stop).await?)
        })
    }

    /// What reads it.
    pub fn reader(&self) -> &dyn CollectionReader {
        match self {
            Self::Reading(reader) => &**reader,
            Self::Writing(collection) => &**collection,
        }
    }
}

/// Describes a collection and shows where it is; one that does not exist is a usage error that names others.
pub(super) async fn describe(reader: &dyn CollectionReader, role: &str, ui: &Ui) -> Result<Description> {
    ui.target(role, reader.location());
    match reader.describe().await {
        Ok(description) => {
            for remark in &description.remarks {
                tell(remark, role, ui);
            }
            Ok(description)
        }
        Err(error) if error.kind == StoreErrorKind::NotFound => {
            Err(missing(reader, role, error.into()).await)
        }
        Err(error) => Err(error.into()),
    }
}

/// Says what an operator should know: as a notice where its code is one, else in passing.
fn tell(remark: &Remark, role: &str, ui: &Ui) {
    match NoticeCode::ALL.iter().find(|notice| notice.code() == remark.code) {
        Some(notice) => ui.notice(*notice, remark.text.clone()),
        None => ui.status(&format!("{role}: {}", remark.text)),
    }
}

/// Says what reading a collection has shown.
pub(super) fn tell_what_was_seen(reader: &dyn CollectionReader, role: &str, ui: &Ui) {
    reader.seen().iter().for_each(|remark| tell(remark, role, ui));
}

/// Adds to the error of a missing collection which ones there are.
async fn missing(reader: &dyn CollectionReader, role: &str, error: Error) -> Error {
    let error = match lookup::alternatives(reader).await {
        Some(hint) => error.hint(hint),
        None => error,
    };
    if role == "target" { error.hint("Pass --create-target to make it.") } else { error }
}

/// How many parts are read at one time.
pub(super) fn reader_concurrency(rates: &Rates) -> usize {
    rates.concurrency.map_or(READERS, |number| usize::try_from(NonZeroU32::get(number)).unwrap_or(READERS))
}

/// What is wrong with a collection whose key is not the layout's, for a person; the key is the order of its paths, too.
pub(super) fn other_key(collection: &Description, layout: &Layout) -> Option<String> {
    let wanted = layout.collection_spec().key_fields;
    if wanted.is_empty() || collection.key_fields.is_empty() || same_key(&wanted, &collection.key_fields) {
        return None;
    }
    let (has, needs) = (shown_key(&collection.key_fields), shown_key(&wanted));
    Some(format!("{} has the key {has}, the layout {} needs {needs}", collection.location, layout.name))
}

/// Refuses to read a collection by a layout whose key is another one.
pub(super) fn refuse_other_key(collection: &Description, layout: &Layout, end: &str) -> Result<()> {
    other_key(collection, layout).map_or(Ok(()), |what| {
        Err(Error::usage(format!("{what}; {end}"))
            .hint("Choose the layout of this collection, or set its parameters with --set."))
    })
}

/// Whether two keys have the same fields in the same order, of the same types where both say them.
fn same_key(a: &[KeyField], b: &[KeyField]) -> bool {
    let same = |(a, b): (&KeyField, &KeyField)| {
        let typed = a.kind.as_ref().zip(b.kind.as_ref());
        path_free(&a.name) == path_free(&b.name) && typed.is_none_or(|(a, b)| a == b)
    };
    a.len() == b.len() && a.iter().zip(b).all(same)
}

/// The fields of a key as a message names them: `pk (S), sk (N)`.
fn shown_key(fields: &[KeyField]) -> String {
    let shown = |field: &KeyField| match &field.kind {
        Some(kind) => format!("{} ({kind})", field.name),
        None => field.name.clone(),
    };
    fields.iter().map(shown).collect::<Vec<_>>().join(", ")
}

/// A Cosmos DB path without its first `/`.
fn path_free(name: &str) -> &str {
    name.strip_prefix('/').unwrap_or(name)
}

/// Says how many documents the store deletes by itself, if there are any, and what that means.
pub(super) fn notice_expired(documents: u64, meaning: &str, ui: &Ui) {
    if documents > 0 {
        let documents = format::count(documents, "document");
        ui.notice(
            NoticeCode::Expired,
            format!("{documents} had expired by their own time to live {meaning}."),
        );
    }
}

/// Says that a default time to live restarts, or that one is copied.
pub(super) fn notice_time_to_live(target: &Description, ui: &Ui) {
    match &target.time_to_live {
        Some(crate::stores::TimeToLive::Default(seconds)) => ui.notice(
            NoticeCode::TimeToLive,
            format!(
                "{} has a default time to live of {seconds} s, which starts anew for every document written.",
                target.location
            ),
        ),
        Some(crate::stores::TimeToLive::Field(field)) => ui.notice(
            NoticeCode::TimeToLive,
            format!(
                "{} deletes documents at the time in {field:?}, which is copied as it is.",
                target.location
            ),
        ),
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(fields: &[(&str, Option<&str>)]) -> Vec<KeyField> {
        let field = |(name, kind): &(&str, Option<&str>)| KeyField {
            name: (*name).to_owned(),
            kind: kind.map(ToOwned::to_owned),
        };
        fields.iter().map(field).collect()
    }

    #[test]
    fn keys_are_the_same_in_names_order_and_known_types() {
        let wanted = key(&[("pk", Some("S")), ("sk", Some("N"))]);
        assert!(same_key(&wanted, &wanted));
        assert!(same_key(&wanted, &key(&[("pk", None), ("sk", Some("N"))])));
        assert!(!same_key(&wanted, &key(&[("pk", Some("S")), ("sk", Some("S"))])));
        assert!(!same_key(&wanted, &key(&[("sk", Some("N")), ("pk", Some("S"))])));
        assert!(!same_key(&wanted, &key(&[("pk", Some("S"))])));
        assert!(same_key(&key(&[("/streamId", None)]), &key(&[("streamId", None)])));
        assert_eq!(shown_key(&wanted), "pk (S), sk (N)");
    }
}
