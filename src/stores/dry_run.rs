//! A collection that is only looked at: it says what writes would come to, and has no way to write.

mod unique;

use async_trait::async_trait;

use self::unique::UniqueIndexes;
use super::reads_through::ReadsThrough;
use super::{
    BatchLimits, CollectionReader, CollectionSpec, CollectionWriter, Created, Description, Guarded,
    GuardedUpdate, StoreError, StoreErrorKind, StoreResult, guard, store_key_fields,
};
use crate::check::{Reason, Refusal};
use crate::document::json::Tape;
use crate::document::{Lines, StoreKey, integer_field};

/// How many documents are looked up in one call.
const BATCH: BatchLimits = BatchLimits { documents: 1000, bytes: 4 * 1024 * 1024 };

/// Holds a reader and nothing else of the store.
///
/// A document is expected to be written if there is none under its key, none with its values in a unique index
/// (as far as a string is among these), and the store does not refuse it. What earlier documents of the same run
/// would have changed in place is not foreseen.
pub struct DryRun {
    reader: Box<dyn CollectionReader>,
    description: Description,
    unique: UniqueIndexes,
}

impl DryRun {
    /// Wraps a reader. `description` is what it describes, or, where there is no collection yet, what would
    /// be created.
    pub fn new(reader: Box<dyn CollectionReader>, description: Description) -> Self {
        let unique = UniqueIndexes::of(&description);
        Self { reader, description, unique }
    }

    fn keys(&self, lines: &Lines) -> Vec<StoreResult<StoreKey>> {
        let kind = self.description.store;
        let fields = store_key_fields(kind, &self.description.key_fields);
        let mut tape = Tape::new();
        let permanent = |text: String| StoreError::new(StoreErrorKind::Permanent, text);
        let mut key = |line| {
            tape.read(line).map_err(|error| permanent(error.to_string()))?;
            StoreKey::of(kind, &fields, &tape, line).map_err(|refusal| permanent(refusal.to_string()))
        };
        lines.iter().map(&mut key).collect()
    }

    /// Whether the store would take a document.
    fn check_line(&self, line: &[u8]) -> StoreResult<()> {
        let mut tape = Tape::new();
        let checked = tape.read(line).map_err(|error| Refusal::new(Reason::Malformed, error.to_string()));
        checked
            .and_then(|()| self.reader.check(&tape, line))
            .map_err(|refusal| StoreError::new(StoreErrorKind::Permanent, refusal.to_string()))
    }

    /// What becomes of a document under whose key there is none.
    async fn foresee_creation(&self, key: &StoreKey, line: &[u8]) -> Created {
        if let Err(error) = self.check_line(line) {
            return Created::Failed(error);
        }
        match self.unique.take(&*self.reader, key, line).await {
            Ok(None) => Created::Written,
            Ok(Some(index)) => Created::UniqueTaken(index),
            Err(error) => Created::Failed(error),
        }
    }

    /// What becomes of a stored document that is to be changed.
    async fn foresee_change(&self, update: &GuardedUpdate, stored: Box<[u8]>) -> Guarded {
        let kind = self.description.store;
        let (mut tape, mut changed) = (Tape::new(), Vec::new());
        if tape.read(&stored).is_err() || !guard::holds(kind, &tape, &stored, update) {
            return Guarded::Differs(Some(stored));
        }
        let (name, text) = &update.set;
        if let Err(refusal) = guard::write_with_text(kind, &tape, &stored, (name, text), &mut changed) {
            return Guarded::Failed(StoreError::new(StoreErrorKind::Permanent, refusal.to_string()));
        }
        match self.unique.take(&*self.reader, &update.key, &changed).await {
            Ok(None) => Guarded::Done,
            Ok(Some(index)) => Guarded::UniqueTaken(index),
            Err(error) => Guarded::Failed(error),
        }
    }

    async fn stored(&self, keys: &[StoreKey]) -> StoreResult<Vec<Option<Box<[u8]>>>> {
        match self.reader.read(keys).await {
            Err(error) if error.kind == StoreErrorKind::NotFound => Ok(keys.iter().map(|_| None).collect()),
            stored => stored,
        }
    }
}

impl ReadsThrough for DryRun {
    fn reader(&self) -> &dyn CollectionReader {
        &*self.reader
    }
}

#[async_trait]
impl CollectionWriter for DryRun {
    fn batch_limits(&self) -> BatchLimits {
        BATCH
    }

    async fn create_collection(&self, _spec: &CollectionSpec) -> StoreResult<()> {
        Ok(())
    }

    async fn create(&self, lines: &Lines) -> Vec<Created> {
        let keys = self.keys(lines);
        let known: Vec<StoreKey> = keys.iter().filter_map(|key| key.as_ref().ok().cloned()).collect();
        let mut stored = match self.stored(&known).await {
            Ok(stored) => stored.into_iter(),
            Err(error) => return Created::all_failed(lines.len(), &error),
        };
        let mut foreseen = Vec::with_capacity(keys.len());
        for (key, line) in keys.into_iter().zip(lines.iter()) {
            foreseen.push(match (key, line) {
                (Err(error), _) => Created::Failed(error),
                (Ok(key), line) => match stored.next().flatten() {
                    Some(stored) => Created::Exists(Some(stored)),
                    None => self.foresee_creation(&key, line).await,
                },
            });
        }
        foreseen
    }

    async fn update(&self, updates: &[GuardedUpdate]) -> Vec<Guarded> {
        let keys: Vec<StoreKey> = updates.iter().map(|update| update.key.clone()).collect();
        let stored = match self.stored(&keys).await {
            Ok(stored) => stored,
            Err(error) => return Guarded::all_failed(updates.len(), &error),
        };
        let mut foreseen = Vec::with_capacity(updates.len());
        for (update, stored) in updates.iter().zip(stored) {
            foreseen.push(match stored {
                None => Guarded::Missing,
                Some(stored) => self.foresee_change(update, stored).await,
            });
        }
        foreseen
    }

    /// Whoever moves documents has looked at both keys already.
    async fn relocate(&self, _old: &Lines, new: &Lines) -> Vec<Guarded> {
        let foreseen = |line| self.check_line(line).map_or_else(Into::into, |()| Guarded::Done);
        new.iter().map(foreseen).collect()
    }

    async fn delete(&self, keys: &[StoreKey], expected: &Lines) -> Vec<Guarded> {
        let stored = match self.stored(keys).await {
            Ok(stored) => stored,
            Err(error) => return Guarded::all_failed(keys.len(), &error),
        };
        let foreseen = |(expected, stored): (&[u8], Option<Box<[u8]>>)| {
            let Some(stored) = stored else { return Guarded::Missing };
            match guard::is_same(self.description.store, &stored, expected) {
                Ok(true) => Guarded::Done,
                _ => Guarded::Differs(Some(stored)),
            }
        };
        expected.iter().zip(stored).map(foreseen).collect()
    }

    async fn raise(&self, key: &StoreKey, field: &str, _least: i64) -> StoreResult<Option<i64>> {
        let stored = self.stored(std::slice::from_ref(key)).await?.into_iter().next().flatten();
        let kind = self.description.store;
        Ok(stored.and_then(|line| {
            let mut tape = Tape::new();
            tape.read(&line).ok()?;
            integer_field(kind, &tape, &line, field)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::StoreKind;
    use crate::stores::embedded::temporary;

    fn lines(texts: &[&str]) -> Lines {
        let mut lines = Lines::new();
        for text in texts {
            lines.push(text.as_bytes());
        }
        lines
    }

    #[tokio::test]
    async fn writes_are_foreseen_and_nothing_is_written() {
        let (folder, collection) = temporary(StoreKind::MongoDb, &CollectionSpec::default()).await;
        let stored = lines(&[r#"{"_id":"1","s":"A"}"#]);
        let _ = collection.create(&stored).await;
        let description = collection.describe().await.unwrap();
        let before = std::fs::read(folder.path().join("store.redb")).unwrap();
        let dry = DryRun::new(Box::new(collection), description);

        let batch = lines(&[r#"{"_id":"2"}"#, "not a document", r#"{"_id":"1","s":"B"}"#]);
        let created = dry.create(&batch).await;
        assert!(
            matches!(&created[..], [Created::Written, Created::Failed(_), Created::Exists(Some(line))]
                if **line == *stored.get(0).unwrap()),
            "{created:?}"
        );
        let key = |id: &str| StoreKey(format!("[\"{id}\"]").into());
        let update = |id, from: &str| GuardedUpdate {
            key: key(id),
            set: ("s".into(), "C".into()),
            when_text: vec![("s".into(), from.into())],
            when_integer: Vec::new(),
        };
        let changed = dry.update(&[update("1", "A"), update("1", "B"), update("2", "A")]).await;
        assert!(matches!(changed[..], [Guarded::Done, Guarded::Differs(Some(_)), Guarded::Missing]));
        let expected = lines(&[r#"{"_id":"1","s":"A"}"#, r#"{"_id":"1"}"#, r#"{"_id":"2"}"#]);
        let deleted = dry.delete(&[key("1"), key("1"), key("2")], &expected).await;
        assert!(matches!(deleted[..], [Guarded::Done, Guarded::Differs(Some(_)), Guarded::Missing]));
        assert_eq!(dry.raise(&key("1"), "s", 5).await.unwrap(), None);
        assert_eq!(std::fs::read(folder.path().join("store.redb")).unwrap(), before);
    }

    #[tokio::test]
    async fn into_a_collection_that_is_not_there_everything_would_be_written() {
        let (_folder, collection) = temporary(StoreKind::MongoDb, &CollectionSpec::default()).await;
        let description = collection.describe().await.unwrap();
        let missing = collection.beside("missing");
        let dry = DryRun::new(Box::new(missing), description);
        assert!(matches!(dry.create(&lines(&[r#"{"_id":"2"}"#])).await[..], [Created::Written]));
        dry.create_collection(&CollectionSpec::default()).await.unwrap();
        assert!(dry.describe().await.is_err());
    }

    #[tokio::test]
    async fn what_a_unique_index_keeps_out_is_foreseen() {
        let unique = crate::stores::Index {
            name: "ix_stream".into(),
            fields: vec!["s".into(), "v".into()],
            unique: true,
        };
        let spec = CollectionSpec { indexes: vec![unique], ..CollectionSpec::default() };
        let (_folder, collection) = temporary(StoreKind::MongoDb, &spec).await;
        let document = |id, stream, version| {
            format!(r#"{{"_id":"{id}","s":"{stream}","v":{{"$numberInt":"{version}"}}}}"#)
        };
        let stored = [document("1", "A", 0), document("2", "A", 1)];
        let _ = collection.create(&lines(&stored.each_ref().map(String::as_str))).await;
        let description = collection.describe().await.unwrap();
        let dry = DryRun::new(Box::new(collection), description);

        // The same document, two whose values are taken (in the store; by the one before), one beside them.
        let batch =
            [document("1", "A", 0), document("3", "A", 1), document("4", "B", 1), document("5", "B", 1)];
        let created = dry.create(&lines(&batch.each_ref().map(String::as_str))).await;
        assert!(
            matches!(
                &created[..],
                [Created::Exists(_), Created::UniqueTaken(name), Created::Written, Created::UniqueTaken(_)]
                    if name == "ix_stream"
            ),
            "{created:?}"
        );
        let update = |id: &str, from: &str, to: &str| GuardedUpdate {
            key: StoreKey(format!("[\"{id}\"]").into()),
            set: ("s".into(), to.into()),
            when_text: vec![("s".into(), from.into())],
            when_integer: Vec::new(),
        };
        let changed =
            dry.update(&[update("2", "A", "B"), update("2", "A", "A"), update("1", "A", "C")]).await;
        assert!(
            matches!(changed[..], [Guarded::UniqueTaken(_), Guarded::Done, Guarded::Done]),
            "{changed:?}"
        );
    }

    #[tokio::test]
    async fn what_the_store_refuses_is_foreseen() {
        let key =
            |name: &str, kind: &str| crate::stores::KeyField { name: name.into(), kind: Some(kind.into()) };
        let spec =
            CollectionSpec { key_fields: vec![key("pk", "S"), key("sk", "S")], ..CollectionSpec::default() };
        let (_folder, collection) = temporary(StoreKind::DynamoDb, &spec).await;
        let description = collection.describe().await.unwrap();
        let dry = DryRun::new(Box::new(collection), description);
        let item = |sk: &str| format!(r#"{{"Item":{{"pk":{{"S":"A"}},"sk":{sk}}}}}"#);
        let batch = [item(r#"{"N":"0"}"#), item(r#"{"S":"0"}"#)];
        let created = dry.create(&lines(&batch.each_ref().map(String::as_str))).await;
        assert!(matches!(&created[..], [Created::Failed(_), Created::Written]), "{created:?}");
    }
}
