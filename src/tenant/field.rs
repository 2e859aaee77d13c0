//! A tenant that the documents carry, in a field or in the JSON that a field holds.

use super::pointer::{Pointed, Pointer};
use crate::{
    Error, Result,
    check::{Reason, Refusal},
    document::{StoreKind, bson::Outline, json::Tape},
};
use std::{
    borrow::Cow,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

/// A field name, or a field name and a JSON pointer into the JSON that the field holds.
///
/// Clones share the count of documents without JSON.
#[derive(Clone, Debug)]
pub struct TenantField {
    path: String,
    field: String,
    pointer: Option<Pointer>,
    without_json: Arc<AtomicU64>,
}

impl TenantField {
    /// Reads `field` or `field#/json/pointer` (RFC 6901).
    pub fn parse(path: &str) -> Result<Self> {
        let (field, pointer) = path.split_once('#').map_or((path, None), |(field, rest)| (field, Some(rest)));
        let pointer = pointer.map(Pointer::parse).transpose();
        match pointer {
            Ok(_) if field.is_empty() => Err("it begins with no field name".to_owned()),
            Ok(pointer) => Ok(Self {
                path: path.to_owned(),
                field: field.to_owned(),
                pointer,
                without_json: Arc::default(),
            }),
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

    /// How many documents hold something else than JSON where the pointer looks for it, such as a `MemoryPack`
    /// envelope.
    pub fn documents_without_json(&self) -> u64 {
        self.without_json.load(Relaxed)
    }

    /// Forgets the documents counted so far.
    pub fn begin_pass(&self) {
        self.without_json.store(0, Relaxed);
    }

    /// Reads the tenant that one document carries, if it carries one: absent and null carry nothing, nor does
    /// what is not JSON. A value that is no string is refused with `field-type`.
    pub fn read<'a>(
        &self,
        store: StoreKind,
        tape: &Tape,
        line: &'a [u8],
    ) -> Result<Option<Cow<'a, str>>, Refusal> {
        if let Some(outline) = Outline::of(store, tape, line)? {
            let carried = self.read(store, &outline.tape, &outline.line)?;
            return Ok(carried.map(|tenant| Cow::Owned(tenant.into_owned())));
        }
        let fields = store.fields(tape, line)?;
        let Some(value) =
            tape.find(line, fields, &self.field).filter(|value| !store.is_null(tape, line, value))
        else {
            return Ok(None);
        };
        let Some(pointer) = &self.pointer else {
            let text = store.text(tape, line, value);
            return text.map(Some).ok_or_else(|| self.wrong_type("another type than a string"));
        };
        let json = store.embedded_json(tape, line, value);
        match json.and_then(|json| pointer.look_up(&json).ok()) {
            Some(Pointed::Text(tenant)) => Ok(Some(tenant.into())),
            Some(Pointed::Nothing) => Ok(None),
            Some(Pointed::Other(what)) => Err(self.wrong_type(what)),
            None => {
                let _ = self.without_json.fetch_add(1, Relaxed);
                Ok(None)
            }
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
        read_with(&TenantField::parse(path).unwrap(), store, line)
    }

    fn read_with(field: &TenantField, store: StoreKind, line: &str) -> Result<Option<String>, Reason> {
        let mut tape = Tape::new();
        tape.read(line.as_bytes()).unwrap();
        let carried = field.read(store, &tape, line.as_bytes()).map_err(|refusal| refusal.reason)?;
        Ok(carried.map(Cow::into_owned))
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
    fn an_erased_event_carries_nothing_and_what_is_not_json_is_counted() {
        let field = TenantField::parse("metadata#/tenantId").unwrap();
        let documents = [
            (r#"{"metadata":null}"#, 0),
            (r#"{"metadata":{"$binary":{"base64":"AQIDBA==","subType":"00"}}}"#, 1),
            (r#"{"metadata":"{\"tenantId\":"}"#, 2),
            (r#"{"metadata":7}"#, 3),
        ];
        for (line, without_json) in documents {
            assert_eq!(read_with(&field.clone(), StoreKind::MongoDb, line), Ok(None));
            assert_eq!(field.documents_without_json(), without_json, "{line}");
        }
    }

    #[test]
    fn a_value_that_is_no_string_and_a_line_without_fields_are_refused() {
        assert_eq!(
            read("tenantId", StoreKind::MongoDb, r#"{"tenantId":{"$numberInt":"7"}}"#),
            Err(Reason::FieldType)
        );
        assert_eq!(
            read("m#/tenantId", StoreKind::CosmosDb, r#"{"m":"{\"tenantId\":7}"}"#),
            Err(Reason::FieldType)
        );
        assert_eq!(read("tenantId", StoreKind::DynamoDb, "{}"), Err(Reason::NotLossless));
    }

    #[test]
    fn paths_that_name_no_field_or_no_pointer_are_usage_errors() {
        for path in ["", "#/tenantId", "metadata#", "metadata#tenantId", "metadata#/a~b"] {
            assert_eq!(TenantField::parse(path).unwrap_err().kind(), crate::ErrorKind::Usage, "{path}");
        }
    }
}
