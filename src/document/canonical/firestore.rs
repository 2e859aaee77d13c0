//! Firestore: typed values of the REST API, in which one value may be spelled in several ways.
//!
//! The spellings are those of the
//! [ProtoJSON format](https://protobuf.dev/programming-guides/json/): 64-bit integers as strings or
//! numbers, doubles as numbers or strings, members that hold their default left out.

use std::borrow::Cow;

use super::writer::{Writer, Written};
use crate::document::decimal::{Decimal, is_plain_integer};
use crate::document::double;
use crate::document::json::{Kind, Member};
use crate::document::store_key::{DOCUMENT_ID, id_of_name};
use crate::document::text::{unescape, write_quoted};
use crate::document::timestamp;

/// What the service itself writes beside a document's fields.
const SYSTEM_FIELDS: [&str; 2] = ["createTime", "updateTime"];

/// Integers of so many digits fit into 64 bits.
const SAFE_DIGITS: usize = 18;

impl<'t> Writer<'t, '_> {
    pub(super) fn firestore_document(&mut self, leave_out: &[String]) -> Written {
        let line = self.line;
        let no_id = leave_out.iter().any(|name| name == DOCUMENT_ID);
        let keep = |member: &Member| {
            let left_out = no_id && member.is_named(line, "name");
            !left_out && !member.is_one_of(line, &SYSTEM_FIELDS)
        };
        self.sorted(None, keep, |writer, member| match (&*member.name_bytes(line), member.kind) {
            (b"fields", Kind::Object) => {
                writer.sorted(Some(member), |field| !field.is_one_of(line, leave_out), Self::firestore_value)
            }
            (b"name", Kind::String) => {
                // Project, database and collection are where a document is kept, not what it is.
                write_quoted(&id_of_name(writer.raw(member)), writer.out);
                Ok(())
            }
            _ => writer.untyped(member),
        })
    }

    /// Whether a value inside its type wrapper is certainly in canonical form.
    pub(super) fn firestore_stands(&self, typed: &Member) -> bool {
        match (&*typed.name_bytes(self.line), typed.kind) {
            (b"stringValue" | b"referenceValue", Kind::String)
            | (b"booleanValue", Kind::Bool)
            | (b"nullValue", Kind::Null) => true,
            (b"integerValue", Kind::String) => {
                let digits = self.inner(typed);
                digits.len() <= SAFE_DIGITS && is_plain_integer(digits)
            }
            _ => false,
        }
    }

    /// Writes a typed value: an object whose only member is called by its type.
    pub(super) fn firestore_value(&mut self, value: &'t Member) -> Written {
        let Some(typed) = self.only_child(value)? else { return self.untyped(value) };
        self.out.push(b'{');
        self.name(typed);
        match (&*typed.name_bytes(self.line), typed.kind) {
            (b"nullValue", Kind::String) if self.raw(typed) == br#""NULL_VALUE""# => {
                self.out.extend_from_slice(b"null");
            }
            (b"integerValue", Kind::String | Kind::Number) => self.firestore_integer(typed),
            (b"doubleValue", Kind::String | Kind::Number) => self.firestore_double(typed),
            (b"timestampValue", Kind::String) => self.firestore_timestamp(typed),
            (b"bytesValue", Kind::String) => self.base64(typed),
            (b"geoPointValue", Kind::Object) => self.firestore_point(typed)?,
            (b"arrayValue", Kind::Object) => self.firestore_array(typed)?,
            (b"mapValue", Kind::Object) => self.firestore_map(typed)?,
            _ => self.untyped(typed)?,
        }
        self.out.push(b'}');
        Ok(())
    }

    /// Writes an integer as a string, whichever way it is spelled.
    fn firestore_integer(&mut self, integer: &Member) {
        match Decimal::parse(&self.number_text(integer)).and_then(Decimal::to_integer) {
            Some(value) => {
                self.out.push(b'"');
                self.out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
                self.out.push(b'"');
            }
            None => self.scalar(integer),
        }
    }

    /// Writes a double as a number, or as a string if it is none, by its bits.
    fn firestore_double(&mut self, number: &Member) {
        match double::parse(&self.number_text(number)) {
            Some(value) if value.is_finite() => double::write(value, self.out),
            Some(value) => {
                self.out.push(b'"');
                double::write(value, self.out);
                self.out.push(b'"');
            }
            None => self.scalar(number),
        }
    }

    /// Writes a time in UTC, cut to the microseconds that
    /// [Firestore keeps](https://firebase.google.com/docs/firestore/manage-data/data-types).
    fn firestore_timestamp(&mut self, time: &Member) {
        match timestamp::normalised(&unescape(self.raw(time))) {
            Some(text) => write_quoted(&text, self.out),
            None => self.scalar(time),
        }
    }

    /// Writes a point with both coordinates; one that is left out is 0.
    fn firestore_point(&mut self, point: &'t Member) -> Written {
        let mut coordinates = [0.0; 2];
        for member in self.inside(Some(point))?.members(Some(point)) {
            let place = ["latitude", "longitude"].iter().position(|name| member.is_named(self.line, name));
            let scalar = matches!(member.kind, Kind::Number | Kind::String);
            let value = double::parse(&self.number_text(member)).filter(|value| scalar && value.is_finite());
            match (place, value) {
                (Some(place), Some(value)) => coordinates[place] = value,
                _ => return self.untyped(point),
            }
        }
        self.out.extend_from_slice(br#"{"latitude":"#);
        double::write(coordinates[0], self.out);
        self.out.extend_from_slice(br#","longitude":"#);
        double::write(coordinates[1], self.out);
        self.out.push(b'}');
        Ok(())
    }

    fn firestore_array(&mut self, array: &'t Member) -> Written {
        match self.only_child(array)? {
            Some(values) if values.kind == Kind::Array && values.is_named(self.line, "values") => {
                self.out.extend_from_slice(br#"{"values":"#);
                self.elements(values, Self::firestore_value)?;
                self.out.push(b'}');
            }
            None if array.is_childless() => self.out.extend_from_slice(br#"{"values":[]}"#),
            _ => self.untyped(array)?,
        }
        Ok(())
    }

    fn firestore_map(&mut self, map: &'t Member) -> Written {
        match self.only_child(map)? {
            Some(fields) if fields.kind == Kind::Object && fields.is_named(self.line, "fields") => {
                self.out.extend_from_slice(br#"{"fields":"#);
                self.sorted(Some(fields), |_| true, Self::firestore_value)?;
                self.out.push(b'}');
            }
            None if map.is_childless() => self.out.extend_from_slice(br#"{"fields":{}}"#),
            _ => self.untyped(map)?,
        }
        Ok(())
    }

    /// The text of a number that stands with or without quotes.
    fn number_text(&self, number: &Member) -> Cow<'t, str> {
        match number.kind {
            Kind::String => unescape(self.raw(number)),
            _ => String::from_utf8_lossy(self.raw(number)),
        }
    }
}
