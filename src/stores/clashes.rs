//! Documents of one archive that a target would not keep apart, told before any of them is written.
//!
//! Only the live target knows these rules: the unique keys of a Cosmos DB container, and the first version of
//! its partition key hash, which reads no more than the beginning of a key.

use std::collections::{HashMap, HashSet};

use sha2::{Digest as _, Sha256};

use super::embedded::write_ordered;
use super::{Description, Index, KeyField};
use crate::check::{Reason, Refusal};
use crate::document::json::Tape;
use crate::document::{StoreKind, text_field};

/// How many bytes of a partition key the first version of the hash reads.
///
/// [Large partition keys](https://learn.microsoft.com/azure/cosmos-db/large-partition-keys).
const HASHED: usize = 101;

/// The values of some fields, as a short digest.
type Values = [u8; 16];

/// What was seen of an archive so far, by the rules of its target.
#[derive(Default)]
pub struct Clashes {
    unique: Vec<UniqueKey>,
    hash: Option<ShortHash>,
}

/// Values that only one document of a logical partition may have.
struct UniqueKey {
    name: String,
    fields: Vec<String>,
    seen: HashSet<Values>,
}

/// A hash that reads the beginning of a key.
struct ShortHash {
    field: String,
    /// Beginning → whole key.
    seen: HashMap<Values, Values>,
}

impl Clashes {
    /// Takes the rules of a target. Other stores than Cosmos DB have none that concern two documents of which
    /// each is right by itself.
    pub fn of(target: &Description) -> Self {
        if target.store != StoreKind::CosmosDb {
            return Self::default();
        }
        let partition = |field: &KeyField| field.name.clone();
        let unique = |index: &Index| UniqueKey {
            name: index.name.clone(),
            fields: target.key_fields.iter().map(partition).chain(index.fields.iter().cloned()).collect(),
            seen: HashSet::new(),
        };
        let hash = match &target.key_fields[..] {
            [field] if target.hash_version == Some(1) => {
                Some(ShortHash { field: partition(field), seen: HashMap::new() })
            }
            _ => None,
        };
        Self { unique: target.indexes.iter().filter(|index| index.unique).map(unique).collect(), hash }
    }

    /// Takes the next document, which a tape has read.
    ///
    /// Errors: [`Reason::TargetRule`] if the target would not keep it apart from one before.
    pub fn take(&mut self, tape: &Tape, line: &[u8]) -> Result<(), Refusal> {
        if let Some(hash) = &mut self.hash {
            hash.take(tape, line)?;
        }
        for key in &mut self.unique {
            let mut ordered = Vec::new();
            let fields = key.fields.iter().map(String::as_str);
            write_ordered(StoreKind::CosmosDb, tape, line, fields, &mut ordered);
            if !key.seen.insert(digest(&ordered)) {
                let detail = format!(
                    "A document before it has the same values in the target's unique key {}.",
                    key.name
                );
                return Err(Refusal::new(Reason::TargetRule, detail));
            }
        }
        Ok(())
    }
}

impl ShortHash {
    fn take(&mut self, tape: &Tape, line: &[u8]) -> Result<(), Refusal> {
        let Some(key) = text_field(StoreKind::CosmosDb, tape, line, &self.field) else { return Ok(()) };
        let Some(beginning) = key.as_bytes().get(..HASHED) else { return Ok(()) };
        let whole = digest(key.as_bytes());
        let known = *self.seen.entry(digest(beginning)).or_insert(whole);
        if known == whole {
            return Ok(());
        }
        let detail = format!(
            "The partition key {key:?} begins with the same {HASHED} bytes as another one, and the target's hash (version 1) reads no further."
        );
        Err(Refusal::new(Reason::TargetRule, detail))
    }
}

/// The first half of SHA-256: no two values of an archive have it in common.
pub(super) fn digest(bytes: &[u8]) -> Values {
    let whole: [u8; 32] = Sha256::digest(bytes).into();
    let mut half = Values::default();
    half.copy_from_slice(&whole[..16]);
    half
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stores::Subscribers;

    fn target(hash_version: u8, unique: &[&str]) -> Description {
        let fields: Vec<String> = unique.iter().map(|field| (*field).to_owned()).collect();
        let index = Index { name: "/a,/b".into(), fields, unique: true };
        Description {
            store: StoreKind::CosmosDb,
            location: String::new(),
            identity: None,
            key_fields: vec![KeyField { name: "s".into(), kind: None }],
            hash_version: Some(hash_version),
            indexes: if unique.is_empty() { Vec::new() } else { vec![index] },
            time_to_live: None,
            subscribers: Subscribers::Unknown,
            documents: None,
            remarks: Vec::new(),
        }
    }

    fn taken(target: &Description, lines: &[String]) -> Vec<bool> {
        let (mut clashes, mut tape) = (Clashes::of(target), Tape::new());
        let mut fits = |line: &String| {
            tape.read(line.as_bytes()).unwrap();
            clashes.take(&tape, line.as_bytes()).is_ok()
        };
        lines.iter().map(&mut fits).collect()
    }

    #[test]
    fn two_long_keys_with_one_beginning_clash_under_the_first_hash_alone() {
        let key = |beginning: usize, end: &str| format!(r#"{{"s":"{}{end}"}}"#, "k".repeat(beginning));
        let lines = [
            key(100, "a"),
            key(100, "b"),
            key(101, ""),
            key(101, "a"),
            key(101, "a"),
            key(101, "b"),
            key(50, ""),
        ];
        assert_eq!(taken(&target(1, &[]), &lines), [true, true, true, false, false, false, true]);
        assert_eq!(taken(&target(2, &[]), &lines), [true; 7]);
    }

    #[test]
    fn a_unique_key_holds_within_one_partition() {
        let item = |s: &str, a: &str| format!(r#"{{"s":"{s}","a":{a},"b":"x"}}"#);
        let lines = [item("1", "1"), item("1", "2"), item("2", "1"), item("1", "1.0"), item("1", "null")];
        assert_eq!(taken(&target(2, &["a", "b"]), &lines), [true, true, true, false, true]);
    }
}
