//! Where an item stands: its partition key and its id, as the tool and the SDK write them.

use azure_data_cosmos::PartitionKey;
use azure_data_cosmos::models::PartitionKeyValue;

use crate::check::Refusal;
use crate::document::json::{Kind, Member, Tape};
use crate::document::text::unescape;
use crate::document::{StoreKey, StoreKind};
use crate::stores::{StoreError, StoreErrorKind, StoreResult, item_key};

/// The place of one item.
#[derive(Clone, Debug)]
pub(super) struct ItemKey {
    pub partition: PartitionKey,
    pub id: String,
    partition_bytes: usize,
}

impl ItemKey {
    /// Reads a key in the tool's own form; `components` is how many the container's partition key has.
    ///
    /// Errors: [`StoreErrorKind::Permanent`] if it is not a key of this container.
    pub(super) fn parse(key: &StoreKey, components: usize) -> StoreResult<Self> {
        let foreign =
            || StoreError::new(StoreErrorKind::Permanent, format!("{key} is no key of this container"));
        let line = format!("{{\"k\":{key}}}").into_bytes();
        let mut tape = Tape::new();
        tape.read(&line).map_err(|_| foreign())?;
        let array = tape.find(&line, None, "k").filter(|it| it.kind == Kind::Array).ok_or_else(foreign)?;
        let values: Vec<&Member> = tape.members(Some(array)).collect();
        let Some((id, partition)) = values.split_last().filter(|(_, rest)| rest.len() == components) else {
            return Err(foreign());
        };
        let id = text(&line, id).ok_or_else(foreign)?;
        let partition_bytes =
            partition.iter().filter_map(|value| text(&line, value)).map(|it| it.len()).sum();
        let partition: Option<Vec<_>> = partition.iter().map(|value| component(&line, value)).collect();
        let partition = PartitionKey::try_from(partition.ok_or_else(foreign)?).map_err(|_| foreign())?;
        Ok(Self { partition, id, partition_bytes })
    }

    /// Checks the key against the service's limits.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        item_key::check_id(&self.id)?;
        item_key::check_partition_key(self.partition_bytes)
    }
}

/// The key of a document on the tape.
///
/// Errors: a refusal for an id that is no string, and a partition key component that is an object or array.
pub(super) fn key_of(paths: &[String], tape: &Tape, line: &[u8]) -> Result<StoreKey, Refusal> {
    let fields: Vec<&str> = paths.iter().map(String::as_str).chain(["id"]).collect();
    StoreKey::of(StoreKind::CosmosDb, &fields, tape, line)
}

fn text(line: &[u8], value: &Member) -> Option<String> {
    (value.kind == Kind::String).then(|| unescape(value.raw(line)).into_owned())
}

/// One component; a missing one stands as `{}`.
fn component(line: &[u8], value: &Member) -> Option<PartitionKeyValue> {
    Some(match value.kind {
        Kind::String => text(line, value)?.into(),
        Kind::Bool => (value.raw(line) == b"true").into(),
        Kind::Null => PartitionKey::NULL,
        Kind::Object => PartitionKey::UNDEFINED,
        Kind::Number => {
            let number: f64 = std::str::from_utf8(value.raw(line)).ok()?.parse().ok()?;
            PartitionKeyValue::try_from(number).ok()?
        }
        Kind::Array => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Reason;

    fn parse(key: &str, components: usize) -> Option<ItemKey> {
        ItemKey::parse(&StoreKey(key.into()), components).ok()
    }

    #[test]
    fn a_key_is_taken_apart_into_every_type_that_a_component_has() {
        let key = parse(r#"["a\"é",1.5,{},"i"]"#, 3).unwrap();
        let expected = vec![
            "a\"é".to_owned().into(),
            PartitionKeyValue::try_from(1.5).unwrap(),
            PartitionKey::UNDEFINED,
        ];
        assert_eq!(key.partition, PartitionKey::try_from(expected).unwrap());
        assert_eq!((key.id.as_str(), key.partition_bytes), ("i", 4));
        let key = parse(r#"[null,true,"i"]"#, 2).unwrap();
        assert_eq!(key.partition.values(), [PartitionKey::NULL, true.into()]);
    }

    #[test]
    fn a_key_of_another_shape_is_refused() {
        for key in ["[]", "[\"i\"]", "[\"a\",\"b\",\"i\"]", "[\"a\",1]", "[[],\"i\"]", "x", "{}"] {
            assert!(parse(key, 1).is_none(), "{key}");
        }
    }

    #[test]
    fn all_components_count_together() {
        let check = |key: &str| parse(key, 2).unwrap().check().map_err(|refusal| refusal.reason);
        let long = |bytes| "k".repeat(bytes);
        assert_eq!(check(&format!(r#"["{}","{}","i"]"#, long(1024), long(1024))), Ok(()));
        assert_eq!(check(&format!(r#"["{}","{}","i"]"#, long(1025), long(1024))), Err(Reason::KeyTooLong));
        assert_eq!(check(r#"["a/b#c","p","a?"]"#), Err(Reason::KeyForbidden));
    }
}
