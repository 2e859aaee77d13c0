use super::{Measure, Size, length};
use crate::document::canonical::is_system_field;
use crate::document::json::{Kind, Member};
use crate::document::text::write_quoted;

impl<'t> Measure<'t> {
    /// The UTF-8 bytes of the compact JSON without what the service adds.
    ///
    /// [Per-item limits](https://learn.microsoft.com/azure/cosmos-db/concepts-limits#per-item-limits):
    /// an item may be 2 MB, as the UTF-8 length of its JSON representation.
    pub(super) fn cosmosdb_item(&self) -> Size {
        let mut total = 2;
        let mut first = true;
        for field in self.tape.members(None) {
            if is_system_field(field, self.line) {
                continue;
            }
            total += u64::from(!first) + self.member(field)?;
            first = false;
        }
        Ok(total)
    }

    /// A member of an object: name, colon, value.
    fn member(&self, member: &'t Member) -> Size {
        Ok(self.quoted(member.quoted_name(self.line)) + 1 + self.json(member)?)
    }

    fn json(&self, value: &'t Member) -> Size {
        let raw = value.raw(self.line);
        if self.tape.is_compact() {
            return Ok(length(raw.len()));
        }
        let contents = match value.kind {
            Kind::Object => self.sum(Some(value), |measure, member| Ok(measure.member(member)? + 1))?,
            Kind::Array => self.sum(Some(value), |measure, element| Ok(measure.json(element)? + 1))?,
            Kind::String => return Ok(self.quoted(raw)),
            _ => return Ok(length(raw.len())),
        };
        Ok(if contents == 0 { 2 } else { contents + 1 })
    }

    /// The length of a string, given with its quotes, in its shortest escapes.
    fn quoted(&self, quoted: &[u8]) -> u64 {
        if self.tape.is_compact() {
            return length(quoted.len());
        }
        let mut shortest = Vec::new();
        write_quoted(&crate::document::text::unescape(quoted), &mut shortest);
        length(shortest.len())
    }
}
