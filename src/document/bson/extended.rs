//! From BSON to canonical Extended JSON.

use super::element::{Element, ElementType, Elements, length, string};
use super::{RAW_BSON, decimal128};
use crate::document::text::write_quoted;
use crate::document::{base64_text, double};

/// Canonical Extended JSON does not carry the document exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotCarried;

type Carried = Result<(), NotCarried>;

/// The deepest nesting of documents that is carried: each level and a wrapper must fit into a tape.
const MAX_DEPTH: u16 = 200;

/// Up to this many names, comparing every pair is faster than sorting.
const PAIRWISE: usize = 24;

/// Names that make an object in Extended JSON a value of another type.
pub(super) const RESERVED: [&str; 19] = [
    "$oid",
    "$symbol",
    "$numberInt",
    "$numberLong",
    "$numberDouble",
    "$numberDecimal",
    "$binary",
    "$uuid",
    "$code",
    "$scope",
    "$timestamp",
    "$regularExpression",
    "$dbPointer",
    "$date",
    "$minKey",
    "$maxKey",
    "$undefined",
    "$type",
    RAW_BSON,
];

pub(super) fn is_reserved(name: &[u8]) -> bool {
    name.first() == Some(&b'$') && RESERVED.iter().any(|reserved| reserved.as_bytes() == name)
}

/// Appends a document; after an error what was appended is not whole.
pub(super) fn write_document(bson: &[u8], out: &mut Vec<u8>) -> Carried {
    let mut writer = Writer { names: Vec::with_capacity(32), out };
    writer.document(bson, 0)
}

/// Appends the value of one element; after an error what was appended is not whole.
pub(super) fn write_value(element: &Element<'_>, out: &mut Vec<u8>) -> Carried {
    Writer { names: Vec::new(), out }.value(element, 1)
}

struct Writer<'b, 'o> {
    /// The names of the documents that are being written, one after the other.
    names: Vec<&'b [u8]>,
    out: &'o mut Vec<u8>,
}

impl<'b> Writer<'b, '_> {
    fn document(&mut self, bson: &'b [u8], depth: u16) -> Carried {
        if depth > MAX_DEPTH {
            return Err(NotCarried);
        }
        let first_name = self.names.len();
        self.out.push(b'{');
        for element in Elements::of(bson).map_err(|_| NotCarried)? {
            let element = element.map_err(|_| NotCarried)?;
            // At the top only the mark of an escape record would be taken for something else.
            if if depth == 0 { element.name == RAW_BSON.as_bytes() } else { is_reserved(element.name) } {
                return Err(NotCarried);
            }
            if self.names.len() > first_name {
                self.out.push(b',');
            }
            self.names.push(element.name);
            self.text(element.name)?;
            self.out.push(b':');
            self.value(&element, depth + 1)?;
        }
        self.out.push(b'}');
        let repeated = repeats(self.names.get_mut(first_name..).unwrap_or_default());
        self.names.truncate(first_name);
        if repeated { Err(NotCarried) } else { Ok(()) }
    }

    fn array(&mut self, bson: &'b [u8], depth: u16) -> Carried {
        if depth > MAX_DEPTH {
            return Err(NotCarried);
        }
        self.out.push(b'[');
        let mut index = itoa::Buffer::new();
        for (at, element) in Elements::of(bson).map_err(|_| NotCarried)?.enumerate() {
            let element = element.map_err(|_| NotCarried)?;
            if element.name != index.format(at).as_bytes() {
                return Err(NotCarried);
            }
            if at > 0 {
                self.out.push(b',');
            }
            self.value(&element, depth + 1)?;
        }
        self.out.push(b']');
        Ok(())
    }

    fn value(&mut self, element: &Element<'b>, depth: u16) -> Carried {
        let value = element.value;
        match element.kind {
            ElementType::Double => self.double(f64::from_le_bytes(fixed(value)?))?,
            ElementType::String => self.text(string(value).ok_or(NotCarried)?)?,
            ElementType::Document => self.document(value, depth)?,
            ElementType::Array => self.array(value, depth)?,
            ElementType::Binary => self.binary(value)?,
            ElementType::Undefined => self.put(br#"{"$undefined":true}"#),
            ElementType::ObjectId => self.object_id(value),
            ElementType::Boolean => match value {
                [0] => self.put(b"false"),
                [1] => self.put(b"true"),
                _ => return Err(NotCarried),
            },
            ElementType::DateTime => {
                self.put(br#"{"$date":"#);
                self.integer(br#"{"$numberLong":""#, i64::from_le_bytes(fixed(value)?));
                self.put(b"}");
            }
            ElementType::Null => self.put(b"null"),
            ElementType::RegularExpression => self.regular_expression(value)?,
            ElementType::DbPointer => self.db_pointer(value)?,
            ElementType::Code => self.wrapped(br#"{"$code":"#, value)?,
            ElementType::Symbol => self.wrapped(br#"{"$symbol":"#, value)?,
            ElementType::CodeWithScope => self.code_with_scope(value, depth)?,
            ElementType::Int32 => {
                self.integer(br#"{"$numberInt":""#, i64::from(i32::from_le_bytes(fixed(value)?)));
            }
            ElementType::Timestamp => self.timestamp(u64::from_le_bytes(fixed(value)?)),
            ElementType::Int64 => self.integer(br#"{"$numberLong":""#, i64::from_le_bytes(fixed(value)?)),
            ElementType::Decimal128 => {
                self.put(br#"{"$numberDecimal":""#);
                if !decimal128::write(fixed(value)?, self.out) {
                    return Err(NotCarried);
                }
                self.put(b"\"}");
            }
            ElementType::MinKey => self.put(br#"{"$minKey":1}"#),
            ElementType::MaxKey => self.put(br#"{"$maxKey":1}"#),
        }
        Ok(())
    }

    fn put(&mut self, text: &[u8]) {
        self.out.extend_from_slice(text);
    }

    fn text(&mut self, text: &[u8]) -> Carried {
        write_quoted(std::str::from_utf8(text).map_err(|_| NotCarried)?, self.out);
        Ok(())
    }

    /// Writes `opening`, the text of a BSON string, and a brace.
    fn wrapped(&mut self, opening: &[u8], value: &[u8]) -> Carried {
        self.put(opening);
        self.text(string(value).ok_or(NotCarried)?)?;
        self.put(b"}");
        Ok(())
    }

    fn integer(&mut self, opening: &[u8], value: i64) {
        self.put(opening);
        let mut buffer = itoa::Buffer::new();
        self.put(buffer.format(value).as_bytes());
        self.put(b"\"}");
    }

    fn double(&mut self, value: f64) -> Carried {
        if value.is_nan() && value.to_bits() != f64::NAN.to_bits() {
            return Err(NotCarried);
        }
        self.put(br#"{"$numberDouble":""#);
        double::write(value, self.out);
        self.put(b"\"}");
        Ok(())
    }

    fn binary(&mut self, value: &[u8]) -> Carried {
        let (&subtype, bytes) = value.get(4..).and_then(<[u8]>::split_first).ok_or(NotCarried)?;
        let bytes = match subtype {
            // The old subtype repeats the length inside.
            2 => match bytes.get(4..) {
                Some(inner) if length(bytes) == Some(inner.len()) => inner,
                _ => return Err(NotCarried),
            },
            _ => bytes,
        };
        self.put(br#"{"$binary":{"base64":""#);
        base64_text::append(bytes, self.out);
        self.put(br#"","subType":""#);
        self.hex(&[subtype]);
        self.put(b"\"}}");
        Ok(())
    }

    fn object_id(&mut self, bytes: &[u8]) {
        self.put(br#"{"$oid":""#);
        self.hex(bytes);
        self.put(b"\"}");
    }

    fn hex(&mut self, bytes: &[u8]) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digits = |byte: &u8| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
        self.out.extend(bytes.iter().flat_map(digits));
    }

    fn regular_expression(&mut self, value: &[u8]) -> Carried {
        let mut parts = value.split(|byte| *byte == 0);
        let (pattern, options) = parts.next().zip(parts.next()).ok_or(NotCarried)?;
        // Drivers sort the options, so that only sorted ones are carried.
        if !options.is_sorted_by(|a, b| a < b) {
            return Err(NotCarried);
        }
        self.put(br#"{"$regularExpression":{"pattern":"#);
        self.text(pattern)?;
        self.put(br#","options":"#);
        self.text(options)?;
        self.put(b"}}");
        Ok(())
    }

    fn db_pointer(&mut self, value: &[u8]) -> Carried {
        let (namespace, id) = value.split_last_chunk::<12>().ok_or(NotCarried)?;
        self.put(br#"{"$dbPointer":{"$ref":"#);
        self.text(string(namespace).ok_or(NotCarried)?)?;
        self.put(br#","$id":"#);
        self.object_id(id);
        self.put(b"}}");
        Ok(())
    }

    fn code_with_scope(&mut self, value: &'b [u8], depth: u16) -> Carried {
        let value = value.get(4..).ok_or(NotCarried)?;
        let code_len = 4 + length(value).ok_or(NotCarried)?;
        let (code, scope) = value.split_at_checked(code_len).ok_or(NotCarried)?;
        self.put(br#"{"$code":"#);
        self.text(string(code).ok_or(NotCarried)?)?;
        self.put(br#","$scope":"#);
        self.document(scope, depth + 1)?;
        self.put(b"}");
        Ok(())
    }

    fn timestamp(&mut self, value: u64) {
        let mut buffer = itoa::Buffer::new();
        self.put(br#"{"$timestamp":{"t":"#);
        self.put(buffer.format(value >> 32).as_bytes());
        self.put(br#","i":"#);
        self.put(buffer.format(value & 0xffff_ffff).as_bytes());
        self.put(b"}}");
    }
}

/// Whether a name stands twice; the names may be put into another order.
pub(super) fn repeats(names: &mut [&[u8]]) -> bool {
    if names.len() > PAIRWISE {
        names.sort_unstable();
        return !names.is_sorted_by(|a, b| a < b);
    }
    names.iter().enumerate().any(|(at, name)| names.iter().skip(at + 1).any(|other| other == name))
}

fn fixed<const LENGTH: usize>(value: &[u8]) -> Result<[u8; LENGTH], NotCarried> {
    value.try_into().map_err(|_| NotCarried)
}
