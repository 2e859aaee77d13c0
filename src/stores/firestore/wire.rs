//! Documents as they stand on the wire: protobuf's bytes, of which nothing is copied until a line is written.
//!
//! The SDK's own types make a map of each document and a string of each name and text in it, forget their order,
//! and drop what they do not know. The messages around the documents are the SDK's but for that one field.

use firestore::gcloud_sdk::prost::Message;
use firestore::gcloud_sdk::prost::bytes::Bytes;
use firestore::gcloud_sdk::prost::encoding::{
    WireType, decode_varint, encode_key, encode_varint, encoded_len_varint,
};
use firestore::gcloud_sdk::prost_types::Timestamp;

use crate::stores::{StoreError, StoreErrorKind, StoreResult};

/// An answer to
/// [`RunQuery`](https://cloud.google.com/firestore/docs/reference/rpc/google.firestore.v1#runqueryresponse).
#[derive(Clone, PartialEq, Message)]
#[prost(prost_path = "firestore::gcloud_sdk::prost")]
pub(super) struct QueryAnswer {
    /// A `Document`.
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub document: Option<Bytes>,
    /// A `Timestamp`: when it was read.
    #[prost(bytes = "bytes", optional, tag = "3")]
    pub read_time: Option<Bytes>,
}

/// An answer to `BatchGetDocuments`: it holds one of the two.
#[derive(Clone, PartialEq, Message)]
#[prost(prost_path = "firestore::gcloud_sdk::prost")]
pub(super) struct GetAnswer {
    /// A `Document`.
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub found: Option<Bytes>,
    /// The name of a document that is not there.
    #[prost(string, optional, tag = "2")]
    pub missing: Option<String>,
}

/// What `BatchWrite` and `Commit` are asked.
#[derive(Clone, PartialEq, Message)]
#[prost(prost_path = "firestore::gcloud_sdk::prost")]
pub(super) struct Writes {
    /// `projects/P/databases/D`.
    #[prost(string, tag = "1")]
    pub database: String,
    /// Each a `Write`.
    #[prost(bytes = "bytes", repeated, tag = "2")]
    pub writes: Vec<Bytes>,
}

/// How many fields room is made for: what the framework's documents have.
const FIELDS: usize = 16;

/// What is no message of the type that was expected, or one with fields that are newer than this build.
#[derive(Debug)]
pub(super) struct Malformed;

impl From<Malformed> for StoreError {
    fn from(_: Malformed) -> Self {
        Self::new(
            StoreErrorKind::Permanent,
            "Firestore's answer holds a document of a form that this version of rekey does not know",
        )
    }
}

/// The value of a field on the wire.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wire<'a> {
    /// A number of variable length: integers, booleans, enumerations.
    Varint(u64),
    /// Eight bytes: a double.
    Fixed64(u64),
    /// A text, bytes or a message.
    Bytes(&'a [u8]),
    /// Four bytes, which nothing in a document has.
    Fixed32,
}

/// The fields of a message, by number, in the order they stand in.
pub(super) struct WireFields<'a>(pub &'a [u8]);

impl<'a> Iterator for WireFields<'a> {
    type Item = Result<(u32, Wire<'a>), Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_none() {
            self.0 = &[];
        }
        Some(field.ok_or(Malformed))
    }
}

impl<'a> WireFields<'a> {
    #[inline]
    fn field(&mut self) -> Option<(u32, Wire<'a>)> {
        let key = self.varint()?;
        let value = match key & 7 {
            0 => Wire::Varint(self.varint()?),
            1 => {
                let (bytes, rest) = self.0.split_first_chunk()?;
                self.0 = rest;
                Wire::Fixed64(u64::from_le_bytes(*bytes))
            }
            2 => {
                let length = usize::try_from(self.varint()?).ok()?;
                let (bytes, rest) = self.0.split_at_checked(length)?;
                self.0 = rest;
                Wire::Bytes(bytes)
            }
            5 => {
                let (_, rest) = self.0.split_first_chunk::<4>()?;
                self.0 = rest;
                Wire::Fixed32
            }
            // Groups, which no message of today has.
            _ => return None,
        };
        Some((u32::try_from(key >> 3).ok().filter(|number| *number > 0)?, value))
    }

    /// Nearly all of them are keys and lengths of one byte.
    #[inline]
    fn varint(&mut self) -> Option<u64> {
        match self.0 {
            [byte @ ..0x80, rest @ ..] => {
                self.0 = rest;
                Some(u64::from(*byte))
            }
            _ => decode_varint(&mut self.0).ok(),
        }
    }
}

/// A document that was read.
pub(super) struct StoredDocument<'a> {
    /// Its full name.
    pub name: &'a str,
    /// Its fields, each a `Value`, sorted by the bytes of their names.
    pub fields: Vec<(&'a str, &'a [u8])>,
    /// A `Timestamp`: when it was created.
    pub created: Option<&'a [u8]>,
    /// A `Timestamp`: when it was last changed.
    pub changed: Option<&'a [u8]>,
}

impl<'a> StoredDocument<'a> {
    /// Reads a `Document`.
    pub(super) fn read(message: &'a [u8]) -> StoreResult<Self> {
        let mut document = Self { name: "", fields: Vec::new(), created: None, changed: None };
        for field in WireFields(message) {
            match field? {
                (1, Wire::Bytes(name)) => document.name = text(name)?,
                (2, Wire::Bytes(entry)) => {
                    if document.fields.is_empty() {
                        document.fields.reserve(FIELDS);
                    }
                    document.fields.push(map_entry(entry)?);
                }
                (3, Wire::Bytes(time)) => document.created = Some(time),
                (4, Wire::Bytes(time)) => document.changed = Some(time),
                _ => return Err(Malformed.into()),
            }
        }
        sort_fields(&mut document.fields)?;
        Ok(document)
    }

    /// The `Value` of a field.
    pub(super) fn field(&self, name: &str) -> Option<&'a [u8]> {
        let at = self.fields.binary_search_by_key(&name, |(name, _)| name).ok()?;
        self.fields.get(at).map(|(_, value)| *value)
    }
}

/// An entry of a map: a name and a `Value`; what is not written is empty.
pub(super) fn map_entry(entry: &[u8]) -> Result<(&str, &[u8]), Malformed> {
    let (mut name, mut value): (&str, &[u8]) = ("", &[]);
    for field in WireFields(entry) {
        match field? {
            (1, Wire::Bytes(bytes)) => name = text(bytes)?,
            (2, Wire::Bytes(bytes)) => value = bytes,
            _ => return Err(Malformed),
        }
    }
    Ok((name, value))
}

/// Sorts fields by the bytes of their names, of which each may be there once.
pub(super) fn sort_fields(fields: &mut [(&str, &[u8])]) -> Result<(), Malformed> {
    fields.sort_unstable_by_key(|(name, _)| *name);
    let is_repeated = fields.windows(2).any(|pair| matches!(pair, [(a, _), (b, _)] if a == b));
    if is_repeated { Err(Malformed) } else { Ok(()) }
}

/// A text.
pub(super) fn text(bytes: &[u8]) -> Result<&str, Malformed> {
    std::str::from_utf8(bytes).map_err(|_| Malformed)
}

/// The text that a `Value` is, if it is one.
pub(super) fn text_of(value: &[u8]) -> Option<&str> {
    match WireFields(value).next() {
        Some(Ok((17, Wire::Bytes(string)))) => text(string).ok(),
        _ => None,
    }
}

/// A `Timestamp`.
pub(super) fn timestamp(message: &[u8]) -> Result<Timestamp, Malformed> {
    let mut time = Timestamp::default();
    for field in WireFields(message) {
        match field? {
            (1, Wire::Varint(seconds)) => time.seconds = seconds.cast_signed(),
            (2, Wire::Varint(nanos)) => time.nanos = i32::try_from(nanos).map_err(|_| Malformed)?,
            _ => return Err(Malformed),
        }
    }
    Ok(time)
}

/// Appends a message: the number of the field it stands in, its length, and what `write` appends.
pub(super) fn append_message<E>(
    out: &mut Vec<u8>,
    number: u32,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    encode_key(number, WireType::LengthDelimited, out);
    let start = out.len();
    out.push(0);
    write(out)?;
    let length = out.len() - start - 1;
    // One byte tells lengths below 128; what is longer moves on to make room.
    let needed = encoded_len_varint(length as u64);
    if needed > 1 {
        out.resize(out.len() + needed - 1, 0);
        out.copy_within(start + 1..start + 1 + length, start + needed);
    }
    encode_varint(length as u64, &mut &mut out[start..start + needed]);
    Ok(())
}

/// Appends a text or bytes in a field.
pub(super) fn append_bytes(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    encode_key(number, WireType::LengthDelimited, out);
    encode_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// Appends a number of variable length in a field.
pub(super) fn append_varint(out: &mut Vec<u8>, number: u32, value: u64) {
    encode_key(number, WireType::Varint, out);
    encode_varint(value, out);
}

/// Appends a double in a field.
pub(super) fn append_double(out: &mut Vec<u8>, number: u32, value: f64) {
    encode_key(number, WireType::SixtyFourBit, out);
    out.extend_from_slice(&value.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn a_message_of_any_length_has_its_length_before_it() {
        for length in [0, 1, 127, 128, 16_383, 16_384, 3_000_000] {
            let mut out = b"before".to_vec();
            let write = |out: &mut Vec<u8>| {
                out.extend((0..length).map(|at| u8::try_from(at % 251).unwrap()));
                Ok::<(), Infallible>(())
            };
            append_message(&mut out, 2, write).unwrap();
            append_varint(&mut out, 3, 7);
            let fields: Vec<_> = WireFields(&out[6..]).map(Result::unwrap).collect();
            let [(2, Wire::Bytes(message)), (3, Wire::Varint(7))] = fields[..] else { panic!("{fields:?}") };
            assert_eq!(message.len(), length);
            assert!(message.iter().zip(0..).all(|(byte, at)| usize::from(*byte) == at % 251));
        }
    }

    #[test]
    fn what_is_cut_off_or_no_document_is_malformed() {
        let mut whole = Vec::new();
        append_bytes(&mut whole, 1, b"name");
        append_message(&mut whole, 2, |out| {
            append_bytes(out, 1, b"field");
            append_message(out, 2, |out| {
                append_double(out, 3, 1.5);
                Ok::<(), Infallible>(())
            })
        })
        .unwrap();
        let document = StoredDocument::read(&whole).unwrap();
        assert_eq!((document.name, document.fields.len()), ("name", 1));
        assert!(document.field("field").is_some() && document.field("other").is_none());
        for end in (1..whole.len()).filter(|end| *end != 6) {
            assert!(StoredDocument::read(&whole[..end]).is_err(), "{end}");
        }
        for odd in [&[0x0a, 1, 0xff][..], &[0x2a, 0], &[0x0b], &[0xff; 12], &[0x12, 0, 0x12, 0]] {
            assert!(StoredDocument::read(odd).is_err(), "{odd:?}");
        }
    }
}
