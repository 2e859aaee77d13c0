//! A tenant that the documents carry, in a field or in the JSON that a field holds.

use super::pointer::{Pointed, Pointer};
use crate::{
    Error, Result,
    check::{Reason, Refusal},
    document::{StoreKind, json::Tape},
};
use std::borrow::Cow;

/// A field name, or a field name and a JSON pointer into the JSON that the field holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantField {
    path: String,
    field: String,
    pointer: Option<Pointer>,
}

/// What a document says about its tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carried<'a> {
    /// This tenant.
    Tenant(Cow<'a, str>),
    /// Nothing: the field or the value is absent or null, as in an erased event.
    Nothing,
    /// The field holds no JSON (a `MemoryPack` envelope, say), so nothing can be said.
    NotJson,
}

impl TenantField {
    /// Reads `field` or `field#/json/pointer` (RFC 6901).
    pub fn parse(path: &str) -> Result<Self> {
        let (field, pointer) = path.split_once('#').map_or((path, None), |(field, rest)| (field, Some(rest)));
        let pointer = pointer.map(Pointer::parse).transpose();
        match pointer {
            Ok(_) if field.is_empty() => Err("it begins with no field name".to_owned()),
            Ok(pointer) => Ok(Self { path: path.to_owned(), field: field.to_owned(), pointer }),
            Err(what) => Err(what),
        }
        .map_err(|what| {
            Error::usage(format!("The tenant field {path:?} cannot be used: {what}"))
                .hint("Write a field name, or a field name and a JSON pointer: metadata#/tenantId.")
        })
    }

    /// The path as it was given.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Reads what one document carries; a value that is no string is refused with `field-type`.
    pub fn read<'a>(&self, store: StoreKind, tape: &Tape, line: &'a [u8]) -> Result<Carried<'a>, Refusal> {
        let fields = store.fields(tape, line)?;
        let Some(value) =
            tape.find(line, fields, &self.field).filter(|value| !store.is_null(tape, line, value))
        else {
            return Ok(Carried::Nothing);
        };
        let Some(pointer) = &self.pointer else {
            let text = store.text(tape, line, value);
            return text.map(Carried::Tenant).ok_or_else(|| self.wrong_type("not a string"));
        };
        let Some(json) = store.embedded_json(tape, line, value) else {
            return Ok(Carried::NotJson);
        };
        match pointer.look_up(&json) {
            Ok(Pointed::Text(tenant)) => Ok(Carried::Tenant(tenant.into())),
            Ok(Pointed::Nothing) => Ok(Carried::Nothing),
            Ok(Pointed::Other(what)) => Err(self.wrong_type(what)),
            Err(_) => Ok(Carried::NotJson),
        }
    }

    fn wrong_type(&self, what: &str) -> Refusal {
        Refusal::new(Reason::FieldType, format!("{:?} holds {what} where a tenant is expected", self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str, store: StoreKind, line: &str) -> Result<Option<String>, Reason> {
        let mut tape = Tape::new();
        tape.read(line.as_bytes()).unwrap();
        let carried = TenantField::parse(path).unwrap().read(store, &tape, line.as_bytes());
        carried.map_err(|refusal| refusal.reason).map(|carried| match carried {
            Carried::Tenant(tenant) => Some(tenant.into_owned()),
            Carried::Nothing => None,
            Carried::NotJson => Some("no JSON".into()),
        })
    }

    #[test]
    fn a_field_is_read_in_the_form_of_each_store() {
        let lines = [
            (StoreKind::MongoDb, r#"{"tenantId":"acme"}"#, r#"{"tenantId":null}"#),
            (StoreKind::DynamoDb, r#"{"Item":{"tenantId":{"S":"acme"}}}"#, r#"{"Item":{}}"#),
            (
                StoreKind::Firestore,
                r#"{"fields":{"tenantId":{"stringValue":"acme"}}}"#,
                r#"{"fields":{"tenantId":{"nullValue":null}}}"#,
            ),
            (StoreKind::CosmosDb, r#"{"tenantId":"acme"}"#, r#"{"tenantId":null}"#),
        ];
        for (store, with, without) in lines {
            assert_eq!(read("tenantId", store, with), Ok(Some("acme".into())), "{store}");
            assert_eq!(read("tenantId", store, without), Ok(None), "{store}");
        }
    }

    #[test]
    fn embedded_json_is_read_as_text_base64_and_binary() {
        // {"tenantId":"acme"}
        let base64 = "eyJ0ZW5hbnRJZCI6ImFjbWUifQ==";
        let lines = [
            (StoreKind::MongoDb, format!(r#"{{"m":{{"$binary":{{"base64":"{base64}","subType":"00"}}}}}}"#)),
            (StoreKind::MongoDb, r#"{"m":"{\"tenantId\":\"acme\"}"}"#.into()),
            (StoreKind::DynamoDb, format!(r#"{{"Item":{{"m":{{"S":"{base64}"}}}}}}"#)),
            (StoreKind::DynamoDb, format!(r#"{{"Item":{{"m":{{"B":"{base64}"}}}}}}"#)),
            (StoreKind::Firestore, format!(r#"{{"fields":{{"m":{{"bytesValue":"{base64}"}}}}}}"#)),
            (StoreKind::CosmosDb, format!(r#"{{"m":"{base64}"}}"#)),
        ];
        for (store, line) in lines {
            assert_eq!(read("m#/tenantId", store, &line), Ok(Some("acme".into())), "{line}");
        }
    }

    #[test]
    fn an_erased_event_carries_nothing_and_an_envelope_is_told_apart() {
        assert_eq!(read("metadata#/tenantId", StoreKind::MongoDb, r#"{"metadata":null}"#), Ok(None));
        let envelope = r#"{"metadata":{"$binary":{"base64":"AQIDBA==","subType":"00"}}}"#;
        assert_eq!(read("metadata#/tenantId", StoreKind::MongoDb, envelope), Ok(Some("no JSON".into())));
        assert_eq!(read("tenantId", StoreKind::DynamoDb, "{}"), Err(Reason::NotLossless));
    }

    #[test]
    fn paths_that_name_no_field_or_no_pointer_are_usage_errors() {
        for path in ["", "#/tenantId", "metadata#", "metadata#tenantId", "metadata#/a~b"] {
            assert_eq!(TenantField::parse(path).unwrap_err().kind(), crate::ErrorKind::Usage, "{path}");
        }
    }
}
