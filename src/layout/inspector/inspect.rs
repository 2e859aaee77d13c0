use super::Inspector;
use super::found::Found;
use super::sort_key::Values;
use super::state::StateReader;
use crate::check::{Reason, Refusal};
use crate::document::json::Tape;
use crate::key::Term;
use crate::layout::Identity;

/// What one look at a document told.
#[derive(Debug)]
pub struct DocumentReading {
    /// How many bytes of its order key identify the stream; why it has none.
    pub stream_len: Result<usize, Refusal>,
    /// Whether it is of the layout; why not.
    pub inspected: Result<(), Refusal>,
}

impl Inspector {
    /// Reads what a document is.
    ///
    /// # Errors
    /// A document that is not of the layout, not in its store's lossless form, lacks a field or has one of
    /// another type, or whose key is neither the legacy nor the rekeyed one of its own fields in every place
    /// the key stands in. `into` then holds nothing of use.
    pub fn inspect(&mut self, tape: &Tape, line: &[u8], into: &mut Identity) -> Result<(), Refusal> {
        if let Some(outline) = self.outline(tape, line)? {
            return self.inspect(&outline.tape, &outline.line, into);
        }
        self.plan.store.check_lossless(tape, line)?;
        let found = self.plan.find(tape, line)?;
        self.inspect_found(&found, into)
    }

    /// Does what [`order_key`](Self::order_key) and [`inspect`](Self::inspect) do, with one look at the fields.
    pub fn read(
        &mut self,
        tape: &Tape,
        line: &[u8],
        into: &mut Identity,
        order_key: &mut Vec<u8>,
    ) -> DocumentReading {
        match self.outline(tape, line) {
            Ok(None) => {}
            Ok(Some(outline)) => return self.read(&outline.tape, &outline.line, into, order_key),
            Err(refusal) => return DocumentReading { stream_len: Err(refusal), inspected: Ok(()) },
        }
        let found = match self.plan.find(tape, line) {
            Ok(found) => found,
            Err(refusal) => {
                let inspected = self.plan.store.check_lossless(tape, line);
                return DocumentReading { stream_len: Err(refusal), inspected };
            }
        };
        let stream_len = self.write_order_key(&found, Values::Stored, order_key);
        let inspected = self.plan.store.check_lossless(tape, line);
        DocumentReading { stream_len, inspected: inspected.and_then(|()| self.inspect_found(&found, into)) }
    }

    fn inspect_found(&mut self, found: &Found<'_, '_>, into: &mut Identity) -> Result<(), Refusal> {
        self.check_conditions(found)?;
        self.read_fields(found, into)?;
        let state = StateReader {
            plan: &self.plan,
            found,
            escaping: self.escaping,
            rendered: &mut self.rendered,
            scratch: &mut self.scratch,
        };
        state.read(into)?;
        self.read_owners(found, &mut into.stored_owner)
    }

    fn check_conditions(&self, found: &Found<'_, '_>) -> Result<(), Refusal> {
        for (slot, begins) in &self.plan.conditions {
            let name = self.plan.name(*slot);
            let text = found.required_text(*slot, name)?;
            if !text.starts_with(begins.as_str()) {
                let detail = format!("The field {name:?} is {text:?}, which does not begin with {begins:?}.");
                return Err(Refusal::new(Reason::Foreign, detail));
            }
        }
        Ok(())
    }

    /// Reads the fields that give the document's terms; a term that only the key holds stays empty.
    fn read_fields(&self, found: &Found<'_, '_>, into: &mut Identity) -> Result<(), Refusal> {
        into.version = match self.plan.version {
            Some((slot, true)) if found.get(slot).is_none() => None,
            Some((slot, _)) => Some(found.version(slot, self.plan.name(slot))?),
            None => None,
        };
        if into.others.is_empty() {
            into.others.extend(self.plan.other_terms());
        }
        for (term, slot) in &self.plan.texts {
            match *slot {
                Some(slot) if found.get(slot).is_some() || !self.may_be_bare(term) => {
                    into.set(term, &found.required_text(slot, self.plan.name(slot))?);
                }
                _ => into.set(term, ""),
            }
        }
        Ok(())
    }

    fn may_be_bare(&self, term: &Term) -> bool {
        self.plan.bare.as_ref().is_some_and(|bare| bare.term == *term)
    }
}
