//! Guarded deletes, and the counter that is only raised.

use mongodb::bson::Document;

use super::MongoDbCollection;
use super::command::{Body, first, id_document};
use super::failure::{Action, broken};
use super::guarded::line;
use crate::document::double;
use crate::document::{Lines, StoreKey, StoreKind};
use crate::stores::{Guarded, StoreError, StoreErrorKind, StoreResult, guard};

/// The most bytes of one command; it may have 16 MiB and some.
const COMMAND_BYTES: usize = 12 * 1024 * 1024;

impl MongoDbCollection {
    /// Deletes documents that are still equal to `expected`.
    ///
    /// Each is looked at, and the statement itself compares the whole document once more, so that a change in
    /// between is never lost.
    pub(super) async fn delete_expected(&self, keys: &[StoreKey], expected: &Lines) -> Vec<Guarded> {
        match self.try_delete(keys, expected).await {
            Ok(deleted) => deleted,
            Err(error) => Guarded::all_failed(keys.len(), &error),
        }
    }

    async fn try_delete(&self, keys: &[StoreKey], expected: &Lines) -> StoreResult<Vec<Guarded>> {
        let mut deleted = Vec::with_capacity(keys.len());
        let mut open = Vec::new();
        for (at, (stored, expected)) in
            self.read_raw(keys).await?.into_iter().zip(expected.iter()).enumerate()
        {
            deleted.push(match stored {
                None => Guarded::Missing,
                Some(stored) => {
                    let line = line(&stored);
                    if guard::is_same(StoreKind::MongoDb, &line, expected).unwrap_or(false) {
                        open.push((at, stored));
                        Guarded::Done
                    } else {
                        Guarded::Differs(Some(line))
                    }
                }
            });
        }
        let mut rest = open.as_slice();
        while !rest.is_empty() {
            let mut bytes = 0;
            let fitting = rest.iter().take_while(|(_, stored)| {
                bytes += stored.len() + 256;
                bytes <= COMMAND_BYTES
            });
            let (some, after) = rest.split_at(fitting.count().max(1));
            self.delete_some(some, keys, &mut deleted).await?;
            rest = after;
        }
        Ok(deleted)
    }

    async fn delete_some(
        &self,
        open: &[(usize, Vec<u8>)],
        keys: &[StoreKey],
        deleted: &mut [Guarded],
    ) -> StoreResult<()> {
        let mut body = Body::command("delete", &self.name);
        body.boolean("ordered", false);
        self.state_write_concern(&mut body);
        let places: Vec<usize> = open.iter().map(|(at, _)| *at).collect();
        let ids =
            places.iter().filter_map(|at| keys.get(*at)).map(id_document).collect::<StoreResult<Vec<_>>>()?;
        body.array("deletes", |array| {
            for (at, (id, (_, stored))) in ids.iter().zip(open).enumerate() {
                array.within(&at.to_string(), |statement| statement.guarded_delete(id, stored));
            }
        });
        let answers = self.send_guarded(body, &places, Action::DELETE).await;
        self.settle(answers, &places, keys, deleted);
        Ok(())
    }

    pub(super) async fn raise_counter(
        &self,
        key: &StoreKey,
        field: &str,
        least: i64,
    ) -> StoreResult<Option<i64>> {
        let id = id_document(key)?;
        let id = first(&id)?;
        if let Some(Some(stored)) = self.read_counter(key).await? {
            let held = integer(&stored, field);
            if held.is_none_or(|held| held >= least) {
                return held.map(Some).ok_or_else(|| self.no_counter(key, field));
            }
        }
        let mut body = Body::command("findAndModify", &self.name);
        body.within("query", |query| query.value("_id", &id));
        body.within("update", |update| update.within("$max", |max| max.int64(field, least)));
        body.boolean("upsert", true);
        body.boolean("new", false);
        self.state_write_concern(&mut body);
        let answer = self.run(body, Action::UPDATE).await?;
        if let Some(error) = self.concern_failure(&answer) {
            return Err(error);
        }
        match answer.get_document("value") {
            Ok(before) => integer(before, field).map(Some).ok_or_else(|| self.no_counter(key, field)),
            Err(_) => Ok(None),
        }
    }

    /// The document of the counter; `None` without its collection.
    async fn read_counter(&self, key: &StoreKey) -> StoreResult<Option<Option<Document>>> {
        match self.read_raw(std::slice::from_ref(key)).await {
            Err(error) if error.kind == StoreErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
            Ok(stored) => {
                let stored = stored.into_iter().next().flatten();
                let read = |bytes: Vec<u8>| Document::from_reader(bytes.as_slice());
                stored.map(read).transpose().map(Some).map_err(|_| broken("the counter"))
            }
        }
    }

    fn no_counter(&self, key: &StoreKey, field: &str) -> StoreError {
        let message = format!("The field {field:?} of {key} in {} is no integer", self.location);
        StoreError::new(StoreErrorKind::Permanent, message)
    }
}

fn integer(document: &Document, field: &str) -> Option<i64> {
    let whole = || document.get_f64(field).ok().and_then(double::whole);
    document.get_i64(field).or_else(|_| document.get_i32(field).map(i64::from)).ok().or_else(whole)
}

impl Body {
    /// `{"q": {"_id": …, "$expr": {"$eq": ["$$ROOT", {"$literal": …}]}}, "limit": 1}`; of a document that
    /// would not fit into the command twice, its size is compared.
    fn guarded_delete(&mut self, id: &[u8], stored: &[u8]) {
        self.within("q", |query| {
            if let Ok(id) = first(id) {
                query.value("_id", &id);
            }
            query.within("$expr", |expression| {
                expression.array("$eq", |both| {
                    if stored.len() < COMMAND_BYTES {
                        both.text("0", "$$ROOT");
                        both.within("1", |literal| literal.document("$literal", stored));
                    } else {
                        both.within("0", |size| size.text("$bsonSize", "$$ROOT"));
                        both.count("1", stored.len());
                    }
                });
            });
        });
        self.int32("limit", 1);
    }
}
