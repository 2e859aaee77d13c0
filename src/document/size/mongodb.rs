use super::{Measure, Size, TooShallow};
use crate::document::json::{Kind, Member};

/// A length and the terminating zero of a BSON string.
const STRING_FRAME: u64 = 4 + 1;
const DOCUMENT_FRAME: u64 = 4 + 1;
/// The length and subtype of a BSON binary.
const BINARY_FRAME: u64 = 4 + 1;
const OBJECT_ID: u64 = 12;

impl<'t> Measure<'t> {
    /// The size of a document (the line's own if `None`) as BSON, from its canonical Extended JSON.
    ///
    /// [BSON specification](https://bsonspec.org/spec.html): a type byte and a zero-terminated name before
    /// every value; an array is a document whose names are its indexes in decimal.
    pub(super) fn bson_document(&self, of: Option<&'t Member>) -> Size {
        if of.is_none()
            && let Some(raw) = self.tape.find(self.line, None, "$rawBson")
        {
            return Ok(self.binary(raw));
        }
        let elements =
            self.sum(of, |measure, member| Ok(1 + measure.name(member) + 1 + measure.bson_value(member)?))?;
        Ok(DOCUMENT_FRAME + elements)
    }

    fn bson_array(&self, of: &'t Member) -> Size {
        let mut total = DOCUMENT_FRAME;
        for (index, element) in self.inside(Some(of))?.members(Some(of)).enumerate() {
            let digits = u64::from(index.checked_ilog10().unwrap_or(0)) + 1;
            total += 1 + digits + 1 + self.bson_value(element)?;
        }
        Ok(total)
    }

    fn bson_value(&self, value: &'t Member) -> Size {
        Ok(match value.kind {
            Kind::String => STRING_FRAME + self.utf8(value),
            Kind::Bool => 1,
            Kind::Null => 0,
            // Only in relaxed Extended JSON; the largest type it could mean.
            Kind::Number => 8,
            Kind::Array => self.bson_array(value)?,
            Kind::Object => match self.wrapper(value)? {
                Some(size) => size,
                None => self.bson_document(Some(value))?,
            },
        })
    }

    /// The size of a value in a type wrapper; `None` if the object is a document of its own.
    ///
    /// The wrappers are those of
    /// [Extended JSON v2](https://github.com/mongodb/specifications/blob/master/source/extended-json/extended-json.md).
    fn wrapper(&self, value: &'t Member) -> Result<Option<u64>, TooShallow> {
        let Some(first) = self.inside(Some(value))?.members(Some(value)).next() else { return Ok(None) };
        let name = first.name_bytes(self.line);
        if !name.starts_with(b"$") {
            return Ok(None);
        }
        let scope =
            self.tape.find(self.line, Some(value), "$scope").filter(|scope| scope.kind == Kind::Object);
        let code = self.tape.find(self.line, Some(value), "$code");
        Ok(match (code, scope, self.only_child(value)?) {
            (Some(code), Some(scope), _) => {
                Some(4 + STRING_FRAME + self.utf8(code) + self.bson_document(Some(scope))?)
            }
            (_, _, Some(inner)) => self.wrapped(&name, inner)?,
            _ => None,
        })
    }

    fn wrapped(&self, name: &[u8], inner: &'t Member) -> Result<Option<u64>, TooShallow> {
        Ok(Some(match (name, inner.kind) {
            (b"$numberInt", Kind::String) => 4,
            (b"$numberDecimal", Kind::String) => 16,
            (b"$oid", Kind::String) => OBJECT_ID,
            (b"$numberLong" | b"$numberDouble", Kind::String)
            | (b"$date", _)
            | (b"$timestamp", Kind::Object) => 8,
            (b"$minKey" | b"$maxKey", Kind::Number) | (b"$undefined", Kind::Bool) => 0,
            (b"$symbol" | b"$code", Kind::String) => STRING_FRAME + self.utf8(inner),
            (b"$uuid", Kind::String) => BINARY_FRAME + 16,
            (b"$binary", Kind::Object) => self.bson_binary(inner)?,
            (b"$regularExpression", Kind::Object) => {
                self.sum(Some(inner), |measure, part| Ok(measure.utf8(part) + 1))?
            }
            (b"$dbPointer", Kind::Object) => {
                let _ = self.inside(Some(inner))?;
                let namespace = self.tape.find(self.line, Some(inner), "$ref");
                STRING_FRAME + namespace.map_or(0, |namespace| self.utf8(namespace)) + OBJECT_ID
            }
            _ => return Ok(None),
        }))
    }

    fn bson_binary(&self, of: &'t Member) -> Size {
        let _ = self.inside(Some(of))?;
        let part = |name| self.tape.find(self.line, Some(of), name);
        let bytes = part("base64").map_or(0, |text| self.binary(text));
        // The old subtype repeats the length inside.
        let old = part("subType").is_some_and(|subtype| matches!(&*self.text(subtype), "02" | "2"));
        Ok(BINARY_FRAME + bytes + if old { 4 } else { 0 })
    }
}
