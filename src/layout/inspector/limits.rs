use super::Inspector;
use super::found::Found;
use super::plan::Limit;
use super::sort_key::Values;
use crate::check::{Reason, Refusal};
use crate::document::json::Tape;
use crate::document::size::{size_bound, stored_size};

impl Inspector {
    /// Checks a document as it is against the store's limits.
    ///
    /// # Errors
    /// `key-too-long`, `key-forbidden` and `document-too-large`; a document whose fields are not found.
    pub fn check_stored(&mut self, tape: &Tape, line: &[u8]) -> Result<(), Refusal> {
        if let Some(outline) = self.outline(tape, line)? {
            let found = self.plan.find(&outline.tape, &outline.line)?;
            self.check_limits(&found, Values::Stored)?;
            return self.check_size(line);
        }
        let found = self.plan.find(tape, line)?;
        self.check_limits(&found, Values::Stored)?;
        self.check_size(line)
    }

    /// Checks the values of a document, those stored or those that the rewrite rendered into `self.new`.
    pub(super) fn check_limits(&self, found: &Found<'_, '_>, values: Values) -> Result<(), Refusal> {
        for limit in &self.plan.limits {
            let mut bytes = 0;
            for slot in &limit.slots {
                let Some(value) = self.text_of(found, *slot, values) else { continue };
                bytes += value.len();
                self.check_forbidden(limit, *slot, &value)?;
            }
            if bytes > limit.max_bytes {
                let names: Vec<_> = limit.slots.iter().map(|slot| self.plan.name(*slot)).collect();
                let detail = format!(
                    "The new value of {} has {bytes} bytes; {} allows {}.",
                    names.join(", "),
                    self.plan.store.title(),
                    limit.max_bytes
                );
                return Err(Refusal::new(Reason::KeyTooLong, detail));
            }
        }
        Ok(())
    }

    fn check_forbidden(&self, limit: &Limit, slot: usize, value: &str) -> Result<(), Refusal> {
        let forbidden = |what: &str| {
            let name = self.plan.name(slot);
            let detail = format!("The new value {value:?} of {name} {what}.");
            Err(Refusal::new(Reason::KeyForbidden, detail))
        };
        let store = self.plan.store.title();
        if !limit.forbidden_characters.is_empty()
            && let Some(character) = value.chars().find(|it| limit.forbidden_characters.contains(it))
        {
            return forbidden(&format!("holds {character:?}, which {store} forbids"));
        }
        match limit.forbidden_values.iter().find(|pattern| matches(pattern, value)) {
            Some(pattern) => forbidden(&format!("is of the form {pattern:?}, which {store} reserves")),
            None => Ok(()),
        }
    }

    /// Checks the size of a rewritten document.
    pub(super) fn check_size(&mut self, line: &[u8]) -> Result<(), Refusal> {
        if size_bound(self.plan.store, line.len()) <= self.plan.max_bytes {
            return Ok(());
        }
        // Only a document that could be too large is worth a second reading.
        self.inner_tape.read(line).map_err(|error| {
            Refusal::new(Reason::Malformed, format!("The rewritten document has {error}."))
        })?;
        let bytes = stored_size(self.plan.store, &self.inner_tape, line);
        if bytes <= self.plan.max_bytes {
            return Ok(());
        }
        let detail = format!(
            "The rewritten document has {bytes} bytes; {} allows {}.",
            self.plan.store.title(),
            self.plan.max_bytes
        );
        Err(Refusal::new(Reason::DocumentTooLarge, detail))
    }
}

/// Whether a value is of a form in which one `*` stands for any text.
fn matches(pattern: &str, value: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == value,
        Some((before, after)) => value.strip_prefix(before).is_some_and(|rest| rest.ends_with(after)),
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn reserved_ids_are_recognized() {
        assert!(matches("__*__", "__default__"));
        assert!(matches("__*__", "____"));
        assert!(!matches("__*__", "___"));
        assert!(matches("..", ".."));
        assert!(!matches(".", ".."));
    }
}
