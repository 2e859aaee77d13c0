//! The canonical form of a document: what its store keeps of it, and nothing of how it was written down.
//!
//! The form is itself a document of the store, and the canonical form of itself. White space and escapes
//! never matter; what else does not is each store's own.
//!
//! | store | order of fields | numbers | left out |
//! |---|---|---|---|
//! | MongoDB | kept | doubles by bits, every other type by its text | |
//! | DynamoDB | sorted; sets sorted too | by value, `-0` = `0` | |
//! | Firestore | sorted | doubles by bits, integers by value | `createTime`, `updateTime`, all of `name` but the id |
//! | Cosmos DB | sorted | by decimal value, never rounded | `_rid`, `_self`, `_etag`, `_attachments`, `_ts` |
//!
//! Two documents that a store would hold differently never share a form. What is not understood is kept by
//! its text, which may tell two equal documents apart but never takes two different ones for equal.

mod cosmosdb;
mod dynamodb;
mod firestore;
mod mongodb;
mod writer;

use std::fmt;

use sha2::{Digest as _, Sha256};

use super::StoreKind;
use super::bson::Outline;
use super::json::{JsonError, Tape};
use super::store_key::{DOCUMENT_ID, document_id};
pub(super) use cosmosdb::is_system_field;
use writer::{Place, TooShallow, Writer};

/// SHA-256 of a document's canonical form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DocumentDigest(pub [u8; 32]);

impl fmt::Display for DocumentDigest {
    /// Writes 64 lower-case hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Buffers for canonical forms; with one kept, a digest allocates nothing in the usual case.
#[derive(Debug)]
pub struct Scratch {
    form: Vec<u8>,
    order: Vec<Place>,
    deep: Tape,
}

impl Default for Scratch {
    fn default() -> Self {
        Self { form: Vec::new(), order: Vec::new(), deep: Tape::deep() }
    }
}

/// Appends the canonical form of a line.
///
/// `leave_out` names fields that do not take part; `@id` is Firestore's document id.
pub fn write_canonical(
    kind: StoreKind,
    line: &[u8],
    leave_out: &[String],
    out: &mut Vec<u8>,
) -> Result<(), JsonError> {
    let mut tape = Tape::deep();
    tape.read(line)?;
    if mongodb::write_escaped_without(kind, &tape, line, leave_out, out) {
        return Ok(());
    }
    let mut order = Vec::new();
    deeply(Writer { kind, tape: &tape, line, order: &mut order, out }.document(leave_out));
    Ok(())
}

/// Takes the digest of a line's canonical form; `tape` has read that line.
///
/// Costs little more than the hashing where the line is compact and its values are flat: spans are then
/// copied as they stand. `leave_out` is that of [`write_canonical`].
pub fn digest(
    kind: StoreKind,
    tape: &Tape,
    line: &[u8],
    leave_out: &[String],
    scratch: &mut Scratch,
) -> DocumentDigest {
    if kind == StoreKind::MongoDb && leave_out.is_empty() && mongodb::stands(tape) {
        return DocumentDigest(Sha256::digest(line).into());
    }
    let Scratch { form, order, deep } = scratch;
    form.clear();
    if mongodb::write_escaped_without(kind, tape, line, leave_out, form) {
        return DocumentDigest(Sha256::digest(&*form).into());
    }
    let written = Writer { kind, tape, line, order, out: form }.document(leave_out);
    if written.is_err() {
        form.clear();
        order.clear();
        match deep.read(line) {
            Ok(()) => deeply(Writer { kind, tape: deep, line, order, out: form }.document(leave_out)),
            // Cannot be: both tapes accept the same lines. The line's own bytes are as telling.
            Err(_) => form.extend_from_slice(line),
        }
    }
    DocumentDigest(Sha256::digest(&*form).into())
}

/// Names the fields in which two documents differ, in the first one's order, for a person to read.
///
/// `@id` stands for Firestore's document id; words in parentheses say what no field's name can.
pub fn differing_fields(kind: StoreKind, a: &[u8], b: &[u8]) -> Vec<String> {
    let (Ok(a), Ok(b)) = (field_forms(kind, a), field_forms(kind, b)) else {
        return vec!["(not a document)".to_owned()];
    };
    let changed = a.iter().filter(|field| !b.contains(field));
    let added = b.iter().filter(|(name, _)| a.iter().all(|(other, _)| other != name));
    let mut names: Vec<_> = changed.chain(added).map(|(name, _)| name.clone()).collect();
    if names.is_empty() && a != b {
        names.push("(the order of the fields)".to_owned());
    }
    names
}

/// The canonical forms of a document's fields, each under its name, in the order the store keeps.
fn field_forms(kind: StoreKind, line: &[u8]) -> Result<Vec<(String, Vec<u8>)>, JsonError> {
    let mut tape = Tape::deep();
    tape.read(line)?;
    if let Ok(Some(outline)) = Outline::of(kind, &tape, line) {
        return field_forms(kind, &outline.line);
    }
    let mut order = Vec::new();
    let mut forms = Vec::new();
    for field in tape.members(kind.fields(&tape, line).ok().flatten()) {
        if kind == StoreKind::CosmosDb && is_system_field(field, line) {
            continue;
        }
        let mut form = Vec::new();
        deeply(Writer { kind, tape: &tape, line, order: &mut order, out: &mut form }.value(field));
        forms.push((field.name(line).into_owned(), form));
    }
    if kind == StoreKind::Firestore
        && let Some(id) = document_id(&tape, line)
    {
        forms.push((DOCUMENT_ID.to_owned(), id.into_owned().into_bytes()));
    }
    if kind != StoreKind::MongoDb {
        forms.sort();
    }
    Ok(forms)
}

/// Takes the outcome of writing from a deep tape, which is never too shallow.
fn deeply(written: Result<(), TooShallow>) {
    debug_assert!(written.is_ok());
}

#[cfg(test)]
mod spellings;
#[cfg(test)]
mod tests;
