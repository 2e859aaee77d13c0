//! A table's key: which attributes make it, and keys as the tool, a line and the SDK write them.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{AttributeValue, KeyType, TableDescription};

use super::item::{Item, ItemReader};
use crate::check::{Reason, Refusal};
use crate::document::base64_text;
use crate::document::decimal::Decimal;
use crate::document::json::{Kind, Tape};
use crate::document::text::write_quoted;
use crate::document::{StoreKey, StoreKind, find_field};
use crate::stores::{KeyField, StoreError, StoreErrorKind, StoreResult};

/// The key attributes of a table: the partition key, then the sort key if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeySchema {
    fields: Vec<KeyField>,
    indexed: Vec<Indexed>,
}

/// An attribute that a secondary index has in its key: an item need not hold it, and if it does, then of its type.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Indexed {
    index: String,
    name: String,
    kind: String,
}

impl KeySchema {
    /// Reads the key out of a table's description.
    pub(super) fn of(table: &TableDescription) -> StoreResult<Self> {
        let kind_of = |name: &str| {
            let definitions = table.attribute_definitions();
            let definition = definitions.iter().find(|definition| definition.attribute_name() == name);
            definition.map(|definition| definition.attribute_type().as_str().to_owned())
        };
        let attribute = |key_type: &KeyType| {
            let element = table.key_schema().iter().find(|element| element.key_type() == key_type);
            element.map(|element| element.attribute_name().to_owned())
        };
        let names = [attribute(&KeyType::Hash), attribute(&KeyType::Range)];
        let fields: Vec<KeyField> =
            names.into_iter().flatten().map(|name| KeyField { kind: kind_of(&name), name }).collect();
        if fields.is_empty() {
            let message = "DynamoDB described the table without a key";
            return Err(StoreError::new(StoreErrorKind::Permanent, message));
        }
        let global = table.global_secondary_indexes().iter().map(|it| (it.index_name(), it.key_schema()));
        let local = table.local_secondary_indexes().iter().map(|it| (it.index_name(), it.key_schema()));
        let indexed = global.chain(local).flat_map(|(index, keys)| keys.iter().map(move |key| (index, key)));
        let indexed = indexed.filter_map(|(index, key)| {
            let (index, name) = (index.unwrap_or_default().to_owned(), key.attribute_name().to_owned());
            Some(Indexed { index, kind: kind_of(&name)?, name })
        });
        let is_own = |name: &str| fields.iter().any(|field| field.name == name);
        let indexed = indexed.filter(|it| !is_own(&it.name)).collect();
        Ok(Self { fields, indexed })
    }

    /// The key attributes with their types.
    pub(super) fn fields(&self) -> &[KeyField] {
        &self.fields
    }

    /// The names of the key attributes.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|field| field.name.as_str())
    }

    /// The partition key's name.
    pub(super) fn partition_key(&self) -> &str {
        self.fields.first().map_or("", |field| field.name.as_str())
    }

    /// The sort key's name, if the table has one.
    pub(super) fn sort_key(&self) -> Option<&str> {
        self.fields.get(1).map(|field| field.name.as_str())
    }

    /// Whether an attribute is part of the key.
    pub(super) fn holds(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }

    /// Refuses an item that the service would refuse for the key of an index.
    pub(super) fn check_indexed(&self, tape: &Tape, line: &[u8]) -> Result<(), Refusal> {
        for Indexed { index, name, kind } in &self.indexed {
            let Some(value) = find_field(StoreKind::DynamoDb, tape, line, name)? else { continue };
            let value = ItemReader { tape, line }.value(value);
            let value = value.map_err(|(_, what)| {
                Refusal::new(Reason::FieldType, format!("Its attribute {name:?} {what}."))
            })?;
            let what = match &value {
                AttributeValue::S(text) if text.is_empty() => "empty",
                AttributeValue::B(bytes) if bytes.as_ref().is_empty() => "empty",
                value if type_of(value) != kind => "of another type",
                _ => continue,
            };
            let detail = format!(
                "Its attribute {name:?} is {what}: in the key of the index {index} it must be {kind}, and not empty."
            );
            return Err(Refusal::new(Reason::TargetRule, detail));
        }
        Ok(())
    }

    /// The key of an item in the tool's own form; `None` if the item lacks a part of it.
    pub(super) fn key_of(&self, item: &Item) -> Option<StoreKey> {
        let mut out = vec![b'['];
        for (at, name) in self.names().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            write_component(item.get(name)?, &mut out)?;
        }
        out.push(b']');
        String::from_utf8(out).ok().map(|key| StoreKey(key.into()))
    }

    /// The attributes of a key in the tool's own form.
    ///
    /// Errors: [`StoreErrorKind::Permanent`] if it is not a key of this table.
    pub(super) fn attributes(&self, key: &StoreKey) -> StoreResult<Item> {
        let line = format!("{{\"k\":{key}}}").into_bytes();
        let foreign = || StoreError::new(StoreErrorKind::Permanent, format!("{key} is no key of this table"));
        let mut tape = Tape::deep();
        tape.read(&line).map_err(|_| foreign())?;
        let array = tape.find(&line, None, "k").filter(|it| it.kind == Kind::Array).ok_or_else(foreign)?;
        let reader = ItemReader { tape: &tape, line: &line };
        let values: Vec<AttributeValue> = tape
            .members(Some(array))
            .map(|value| reader.value(value).map_err(|_| foreign()))
            .collect::<StoreResult<_>>()?;
        let kinds = self.fields.iter().map(|field| field.kind.as_deref());
        let typed =
            values.iter().zip(kinds).all(|(value, kind)| kind.is_none_or(|kind| kind == type_of(value)));
        if values.len() != self.fields.len() || !typed {
            return Err(foreign());
        }
        Ok(self.names().map(ToOwned::to_owned).zip(values).collect())
    }
}

/// The letter of a key attribute's type; empty for a type that no key has.
pub(super) fn type_of(value: &AttributeValue) -> &'static str {
    match value {
        AttributeValue::S(_) => "S",
        AttributeValue::N(_) => "N",
        AttributeValue::B(_) => "B",
        _ => "",
    }
}

fn write_component(value: &AttributeValue, out: &mut Vec<u8>) -> Option<()> {
    let mut typed = |letter: &str, text: &str| {
        out.extend_from_slice(b"{\"");
        out.extend_from_slice(letter.as_bytes());
        out.extend_from_slice(b"\":");
        write_quoted(text, out);
        out.push(b'}');
    };
    match value {
        AttributeValue::S(text) => typed("S", text),
        AttributeValue::B(bytes) => typed("B", &base64_text::encode(bytes.as_ref())),
        AttributeValue::N(text) => {
            let mut plain = Vec::with_capacity(text.len());
            Decimal::parse(text)?.unsigned_zero().write(&mut plain);
            typed("N", std::str::from_utf8(&plain).ok()?);
        }
        _ => return None,
    }
    Some(())
}

/// The places of keys in a list: what an answer's keys are looked up in, whatever their spelling.
pub(super) fn places(keys: impl IntoIterator<Item = StoreKey>) -> HashMap<StoreKey, Vec<usize>> {
    let mut places: HashMap<StoreKey, Vec<usize>> = HashMap::new();
    for (at, key) in keys.into_iter().enumerate() {
        places.entry(key).or_default().push(at);
    }
    places
}

#[cfg(test)]
impl KeySchema {
    /// A table's key, for tests: names and types.
    pub(super) fn for_test(fields: &[(&str, &str)]) -> Self {
        let field =
            |(name, kind): &(&str, &str)| KeyField { name: (*name).into(), kind: Some((*kind).into()) };
        Self { fields: fields.iter().map(field).collect(), indexed: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::item::read_item;
    use super::*;
    #[test]
    fn the_key_of_an_item_is_the_one_that_its_line_has() {
        let schema = KeySchema::for_test(&[("pk", "S"), ("sk", "N")]);
        let mut tape = Tape::deep();
        for line in [
            r#"{"Item":{"pk":{"S":"Order:\u00e9\"\n"},"sk":{"N":"1.50E+1"},"x":{"S":"y"}}}"#,
            r#"{"Item":{"pk":{"S":"A"},"sk":{"N":"-0"}}}"#,
        ] {
            let item = read_item(&mut tape, line.as_bytes()).unwrap();
            let expected = StoreKey::of(StoreKind::DynamoDb, &["pk", "sk"], &tape, line.as_bytes()).unwrap();
            assert_eq!(schema.key_of(&item), Some(expected.clone()));
            assert_eq!(schema.key_of(&schema.attributes(&expected).unwrap()), Some(expected));
        }
        let without = read_item(&mut tape, br#"{"Item":{"pk":{"S":"A"}}}"#).unwrap();
        assert_eq!(schema.key_of(&without), None);
    }

    #[test]
    fn a_key_of_another_shape_or_type_is_refused() {
        let schema = KeySchema::for_test(&[("pk", "S"), ("sk", "N")]);
        for key in ["[]", r#"[{"S":"a"}]"#, r#"[{"S":"a"},{"S":"1"}]"#, r#"[{"N":"1"},{"N":"1"}]"#, "x", "{}"]
        {
            assert!(schema.attributes(&StoreKey(key.into())).is_err(), "{key}");
        }
    }

    #[test]
    fn what_the_key_of_an_index_cannot_take_is_refused_by_name() {
        let mut schema = KeySchema::for_test(&[("pk", "S")]);
        let kind = "S".to_owned();
        schema.indexed.push(Indexed { index: "by-type".to_owned(), name: "type".to_owned(), kind });
        let mut tape = Tape::deep();
        for (member, fits) in [
            (r#","type":{"S":"a"}"#, true),
            ("", true),
            (r#","type":{"S":""}"#, false),
            (r#","type":{"N":"1"}"#, false),
            (r#","type":{"NULL":true}"#, false),
        ] {
            let line = format!(r#"{{"Item":{{"pk":{{"S":"A"}}{member}}}}}"#);
            tape.read(line.as_bytes()).unwrap();
            match schema.check_indexed(&tape, line.as_bytes()) {
                Ok(()) => assert!(fits, "{member}"),
                Err(refusal) => assert!(!fits && refusal.to_string().contains("by-type"), "{refusal}"),
            }
        }
    }
}
