//! A layout at work on documents: what one is, and the same one rekeyed.

mod addressed;
mod escaped;
mod found;
mod inspect;
mod limits;
mod names;
mod owner;
mod plan;
mod rewrite;
mod sort_key;
mod splice;
mod state;

use std::borrow::Cow;

use super::{Identity, Layout};
use crate::document::bson::Outline;
use crate::document::json::Tape;
use crate::key::Escaping;
use found::Found;
use plan::Plan;
use sort_key::Values;
use splice::Edit;

pub use addressed::Addressed;

/// A layout made ready for many documents, one at a time, with buffers that are used again and again.
///
/// Every method takes the line and the tape that has read it.
#[derive(Clone, Debug)]
pub struct Inspector {
    plan: Plan,
    /// How terms are joined; `None` where nobody has said.
    escaping: Option<Escaping>,
    escaping_mattered: bool,
    rendered: String,
    scratch: String,
    /// The values that the last rewrite made: one a key place, one a set field, in the layout's order.
    new: Vec<String>,
    edits: Vec<Edit>,
    /// For JSON inside fields, and for reading a rewritten document again.
    inner_tape: Tape,
}

impl Inspector {
    /// Makes a layout ready. Without an escaping a document whose terms it would change is not rewritten.
    pub fn new(layout: &Layout, escaping: Option<Escaping>) -> Self {
        let plan = Plan::new(layout);
        Self {
            new: vec![String::new(); plan.places.len() + plan.sets.len()],
            plan,
            escaping,
            escaping_mattered: false,
            rendered: String::new(),
            scratch: String::new(),
            edits: Vec::new(),
            inner_tape: Tape::new(),
        }
    }

    /// Whether a document rewritten or carried over so far held a term that the two escapings write differently. Until then
    /// manifests record the escaping as `unneeded`.
    pub fn escaping_mattered(&self) -> bool {
        self.escaping_mattered
    }

    /// The key a person sees in previews and lists: what stands in the layout's first place; of an item, which has
    /// no version beside it, all parts of its key, joined with ` / `.
    ///
    /// Of a document that is not of the layout, whatever stands there.
    pub fn display_key<'a>(&self, tape: &Tape, line: &'a [u8]) -> Cow<'a, str> {
        if let Ok(Some(outline)) = Outline::of(self.plan.store, tape, line) {
            return Cow::Owned(self.display_key(&outline.tape, &outline.line).into_owned());
        }
        self.plan.find(tape, line).map_or(Cow::Borrowed(""), |found| self.shown(&found, Values::Stored))
    }

    fn shown<'a>(&self, found: &Found<'_, 'a>, values: Values) -> Cow<'a, str> {
        let part = |slot: usize| {
            let raw = || {
                found.get(slot).map_or(Cow::Borrowed(""), |it| String::from_utf8_lossy(it.raw(found.line)))
            };
            match self.changed_text(slot, values) {
                Some(text) => Cow::Owned(text.to_owned()),
                None => found.text(slot).unwrap_or_else(raw),
            }
        };
        let mut slots = self.plan.shown.iter().copied();
        let first = slots.next().map_or(Cow::Borrowed(""), part);
        slots.fold(first, |key, slot| Cow::Owned(format!("{key} / {}", part(slot))))
    }

    /// The text of the key that holds a term which nothing else holds; `None` where the layout has none.
    pub fn bare_key<'a>(&self, tape: &Tape, line: &'a [u8]) -> Option<Cow<'a, str>> {
        if let Some(outline) = self.outline(tape, line).ok()? {
            let key = self.bare_key(&outline.tape, &outline.line)?;
            return Some(Cow::Owned(key.into_owned()));
        }
        let place = self.plan.places.get(self.plan.bare.as_ref()?.place)?;
        self.plan.find(tape, line).ok()?.text(place.slot)
    }

    /// Puts right the term that only the key holds.
    pub fn set_bare(&self, text: &str, identity: &mut Identity) {
        if let Some(bare) = &self.plan.bare {
            identity.set(&bare.term, text);
        }
    }

    /// Appends what the stream is called in the `key` column of a tenant map; its `type` column holds
    /// [`Identity::type_name`].
    pub fn map_key(&self, identity: &Identity, out: &mut String) {
        self.plan.map_key.render(&identity.terms(""), Escaping::Raw, out);
    }

    /// The id that an event keeps whatever its key is, where the layout names one.
    pub fn event_id<'a>(&self, tape: &Tape, line: &'a [u8]) -> Option<Cow<'a, str>> {
        let slot = self.plan.event_id?;
        if let Some(outline) = self.outline(tape, line).ok()? {
            let id = self.event_id(&outline.tape, &outline.line)?;
            return Some(Cow::Owned(id.into_owned()));
        }
        self.plan.find(tape, line).ok()?.text(slot)
    }

    /// The time, in seconds since 1970, at which the document expires, where it says so.
    pub fn expires_at(&self, tape: &Tape, line: &[u8]) -> Option<i64> {
        let slot = self.plan.expires?;
        if let Some(outline) = self.outline(tape, line).ok()? {
            return self.expires_at(&outline.tape, &outline.line);
        }
        self.plan.find(tape, line).ok()?.integer(slot)
    }

    /// The number of the global sequence that the document holds, where the layout counts one.
    pub fn sequence(&self, tape: &Tape, line: &[u8]) -> Option<i64> {
        let slot = self.plan.sequence?;
        if let Some(outline) = self.outline(tape, line).ok()? {
            return self.sequence(&outline.tape, &outline.line);
        }
        self.plan.find(tape, line).ok()?.integer(slot)
    }
}

#[cfg(test)]
mod tests;
