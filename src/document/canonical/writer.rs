//! What the canonical forms of all stores share.

use std::cmp::Ordering;

use crate::document::StoreKind;
use crate::document::json::{Kind, Member, Tape};
use crate::document::text::{unescape, write_quoted};

/// A value's members are needed, but the tape records none that deep.
#[derive(Clone, Copy, Debug)]
pub(super) struct TooShallow;

pub(super) type Written = Result<(), TooShallow>;

/// A member's place among its siblings, sorted by name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The beginning of the name, which mostly decides.
    prefix: u64,
    member: u32,
}

/// Writes canonical forms of the members of one line.
///
/// From a shallow tape it writes what it can and stops with [`TooShallow`] where it must look deeper.
pub(super) struct Writer<'t, 'w> {
    pub kind: StoreKind,
    pub tape: &'t Tape,
    pub line: &'t [u8],
    /// Members of the objects being written, in their sorted order, innermost object last.
    pub order: &'w mut Vec<Place>,
    pub out: &'w mut Vec<u8>,
}

impl<'t> Writer<'t, '_> {
    /// Writes the whole document, without the fields named.
    pub(super) fn document(&mut self, leave_out: &[String]) -> Written {
        match self.kind {
            StoreKind::MongoDb => self.mongodb_document(leave_out),
            StoreKind::DynamoDb => self.dynamodb_document(leave_out),
            StoreKind::Firestore => self.firestore_document(leave_out),
            StoreKind::CosmosDb => self.cosmosdb_document(leave_out),
        }
    }

    /// Writes the value of one field.
    pub(super) fn value(&mut self, value: &'t Member) -> Written {
        match self.kind {
            StoreKind::MongoDb => self.mongodb_value(value),
            StoreKind::DynamoDb => self.dynamodb_value(value),
            StoreKind::Firestore => self.firestore_value(value),
            StoreKind::CosmosDb => self.cosmosdb_value(value),
        }
    }

    /// Whether the value's bytes are known to be its canonical form, in whichever place it stands.
    fn stands(&self, value: &Member) -> bool {
        self.tape.is_compact()
            && match self.kind {
                StoreKind::MongoDb => self.mongodb_stands(),
                StoreKind::DynamoDb => self.typed(value).is_some_and(|typed| self.dynamodb_stands(typed)),
                StoreKind::Firestore => self.typed(value).is_some_and(|typed| self.firestore_stands(typed)),
                StoreKind::CosmosDb => self.cosmosdb_stands(value),
            }
    }

    /// The value inside a type wrapper, if it is recorded.
    fn typed(&self, value: &Member) -> Option<&'t Member> {
        self.only_child(value).ok().flatten()
    }

    /// The value's bytes as they stand in the line.
    pub(super) fn raw(&self, value: &Member) -> &'t [u8] {
        value.raw(self.line)
    }

    /// The text inside a string's quotes, escapes still in place.
    pub(super) fn inner(&self, string: &Member) -> &'t [u8] {
        let raw = self.raw(string);
        raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default()
    }

    /// Writes a scalar by its text, a string in its canonical escapes.
    pub(super) fn scalar(&mut self, value: &Member) {
        if value.kind == Kind::String {
            self.quoted(self.raw(value));
        } else {
            self.out.extend_from_slice(self.raw(value));
        }
    }

    /// Writes a member: its name, a colon, and its value.
    fn member(
        &mut self,
        member: &'t Member,
        write: &mut impl FnMut(&mut Self, &'t Member) -> Written,
    ) -> Written {
        if self.stands(member) {
            let bytes = self.line.get(member.name.start as usize..member.value.end as usize);
            self.out.extend_from_slice(bytes.unwrap_or_default());
            return Ok(());
        }
        self.name(member);
        write(self, member)
    }

    /// Writes a member's name and the colon behind it.
    pub(super) fn name(&mut self, member: &Member) {
        self.quoted(member.quoted_name(self.line));
        self.out.push(b':');
    }

    /// Writes a string, given with its quotes, in its canonical escapes.
    fn quoted(&mut self, quoted: &[u8]) {
        if self.tape.is_compact() {
            self.out.extend_from_slice(quoted);
        } else {
            write_quoted(&unescape(quoted), self.out);
        }
    }

    /// Writes the members of an object (the line's own if `None`) that `keep` keeps, sorted by name.
    pub(super) fn sorted(
        &mut self,
        of: Option<&'t Member>,
        keep: impl Fn(&Member) -> bool,
        mut write: impl FnMut(&mut Self, &'t Member) -> Written,
    ) -> Written {
        let tape = self.inside(of)?;
        let first = self.order.len();
        let line = self.line;
        let place = |member: &Member| Place { prefix: member.name_prefix(line), member: member.index };
        self.order.extend(tape.members(of).filter(|member| keep(member)).map(place));
        self.sort_by_name(first);
        self.out.push(b'{');
        for position in first..self.order.len() {
            let Some(member) = self.order.get(position).and_then(|place| tape.member(place.member)) else {
                break;
            };
            self.comma(position == first);
            self.member(member, &mut write)?;
        }
        self.out.push(b'}');
        self.order.truncate(first);
        Ok(())
    }

    /// Writes the members of an object (the line's own if `None`) that `keep` keeps, in their order.
    pub(super) fn in_order(
        &mut self,
        of: Option<&'t Member>,
        keep: impl Fn(&Member) -> bool,
        mut write: impl FnMut(&mut Self, &'t Member) -> Written,
    ) -> Written {
        self.out.push(b'{');
        let mut first = true;
        for member in self.inside(of)?.members(of).filter(|member| keep(member)) {
            self.comma(first);
            first = false;
            self.member(member, &mut write)?;
        }
        self.out.push(b'}');
        Ok(())
    }

    /// Writes the elements of an array in their order.
    pub(super) fn elements(
        &mut self,
        of: &'t Member,
        mut write: impl FnMut(&mut Self, &'t Member) -> Written,
    ) -> Written {
        self.out.push(b'[');
        let mut first = true;
        for element in self.inside(Some(of))?.members(Some(of)) {
            self.comma(first);
            first = false;
            write(self, element)?;
        }
        self.out.push(b']');
        Ok(())
    }

    /// Writes a value of unknown meaning: names sorted, everything else by its text.
    pub(super) fn untyped(&mut self, value: &'t Member) -> Written {
        match value.kind {
            Kind::Object => self.sorted(Some(value), |_| true, Self::untyped),
            Kind::Array => self.elements(value, Self::untyped),
            _ => {
                self.scalar(value);
                Ok(())
            }
        }
    }

    /// The only member of an object; `None` for other objects and other values.
    pub(super) fn only_child(&self, value: &Member) -> Result<Option<&'t Member>, TooShallow> {
        if value.kind != Kind::Object {
            return Ok(None);
        }
        Ok(self.inside(Some(value))?.only_child(value))
    }

    /// The tape, if it records what is inside the value.
    pub(super) fn inside(&self, value: Option<&Member>) -> Result<&'t Tape, TooShallow> {
        match value {
            Some(value) if !self.tape.records_inside(value) => Err(TooShallow),
            _ => Ok(self.tape),
        }
    }

    fn comma(&mut self, first: bool) {
        if !first {
            self.out.push(b',');
        }
    }

    fn sort_by_name(&mut self, first: usize) {
        let (tape, line) = (self.tape, self.line);
        let compare = |a: &Place, b: &Place| {
            a.prefix.cmp(&b.prefix).then_with(|| match (tape.member(a.member), tape.member(b.member)) {
                (Some(left), Some(right)) => left.compare_names(right, line).then(a.member.cmp(&b.member)),
                _ => Ordering::Equal,
            })
        };
        let Some(order) = self.order.get_mut(first..) else { return };
        if !order.is_sorted_by(|a, b| compare(a, b).is_le()) {
            order.sort_unstable_by(compare);
        }
    }
}
