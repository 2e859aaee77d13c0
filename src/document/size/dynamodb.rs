use super::{Measure, Size, length};
use crate::document::decimal::Decimal;
use crate::document::json::{Kind, Member};

impl<'t> Measure<'t> {
    /// The size of an item: every attribute's name and value.
    ///
    /// [Item sizes and formats](https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html).
    /// The limit of 400 KB counts the same way.
    pub(super) fn dynamodb_item(&self) -> Size {
        let item = self.tape.find(self.line, None, "Item").filter(|item| item.kind == Kind::Object);
        self.sum(item, |measure, attribute| Ok(measure.name(attribute) + measure.attribute(attribute)?))
    }

    /// A value: the bytes of strings and binaries, 1 for Booleans and null, 3 for a list or map and 1 more
    /// for each of its elements.
    ///
    /// Nothing is documented for sets, so they are counted like lists, the larger of the plausible sizes.
    fn attribute(&self, value: &'t Member) -> Size {
        let Some(typed) = self.only_child(value)? else { return Ok(length(value.raw(self.line).len())) };
        let of = Some(typed);
        Ok(match (&*typed.name_bytes(self.line), typed.kind) {
            (b"S", _) => self.utf8(typed),
            (b"N", _) => self.number(typed),
            (b"B", _) => self.binary(typed),
            (b"BOOL" | b"NULL", _) => 1,
            (b"SS", Kind::Array) => 3 + self.sum(of, |measure, element| Ok(1 + measure.utf8(element)))?,
            (b"NS", Kind::Array) => 3 + self.sum(of, |measure, element| Ok(1 + measure.number(element)))?,
            (b"BS", Kind::Array) => 3 + self.sum(of, |measure, element| Ok(1 + measure.binary(element)))?,
            (b"L", Kind::Array) => {
                3 + self.sum(of, |measure, element| Ok(1 + measure.attribute(element)?))?
            }
            (b"M", Kind::Object) => {
                3 + self
                    .sum(of, |measure, member| Ok(1 + measure.name(member) + measure.attribute(member)?))?
            }
            _ => length(value.raw(self.line).len()),
        })
    }

    /// A number: about a byte for two significant digits, and one byte.
    ///
    /// Rounded up to the safe side: pairs of digits are taken to be aligned to the decimal point, and a
    /// minus sign to cost a byte.
    fn number(&self, value: &Member) -> u64 {
        let text = self.text(value);
        let Some(number) = Decimal::parse(&text) else { return length(text.len()) };
        let misaligned = usize::from(number.point() % 2 != 0);
        let pairs = (number.significant_digits() + misaligned).div_ceil(2);
        length(pairs) + 1 + u64::from(number.is_negative())
    }
}
