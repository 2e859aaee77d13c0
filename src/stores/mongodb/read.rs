//! Reads by key, and the exact count.

use std::collections::HashMap;

use mongodb::bson::Document;

use super::MongoDbCollection;
use super::command::{Body, first, id_document, id_of, identity};
use super::failure::broken;
use crate::document::StoreKey;
use crate::document::bson::write_line;
use crate::stores::{Snapshot, StoreResult};

/// How many documents one find looks up, and how many bytes of keys it sends at most.
const LOOKED_UP: usize = 1000;
const KEY_BYTES: usize = 4 * 1024 * 1024;

impl MongoDbCollection {
    pub(super) async fn count_documents(&self, snapshot: Option<&Snapshot>) -> StoreResult<u64> {
        let mut body = Body::command("aggregate", &self.name);
        body.array("pipeline", |stages| {
            stages.within("0", |stage| {
                stage.within("$group", |group| {
                    group.int32("_id", 1);
                    group.within("n", |n| n.int64("$sum", 1));
                });
            });
        });
        body.within("cursor", |_| {});
        body.within("hint", |keys| keys.int32("_id", 1));
        body.at(snapshot)?;
        let mut count = 0;
        let counted = self.each_anywhere(body, |answer| {
            let answer = Document::from_reader(answer).map_err(|_| broken("a count"))?;
            count = answer
                .get_i64("n")
                .ok()
                .and_then(|n| u64::try_from(n).ok())
                .ok_or_else(|| broken("a count"))?;
            Ok(true)
        });
        let _ = counted.await?;
        Ok(count)
    }

    /// Reads documents by key, as they stand after every write that was answered.
    pub(super) async fn read_keys(&self, keys: &[StoreKey]) -> StoreResult<Vec<Option<Box<[u8]>>>> {
        let documents = self.read_raw(keys).await?;
        let line = |document: Vec<u8>| {
            let mut line = Vec::with_capacity(document.len() * 2);
            write_line(&document, &mut line);
            line.into_boxed_slice()
        };
        Ok(documents.into_iter().map(|document| document.map(line)).collect())
    }

    /// Errors: [`StoreErrorKind::NotFound`](crate::stores::StoreErrorKind::NotFound) if there is no collection.
    pub(super) async fn read_raw(&self, keys: &[StoreKey]) -> StoreResult<Vec<Option<Vec<u8>>>> {
        let ids = keys.iter().map(id_document).collect::<StoreResult<Vec<_>>>()?;
        let mut found = Vec::with_capacity(ids.len());
        let mut rest = ids.as_slice();
        while !rest.is_empty() {
            let mut bytes = 0;
            let fitting = rest.iter().take(LOOKED_UP).take_while(|id| {
                bytes += id.len();
                bytes <= KEY_BYTES
            });
            let (some, after) = rest.split_at(fitting.count().max(1));
            found.extend(self.look_up(some).await?);
            rest = after;
        }
        if !keys.is_empty() && found.iter().all(Option::is_none) {
            let _ = self.specification().await?;
        }
        Ok(found)
    }

    async fn look_up(&self, ids: &[Vec<u8>]) -> StoreResult<Vec<Option<Vec<u8>>>> {
        let mut places: HashMap<Vec<u8>, Vec<usize>> = HashMap::with_capacity(ids.len());
        for (at, id) in ids.iter().enumerate() {
            places.entry(identity(&first(id)?)).or_default().push(at);
        }
        let mut found: Vec<Option<Vec<u8>>> = vec![None; ids.len()];
        let mut others = Vec::new();
        let body = self.by_ids(ids.iter().map(Vec::as_slice))?;
        let all = self.each(body, |document| {
            match places.get(&identity(&id_of(document)?)) {
                Some(places) => {
                    for at in places {
                        if let Some(place) = found.get_mut(*at) {
                            *place = Some(document.to_vec());
                        }
                    }
                }
                None => others.push(document.to_vec()),
            }
            Ok(true)
        });
        let _ = all.await?;
        if !others.is_empty() {
            self.look_up_equal(ids, &mut found).await?;
        }
        Ok(found)
    }

    /// Asks one by one for what was found under a key of another type that MongoDB takes for equal (1 and 1.0).
    async fn look_up_equal(&self, ids: &[Vec<u8>], found: &mut [Option<Vec<u8>>]) -> StoreResult<()> {
        for (id, found) in ids.iter().zip(found).filter(|(_, found)| found.is_none()) {
            let body = self.by_ids([id.as_slice()])?;
            let one = self.each(body, |document| {
                *found = Some(document.to_vec());
                Ok(true)
            });
            let _ = one.await?;
        }
        Ok(())
    }

    fn by_ids<'a>(&self, ids: impl IntoIterator<Item = &'a [u8]>) -> StoreResult<Body> {
        let mut body = Body::command("find", &self.name);
        let ids = ids.into_iter().map(first).collect::<StoreResult<Vec<_>>>()?;
        body.within("filter", |filter| {
            filter.within("_id", |id| {
                id.array("$in", |values| {
                    ids.iter().enumerate().for_each(|(at, id)| values.value(&at.to_string(), id));
                });
            });
        });
        body.count("batchSize", ids.len());
        if self.deployment.majority {
            body.within("readConcern", |concern| concern.text("level", "majority"));
        }
        Ok(body)
    }
}
