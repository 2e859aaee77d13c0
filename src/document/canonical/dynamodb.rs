//! DynamoDB: attributes and sets have no order, numbers are decimals of up to 38 digits.

use super::writer::{Writer, Written};
use crate::document::base64_text;
use crate::document::decimal::{Decimal, is_plain_integer};
use crate::document::json::{Kind, Member};
use crate::document::text::{unescape, write_quoted};

impl<'t> Writer<'t, '_> {
    pub(super) fn dynamodb_document(&mut self, leave_out: &[String]) -> Written {
        let line = self.line;
        self.sorted(
            None,
            |_| true,
            |writer, member| {
                if member.kind == Kind::Object && member.is_named(line, "Item") {
                    let keep = |attribute: &Member| !attribute.is_one_of(line, leave_out);
                    writer.sorted(Some(member), keep, Self::dynamodb_value)
                } else {
                    writer.untyped(member)
                }
            },
        )
    }

    /// Whether a value inside its type wrapper is certainly in canonical form.
    pub(super) fn dynamodb_stands(&self, typed: &Member) -> bool {
        match (&*typed.name_bytes(self.line), typed.kind) {
            (b"S", Kind::String) | (b"BOOL" | b"NULL", Kind::Bool) => true,
            (b"N", Kind::String) => is_plain_integer(self.inner(typed)),
            _ => false,
        }
    }

    /// Writes an attribute value: an object whose only member is called by its type.
    pub(super) fn dynamodb_value(&mut self, value: &'t Member) -> Written {
        let Some(typed) = self.only_child(value)? else { return self.untyped(value) };
        self.out.push(b'{');
        self.name(typed);
        match (&*typed.name_bytes(self.line), typed.kind) {
            (b"N", Kind::String) => self.dynamodb_number(typed),
            (b"B", Kind::String) => self.base64(typed),
            (b"SS", Kind::Array) => self.set(typed, Self::scalar)?,
            (b"NS", Kind::Array) => self.set(typed, Self::dynamodb_number)?,
            (b"BS", Kind::Array) => self.set(typed, Self::base64)?,
            (b"L", Kind::Array) => self.elements(typed, Self::dynamodb_value)?,
            (b"M", Kind::Object) => self.sorted(Some(typed), |_| true, Self::dynamodb_value)?,
            _ => self.untyped(typed)?,
        }
        self.out.push(b'}');
        Ok(())
    }

    /// Writes the text of a number by its value: `1.50` is `1.5`, `1E+2` is `100`, `-0` is `0`.
    ///
    /// [The service trims zeros](https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html#HowItWorks.DataTypes.Number)
    /// at both ends and keeps every one of the 38 digits it allows.
    fn dynamodb_number(&mut self, number: &Member) {
        if number.kind != Kind::String {
            return self.scalar(number);
        }
        let text = unescape(self.raw(number));
        match Decimal::parse(&text) {
            Some(decimal) => {
                self.out.push(b'"');
                decimal.unsigned_zero().write(self.out);
                self.out.push(b'"');
            }
            None => self.scalar(number),
        }
    }

    /// Writes base64 text in its one padded form in the standard alphabet.
    pub(super) fn base64(&mut self, binary: &Member) {
        if binary.kind != Kind::String {
            return self.scalar(binary);
        }
        let text = unescape(self.raw(binary));
        match base64_text::decode(&text) {
            Some(bytes) => write_quoted(&base64_text::encode(&bytes), self.out),
            None => self.scalar(binary),
        }
    }

    /// Writes the elements of a set, sorted by their forms. Repeated ones stay: the store takes no such set.
    fn set(&mut self, set: &'t Member, write: fn(&mut Self, &Member)) -> Written {
        let start = self.out.len();
        let mut forms = Vec::new();
        self.elements(set, |writer, element| {
            let start = writer.out.len();
            if element.kind == Kind::String {
                write(writer, element);
            } else {
                writer.untyped(element)?;
            }
            forms.push(writer.out.get(start..).unwrap_or_default().to_vec());
            Ok(())
        })?;
        forms.sort_unstable();
        self.out.truncate(start);
        self.out.push(b'[');
        self.out.extend(forms.join(&b','));
        self.out.push(b']');
        Ok(())
    }
}
