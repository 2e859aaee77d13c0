//! The elements of a BSON document as bytes: nothing is decoded, every length is checked.

/// The bytes are no BSON document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the bytes are no BSON document")]
pub struct NotBson;

/// The type byte of an element ([BSON specification](https://bsonspec.org/spec.html)).
#[allow(missing_docs, reason = "the names are the specification's")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ElementType {
    Double = 0x01,
    String = 0x02,
    Document = 0x03,
    Array = 0x04,
    Binary = 0x05,
    Undefined = 0x06,
    ObjectId = 0x07,
    Boolean = 0x08,
    DateTime = 0x09,
    Null = 0x0a,
    RegularExpression = 0x0b,
    DbPointer = 0x0c,
    Code = 0x0d,
    Symbol = 0x0e,
    CodeWithScope = 0x0f,
    Int32 = 0x10,
    Timestamp = 0x11,
    Int64 = 0x12,
    Decimal128 = 0x13,
    MaxKey = 0x7f,
    MinKey = 0xff,
}

impl ElementType {
    fn of(byte: u8) -> Option<Self> {
        Some(match byte {
            0x01 => Self::Double,
            0x02 => Self::String,
            0x03 => Self::Document,
            0x04 => Self::Array,
            0x05 => Self::Binary,
            0x06 => Self::Undefined,
            0x07 => Self::ObjectId,
            0x08 => Self::Boolean,
            0x09 => Self::DateTime,
            0x0a => Self::Null,
            0x0b => Self::RegularExpression,
            0x0c => Self::DbPointer,
            0x0d => Self::Code,
            0x0e => Self::Symbol,
            0x0f => Self::CodeWithScope,
            0x10 => Self::Int32,
            0x11 => Self::Timestamp,
            0x12 => Self::Int64,
            0x13 => Self::Decimal128,
            0x7f => Self::MaxKey,
            0xff => Self::MinKey,
            _ => return None,
        })
    }

    /// The length of a value of this type that `bytes` begin with.
    fn value_len(self, bytes: &[u8]) -> Option<usize> {
        Some(match self {
            Self::Undefined | Self::Null | Self::MinKey | Self::MaxKey => 0,
            Self::Boolean => 1,
            Self::Int32 => 4,
            Self::Double | Self::DateTime | Self::Timestamp | Self::Int64 => 8,
            Self::ObjectId => 12,
            Self::Decimal128 => 16,
            Self::String | Self::Code | Self::Symbol => 4 + length(bytes)?,
            Self::Binary => 4 + 1 + length(bytes)?,
            Self::DbPointer => 4 + length(bytes)? + 12,
            Self::Document | Self::Array | Self::CodeWithScope => length(bytes)?,
            Self::RegularExpression => {
                let pattern = memchr::memchr(0, bytes)? + 1;
                pattern + memchr::memchr(0, bytes.get(pattern..)?)? + 1
            }
        })
    }
}

/// The `int32` length that `bytes` begin with.
pub(super) fn length(bytes: &[u8]) -> Option<usize> {
    usize::try_from(i32::from_le_bytes(*bytes.first_chunk()?)).ok()
}

/// The bytes of a string: its `int32` length, the text and a zero.
pub(super) fn string(value: &[u8]) -> Option<&[u8]> {
    let text = value.get(4..)?;
    match text.split_last() {
        Some((0, text)) if length(value)? == text.len() + 1 => Some(text),
        _ => None,
    }
}

/// One element of a document.
#[derive(Clone, Copy, Debug)]
pub struct Element<'a> {
    /// The value's type.
    pub kind: ElementType,
    /// The name, without its terminating zero; it may not be UTF-8.
    pub name: &'a [u8],
    /// The value.
    pub value: &'a [u8],
    /// Type byte, name and value.
    pub whole: &'a [u8],
}

impl<'a> Element<'a> {
    /// The text of a string; `None` for another type and for invalid UTF-8.
    pub fn text(&self) -> Option<&'a str> {
        let text = (self.kind == ElementType::String).then(|| string(self.value))??;
        std::str::from_utf8(text).ok()
    }
}

/// The elements of a document, in order; ends after the first error.
#[derive(Clone, Debug)]
pub struct Elements<'a> {
    rest: &'a [u8],
}

impl<'a> Elements<'a> {
    /// Looks at a document.
    ///
    /// Errors: its length is not the one it states, or its last byte no zero.
    pub fn of(document: &'a [u8]) -> Result<Self, NotBson> {
        let stated = length(document).ok_or(NotBson)?;
        match document.get(4..).and_then(<[u8]>::split_last) {
            Some((0, rest)) if stated == document.len() => Ok(Self { rest }),
            _ => Err(NotBson),
        }
    }

    fn step(&mut self) -> Option<Element<'a>> {
        let kind = ElementType::of(*self.rest.first()?)?;
        let name_end = 1 + memchr::memchr(0, self.rest.get(1..)?)?;
        let value = self.rest.get(name_end + 1..)?;
        let end = name_end + 1 + kind.value_len(value)?;
        let (whole, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        Some(Element { kind, name: whole.get(1..name_end)?, value: whole.get(name_end + 1..)?, whole })
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Result<Element<'a>, NotBson>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let element = self.step();
        if element.is_none() {
            self.rest = &[];
        }
        Some(element.ok_or(NotBson))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_cut_at_their_lengths() {
        // {"a": 1, "b": "x"}
        let document = b"\x15\0\0\0\x10a\0\x01\0\0\0\x02b\0\x02\0\0\0x\0\0";
        let elements: Vec<_> = Elements::of(document).unwrap().map(Result::unwrap).collect();
        assert_eq!(elements.len(), 2);
        assert_eq!((elements[0].kind, elements[0].name), (ElementType::Int32, &b"a"[..]));
        assert_eq!(elements[1].text(), Some("x"));
    }

    #[test]
    fn what_is_no_document_is_told() {
        for bytes in [&b""[..], b"\x05\0\0\0", b"\x06\0\0\0\0", b"\x05\0\0\0\x01", b"\xff\xff\xff\xff\0"] {
            assert!(Elements::of(bytes).is_err(), "{bytes:?}");
        }
        for bytes in [&b"\x08\0\0\0\x10a\0\0"[..], b"\x0a\0\0\0\x02a\0\xff\xff\0", b"\x08\0\0\0\x77a\0\0"] {
            assert!(Elements::of(bytes).unwrap().any(|element| element.is_err()), "{bytes:?}");
        }
    }
}
