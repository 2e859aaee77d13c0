//! The items of a scan's answer as lines: `{"Item":{"pk":{"S":"…"},…}}`, every name in its sorted place.
//!
//! The SDK makes a map of each item and a string of each name and value in it, only for all of them to be written
//! as JSON again. So the items are taken out of the answer's JSON before the SDK reads the rest of it.

use std::sync::{Arc, Mutex, PoisonError};

use aws_sdk_dynamodb::config::interceptors::BeforeDeserializationInterceptorContextMut;
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use aws_smithy_types::body::SdkBody;
use bytes::Bytes;
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};

use super::item::first_bytes;
use crate::document::Lines;
use crate::document::json::{Kind, Member, Tape};
use crate::document::text::{unescape, write_quoted};
use crate::stores::{StoreError, StoreErrorKind, StoreResult};

/// Takes the items out of the answer to one request, which gets it as its interceptor.
#[derive(Clone, Debug, Default)]
pub(super) struct ScannedItems(Arc<Mutex<Option<StoreResult<Lines>>>>);

impl ScannedItems {
    /// The items of the answer that was read last.
    ///
    /// Errors: [`StoreErrorKind::Permanent`] if an attribute has a type that did not exist when this was written.
    pub(super) fn take(&self) -> StoreResult<Lines> {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        taken.unwrap_or_else(|| {
            let message = "DynamoDB's answer to Scan holds no items and no empty list of them";
            Err(StoreError::new(StoreErrorKind::Permanent, message))
        })
    }

    /// Keeps the items, and gives back what the SDK is to read.
    fn keep(&self, answer: Bytes) -> Bytes {
        let mut tape = Tape::deep();
        // What is no JSON is for the SDK to complain about.
        let Ok(()) = tape.read(&answer) else { return answer };
        let Some(items) = tape.find(&answer, None, "Items").filter(|items| items.kind == Kind::Array) else {
            return answer;
        };
        let lines = lines_of(&tape, &answer, items);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(lines);
        let (start, end) = (items.value.start as usize, items.value.end as usize);
        let (before, after) = (answer.get(..start), answer.get(end..));
        [before.unwrap_or_default(), b"[]", after.unwrap_or_default()].concat().into()
    }
}

impl Intercept for ScannedItems {
    fn name(&self) -> &'static str {
        "ScannedItems"
    }

    fn modify_before_deserialization(
        &self,
        context: &mut BeforeDeserializationInterceptorContextMut<'_>,
        _components: &RuntimeComponents,
        _config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let response = context.response_mut();
        if response.status().is_success() {
            let (body, items) = (std::mem::replace(response.body_mut(), SdkBody::taken()), self.clone());
            let without_items = async move {
                let answer = body.collect().await?.to_bytes();
                Ok::<_, BoxError>(Frame::data(items.keep(answer)))
            };
            let body = StreamBody::new(futures::stream::once(without_items));
            *response.body_mut() = SdkBody::from_body_1_x(body);
        }
        Ok(())
    }
}

fn lines_of(tape: &Tape, answer: &[u8], items: &Member) -> StoreResult<Lines> {
    let mut lines = Lines::new();
    lines.reserve(1_000, items.raw(answer).len());
    let transcript = Transcript { tape, answer };
    for item in tape.members(Some(items)) {
        let mut written = Ok(());
        lines.push_with(|out| {
            out.extend_from_slice(b"{\"Item\":");
            written = transcript.map(item, out);
            out.push(b'}');
        });
        written.map_err(|Unknown(name)| {
            let message =
                format!("The attribute {name:?} has a type that this version of rekey does not know");
            StoreError::new(StoreErrorKind::Permanent, message)
        })?;
    }
    Ok(lines)
}

/// An attribute of a type that is not known.
struct Unknown(String);

/// Writes items as they stand in an answer, but for the order of their names and the spelling of their texts.
#[derive(Clone, Copy)]
struct Transcript<'t> {
    tape: &'t Tape,
    answer: &'t [u8],
}

impl<'t> Transcript<'t> {
    /// Appends attributes sorted by the bytes of their names.
    fn map(self, map: &'t Member, out: &mut Vec<u8>) -> Result<(), Unknown> {
        if map.kind != Kind::Object {
            return Err(Unknown(String::new()));
        }
        let attributes = self.tape.members(Some(map)).map(|attribute| {
            let name = attribute.name(self.answer);
            (first_bytes(&name), name, attribute)
        });
        let mut attributes: Vec<_> = attributes.collect();
        attributes
            .sort_unstable_by(|(a, a_name, _), (b, b_name, _)| a.cmp(b).then_with(|| a_name.cmp(b_name)));
        out.push(b'{');
        for (at, (_, name, value)) in attributes.into_iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            write_quoted(&name, out);
            out.push(b':');
            self.value(value, out).ok_or_else(|| Unknown(name.into_owned()))?;
        }
        out.push(b'}');
        Ok(())
    }

    /// Appends a value in its type wrapper; `None` if its type is not known.
    fn value(self, value: &'t Member, out: &mut Vec<u8>) -> Option<()> {
        let typed = self.tape.only_child(value).filter(|_| value.kind == Kind::Object)?;
        let name = typed.name(self.answer);
        out.extend_from_slice(b"{\"");
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\":");
        match (&*name, typed.kind) {
            ("S" | "N" | "B", Kind::String) => self.text(typed, out),
            ("BOOL" | "NULL", Kind::Bool) => out.extend_from_slice(typed.raw(self.answer)),
            ("SS" | "NS" | "BS", Kind::Array) => self.list(typed, out, |element, out| {
                (element.kind == Kind::String).then(|| self.text(element, out))
            })?,
            ("L", Kind::Array) => self.list(typed, out, |element, out| self.value(element, out))?,
            ("M", Kind::Object) => self.map(typed, out).ok()?,
            _ => return None,
        }
        out.push(b'}');
        Some(())
    }

    fn list(
        self,
        list: &'t Member,
        out: &mut Vec<u8>,
        write: impl Fn(&'t Member, &mut Vec<u8>) -> Option<()>,
    ) -> Option<()> {
        out.push(b'[');
        for (at, element) in self.tape.members(Some(list)).enumerate() {
            if at > 0 {
                out.push(b',');
            }
            write(element, out)?;
        }
        out.push(b']');
        Some(())
    }

    /// Appends a text in its canonical spelling, which it mostly has already.
    fn text(self, text: &Member, out: &mut Vec<u8>) {
        let raw = text.raw(self.answer);
        if self.tape.is_compact() {
            out.extend_from_slice(raw);
        } else {
            write_quoted(&unescape(raw), out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(answer: &str) -> (String, Vec<String>) {
        let items = ScannedItems::default();
        let rest = items.keep(Bytes::copy_from_slice(answer.as_bytes()));
        let lines = items.take().unwrap();
        let lines = lines.iter().map(|line| String::from_utf8(line.to_vec()).unwrap()).collect();
        (String::from_utf8(rest.to_vec()).unwrap(), lines)
    }

    #[test]
    fn items_are_taken_out_with_sorted_names_and_the_rest_is_left() {
        let item = r#"{"sk":{"N":"1.50"},"pk":{"S":"é\n"},"m":{"M":{"z":{"L":[{"NULL":true}]},"a":{"SS":["b","a"]}}},"b":{"B":"AP8="},"f":{"BOOL":false},"ns":{"NS":["1E-130"]}}"#;
        let line = r#"{"Item":{"b":{"B":"AP8="},"f":{"BOOL":false},"m":{"M":{"a":{"SS":["b","a"]},"z":{"L":[{"NULL":true}]}}},"ns":{"NS":["1E-130"]},"pk":{"S":"é\n"},"sk":{"N":"1.50"}}}"#;
        let (rest, lines) = kept(&format!(r#"{{"Count":2,"Items":[{item},{{}}],"ScannedCount":3}}"#));
        assert_eq!(rest, r#"{"Count":2,"Items":[],"ScannedCount":3}"#);
        assert_eq!(lines, [line, r#"{"Item":{}}"#]);
        // Another spelling of the same.
        let loose = item.replace('é', "\\u00E9").replace("{\"S\"", "{ \"S\" ");
        let (rest, lines) =
            kept(&format!(r#"{{ "Items" : [ {loose} ] , "LastEvaluatedKey":{{"pk":{{"S":"x"}}}}}}"#));
        assert_eq!(rest, r#"{ "Items" : [] , "LastEvaluatedKey":{"pk":{"S":"x"}}}"#);
        assert_eq!(lines, [line]);
    }

    #[test]
    fn a_type_that_is_not_known_is_an_error_with_its_attribute() {
        for value in [
            r#"{"X":"1"}"#,
            r#"{"S":1}"#,
            r#"{"S":"1","N":"1"}"#,
            "{}",
            r#""1""#,
            r#"{"SS":[1]}"#,
            r#"{"L":[{"M":{"x":{"Q":"S3CRET"}}}]}"#,
        ] {
            let items = ScannedItems::default();
            let _rest = items.keep(format!(r#"{{"Items":[{{"odd":{value}}}]}}"#).into());
            let error = items.take().unwrap_err();
            assert!(error.message.contains("\"odd\"") && !error.message.contains("S3CRET"), "{error}");
        }
    }

    #[test]
    fn an_answer_that_is_none_is_left_as_it_is() {
        for answer in [r#"{"Count":0}"#, "{", r#"{"Items":3}"#] {
            let items = ScannedItems::default();
            assert_eq!(items.keep(answer.into()), answer);
            assert!(items.take().is_err());
        }
    }
}
