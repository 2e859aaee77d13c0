use std::borrow::Cow;

use super::found::Found;
use super::plan::{Bare, Place, Plan};
use crate::check::{Reason, Refusal};
use crate::key::{Escaping, Solution, Term};
use crate::layout::{FieldType, Identity, KeyState};

/// Finds out which of its two keys a document carries.
pub(super) struct StateReader<'i, 't, 'a> {
    pub plan: &'i Plan,
    pub found: &'i Found<'t, 'a>,
    pub escaping: Option<Escaping>,
    pub rendered: &'i mut String,
    pub scratch: &'i mut String,
}

impl<'a> StateReader<'_, '_, 'a> {
    /// Sets the state of a document whose fields have been read, and the bare term if only the key holds it.
    pub fn read(mut self, into: &mut Identity) -> Result<(), Refusal> {
        let plan = self.plan;
        let unread = |bare: &&Bare| bare.slot.is_none_or(|slot| self.found.get(slot).is_none());
        let known = match plan.bare.as_ref().filter(unread) {
            None => self.holds_legacy(into)? || self.read_tenant(plan.first_change, None, into)?,
            Some(bare) => self.read_bare(bare, into)?,
        };
        if known { Ok(()) } else { Err(self.mismatch(into)?) }
    }

    /// A key that can be taken apart into a tenant and the rest is rekeyed; any other is the term itself.
    fn read_bare(&mut self, bare: &Bare, into: &mut Identity) -> Result<bool, Refusal> {
        if self.read_tenant(bare.place, Some(&bare.term), into)? {
            return Ok(true);
        }
        let Some(place) = self.plan.places.get(bare.place) else { return Ok(false) };
        let key = self.text(place)?;
        let is_bare = |term: &Term| *term == bare.term;
        let unknown = |term: &Term| *term == Term::Tenant || is_bare(term);
        if self.escaping == Some(Escaping::Escaped)
            && place.rekeyed.solve(&key, &into.terms(""), Escaping::Raw, unknown, self.scratch).is_some()
        {
            // A key of the release that joins terms as they are: the other one would take it for legacy.
            return Ok(false);
        }
        match place.legacy.solve(&key, &into.terms(""), Escaping::Raw, is_bare, self.scratch) {
            Some(solution) => into.set(&bare.term, &solution.first),
            None => return Ok(false),
        }
        self.holds_legacy(into)
    }

    fn holds_legacy(&mut self, into: &mut Identity) -> Result<bool, Refusal> {
        into.state = KeyState::Legacy;
        for place in &self.plan.places {
            if !self.holds(place, None, "", into)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Solves one place for its tenant (and the bare term) and looks whether every place agrees.
    ///
    /// While nobody has said how terms are joined both ways are tried; two different answers are refused.
    fn read_tenant(&mut self, at: usize, bare: Option<&Term>, into: &mut Identity) -> Result<bool, Refusal> {
        let Some(place) = self.plan.places.get(at) else { return Ok(false) };
        let key = self.text(place)?;
        let unknown = |term: &Term| *term == Term::Tenant || Some(term) == bare;
        let mut reading: Option<Solution<'_>> = None;
        let stated = self.escaping;
        for escaping in stated.as_ref().map_or(Escaping::ALL.as_slice(), std::slice::from_ref) {
            let terms = into.terms("");
            let Some(solution) = place.rekeyed.solve(&key, &terms, *escaping, unknown, self.scratch) else {
                continue;
            };
            set_bare(bare, &solution, into);
            if !self.all_hold(*escaping, &solution.first, into)? {
                continue;
            }
            match &reading {
                Some(other) if *other != solution => return Err(ambiguous(&key)),
                _ => reading = Some(solution),
            }
        }
        let Some(solution) = reading else { return Ok(false) };
        set_bare(bare, &solution, into);
        into.state.set_tenant(&solution.first);
        Ok(true)
    }

    fn all_hold(&mut self, escaping: Escaping, tenant: &str, into: &Identity) -> Result<bool, Refusal> {
        for place in &self.plan.places {
            if !self.holds(place, Some(escaping), tenant, into)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a place holds what the fields say: the legacy key, or the one joined with `rekeyed`.
    fn holds(
        &mut self,
        place: &Place,
        rekeyed: Option<Escaping>,
        tenant: &str,
        identity: &Identity,
    ) -> Result<bool, Refusal> {
        if place.is == FieldType::Integer {
            let stored = self.found.version(place.slot, self.plan.name(place.slot))?;
            return Ok(Some(stored) == identity.version);
        }
        let stored = self.text(place)?;
        let template = if rekeyed.is_some() { &place.rekeyed } else { &place.legacy };
        self.rendered.clear();
        template.render(&identity.terms(tenant), rekeyed.unwrap_or(Escaping::Raw), self.rendered);
        Ok(*self.rendered == *stored)
    }

    fn text(&self, place: &Place) -> Result<Cow<'a, str>, Refusal> {
        self.found.required_text(place.slot, self.plan.name(place.slot))
    }

    /// Words for a key that is neither; names the first place that is not the legacy key.
    fn mismatch(&mut self, identity: &Identity) -> Result<Refusal, Refusal> {
        for place in &self.plan.places {
            if self.holds(place, None, "", identity)? {
                continue;
            }
            let name = self.plan.name(place.slot);
            let detail = if place.is == FieldType::Integer {
                let stored = self.found.integer(place.slot).unwrap_or_default();
                let version = identity.version.unwrap_or_default();
                format!("The field {name:?} is {stored}, but the document's version is {version}.")
            } else {
                let stored = self.text(place)?;
                format!(
                    "The field {name:?} is {stored:?}; the document's own fields make it {:?}, or that with a tenant.",
                    self.rendered
                )
            };
            return Ok(Refusal::new(Reason::KeyMismatch, detail));
        }
        let place = self.plan.places.first().map(|place| self.text(place)).transpose()?.unwrap_or_default();
        let detail = format!("The key {place:?} begins like a rekeyed one, but its terms are not escaped.");
        Ok(Refusal::new(Reason::KeyMismatch, detail))
    }
}

fn set_bare(bare: Option<&Term>, solution: &Solution<'_>, into: &mut Identity) {
    if let Some((term, text)) = bare.zip(solution.second.as_ref()) {
        into.set(term, text);
    }
}

fn ambiguous(key: &str) -> Refusal {
    Refusal::new(
        Reason::EscapingNeeded,
        format!("The key {key:?} names one tenant if terms are escaped and another if they are not."),
    )
}
