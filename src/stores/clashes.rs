//! Documents of an archive that a target would not keep apart from each other or from what it holds already, told
//! before any of them is written.
//!
//! Only the live target knows these rules: the unique keys of a Cosmos DB container, and the first version of
//! its partition key hash, which reads no more than the beginning of a key.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use sha2::{Digest as _, Sha256};

use super::embedded::write_ordered;
use super::{Description, Index, KeyField, store_key_fields};
use crate::check::{Reason, Refusal};
use crate::document::json::Tape;
use crate::document::{StoreKey, StoreKind, text_field};

/// How many bytes of a partition key the first version of the hash reads.
///
/// [Large partition keys](https://learn.microsoft.com/azure/cosmos-db/large-partition-keys).
const HASHED: usize = 101;

/// The values of some fields, as a short digest.
type Values = [u8; 16];

/// What was seen of an archive so far, by the rules of its target.
#[derive(Default)]
pub struct Clashes {
    /// The fields that make a document's key.
    key: Vec<String>,
    unique: Vec<UniqueKey>,
    hash: Option<ShortHash>,
}

/// Values that only one document of a logical partition may have.
struct UniqueKey {
    name: String,
    fields: Vec<String>,
    /// Of documents of the archive.
    seen: HashSet<Values>,
    /// Of stored documents, each with its key.
    stored: HashMap<Values, Values>,
}

/// A hash that reads the beginning of a key.
struct ShortHash {
    field: String,
    /// Beginning → whole key.
    seen: HashMap<Values, Values>,
    /// The same of stored documents.
    stored: HashMap<Values, Values>,
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
            stored: HashMap::new(),
        };
        let hash = match &target.key_fields[..] {
            [field] if target.hash_version == Some(1) => {
                Some(ShortHash { field: partition(field), seen: HashMap::new(), stored: HashMap::new() })
            }
            _ => None,
        };
        let key = store_key_fields(target.store, &target.key_fields).into_iter().map(str::to_owned);
        let unique = target.indexes.iter().filter(|index| index.unique).map(unique);
        Self { key: key.collect(), unique: unique.collect(), hash }
    }

    /// Whether it matters what the target holds already.
    pub fn concern_stored_documents(&self) -> bool {
        !self.unique.is_empty() || self.hash.is_some()
    }

    /// Takes a document that the target holds, which a tape has read.
    pub fn take_stored(&mut self, tape: &Tape, line: &[u8]) {
        let key = self.key_of(tape, line);
        for unique in &mut self.unique {
            let _ = unique.stored.insert(unique.values(tape, line), key);
        }
        if let Some(hash) = &mut self.hash
            && let Some((_, beginning, whole)) = hash.read(tape, line)
        {
            let _ = hash.stored.entry(beginning).or_insert(whole);
        }
    }

    /// Takes the next document, which a tape has read.
    ///
    /// Errors: [`Reason::TargetRule`] if the target would not keep it apart from one before.
    pub fn take(&mut self, tape: &Tape, line: &[u8]) -> Result<(), Refusal> {
        if let Some(hash) = &mut self.hash {
            hash.take(tape, line)?;
        }
        let key = self.key_of(tape, line);
        for unique in &mut self.unique {
            let values = unique.values(tape, line);
            let whose = match unique.stored.get(&values) {
                Some(holder) if *holder != key => "a stored document",
                _ if !unique.seen.insert(values) => "a document before it",
                _ => continue,
            };
            let detail = format!("It has the values of {whose} in the target's unique key {}.", unique.name);
            return Err(Refusal::new(Reason::TargetRule, detail));
        }
        Ok(())
    }

    /// A document's key, as a short digest; of one without a key it is nobody's.
    fn key_of(&self, tape: &Tape, line: &[u8]) -> Values {
        let fields: Vec<&str> = self.key.iter().map(String::as_str).collect();
        let key = StoreKey::of(StoreKind::CosmosDb, &fields, tape, line);
        key.map_or_else(|_| Values::default(), |key| digest(key.0.as_bytes()))
    }
}

impl UniqueKey {
    fn values(&self, tape: &Tape, line: &[u8]) -> Values {
        let mut ordered = Vec::new();
        let fields = self.fields.iter().map(String::as_str);
        write_ordered(StoreKind::CosmosDb, tape, line, fields, &mut ordered);
        digest(&ordered)
    }
}

impl ShortHash {
    fn take(&mut self, tape: &Tape, line: &[u8]) -> Result<(), Refusal> {
        let Some((key, beginning, whole)) = self.read(tape, line) else { return Ok(()) };
        let other = match self.stored.get(&beginning) {
            Some(stored) if *stored != whole => "that of a stored document",
            _ if *self.seen.entry(beginning).or_insert(whole) != whole => "another one",
            _ => return Ok(()),
        };
        let detail = format!(
            "The partition key {key:?} begins with the same {HASHED} bytes as {other}, and the target's hash (version 1) reads no further."
        );
        Err(Refusal::new(Reason::TargetRule, detail))
    }

    /// The partition key of a document, what the hash reads of it and all of it; `None` of one that it reads whole.
    fn read<'a>(&self, tape: &Tape, line: &'a [u8]) -> Option<(Cow<'a, str>, Values, Values)> {
        let key = text_field(StoreKind::CosmosDb, tape, line, &self.field)?;
        let beginning = digest(key.as_bytes().get(..HASHED)?);
        let whole = digest(key.as_bytes());
        Some((key, beginning, whole))
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
    fn a_stored_long_key_is_in_the_way_of_every_other_one_with_its_beginning() {
        let item = |end: &str| format!(r#"{{"id":"{end}","s":"{}{end}"}}"#, "k".repeat(101));
        let (mut clashes, mut tape) = (Clashes::of(&target(1, &[])), Tape::new());
        assert!(clashes.concern_stored_documents());
        let stored = item("a");
        tape.read(stored.as_bytes()).unwrap();
        clashes.take_stored(&tape, stored.as_bytes());
        for (line, fits) in [(item("b"), false), (item("a"), true), (item("b"), false)] {
            tape.read(line.as_bytes()).unwrap();
            assert_eq!(clashes.take(&tape, line.as_bytes()).is_ok(), fits, "{line}");
        }
    }

    #[test]
    fn a_unique_key_holds_within_one_partition() {
        let item = |s: &str, a: &str| format!(r#"{{"s":"{s}","a":{a},"b":"x"}}"#);
        let lines = [item("1", "1"), item("1", "2"), item("2", "1"), item("1", "1.0"), item("1", "null")];
        assert_eq!(taken(&target(2, &["a", "b"]), &lines), [true, true, true, false, true]);
    }

    #[test]
    fn a_stored_document_is_in_the_way_of_every_other_one_but_itself() {
        let item = |id: &str, a: u32| format!(r#"{{"id":"{id}","s":"1","a":{a}}}"#);
        let (mut clashes, mut tape) = (Clashes::of(&target(2, &["a"])), Tape::new());
        assert!(
            clashes.concern_stored_documents() && !Clashes::of(&target(2, &[])).concern_stored_documents()
        );
        let stored = item("x", 1);
        tape.read(stored.as_bytes()).unwrap();
        clashes.take_stored(&tape, stored.as_bytes());
        for (line, fits) in [(item("y", 1), false), (item("x", 1), true), (item("y", 2), true)] {
            tape.read(line.as_bytes()).unwrap();
            assert_eq!(clashes.take(&tape, line.as_bytes()).is_ok(), fits, "{line}");
        }
    }
}
