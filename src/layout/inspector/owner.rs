use super::Inspector;
use super::found::Found;
use crate::check::{Reason, Refusal};
use crate::document::json::{JsonError, Kind, Tape};
use crate::document::text::unescape;
use crate::layout::FieldPath;

impl Inspector {
    /// Reads the owners the document names; null, absent and empty ones are none.
    pub(super) fn read_owners(
        &mut self,
        found: &Found<'_, '_>,
        into: &mut Vec<String>,
    ) -> Result<(), Refusal> {
        into.clear();
        for (slot, path) in &self.plan.owners {
            if found.is_empty(*slot) {
                continue;
            }
            let owner = if path.names().is_empty() {
                found.required_text(*slot, path.field())?.into_owned()
            } else {
                owner_inside(found, *slot, path, &mut self.inner_tape)?
            };
            if !owner.is_empty() {
                into.push(owner);
            }
        }
        Ok(())
    }
}

/// Reads an owner from the JSON object in a field; empty if there is none or the field holds no JSON object.
fn owner_inside(
    found: &Found<'_, '_>,
    slot: usize,
    path: &FieldPath,
    tape: &mut Tape,
) -> Result<String, Refusal> {
    let Some(field) = found.get(slot) else { return Ok(String::new()) };
    let Some(json) = found.store.embedded_json(found.tape, found.line, field) else {
        return Ok(String::new());
    };
    tape.read(&json).map_err(|error| unreadable(path, &error))?;
    let mut place = None;
    for name in path.names() {
        match tape.find(&json, place, name) {
            Some(member) => place = Some(member),
            None => return Ok(String::new()),
        }
    }
    match place {
        None => Ok(String::new()),
        Some(owner) if owner.kind == Kind::Null => Ok(String::new()),
        Some(owner) if owner.kind == Kind::String => Ok(unescape(owner.raw(&json)).into_owned()),
        Some(_) => Err(Refusal::new(Reason::FieldType, format!("The owner at {path} is no string."))),
    }
}

/// An object that cannot be read strictly may name an owner: it is not passed over.
fn unreadable(path: &FieldPath, error: &JsonError) -> Refusal {
    let reason = if error.duplicate { Reason::DuplicateName } else { Reason::Malformed };
    Refusal::new(reason, format!("The JSON in the field {:?} has {error}.", path.field()))
}
