//! Documents that stand as escape records: read by their outline, changed as BSON.

use super::Inspector;
use super::found::Found;
use super::rewrite::check_rewritable;
use super::sort_key::Values;
use crate::check::{Reason, Refusal};
use crate::document::bson::{self, NotBson, Outline};
use crate::document::json::Tape;
use crate::layout::{Identity, StoredOwner, When};

impl Inspector {
    /// The outline of an escape record; `None` for every other line.
    ///
    /// # Errors
    /// A record that holds no document, or one in which a field that the layout reads stands twice.
    pub(super) fn outline(&self, tape: &Tape, line: &[u8]) -> Result<Option<Outline>, Refusal> {
        let outline = Outline::of(self.plan.store, tape, line)?;
        let mut repeated = outline.iter().flat_map(|outline| &outline.repeated);
        match repeated.find(|name| self.plan.names.slot(name).is_some()) {
            Some(name) => {
                Err(Refusal::new(Reason::DuplicateName, format!("The field {name:?} stands twice.")))
            }
            None => Ok(outline),
        }
    }

    /// [`rewrite`](Self::rewrite) of such a document. What is left may be one that its store's form carries,
    /// and then stands in that form.
    pub(super) fn rewrite_escaped(
        &mut self,
        outline: &Outline,
        identity: &Identity,
        tenant: &str,
        owner: StoredOwner,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        check_rewritable(identity, tenant, owner)?;
        let found = self.plan.find(&outline.tape, &outline.line)?;
        let escaping_matters = self.render(&identity.terms(tenant))?;
        self.check_limits(&found, Values::New)?;
        let mut document = outline.bson.clone();
        for (slot, value) in self.changes(&found) {
            let text = self.new.get(value).map_or("", String::as_str);
            let mut changed = Vec::with_capacity(document.len() + text.len() + 32);
            bson::with_text(&document, self.plan.name(slot), text, &mut changed).map_err(broken)?;
            document = changed;
        }
        self.push_escaped(&document, out)?;
        self.escaping_mattered |= escaping_matters;
        Ok(())
    }

    /// Appends a document without what a server writes itself, in the form that carries it.
    pub(super) fn push_escaped(&mut self, document: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
        let mut kept = Vec::with_capacity(document.len());
        let drop: Vec<&str> = self.plan.drop.iter().collect();
        bson::without(document, &drop, &mut kept).map_err(broken)?;
        let start = out.len();
        bson::write_line(&kept, out);
        self.check_size(out.get(start..).unwrap_or_default()).inspect_err(|_| out.truncate(start))
    }

    /// The slots of the fields that change or are added, each with the position of its value in `self.new`.
    fn changes(&self, found: &Found<'_, '_>) -> Vec<(usize, usize)> {
        let places = self.plan.places.iter().enumerate().filter(|(_, place)| place.changes);
        let places = places.map(|(value, place)| (place.slot, value));
        let sets = self.plan.sets.iter().enumerate();
        let sets = sets.map(|(number, set)| (set.slot, set.when, self.plan.places.len() + number));
        let wanted = |when, slot| when == When::Always || found.get(slot).is_none();
        let sets = sets.filter(|(slot, when, _)| wanted(*when, *slot)).map(|(slot, _, value)| (slot, value));
        places.chain(sets).collect()
    }
}

fn broken(error: NotBson) -> Refusal {
    Refusal::new(Reason::EscapeRecord, error.to_string())
}
