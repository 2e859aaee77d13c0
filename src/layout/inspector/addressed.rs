use super::Inspector;
use super::sort_key::Values;
use crate::check::Refusal;
use crate::document::StoreKey;
use crate::document::json::Tape;

/// What whoever writes a document asks of it, found with one look at its fields.
#[derive(Debug)]
pub struct Addressed {
    /// As [`Inspector::store_key`] gives it.
    pub store_key: Result<StoreKey, Refusal>,
    /// As [`Inspector::display_key`] gives it.
    pub shown: String,
    /// Its version; `None` where it has none that is a number from 0 on.
    pub version: Option<i64>,
    /// As [`Inspector::expires_at`] gives it.
    pub expires_at: Option<i64>,
}

impl Inspector {
    /// Finds where a document belongs, what it is called, and how long it lives.
    ///
    /// Whether it is of the layout is not looked at: [`inspect`](Self::inspect) has done that before.
    pub fn addressed(&self, tape: &Tape, line: &[u8]) -> Addressed {
        match self.outline(tape, line) {
            Ok(None) => {}
            Ok(Some(outline)) => return self.addressed(&outline.tape, &outline.line),
            Err(refusal) => return Addressed::unknown(refusal),
        }
        let found = match self.plan.find(tape, line) {
            Ok(found) => found,
            Err(refusal) => return Addressed::unknown(refusal),
        };
        Addressed {
            store_key: self.store_key_of(&found, Values::Stored),
            shown: self.shown(&found, Values::Stored).into_owned(),
            version: self.plan.version.and_then(|(slot, _)| found.integer(slot)).filter(|it| *it >= 0),
            expires_at: self.plan.expires.and_then(|slot| found.integer(slot)),
        }
    }
}

impl Addressed {
    fn unknown(refusal: Refusal) -> Self {
        Self { store_key: Err(refusal), shown: String::new(), version: None, expires_at: None }
    }
}
