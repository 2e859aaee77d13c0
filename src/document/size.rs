//! How large a store counts a document to be.

mod cosmosdb;
mod dynamodb;
mod firestore;
mod mongodb;

use super::StoreKind;
use super::json::{Kind, Member, Tape};

/// Counts the bytes that the store counts for a document; `tape` has read that line.
///
/// | store | counted | limit |
/// |---|---|---|
/// | MongoDB | the BSON document, exactly | 16 MiB |
/// | DynamoDB | attribute names and values, rounded up where the rule is vague | 400 KB |
/// | Firestore | name, field names and values | 1 MiB |
/// | Cosmos DB | UTF-8 bytes of the compact JSON without system fields | 2 MB |
///
/// Where members are nested too deeply for the tape, the line is read a second time: see [`size_bound`].
pub fn stored_size(kind: StoreKind, tape: &Tape, line: &[u8]) -> u64 {
    Measure { tape, line }.document(kind).unwrap_or_else(|TooShallow| {
        let mut deep = Tape::deep();
        match deep.read(line).ok().and_then(|()| Measure { tape: &deep, line }.document(kind).ok()) {
            Some(size) => size,
            // Cannot be: both tapes accept the same lines.
            None => size_bound(kind, line.len()),
        }
    })
}

/// An upper bound of [`stored_size`] for any line of so many bytes.
///
/// Lets a caller skip measuring where even the bound is below the limit.
pub fn size_bound(kind: StoreKind, line_bytes: usize) -> u64 {
    let bytes = length(line_bytes);
    match kind {
        // BSON writes an array's indexes out: `"",` are three bytes, but up to fourteen there.
        StoreKind::MongoDb => bytes.saturating_mul(6).saturating_add(32),
        StoreKind::DynamoDb | StoreKind::CosmosDb => bytes,
        // An empty map, `{"mapValue":{}},`, counts 32.
        StoreKind::Firestore => bytes.saturating_mul(2).saturating_add(64),
    }
}

/// A value's members are needed, but the tape records none that deep.
#[derive(Clone, Copy, Debug)]
struct TooShallow;

type Size = Result<u64, TooShallow>;

/// Measures the values of one line.
#[derive(Clone, Copy)]
struct Measure<'t> {
    tape: &'t Tape,
    line: &'t [u8],
}

impl<'t> Measure<'t> {
    fn document(&self, kind: StoreKind) -> Size {
        match kind {
            StoreKind::MongoDb => self.bson_document(None),
            StoreKind::DynamoDb => self.dynamodb_item(),
            StoreKind::Firestore => self.firestore_document(),
            StoreKind::CosmosDb => self.cosmosdb_item(),
        }
    }

    /// Adds up the sizes of the members of an object or array.
    fn sum(&self, of: Option<&'t Member>, size: impl Fn(&Self, &'t Member) -> Size) -> Size {
        let mut total = 0;
        for member in self.inside(of)?.members(of) {
            total += size(self, member)?;
        }
        Ok(total)
    }

    /// The tape, if it records what is inside the value.
    fn inside(&self, of: Option<&Member>) -> Result<&'t Tape, TooShallow> {
        match of {
            Some(of) if !self.tape.records_inside(of) => Err(TooShallow),
            _ => Ok(self.tape),
        }
    }

    /// The only member of an object; `None` for other objects and other values.
    fn only_child(&self, value: &Member) -> Result<Option<&'t Member>, TooShallow> {
        if value.kind != Kind::Object {
            return Ok(None);
        }
        Ok(self.inside(Some(value))?.only_child(value))
    }

    /// The UTF-8 bytes of a member's decoded name.
    fn name(&self, member: &Member) -> u64 {
        length(member.name_bytes(self.line).len())
    }

    /// The decoded text of a string; a number's text as it stands.
    fn text(&self, value: &Member) -> std::borrow::Cow<'t, str> {
        match value.kind {
            Kind::String => super::text::unescape(value.raw(self.line)),
            _ => String::from_utf8_lossy(value.raw(self.line)),
        }
    }

    /// The UTF-8 bytes of a string's decoded text.
    fn utf8(&self, value: &Member) -> u64 {
        match value.raw(self.line) {
            [b'"', text @ .., b'"'] if memchr::memchr(b'\\', text).is_none() => length(text.len()),
            _ => length(self.text(value).len()),
        }
    }

    /// The bytes that base64 text stands for.
    fn binary(&self, value: &Member) -> u64 {
        length(super::base64_text::decoded_len(&self.text(value)))
    }
}

fn length(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
