use super::Inspector;
use super::found::Found;
use super::sort_key::Values;
use super::splice::{Edit, cut, is_sorted};
use crate::check::{Reason, Refusal};
use crate::document::StoreKind;
use crate::document::json::{Member, Tape};
use crate::key::{Escaping, Part, Template, Terms, needs_escaping};
use crate::layout::{Identity, KeyState, StoredOwner, When};

impl Inspector {
    /// Appends the document with its key, and what else the layout fills in, as `tenant`'s.
    ///
    /// Every byte of the line that is not one of the layout's changes stays as it is. A field that is added
    /// goes last; on DynamoDB to its sorted place if the names are sorted. Nothing is appended on an error.
    ///
    /// # Errors
    /// A document that is rekeyed already, names another owner (unless that is to be replaced), holds a term
    /// that the two escapings write differently while none is stated, or goes over the store's limits.
    pub fn rewrite(
        &mut self,
        tape: &Tape,
        line: &[u8],
        identity: &Identity,
        tenant: &str,
        owner: StoredOwner,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        if let Some(outline) = self.outline(tape, line)? {
            return self.rewrite_escaped(&outline, identity, tenant, owner, out);
        }
        check_rewritable(identity, tenant, owner)?;
        let found = self.plan.find(tape, line)?;
        let escaping_matters = self.render(&identity.terms(tenant))?;
        self.check_limits(&found, Values::New)?;
        self.plan_edits(&found);
        let start = out.len();
        self.splice(line, out);
        self.check_size(out.get(start..).unwrap_or_default()).inspect_err(|_| out.truncate(start))?;
        self.escaping_mattered |= escaping_matters;
        Ok(())
    }

    /// Appends a document that is rekeyed already as it is, without what a server writes itself.
    ///
    /// # Errors
    /// A document whose fields are not found.
    pub fn carry_over(
        &mut self,
        tape: &Tape,
        line: &[u8],
        identity: &Identity,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let outline = self.outline(tape, line)?;
        let terms = identity.terms(identity.tenant().unwrap_or_default());
        if self.escaping.is_none() {
            for place in &self.plan.places {
                let _either = check_unneeded(&place.rekeyed, &terms)?;
            }
        }
        self.escaping_mattered |= self.plan.places.iter().any(|place| place.rekeyed.escaping_matters(&terms));
        if let Some(outline) = outline {
            return self.push_escaped(&outline.bson, out);
        }
        let found = self.plan.find(tape, line)?;
        self.edits.clear();
        self.plan_cuts(&found);
        self.splice(line, out);
        Ok(())
    }

    /// Renders what the places and the set fields will hold; tells whether the escaping mattered.
    pub(super) fn render(&mut self, terms: &Terms<'_>) -> Result<bool, Refusal> {
        let mut escaping_matters = false;
        let places = self.plan.places.iter().map(|place| &place.rekeyed);
        let sets = self.plan.sets.iter().map(|set| &set.value);
        for (template, new) in places.chain(sets).zip(&mut self.new) {
            let escaping = match self.escaping {
                Some(escaping) => escaping,
                None => check_unneeded(template, terms)?,
            };
            escaping_matters |= template.escaping_matters(terms);
            new.clear();
            template.render(terms, escaping, new);
        }
        Ok(escaping_matters)
    }

    fn plan_edits(&mut self, found: &Found<'_, '_>) {
        self.edits.clear();
        let plan = &self.plan;
        for (value, place) in plan.places.iter().enumerate().filter(|(_, place)| place.changes) {
            let Some(member) = found.get(place.slot) else { continue };
            self.edits.push(if found.id_slot == Some(place.slot) {
                Edit::document_id(member, found.line, value)
            } else {
                Edit::text(member, value)
            });
        }
        let mut sorted = None;
        for (number, set) in plan.sets.iter().enumerate() {
            let value = plan.places.len() + number;
            let Some(member) = found.get(set.slot) else {
                let sorted =
                    plan.store == StoreKind::DynamoDb && *sorted.get_or_insert_with(|| is_sorted(found));
                self.edits.extend(Edit::add(found, sorted, plan.name(set.slot), set.slot, value));
                continue;
            };
            let stands =
                found.text(set.slot).is_some_and(|text| self.new.get(value).is_some_and(|new| *new == text));
            if set.when == When::Always && !stands {
                self.edits.push(Edit::text(member, value));
            }
        }
        self.plan_cuts(found);
    }

    fn plan_cuts(&mut self, found: &Found<'_, '_>) {
        let plan = &self.plan;
        if !plan.drop.is_empty() {
            // What a server writes itself stands at the top of the line: beside the fields, or among them.
            let is_cut = |member: &Member| plan.drop.find(member, found.line).is_some();
            cut(found.tape.members(None), is_cut, &mut self.edits);
        }
    }
}

pub(super) fn check_rewritable(identity: &Identity, tenant: &str, owner: StoredOwner) -> Result<(), Refusal> {
    if let KeyState::Rekeyed { tenant } = &identity.state {
        let detail = format!("The document's key is already that of the tenant {tenant:?}.");
        return Err(Refusal::new(Reason::AlreadyRekeyed, detail));
    }
    if tenant.is_empty() {
        return Err(Refusal::new(Reason::TenantInvalid, "The tenant is empty."));
    }
    match identity.stored_owner.iter().find(|stored| *stored != tenant) {
        Some(stored) if owner == StoredOwner::Refuse => {
            let detail =
                format!("The document names the owner {stored:?}; the tenant assigned is {tenant:?}.");
            Err(Refusal::new(Reason::OwnerMismatch, detail))
        }
        _ => Ok(()),
    }
}

/// Finds that both escapings give one key, and names one of them.
fn check_unneeded(template: &Template, terms: &Terms<'_>) -> Result<Escaping, Refusal> {
    for part in template.parts() {
        let Part::Term { term, escaped: true } = part else { continue };
        if let Some(text) = terms.text(term).filter(|text| needs_escaping(text)) {
            let detail = format!("The {} {text:?} holds `:` or `%`.", term.name());
            return Err(Refusal::new(Reason::EscapingNeeded, detail));
        }
    }
    Ok(Escaping::Raw)
}
