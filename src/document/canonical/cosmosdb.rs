//! Cosmos DB: plain JSON whose members have no order and whose numbers are compared by value.

use super::writer::{Writer, Written};
use crate::document::decimal::{Decimal, is_plain_integer};
use crate::document::json::{Kind, Member};

/// What the service itself writes into an item.
///
/// [Item properties](https://learn.microsoft.com/azure/cosmos-db/resource-model#properties-of-an-item).
const SYSTEM_FIELDS: [&str; 5] = ["_rid", "_self", "_etag", "_attachments", "_ts"];

/// Whether the service itself writes the field.
pub(in crate::document) fn is_system_field(field: &Member, line: &[u8]) -> bool {
    field.name_bytes(line).first() == Some(&b'_') && field.is_one_of(line, &SYSTEM_FIELDS)
}

impl<'t> Writer<'t, '_> {
    pub(super) fn cosmosdb_document(&mut self, leave_out: &[String]) -> Written {
        let line = self.line;
        let keep = |field: &Member| !is_system_field(field, line) && !field.is_one_of(line, leave_out);
        self.sorted(None, keep, Self::cosmosdb_value)
    }

    /// Whether a value is certainly in canonical form.
    pub(super) fn cosmosdb_stands(&self, value: &Member) -> bool {
        match value.kind {
            Kind::String | Kind::Bool | Kind::Null => true,
            Kind::Number => is_plain_integer(self.raw(value)),
            Kind::Object | Kind::Array => false,
        }
    }

    pub(super) fn cosmosdb_value(&mut self, value: &'t Member) -> Written {
        match value.kind {
            Kind::Object => return self.sorted(Some(value), |_| true, Self::cosmosdb_value),
            Kind::Array => return self.elements(value, Self::cosmosdb_value),
            Kind::Number => self.cosmosdb_number(value),
            _ => self.scalar(value),
        }
        Ok(())
    }

    /// Writes a number as a decimal of the same value, never by way of a double: 2^53 + 1 is not 2^53.
    ///
    /// `-0` stays apart from `0`, since a store that holds doubles holds two different ones.
    fn cosmosdb_number(&mut self, number: &Member) {
        let raw = self.raw(number);
        match std::str::from_utf8(raw).ok().and_then(Decimal::parse) {
            Some(decimal) => decimal.write(self.out),
            None => self.out.extend_from_slice(raw),
        }
    }
}
