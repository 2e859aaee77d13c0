use std::borrow::Cow;

use super::Inspector;
use super::found::Found;
use crate::check::Refusal;
use crate::document::json::Tape;
use crate::document::text::write_quoted;
use crate::document::{StoreKey, write_key_value};
use crate::key::order;

/// Which of a document's values a key is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    /// Those that are stored.
    Stored,
    /// Those that the last rewrite made.
    New,
}

/// The keys of a document that a person sees.
#[derive(Debug)]
pub struct ShownKeys<'a> {
    /// The one it was read under.
    pub old: Cow<'a, str>,
    /// The one it has now.
    pub new: Cow<'a, str>,
    /// How many bytes of its order key identify the stream.
    pub stream_len: usize,
}

impl Inspector {
    /// Appends bytes that sort as (stream key, version as a number, store key), and tells how many of the
    /// first ones identify the stream.
    ///
    /// All is taken as it is stored, of legacy and of rekeyed documents alike. A document without a version
    /// comes before those that have one. What [`inspect`](Self::inspect) would refuse sorts somehow.
    ///
    /// # Errors
    /// A document without a store key.
    pub fn order_key(&self, tape: &Tape, line: &[u8], out: &mut Vec<u8>) -> Result<usize, Refusal> {
        if let Some(outline) = self.outline(tape, line)? {
            return self.order_key(&outline.tape, &outline.line, out);
        }
        self.write_order_key(&self.plan.find(tape, line)?, Values::Stored, out)
    }

    /// Does the same for what the last rewrite made of the document, whose tape and line are still given.
    pub fn new_order_key(&self, tape: &Tape, line: &[u8], out: &mut Vec<u8>) -> Result<usize, Refusal> {
        if let Some(outline) = self.outline(tape, line)? {
            return self.new_order_key(&outline.tape, &outline.line, out);
        }
        self.write_order_key(&self.plan.find(tape, line)?, Values::New, out)
    }

    /// Tells all keys of a document that was rewritten, or `kept` with the key it has: appends the order key
    /// it has now, and the store key it was read under.
    ///
    /// # Errors
    /// A document without a store key.
    pub fn keys<'a>(
        &'a self,
        tape: &Tape,
        line: &'a [u8],
        kept: bool,
        order_keys: &mut Vec<u8>,
        store_key: &mut Vec<u8>,
    ) -> Result<ShownKeys<'a>, Refusal> {
        if let Some(outline) = self.outline(tape, line)? {
            let keys = self.keys(&outline.tape, &outline.line, kept, order_keys, store_key)?;
            let (old, new) = (keys.old.into_owned(), keys.new.into_owned());
            return Ok(ShownKeys { old: Cow::Owned(old), new: Cow::Owned(new), stream_len: keys.stream_len });
        }
        let found = self.plan.find(tape, line)?;
        let old = self.shown(&found, Values::Stored);
        let values = if kept { Values::Stored } else { Values::New };
        let new = if kept { old.clone() } else { self.shown(&found, values) };
        let stream_len = self.write_order_key(&found, values, order_keys)?;
        self.write_store_key(&found, Values::Stored, store_key)?;
        Ok(ShownKeys { old, new, stream_len })
    }

    /// How many bytes of an order key identify the stream.
    pub fn stream_key_len(&self, order_key: &[u8]) -> usize {
        order::stream_len(order_key, self.plan.stream.len())
    }

    /// The key under which the store holds the document.
    ///
    /// # Errors
    /// A document that lacks a field of the key, or has one of a type that cannot be.
    pub fn store_key(&self, tape: &Tape, line: &[u8]) -> Result<StoreKey, Refusal> {
        self.boxed_store_key(tape, line, Values::Stored)
    }

    /// The store key of what the last rewrite made of the document, whose tape and line are still given.
    pub fn new_store_key(&self, tape: &Tape, line: &[u8]) -> Result<StoreKey, Refusal> {
        self.boxed_store_key(tape, line, Values::New)
    }

    pub(super) fn write_order_key(
        &self,
        found: &Found<'_, '_>,
        values: Values,
        out: &mut Vec<u8>,
    ) -> Result<usize, Refusal> {
        let start = out.len();
        for slot in &self.plan.stream {
            match self.text_of(found, *slot, values) {
                Some(text) => order::write_text(text.as_bytes(), out),
                None => order::write_text(found.get(*slot).map_or(b"", |it| it.raw(found.line)), out),
            }
        }
        let stream_len = out.len() - start;
        order::write_version(self.plan.version.and_then(|(slot, _)| found.integer(slot)), out);
        self.write_store_key(found, values, out).inspect_err(|_| out.truncate(start))?;
        Ok(stream_len)
    }

    fn boxed_store_key(&self, tape: &Tape, line: &[u8], values: Values) -> Result<StoreKey, Refusal> {
        if let Some(outline) = self.outline(tape, line)? {
            return self.boxed_store_key(&outline.tape, &outline.line, values);
        }
        self.store_key_of(&self.plan.find(tape, line)?, values)
    }

    pub(super) fn store_key_of(&self, found: &Found<'_, '_>, values: Values) -> Result<StoreKey, Refusal> {
        let mut out = Vec::with_capacity(64);
        self.write_store_key(found, values, &mut out)?;
        // Made of parts of a valid line, cut at JSON values.
        Ok(StoreKey(String::from_utf8_lossy(&out).into()))
    }

    fn write_store_key(
        &self,
        found: &Found<'_, '_>,
        values: Values,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        for (number, slot) in self.plan.store_key.iter().enumerate() {
            out.push(if number == 0 { b'[' } else { b',' });
            match self.changed_text(*slot, values) {
                Some(text) if found.id_slot == Some(*slot) => write_quoted(text, out),
                Some(text) => self.plan.store.write_text(text, out),
                None => write_key_value(
                    found.store,
                    self.plan.name(*slot),
                    found.tape,
                    found.line,
                    found.get(*slot),
                    out,
                )?,
            }
        }
        out.push(b']');
        Ok(())
    }

    /// The text in a slot; `None` if it is missing or no string.
    pub(super) fn text_of<'v>(
        &'v self,
        found: &Found<'_, 'v>,
        slot: usize,
        values: Values,
    ) -> Option<Cow<'v, str>> {
        self.changed_text(slot, values).map(Cow::Borrowed).or_else(|| found.text(slot))
    }

    /// What the last rewrite put in a slot, if it is asked for and put anything.
    pub(super) fn changed_text(&self, slot: usize, values: Values) -> Option<&str> {
        if values == Values::Stored {
            return None;
        }
        let place = self.plan.places.iter().position(|place| place.changes && place.slot == slot)?;
        self.new.get(place).map(String::as_str)
    }
}
