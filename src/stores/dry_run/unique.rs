//! Which documents a unique index would keep out, told without writing.

use std::collections::{HashMap, HashSet};

use tokio::sync::Mutex;

use crate::document::json::Tape;
use crate::document::{StoreKey, StoreKind, find_field};
use crate::stores::clashes::digest;
use crate::stores::embedded::write_ordered;
use crate::stores::{CollectionReader, Description, FrameworkQuery, StoreError, StoreErrorKind, StoreResult};

/// The values of the indexed fields, as a short digest.
type Values = [u8; 16];

/// The unique indexes of a collection, and what is known of who holds their values.
pub(super) struct UniqueIndexes {
    kind: StoreKind,
    key_fields: Vec<String>,
    indexes: Vec<UniqueIndex>,
    held: Mutex<Vec<Held>>,
}

struct UniqueIndex {
    name: String,
    fields: Vec<String>,
}

/// What is known about one index.
#[derive(Default)]
struct Held {
    /// By documents that this run would write.
    by_run: HashSet<Values>,
    /// The question that was asked last, and its answer: documents come stream by stream.
    asked: Option<FrameworkQuery>,
    stored: HashMap<Values, StoreKey>,
}

impl UniqueIndexes {
    pub fn of(description: &Description) -> Self {
        let kind = description.store;
        let unique = description.indexes.iter().filter(|index| index.unique);
        // A unique key of Cosmos DB holds within one logical partition.
        let partition = || description.key_fields.iter().filter(|_| kind == StoreKind::CosmosDb);
        let indexes: Vec<_> = unique
            .map(|index| UniqueIndex {
                name: index.name.clone(),
                fields: partition().map(|it| it.name.clone()).chain(index.fields.iter().cloned()).collect(),
            })
            .collect();
        let key_fields = crate::stores::store_key_fields(kind, &description.key_fields);
        let key_fields = key_fields.into_iter().map(str::to_owned).collect();
        let held = Mutex::new(indexes.iter().map(|_| Held::default()).collect());
        Self { kind, key_fields, indexes, held }
    }

    /// The index in which another document than the one under `key` holds the values of `line`; if there is
    /// none, the document holds them from now on.
    pub async fn take(
        &self,
        reader: &dyn CollectionReader,
        key: &StoreKey,
        line: &[u8],
    ) -> StoreResult<Option<String>> {
        let mut tape = Tape::new();
        tape.read(line).map_err(unreadable)?;
        let mut held = self.held.lock().await;
        let mut taken = Vec::with_capacity(self.indexes.len());
        for (index, held) in self.indexes.iter().zip(held.iter_mut()) {
            let values = values(self.kind, &tape, line, &index.fields);
            self.ask(reader, index, &tape, line, held).await?;
            let by_other = held.stored.get(&values).is_some_and(|holder| holder != key);
            if by_other || held.by_run.contains(&values) {
                return Ok(Some(index.name.clone()));
            }
            taken.push(values);
        }
        for (held, values) in held.iter_mut().zip(taken) {
            let _ = held.by_run.insert(values);
        }
        Ok(None)
    }

    /// Asks for the stored documents that agree in the string fields, unless they were asked for just now. An
    /// index without such a field is not looked up in the store.
    async fn ask(
        &self,
        reader: &dyn CollectionReader,
        index: &UniqueIndex,
        tape: &Tape,
        line: &[u8],
        held: &mut Held,
    ) -> StoreResult<()> {
        let text = |name: &String| {
            let value = find_field(self.kind, tape, line, name).ok().flatten()?;
            Some((name.clone(), self.kind.text(tape, line, value)?.into_owned()))
        };
        let query = FrameworkQuery { equals: index.fields.iter().filter_map(text).collect(), order_by: None };
        if held.asked.as_ref() == Some(&query) {
            return Ok(());
        }
        held.stored.clear();
        held.asked = None;
        let key_fields: Vec<&str> = self.key_fields.iter().map(String::as_str).collect();
        let (mut tape, mut from) = (Tape::new(), None);
        while !query.equals.is_empty() {
            let page = match reader.query(&query, from.as_ref()).await {
                Err(error) if error.kind == StoreErrorKind::NotFound => break,
                page => page?,
            };
            for line in page.lines.iter() {
                tape.read(line).map_err(unreadable)?;
                if let Ok(key) = StoreKey::of(self.kind, &key_fields, &tape, line) {
                    let _ = held.stored.insert(values(self.kind, &tape, line, &index.fields), key);
                }
            }
            from = match page.next {
                Some(next) => Some(next),
                None => break,
            };
        }
        held.asked = Some(query);
        Ok(())
    }
}

fn values(kind: StoreKind, tape: &Tape, line: &[u8], fields: &[String]) -> Values {
    let mut ordered = Vec::new();
    write_ordered(kind, tape, line, fields.iter().map(String::as_str), &mut ordered);
    digest(&ordered)
}

fn unreadable(error: impl std::error::Error + Send + Sync + 'static) -> StoreError {
    StoreError::new(StoreErrorKind::Permanent, "A document is not JSON").with_source(error)
}
