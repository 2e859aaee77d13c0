//! What the service would refuse of a document, told without writing.
//!
//! [Limits](https://firebase.google.com/docs/firestore/quotas#collections_documents_and_fields). One document that it
//! refuses fails the whole request it stands in, so each is checked before it is sent.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::check::{Reason, Refusal};
use crate::document::json::{Kind, Member, Tape};
use crate::document::size::{size_bound, stored_size};
use crate::document::{StoreKind, document_id as id_of, text};
use crate::stores::document_id;

/// The largest document, as the service counts it.
const MAX_DOCUMENT: u64 = 1_048_576;
/// The largest single value.
const MAX_VALUE: usize = 1_048_487;
/// The most bytes of a field's name.
const MAX_NAME: usize = 1_500;
/// The deepest maps and arrays within each other.
const MAX_DEPTH: usize = 20;
/// How a vector is told from a map.
const VECTOR_TYPE: &str = "__type__";
/// The types of values that hold others.
static NESTED: LazyLock<[Finder<'static>; 2]> =
    LazyLock::new(|| [Finder::new("mapValue"), Finder::new("arrayValue")]);

/// Refuses a document that the service would refuse; `tape` has read the line.
pub(super) fn check(tape: &Tape, line: &[u8]) -> Result<(), Refusal> {
    // Where nothing is nested the shallow members are all there are.
    if NESTED.iter().all(|name| name.find(line).is_none()) {
        return check_document(tape, line);
    }
    let mut deep = Tape::deep();
    deep.read(line).map_err(|error| Refusal::new(Reason::Malformed, error.to_string()))?;
    check_document(&deep, line)
}

/// The same with a tape that has read everything that is nested.
fn check_document(tape: &Tape, line: &[u8]) -> Result<(), Refusal> {
    let id = id_of(tape, line).ok_or_else(|| {
        Refusal::new(Reason::NotLossless, "The line has no \"name\", which a Firestore document has.")
    })?;
    document_id::check(&id)?;
    let fields = tape.find(line, None, "fields").filter(|fields| fields.kind == Kind::Object);
    if let Some(fields) = fields {
        Check { tape, line }.fields(fields, 0)?;
    }
    if size_bound(StoreKind::Firestore, line.len()) > MAX_DOCUMENT {
        let size = stored_size(StoreKind::Firestore, tape, line);
        if size > MAX_DOCUMENT {
            let detail = format!("The document has {size} bytes; Firestore stores {MAX_DOCUMENT} at most.");
            return Err(Refusal::new(Reason::DocumentTooLarge, detail));
        }
    }
    Ok(())
}

/// Walks the values of one line.
#[derive(Clone, Copy)]
struct Check<'t> {
    tape: &'t Tape,
    line: &'t [u8],
}

impl<'t> Check<'t> {
    fn fields(self, of: &'t Member, depth: usize) -> Result<(), Refusal> {
        if depth > MAX_DEPTH {
            return Err(refused(format!(
                "Its maps and arrays are nested more than {MAX_DEPTH} levels deep."
            )));
        }
        for field in self.tape.members(Some(of)) {
            let name = field.name(self.line);
            let is_reserved = name.len() >= 4 && name.starts_with("__") && name.ends_with("__");
            if name.is_empty()
                || name.len() > MAX_NAME
                || (is_reserved && !(depth > 0 && name == VECTOR_TYPE))
            {
                let shown: String = name.chars().take(60).collect();
                return Err(refused(format!(
                    "Firestore allows no field called {shown:?}: a name has 1 to {MAX_NAME} bytes and is not __…__."
                )));
            }
            self.value(field, depth, false).map_err(|what| refused(format!("The field {name:?} {what}.")))?;
        }
        Ok(())
    }

    /// Checks a value; the error is what is wrong with it.
    fn value(self, value: &'t Member, depth: usize, in_array: bool) -> Result<(), String> {
        let typed = self.tape.only_child(value).filter(|_| value.kind == Kind::Object);
        // What is no value of a known type is for the reader of documents to refuse.
        let Some(typed) = typed else { return Ok(()) };
        match (&*typed.name(self.line), typed.kind) {
            ("arrayValue", _) if in_array => return Err("holds an array directly in an array".to_owned()),
            ("arrayValue", Kind::Object) => {
                if depth >= MAX_DEPTH {
                    return Err(format!("is nested more than {MAX_DEPTH} levels deep"));
                }
                let elements = self.tape.find(self.line, Some(typed), "values");
                for element in elements.into_iter().flat_map(|values| self.tape.members(Some(values))) {
                    self.value(element, depth + 1, true)?;
                }
            }
            ("mapValue", Kind::Object) => {
                if let Some(fields) = self.tape.find(self.line, Some(typed), "fields") {
                    self.fields(fields, depth + 1)
                        .map_err(|inner| format!("holds a map: {}", inner.detail))?;
                }
            }
            ("stringValue", Kind::String) if typed.raw(self.line).len() > MAX_VALUE => {
                let bytes = text::unescape(typed.raw(self.line)).len();
                if bytes > MAX_VALUE {
                    return Err(format!("has {bytes} bytes; Firestore stores {MAX_VALUE} in one value"));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn refused(detail: String) -> Refusal {
    Refusal::new(Reason::TargetRule, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(id: &str, fields: &str) -> Option<Reason> {
        let line = format!(r#"{{"name":"projects/p/databases/d/documents/c/{id}","fields":{fields}}}"#);
        let mut tape = Tape::new();
        tape.read(line.as_bytes()).unwrap();
        super::check(&tape, line.as_bytes()).err().map(|refusal| refusal.reason)
    }

    fn maps(levels: usize) -> String {
        let inner = r#"{"nullValue":null}"#.to_owned();
        let value =
            (0..levels).fold(inner, |inner, _| format!(r#"{{"mapValue":{{"fields":{{"m":{inner}}}}}}}"#));
        format!(r#"{{"a":{value}}}"#)
    }

    #[test]
    fn what_the_service_takes_passes() {
        for fields in [
            "{}",
            r#"{"a.b":{"stringValue":""},"`":{"integerValue":"1"},"__a":{"nullValue":null}}"#,
            r#"{"v":{"mapValue":{"fields":{"__type__":{"stringValue":"__vector__"},"value":{"arrayValue":{"values":[{"doubleValue":1.0}]}}}}}}"#,
            r#"{"a":{"arrayValue":{"values":[{"mapValue":{"fields":{"b":{"arrayValue":{}}}}}]}}}"#,
        ] {
            assert_eq!(check("x", fields), None, "{fields}");
        }
        assert_eq!(check("x", &maps(20)), None);
        let longest = format!(r#"{{"a":{{"stringValue":"{}"}}}}"#, "x".repeat(MAX_VALUE));
        assert_eq!(check("x", &longest), None);
    }

    #[test]
    fn what_the_service_refuses_is_refused() {
        for fields in [
            r#"{"":{"nullValue":null}}"#.to_owned(),
            r#"{"__x__":{"nullValue":null}}"#.to_owned(),
            r#"{"__type__":{"stringValue":"__vector__"}}"#.to_owned(),
            format!(r#"{{"{}":{{"nullValue":null}}}}"#, "n".repeat(1501)),
            r#"{"a":{"mapValue":{"fields":{"":{"nullValue":null}}}}}"#.to_owned(),
            r#"{"a":{"arrayValue":{"values":[{"arrayValue":{}}]}}}"#.to_owned(),
            maps(21),
            format!(r#"{{"a":{{"stringValue":"{}"}}}}"#, "x".repeat(MAX_VALUE + 1)),
        ] {
            assert_eq!(check("x", &fields), Some(Reason::TargetRule), "{fields:.100}");
        }
        assert_eq!(check("__x__", "{}"), Some(Reason::KeyForbidden));
        assert_eq!(check(&"k".repeat(1501), "{}"), Some(Reason::KeyTooLong));
        let half = "x".repeat(600_000);
        let large = format!(r#"{{"a":{{"stringValue":"{half}"}},"b":{{"stringValue":"{half}"}}}}"#);
        assert_eq!(check("x", &large), Some(Reason::DocumentTooLarge));
    }
}
