//! Refuses what only looks like a store's lossless form: relaxed Extended JSON, plain JSON items.

use std::borrow::Cow;

use super::StoreKind;
use super::bson::Outline;
use super::json::{Kind, Member, Tape};
use crate::check::{Reason, Refusal};

/// Why a value is not lossless, or that the tape does not tell.
enum Doubt {
    /// The tape records no members that deep.
    TooShallow,
    /// What is wrong, and the field that holds it.
    Lossy { what: &'static str, path: String },
}

type Checked = Result<(), Doubt>;

impl StoreKind {
    /// Refuses a line that is not in the store's lossless form; `tape` has read that line.
    ///
    /// Relaxed Extended JSON (a number outside a type wrapper, `{"$date":"…"}`), a DynamoDB or Firestore
    /// value without a type it knows, and a line without the store's frame are [`Reason::NotLossless`],
    /// with the path of the field. A `{"$rawBson":…}` line that holds no document is [`Reason::EscapeRecord`].
    pub fn check_lossless(self, tape: &Tape, line: &[u8]) -> Result<(), Refusal> {
        if Outline::of(self, tape, line)?.is_some() {
            return Ok(());
        }
        let _ = self.fields(tape, line)?;
        match self.check(tape, line) {
            Err(Doubt::TooShallow) => {
                let mut deep = Tape::deep();
                deep.read(line).map_err(|error| Refusal::new(Reason::Malformed, error.to_string()))?;
                refusal(self.check(&deep, line))
            }
            checked => refusal(checked),
        }
    }

    fn check(self, tape: &Tape, line: &[u8]) -> Checked {
        let check = Check { tape, line };
        let value = match self {
            Self::CosmosDb => return Ok(()),
            Self::MongoDb if is_surely_canonical(tape) => return Ok(()),
            Self::MongoDb => Check::extended_json,
            Self::DynamoDb => Check::attribute,
            Self::Firestore => Check::firestore_value,
        };
        let fields = self.fields(tape, line).ok().flatten();
        check.each(fields, value)
    }
}

/// Whether the tokenizer saw nothing of relaxed Extended JSON. Names it takes note of may hide in escapes, but
/// not in a compact line.
fn is_surely_canonical(tape: &Tape) -> bool {
    let traits = tape.traits();
    tape.is_compact() && !traits.bare_number && !traits.date_as_text
}

/// Whether the line holds a whole document as base64 of its BSON.
pub fn is_escape_record(tape: &Tape, line: &[u8]) -> bool {
    tape.members(None).next().is_some_and(|member| member.is_named(line, "$rawBson"))
}

fn refusal(checked: Checked) -> Result<(), Refusal> {
    match checked {
        Ok(()) => Ok(()),
        Err(Doubt::TooShallow) => Err(Refusal::new(Reason::NotLossless, "The line is nested too deeply.")),
        Err(Doubt::Lossy { what, path }) => {
            Err(Refusal::new(Reason::NotLossless, format!("The field {path:?} {what}.")))
        }
    }
}

/// Walks the values of one line.
#[derive(Clone, Copy)]
struct Check<'t> {
    tape: &'t Tape,
    line: &'t [u8],
}

/// The name and value of an object's only member.
type Wrapper<'t> = (Cow<'t, [u8]>, &'t Member);
type CheckValue<'t> = fn(&Check<'t>, &'t Member) -> Checked;

impl<'t> Check<'t> {
    /// Checks every member of an object or array, and names the one that fails.
    fn each(&self, of: Option<&'t Member>, check: CheckValue<'t>) -> Checked {
        if of.is_some_and(|of| !self.tape.records_inside(of)) {
            return Err(Doubt::TooShallow);
        }
        for (position, member) in self.tape.members(of).enumerate() {
            check(self, member).map_err(|doubt| self.inside(of, position, member, doubt))?;
        }
        Ok(())
    }

    /// Puts a member's name, or its place in an array, before the path of what was found in it.
    fn inside(&self, of: Option<&Member>, position: usize, member: &Member, doubt: Doubt) -> Doubt {
        let Doubt::Lossy { what, path } = doubt else { return doubt };
        let step = match of {
            Some(of) if of.kind == Kind::Array => position.to_string(),
            _ => member.name(self.line).into_owned(),
        };
        Doubt::Lossy { what, path: if path.is_empty() { step } else { format!("{step}.{path}") } }
    }

    /// Checks a value of canonical Extended JSON.
    ///
    /// Numbers stand only inside the wrappers for which the
    /// [specification](https://github.com/mongodb/specifications/blob/master/source/extended-json/extended-json.md)
    /// gives a number as the canonical form.
    fn extended_json(&self, value: &'t Member) -> Checked {
        match value.kind {
            Kind::Number => lossy("is a number without a type, as in relaxed Extended JSON"),
            Kind::Array => self.each(Some(value), Self::extended_json),
            Kind::Object => match self.wrapped(value)?.as_ref().map(known) {
                Some((b"$date", inner)) if inner.kind == Kind::String => {
                    lossy("is a date as text, as in relaxed Extended JSON")
                }
                Some((b"$timestamp" | b"$minKey" | b"$maxKey", _)) => Ok(()),
                Some((b"$binary", inner)) if inner.kind == Kind::String => {
                    lossy("is a binary of Extended JSON version 1")
                }
                _ => self.each(Some(value), Self::extended_json),
            },
            _ => Ok(()),
        }
    }

    /// Checks an attribute value in DynamoDB JSON.
    fn attribute(&self, value: &'t Member) -> Checked {
        match self.wrapped(value)?.as_ref().map(known) {
            Some(
                (b"S" | b"N" | b"B", Member { kind: Kind::String, .. })
                | (b"BOOL" | b"NULL", Member { kind: Kind::Bool, .. }),
            ) => Ok(()),
            Some((b"SS" | b"NS" | b"BS", set)) if set.kind == Kind::Array => {
                self.each(Some(set), |_, element| element_of_set(element))
            }
            Some((b"L", list)) if list.kind == Kind::Array => self.each(Some(list), Self::attribute),
            Some((b"M", map)) if map.kind == Kind::Object => self.each(Some(map), Self::attribute),
            _ => lossy("is no attribute value in DynamoDB JSON"),
        }
    }

    /// Checks a value of the Firestore REST API.
    fn firestore_value(&self, value: &'t Member) -> Checked {
        use Kind::{Bool, Null, Number, Object, String};
        let Some((name, inner)) = self.wrapped(value)? else { return lossy("is no Firestore value") };
        match (&*name, inner.kind) {
            (b"nullValue", Null | String)
            | (b"booleanValue", Bool)
            | (b"integerValue" | b"doubleValue", Number | String)
            | (b"stringValue" | b"timestampValue" | b"bytesValue" | b"referenceValue", String)
            | (b"geoPointValue", Object) => Ok(()),
            (b"arrayValue", Object) => self.inner(inner, b"values", Kind::Array),
            (b"mapValue", Object) => self.inner(inner, b"fields", Object),
            _ => lossy("is a Firestore value of a type that is not known"),
        }
    }

    /// Checks the values inside an array or map value, which may hold none at all.
    fn inner(&self, of: &'t Member, name: &[u8], kind: Kind) -> Checked {
        match self.wrapped(of)? {
            Some((found, values)) if *found == *name && values.kind == kind => {
                self.each(Some(values), Self::firestore_value)
            }
            None if of.is_childless() => Ok(()),
            _ => lossy("is no Firestore value"),
        }
    }

    /// The name and value of an object's only member, if it has exactly one.
    fn wrapped(&self, value: &'t Member) -> Result<Option<Wrapper<'t>>, Doubt> {
        if value.kind != Kind::Object {
            return Ok(None);
        }
        if !self.tape.records_inside(value) {
            return Err(Doubt::TooShallow);
        }
        Ok(self.tape.only_child(value).map(|child| (child.name_bytes(self.line), child)))
    }
}

fn element_of_set(value: &Member) -> Checked {
    if value.kind == Kind::String { Ok(()) } else { lossy("is no attribute value in DynamoDB JSON") }
}

/// The name and value of a wrapper, in a form to match with.
fn known<'t, 'n>((name, inner): &'n Wrapper<'t>) -> (&'n [u8], &'t Member) {
    (name, inner)
}

fn lossy(what: &'static str) -> Checked {
    Err(Doubt::Lossy { what, path: String::new() })
}

#[cfg(test)]
mod tests {
    use StoreKind::{CosmosDb, DynamoDb, Firestore, MongoDb};

    use super::*;

    fn check(kind: StoreKind, line: &str) -> Result<(), Refusal> {
        let mut tape = Tape::new();
        tape.read(line.as_bytes()).unwrap();
        kind.check_lossless(&tape, line.as_bytes())
    }

    #[test]
    fn canonical_documents_pass() {
        for (kind, line) in [
            (
                MongoDb,
                r#"{"_id":{"$oid":"65a0f1c2d3e4f5a6b7c8d9e0"},"d":{"$date":{"$numberLong":"1"}},"n":null}"#,
            ),
            (
                MongoDb,
                r#"{"t":{"$timestamp":{"t":1,"i":2}},"a":[{"$minKey":1},{"$maxKey":1},{"$numberInt":"1"}]}"#,
            ),
            (
                MongoDb,
                r#"{"d":{"DateTime":{"$date":{"$numberLong":"1"}},"x":[[[{"$numberDouble":"NaN"}]]]}}"#,
            ),
            (
                DynamoDb,
                r#"{"Item":{"a":{"S":""},"b":{"M":{"c":{"L":[{"NS":["1"]},{"NULL":true}]}}},"d":{"B":""}}}"#,
            ),
            (
                Firestore,
                r#"{"name":"a","fields":{"a":{"arrayValue":{}},"b":{"mapValue":{"fields":{"c":{"integerValue":1}}}}}}"#,
            ),
            (CosmosDb, r#"{"n":1.5e3,"$date":"x"}"#),
        ] {
            assert_eq!(check(kind, line), Ok(()), "{line}");
        }
    }

    #[test]
    fn lossy_documents_are_refused_with_the_path() {
        for (kind, line, path) in [
            (MongoDb, r#"{"a":1}"#, "a"),
            (MongoDb, r#"{"a":{"b":[{"$numberInt":"1"},{"c":2.5}]}}"#, "a.b.1.c"),
            (MongoDb, r#"{"at":{"DateTime":{"$date":"2026-01-02T03:04:05Z"}}}"#, "at.DateTime"),
            (MongoDb, r#"{"at":{"\u0024date":"2026-01-02T03:04:05Z"}}"#, "at"),
            (MongoDb, r#"{"v":{"$numberLong":5}}"#, "v.$numberLong"),
            (MongoDb, r#"{"x":1,"p":{"$binary":"AA==","$type":"00"}}"#, "x"),
            (DynamoDb, r#"{"Item":{"pk":"a"}}"#, "pk"),
            (DynamoDb, r#"{"Item":{"n":{"N":5}}}"#, "n"),
            (DynamoDb, r#"{"Item":{"m":{"M":{"x":{"L":[{"S":"a","N":"1"}]}}}}}"#, "m.x.0"),
            (
                Firestore,
                r#"{"name":"a","fields":{"m":{"mapValue":{"fields":{"x":{"pipelineValue":{}}}}}}}"#,
                "m.x",
            ),
            (Firestore, r#"{"name":"a","fields":{"f":{}}}"#, "f"),
        ] {
            let refusal = check(kind, line).unwrap_err();
            assert_eq!(refusal.reason, Reason::NotLossless, "{line}");
            assert!(refusal.detail.starts_with(&format!("The field {path:?} ")), "{}", refusal.detail);
        }
    }

    #[test]
    fn escape_records_are_told_apart() {
        assert_eq!(check(MongoDb, r#"{"$rawBson":"BQAAAAA="}"#), Ok(()));
        assert_eq!(check(MongoDb, r#"{"$rawBson":"BQAAAAE="}"#).unwrap_err().reason, Reason::EscapeRecord);
        assert_eq!(check(CosmosDb, r#"{"$rawBson":"BQAAAAA="}"#), Ok(()));
    }
}
