//! From canonical Extended JSON to BSON.

use super::element::{ElementType, Elements};
use super::extended::is_reserved;
use super::{RAW_BSON, decimal128};
use crate::check::{Reason, Refusal};
use crate::document::json::{Kind, Member, Tape};
use crate::document::lossless::is_escape_record;
use crate::document::text::unescape;
use crate::document::{base64_text, double};

/// Turns lines into BSON, one at a time, with a buffer that is used again and again.
#[derive(Clone, Debug)]
pub struct Parser {
    tape: Tape,
}

impl Default for Parser {
    fn default() -> Self {
        Self { tape: Tape::deep() }
    }
}

impl Parser {
    /// Appends the document that a line stands for, Extended JSON or an escape record.
    ///
    /// Errors: [`Reason::Malformed`] for what is no JSON, [`Reason::DuplicateName`], [`Reason::EscapeRecord`],
    /// [`Reason::NotLossless`] for what is no canonical Extended JSON, with the field's name; nothing is
    /// appended then.
    pub fn document(&mut self, line: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
        self.tape.read(line).map_err(|error| {
            let reason = if error.duplicate { Reason::DuplicateName } else { Reason::Malformed };
            Refusal::new(reason, error.to_string())
        })?;
        let start = out.len();
        let reader = Reader { tape: &self.tape, line };
        let written = if is_escape_record(&self.tape, line) {
            reader.escape_record(out)
        } else {
            reader.document(None, out)
        };
        written.inspect_err(|_| out.truncate(start))
    }
}

type Parsed<T = ()> = Result<T, Refusal>;

/// Reads the values of one line.
#[derive(Clone, Copy)]
struct Reader<'t> {
    tape: &'t Tape,
    line: &'t [u8],
}

impl<'t> Reader<'t> {
    fn escape_record(self, out: &mut Vec<u8>) -> Parsed {
        let bytes = self.tape.find(self.line, None, RAW_BSON).and_then(|raw| self.base64(raw));
        match bytes {
            Some(bytes) if is_document(&bytes) && self.tape.members(None).count() == 1 => {
                out.extend_from_slice(&bytes);
                Ok(())
            }
            _ => Err(Refusal::new(Reason::EscapeRecord, "The \"$rawBson\" record holds no BSON document.")),
        }
    }

    fn document(self, of: Option<&'t Member>, out: &mut Vec<u8>) -> Parsed {
        let start = begin(out);
        for member in self.tape.members(of) {
            let name = member.name(self.line);
            if name.contains('\0') {
                return Err(wrong(&name, "has a zero in its name, which no BSON document has"));
            }
            self.element(member, name.as_bytes(), out).map_err(|what| wrong(&name, what))?;
        }
        end(start, out);
        Ok(())
    }

    fn array(self, of: &'t Member, out: &mut Vec<u8>) -> Value<()> {
        let start = begin(out);
        let mut name = itoa::Buffer::new();
        for (index, member) in self.tape.members(Some(of)).enumerate() {
            self.element(member, name.format(index).as_bytes(), out)?;
        }
        end(start, out);
        Ok(())
    }

    /// Appends type, name and value of one element.
    fn element(self, value: &'t Member, name: &[u8], out: &mut Vec<u8>) -> Value<()> {
        let at = out.len();
        out.push(0);
        out.extend_from_slice(name);
        out.push(0);
        let kind = self.value(value, out)?;
        if let Some(byte) = out.get_mut(at) {
            *byte = kind as u8;
        }
        Ok(())
    }

    fn value(self, value: &'t Member, out: &mut Vec<u8>) -> Value<ElementType> {
        match value.kind {
            Kind::String => {
                push_string(&unescape(value.raw(self.line)), out);
                Ok(ElementType::String)
            }
            Kind::Bool => {
                out.push(u8::from(value.raw(self.line) == b"true"));
                Ok(ElementType::Boolean)
            }
            Kind::Null => Ok(ElementType::Null),
            Kind::Number => Err("is a number without a type, as in relaxed Extended JSON"),
            Kind::Array => self.array(value, out).map(|()| ElementType::Array),
            Kind::Object => self.object(value, out),
        }
    }

    fn object(self, value: &'t Member, out: &mut Vec<u8>) -> Value<ElementType> {
        let mut members = self.tape.members(Some(value));
        let Some(first) = members.next() else {
            self.plain(value, out)?;
            return Ok(ElementType::Document);
        };
        if is_reserved(&first.name_bytes(self.line)) {
            return self.wrapper(value, first, members.next(), out).ok_or(NOT_CANONICAL);
        }
        // A wrapper's name behind another one would be read as another type by some tools.
        if members.any(|member| is_reserved(&member.name_bytes(self.line))) {
            return Err(NOT_CANONICAL);
        }
        self.plain(value, out)?;
        Ok(ElementType::Document)
    }

    fn plain(self, value: &'t Member, out: &mut Vec<u8>) -> Value<()> {
        let start = begin(out);
        for member in self.tape.members(Some(value)) {
            let name = member.name_bytes(self.line);
            if name.contains(&0) {
                return Err("holds a name with a zero, which no BSON document has");
            }
            self.element(member, &name, out)?;
        }
        end(start, out);
        Ok(())
    }

    /// Appends the value of a type wrapper whose first member is `first`; `None` if it is not exactly one.
    fn wrapper(
        self,
        value: &'t Member,
        first: &'t Member,
        second: Option<&'t Member>,
        out: &mut Vec<u8>,
    ) -> Option<ElementType> {
        let name = first.name_bytes(self.line);
        if let Some(scope) = second {
            let whole = self.tape.members(Some(value)).count() == 2;
            let is_code = &*name == b"$code" && scope.is_named(self.line, "$scope") && whole;
            return if is_code { self.code_with_scope(first, scope, out) } else { None };
        }
        Some(match &*name {
            b"$oid" => {
                self.object_id(first, out)?;
                ElementType::ObjectId
            }
            b"$symbol" => {
                push_string(&self.text(first)?, out);
                ElementType::Symbol
            }
            b"$code" => {
                push_string(&self.text(first)?, out);
                ElementType::Code
            }
            b"$numberInt" => {
                out.extend_from_slice(&self.integer::<i32>(first)?.to_le_bytes());
                ElementType::Int32
            }
            b"$numberLong" => {
                out.extend_from_slice(&self.integer::<i64>(first)?.to_le_bytes());
                ElementType::Int64
            }
            b"$numberDouble" => {
                out.extend_from_slice(&double::parse(&self.text(first)?)?.to_le_bytes());
                ElementType::Double
            }
            b"$numberDecimal" => {
                let (text, mut given_back) = (self.text(first)?, Vec::with_capacity(40));
                let decimal = decimal128::parse(&text)?;
                let carried = decimal128::write(decimal, &mut given_back);
                (carried && given_back == text.as_bytes()).then_some(())?;
                out.extend_from_slice(&decimal);
                ElementType::Decimal128
            }
            b"$date" => {
                let number = self.only(first, "$numberLong")?;
                out.extend_from_slice(&self.integer::<i64>(number)?.to_le_bytes());
                ElementType::DateTime
            }
            b"$undefined" => (first.raw(self.line) == b"true").then_some(ElementType::Undefined)?,
            b"$minKey" => (first.raw(self.line) == b"1").then_some(ElementType::MinKey)?,
            b"$maxKey" => (first.raw(self.line) == b"1").then_some(ElementType::MaxKey)?,
            _ => return self.composite(&name, first, out),
        })
    }

    /// Appends the value of a wrapper that holds several parts.
    fn composite(self, name: &[u8], inner: &'t Member, out: &mut Vec<u8>) -> Option<ElementType> {
        Some(match name {
            b"$binary" => {
                let [bytes, subtype] = self.both(inner, ["base64", "subType"])?;
                let mut number = [0];
                hex::decode_to_slice(&*self.lower_case(subtype)?, &mut number).ok()?;
                push_binary(number[0], &self.base64(bytes)?, out)?;
                ElementType::Binary
            }
            b"$timestamp" => {
                let [seconds, increment] = self.both(inner, ["t", "i"])?;
                for part in [increment, seconds] {
                    let number: u32 = std::str::from_utf8(part.raw(self.line)).ok()?.parse().ok()?;
                    out.extend_from_slice(&number.to_le_bytes());
                }
                ElementType::Timestamp
            }
            b"$regularExpression" => {
                let [pattern, options] = self.both(inner, ["pattern", "options"])?;
                self.text(options)?.bytes().is_sorted_by(|a, b| a < b).then_some(())?;
                for part in [pattern, options] {
                    let text = self.text(part).filter(|text| !text.contains('\0'))?;
                    out.extend_from_slice(text.as_bytes());
                    out.push(0);
                }
                ElementType::RegularExpression
            }
            b"$dbPointer" => {
                let [namespace, id] = self.both(inner, ["$ref", "$id"])?;
                push_string(&self.text(namespace)?, out);
                self.object_id(self.only(id, "$oid")?, out)?;
                ElementType::DbPointer
            }
            // A single value of an outline or of a store key.
            _ if name == RAW_BSON.as_bytes() => {
                let bytes = self.base64(inner)?;
                let element = Elements::of(&bytes).ok()?.next()?.ok()?;
                out.extend_from_slice(element.value);
                element.kind
            }
            _ => return None,
        })
    }

    fn code_with_scope(self, code: &'t Member, scope: &'t Member, out: &mut Vec<u8>) -> Option<ElementType> {
        if scope.kind != Kind::Object {
            return None;
        }
        let start = begin(out);
        push_string(&self.text(code)?, out);
        self.plain(scope, out).ok()?;
        set_length(start, out);
        Some(ElementType::CodeWithScope)
    }

    fn object_id(self, value: &Member, out: &mut Vec<u8>) -> Option<()> {
        let mut bytes = [0; 12];
        hex::decode_to_slice(&*self.lower_case(value)?, &mut bytes).ok()?;
        out.extend_from_slice(&bytes);
        Some(())
    }

    fn lower_case(self, value: &Member) -> Option<std::borrow::Cow<'t, str>> {
        self.text(value).filter(|text| !text.bytes().any(|byte| byte.is_ascii_uppercase()))
    }

    fn text(self, value: &Member) -> Option<std::borrow::Cow<'t, str>> {
        (value.kind == Kind::String).then(|| unescape(value.raw(self.line)))
    }

    /// Bytes in the one alphabet and with the padding that MongoDB gives back.
    fn base64(self, value: &Member) -> Option<Vec<u8>> {
        let text = self.text(value)?;
        let is_usual = text.len().is_multiple_of(4) && !text.bytes().any(|byte| matches!(byte, b'-' | b'_'));
        is_usual.then(|| base64_text::decode(&text))?
    }

    /// An integer as canonical Extended JSON spells it: MongoDB gives no other spelling back.
    fn integer<T: std::str::FromStr + itoa::Integer + Copy>(self, value: &Member) -> Option<T> {
        let text = self.text(value)?;
        let integer = text.parse().ok()?;
        (itoa::Buffer::new().format(integer) == text).then_some(integer)
    }

    /// The only member of an object, if it has this name.
    fn only(self, value: &'t Member, name: &str) -> Option<&'t Member> {
        let child = (value.kind == Kind::Object).then(|| self.tape.only_child(value))??;
        child.is_named(self.line, name).then_some(child)
    }

    /// The two members of an object, if they are these in this order and there is no other.
    fn both(self, value: &'t Member, names: [&str; 2]) -> Option<[&'t Member; 2]> {
        if value.kind != Kind::Object {
            return None;
        }
        let mut members = self.tape.members(Some(value));
        let both = [members.next()?, members.next()?];
        let are_these = both.iter().zip(names).all(|(member, name)| member.is_named(self.line, name));
        (are_these && members.next().is_none()).then_some(both)
    }
}

/// What is wrong with a value, in words that follow its name.
type Value<T> = Result<T, &'static str>;

const NOT_CANONICAL: &str = "holds an object with a `$` name that is no value of canonical Extended JSON";

fn wrong(name: &str, what: &str) -> Refusal {
    Refusal::new(Reason::NotLossless, format!("The field {name:?} {what}."))
}

/// Whether the bytes are a document whose elements can be told apart.
fn is_document(bytes: &[u8]) -> bool {
    Elements::of(bytes).is_ok_and(|mut elements| elements.all(|element| element.is_ok()))
}

/// Begins a document and tells where.
fn begin(out: &mut Vec<u8>) -> usize {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    start
}

/// Ends the document that begins at `start`.
fn end(start: usize, out: &mut Vec<u8>) {
    out.push(0);
    set_length(start, out);
}

fn set_length(start: usize, out: &mut [u8]) {
    // A line is shorter than 4 GiB; a document that is too long for BSON is refused by its size.
    let length = i32::try_from(out.len() - start).unwrap_or(i32::MAX);
    if let Some(place) = out.get_mut(start..start + 4) {
        place.copy_from_slice(&length.to_le_bytes());
    }
}

fn push_string(text: &str, out: &mut Vec<u8>) {
    let length = i32::try_from(text.len() + 1).unwrap_or(i32::MAX);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}

fn push_binary(subtype: u8, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let length = i32::try_from(bytes.len()).ok()?;
    // The old subtype repeats the length inside.
    if subtype == 2 {
        out.extend_from_slice(&length.checked_add(4)?.to_le_bytes());
        out.push(subtype);
    }
    out.extend_from_slice(&length.to_le_bytes());
    if subtype != 2 {
        out.push(subtype);
    }
    out.extend_from_slice(bytes);
    Some(())
}
