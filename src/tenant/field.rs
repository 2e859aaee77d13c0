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
