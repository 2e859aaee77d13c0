use super::{Measure, Size, length};
use crate::document::json::{Kind, Member};

/// What a document, and each map in it, counts besides its contents.
const FRAME: u64 = 32;

impl<'t> Measure<'t> {
    /// The size of a document: its name, every field's name and value, and 32 bytes.
    ///
    /// [Storage size calculations](https://firebase.google.com/docs/firestore/storage-size).
    pub(super) fn firestore_document(&self) -> Size {
        let name = self.tape.find(self.line, None, "name");
        let fields = self.tape.find(self.line, None, "fields").filter(|fields| fields.kind == Kind::Object);
        let fields = match fields {
            Some(fields) => self.fields(fields)?,
            None => 0,
        };
        Ok(name.map_or(0, |name| document_name(&self.text(name))) + fields + FRAME)
    }

    fn fields(&self, of: &'t Member) -> Size {
        self.sum(Some(of), |measure, field| Ok(measure.name(field) + 1 + measure.value(field)?))
    }

    /// A value. A map counts as a document without a name does, its 32 bytes included, as the page says.
    fn value(&self, value: &'t Member) -> Size {
        let Some(typed) = self.only_child(value)? else { return Ok(length(value.raw(self.line).len())) };
        Ok(match &*typed.name_bytes(self.line) {
            b"nullValue" | b"booleanValue" => 1,
            b"integerValue" | b"doubleValue" | b"timestampValue" => 8,
            b"geoPointValue" => 16,
            b"stringValue" => self.utf8(typed) + 1,
            b"bytesValue" => self.binary(typed),
            b"referenceValue" => document_name(&self.text(typed)),
            b"arrayValue" => match self.only_child(typed)? {
                Some(values) => self.sum(Some(values), Self::value)?,
                None => 0,
            },
            b"mapValue" => match self.only_child(typed)? {
                Some(fields) => FRAME + self.fields(fields)?,
                None => FRAME,
            },
            _ => length(value.raw(self.line).len()),
        })
    }
}

/// The size of a document's name: every collection and document id of its path and 1 byte each, and 16.
///
/// Project and database do not count.
fn document_name(name: &str) -> u64 {
    let path = name.split_once("/documents/").map_or(name, |(_, path)| path);
    path.split('/').map(|id| length(id.len()) + 1).sum::<u64>() + 16
}
