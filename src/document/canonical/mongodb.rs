//! MongoDB: order is part of a document, and every type has its own wrapper.

use super::writer::{Writer, Written};
use crate::document::double;
use crate::document::json::{Kind, Member, Tape};
use crate::document::text::unescape;

/// Whether a line is its own canonical form.
pub(super) fn stands(tape: &Tape) -> bool {
    tape.is_compact() && !tape.traits().dollar_number_d
}

impl<'t> Writer<'t, '_> {
    pub(super) fn mongodb_document(&mut self, leave_out: &[&str]) -> Written {
        let line = self.line;
        self.in_order(None, |field| !field.is_one_of(line, leave_out), Self::mongodb_value)
    }

    /// Writes a value of canonical Extended JSON. Only `$numberDouble` has several texts for one value.
    ///
    /// `$numberDecimal` keeps its text, since `1` and `1.0` are two decimals to MongoDB.
    pub(super) fn mongodb_value(&mut self, value: &'t Member) -> Written {
        match value.kind {
            Kind::Object => match self.only_child(value)? {
                Some(number)
                    if number.kind == Kind::String && number.is_named(self.line, "$numberDouble") =>
                {
                    self.mongodb_double(number);
                    Ok(())
                }
                _ => self.in_order(Some(value), |_| true, Self::mongodb_value),
            },
            Kind::Array => self.elements(value, Self::mongodb_value),
            _ => {
                self.scalar(value);
                Ok(())
            }
        }
    }

    fn mongodb_double(&mut self, number: &Member) {
        self.out.extend_from_slice(br#"{"$numberDouble":"#);
        match double::parse(&unescape(self.raw(number))) {
            Some(value) => {
                self.out.push(b'"');
                double::write(value, self.out);
                self.out.push(b'"');
            }
            None => self.scalar(number),
        }
        self.out.push(b'}');
    }
}
