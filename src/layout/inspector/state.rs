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
        if let Some(bare) = plan.bare.as_ref().filter(unread) {
            return self.read_bare(bare, into);
        }
        if self.is_legacy(into)? || self.read_tenant(plan.first_change, None, into)? {
            return Ok(());
        }
        Err(self.mismatch(into)?)
    }

    /// A key that can be taken apart into a tenant and the rest is rekeyed; any other is the term itself.
    fn read_bare(&mut self, bare: &Bare, into: &mut Identity) -> Result<(), Refusal> {
        if self.read_tenant(bare.place, Some(&bare.term), into)? {
            return Ok(());
        }
        let Some(place) = self.plan.places.get(bare.place) else { return Ok(()) };
        let key = self.text(place)?;
        let is_bare = |term: &Term| *term == bare.term;
        let unknown = |term: &Term| *term == Term::Tenant || is_bare(term);
        if self.escaping == Some(Escaping::Escaped)
            && place.rekeyed.solve(&key, &into.terms(""), Escaping::Raw, unknown, self.scratch).is_some()
        {
            // The release that escapes terms cannot find it, and its probe takes it for rekeyed.
            let detail = format!("The key {key:?} is rekeyed, but its terms are not escaped.");
            return Err(Refusal::new(Reason::KeyMismatch, detail));
        }
        into.set(&bare.term, "");
        if let Some(term) = place.legacy.solve(&key, &into.terms(""), Escaping::Raw, is_bare, self.scratch) {
            into.set(&bare.term, &term.first);
        }
        if self.is_legacy(into)? { Ok(()) } else { Err(self.mismatch(into)?) }
    }

    fn is_legacy(&mut self, into: &mut Identity) -> Result<bool, Refusal> {
        let legacy = self.all_hold(None, "", into)?;
        if legacy {
            into.state = KeyState::Legacy;
        }
        Ok(legacy)
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
            if !self.all_hold(Some(*escaping), &solution.first, into)? {
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

    /// Whether every place holds what the fields say: the legacy key, or the one joined as `rekeyed`.
    fn all_hold(
        &mut self,
        rekeyed: Option<Escaping>,
        tenant: &str,
        identity: &Identity,
    ) -> Result<bool, Refusal> {
        for place in &self.plan.places {
            if !self.holds(place, rekeyed, tenant, identity)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

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

    /// Words for a key that is neither; names the first place that is not the legacy key, those first that
    /// are the same in both.
    fn mismatch(&mut self, identity: &Identity) -> Result<Refusal, Refusal> {
        let places = &self.plan.places;
        for place in places.iter().filter(|it| !it.changes).chain(places.iter().filter(|it| it.changes)) {
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
        // Every place holds what the fields say, so that this is not asked.
        Ok(Refusal::new(Reason::KeyMismatch, "The key is not what the document's own fields say."))
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
