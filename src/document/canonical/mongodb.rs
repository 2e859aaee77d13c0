//! MongoDB: order is part of a document, and every type has its own wrapper.

use super::writer::{Writer, Written};
use crate::document::bson::{self, Outline};
use crate::document::json::{Kind, Member, Tape};
use crate::document::text::unescape;
use crate::document::{StoreKind, double};

/// Whether a line is its own canonical form.
pub(super) fn stands(tape: &Tape) -> bool {
    tape.is_compact() && !tape.traits().dollar_number_d
}

/// Appends an escape record without some fields; `false` if the line is none, or none are to be left out.
///
/// What is left may be a document that Extended JSON carries: it then has that form, as the rest of an
/// ordinary document has.
pub(super) fn write_escaped_without(
    kind: StoreKind,
    tape: &Tape,
    line: &[u8],
    leave_out: &[impl AsRef<str>],
    out: &mut Vec<u8>,
) -> bool {
    if leave_out.is_empty() {
        return false;
    }
    let Ok(Some(outline)) = Outline::of(kind, tape, line) else { return false };
    let mut rest = Vec::with_capacity(outline.bson.len());
    if bson::without(&outline.bson, leave_out, &mut rest).is_err() {
        return false;
    }
    bson::write_line(&rest, out);
    true
}

impl<'t> Writer<'t, '_> {
    pub(super) fn mongodb_stands(&self) -> bool {
        stands(self.tape)
    }

    pub(super) fn mongodb_document(&mut self, leave_out: &[String]) -> Written {
        let line = self.line;
        let keep = |field: &Member| !field.is_one_of(line, leave_out);
        if stands(self.tape) {
            self.standing(keep);
            return Ok(());
        }
        self.in_order(None, keep, Self::mongodb_value)
    }

    /// Writes the fields that `keep` keeps of a line that is its own canonical form: neighbours at once, with
    /// the comma between them.
    fn standing(&mut self, keep: impl Fn(&Member) -> bool) {
        let (line, start) = (self.line, self.out.len());
        let mut run = 0..0;
        for field in self.tape.members(None) {
            if keep(field) {
                if run.is_empty() {
                    run.start = field.name.start as usize;
                }
                run.end = field.value.end as usize;
            } else {
                self.run(line.get(std::mem::take(&mut run)), start);
            }
        }
        self.run(line.get(run), start);
        if self.out.len() == start {
            self.out.push(b'{');
        }
        self.out.push(b'}');
    }

    /// Writes some members, and what stands before them in an object that began at `start`.
    fn run(&mut self, members: Option<&[u8]>, start: usize) {
        if let Some(members) = members.filter(|members| !members.is_empty()) {
            self.out.push(if self.out.len() == start { b'{' } else { b',' });
            self.out.extend_from_slice(members);
        }
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
