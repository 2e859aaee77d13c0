use std::borrow::Cow;

use crate::check::{Reason, Refusal};
use crate::document::json::{Member, Tape};
use crate::document::{StoreKind, document_id};
use crate::layout::check::MAX_FIELDS;

/// The fields of one document that a layout reads, found in one pass.
pub(super) struct Found<'t, 'a> {
    pub store: StoreKind,
    pub tape: &'t Tape,
    pub line: &'a [u8],
    /// The object that holds the fields; `None` is the line's own.
    pub holder: Option<&'t Member>,
    /// By slot: the member, if the document has it. The slot of `@id` holds the document's name.
    pub members: [Option<&'t Member>; MAX_FIELDS],
    pub id_slot: Option<usize>,
}

impl<'t, 'a> Found<'t, 'a> {
    /// The member in a slot.
    pub fn get(&self, slot: usize) -> Option<&'t Member> {
        self.members.get(slot).copied().flatten()
    }

    /// The text in a slot; `None` if it is missing or no string.
    pub fn text(&self, slot: usize) -> Option<Cow<'a, str>> {
        if self.id_slot == Some(slot) {
            return document_id(self.tape, self.line);
        }
        self.store.text(self.tape, self.line, self.get(slot)?)
    }

    /// The integer in a slot; `None` if it is missing or no integer.
    pub fn integer(&self, slot: usize) -> Option<i64> {
        self.store.integer(self.tape, self.line, self.get(slot)?)
    }

    /// Whether the field in a slot is missing or null.
    pub fn is_empty(&self, slot: usize) -> bool {
        self.get(slot).is_none_or(|member| self.store.is_null(self.tape, self.line, member))
    }

    /// The text in the slot of the field `name`, which every document of the layout has.
    pub fn required_text(&self, slot: usize, name: &str) -> Result<Cow<'a, str>, Refusal> {
        self.text(slot).ok_or_else(|| match self.get(slot) {
            None => missing(name),
            Some(_) => Refusal::new(Reason::FieldType, format!("The field {name:?} is no string.")),
        })
    }

    /// The version in the slot of the field `name`: an integer from 0 on.
    pub fn version(&self, slot: usize, name: &str) -> Result<i64, Refusal> {
        if self.get(slot).is_none() {
            return Err(missing(name));
        }
        let wrong = |what| Refusal::new(Reason::FieldType, format!("The field {name:?} is {what}."));
        match self.integer(slot) {
            Some(version) if version >= 0 => Ok(version),
            Some(version) => Err(wrong(format!("{version}, and versions begin at 0"))),
            None => Err(wrong("no integer of 64 bits".to_owned())),
        }
    }
}

fn missing(name: &str) -> Refusal {
    Refusal::new(Reason::FieldMissing, format!("The document has no field {name:?}."))
}
