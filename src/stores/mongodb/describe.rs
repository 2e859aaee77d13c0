//! What a collection is, what stands beside it, and how much is written to it.

use futures::TryStreamExt as _;
use mongodb::bson::{Bson, Document, doc};
use mongodb::results::{CollectionSpecification, CollectionType};
use serde_json::json;

use super::MongoDbCollection;
use super::command::Body;
use super::failure::{Action, broken};
use crate::document::StoreKind;
use crate::stores::{
    Activity, CollectionSpec, Description, Index, Remark, StoreError, StoreErrorKind, StoreResult, TimeToLive,
};

impl MongoDbCollection {
    pub(super) async fn list_names(&self) -> StoreResult<Vec<String>> {
        let names = self.database.list_collection_names().await;
        let mut names = names.map_err(|error| self.failed(error, Action::DESCRIBE))?;
        names.retain(|name| !name.starts_with("system."));
        names.sort();
        Ok(names)
    }

    /// Errors: [`StoreErrorKind::NotFound`] if there is none, [`StoreErrorKind::Permanent`] for a view.
    pub(super) async fn specification(&self) -> StoreResult<CollectionSpecification> {
        let failed = |error| self.failed(error, Action::DESCRIBE);
        let found = self.database.list_collections().filter(doc! { "name": &self.name }).await;
        let found: Vec<_> = found.map_err(failed)?.try_collect().await.map_err(failed)?;
        let Some(found) = found.into_iter().next() else { return Err(self.missing()) };
        if found.collection_type != CollectionType::Collection {
            let message =
                format!("{} is a view or a time series, not a collection of documents", self.location);
            return Err(StoreError::new(StoreErrorKind::Unsuitable, message));
        }
        Ok(found)
    }

    pub(super) fn missing(&self) -> StoreError {
        StoreError::new(StoreErrorKind::NotFound, format!("There is no collection {:?}", self.name))
    }

    pub(super) async fn description(&self) -> StoreResult<Description> {
        let specification = self.specification().await?;
        let (indexes, time_to_live) = self.indexes().await?;
        let collection = self.database.collection::<Document>(&self.name);
        let documents = collection.estimated_document_count().await;
        let documents = documents.map_err(|error| self.failed(error, Action::DESCRIBE))?;
        Ok(Description {
            store: StoreKind::MongoDb,
            location: self.location.clone(),
            identity: specification.info.uuid.as_ref().map(|uuid| hex::encode(&uuid.bytes)),
            key_fields: Vec::new(),
            hash_version: None,
            indexes,
            time_to_live,
            subscribers: self.deployment.subscribers(),
            documents: Some(documents),
            remarks: remarks(&specification),
        })
    }

    async fn indexes(&self) -> StoreResult<(Vec<Index>, Option<TimeToLive>)> {
        let (mut indexes, mut time_to_live) = (Vec::new(), None);
        let mut body = Body::command("listIndexes", &self.name);
        body.within("cursor", |_| {});
        let whole = self.each(body, |index| {
            let index = Document::from_reader(index).map_err(|_| broken("an index"))?;
            let (Ok(name), Ok(key)) = (index.get_str("name"), index.get_document("key")) else {
                return Ok(true);
            };
            if index.contains_key("expireAfterSeconds") {
                time_to_live = key.keys().next().cloned().map(TimeToLive::Field);
            }
            let ascending =
                |value: &Bson| matches!(value, Bson::Int32(1) | Bson::Int64(1) | Bson::Double(1.0));
            if name != "_id_" && key.values().all(ascending) {
                // One that leaves documents out does not keep all of them apart.
                let whole = !index.contains_key("partialFilterExpression") && !index.contains_key("sparse");
                let unique = whole && index.get_bool("unique").unwrap_or(false);
                indexes.push(Index { name: name.to_owned(), fields: key.keys().cloned().collect(), unique });
            }
            Ok(true)
        });
        let _ = whole.await?;
        Ok((indexes, time_to_live))
    }

    /// The server's count of write operations on the collection, which begins anew when the server starts.
    pub(super) async fn write_counter(&self) -> StoreResult<Activity> {
        let mut writes = None;
        let mut body = Body::command("aggregate", &self.name);
        body.array("pipeline", |stages| {
            stages.within("0", |stage| {
                stage.within("$collStats", |statistics| statistics.within("latencyStats", |_| {}));
            });
        });
        body.within("cursor", |_| {});
        let counted = self.each(body, |answer| {
            let answer = Document::from_reader(answer).map_err(|_| broken("statistics"))?;
            let latencies = answer.get_document("latencyStats").and_then(|it| it.get_document("writes"));
            // One answer for each shard.
            let operations = latencies.and_then(|it| it.get_i64("ops")).map_err(|_| broken("statistics"))?;
            writes = Some(writes.unwrap_or(0_i64).wrapping_add(operations));
            Ok(true)
        });
        let _ = counted.await?;
        Ok(Activity(json!({ "writes": writes })))
    }

    /// Makes the collection with its indexes in one step, so that it is never there without them.
    pub(super) async fn make(&self, spec: &CollectionSpec) -> StoreResult<()> {
        let exists = || {
            let message = format!("There is a collection {:?} already", self.name);
            StoreError::new(StoreErrorKind::AlreadyExists, message)
        };
        match self.specification().await {
            Ok(_) => return Err(exists()),
            Err(error) if error.kind == StoreErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        if spec.indexes.is_empty() {
            let _ = self.run(Body::command("create", &self.name), Action::MAKE).await?;
            return Ok(());
        }
        let mut body = Body::command("createIndexes", &self.name);
        body.array("indexes", |indexes| {
            for (at, index) in spec.indexes.iter().enumerate() {
                indexes.within(&at.to_string(), |it| {
                    it.within("key", |key| index.fields.iter().for_each(|field| key.int32(field, 1)));
                    it.text("name", &index.name);
                    if index.unique {
                        it.boolean("unique", true);
                    }
                });
            }
        });
        let made = self.run(body, Action::MAKE).await?;
        if made.get_bool("createdCollectionAutomatically").unwrap_or(true) { Ok(()) } else { Err(exists()) }
    }
}

fn remarks(specification: &CollectionSpecification) -> Vec<Remark> {
    let options = &specification.options;
    let remark = |code: &str, text: &str| Remark { code: code.to_owned(), text: text.to_owned() };
    let mut remarks = Vec::new();
    if options.validator.is_some() {
        let text = "A validator is set on the collection; documents that fail it are refused by MongoDB.";
        remarks.push(remark("validator", text));
    }
    if options.capped == Some(true) {
        let text = "The collection is capped; MongoDB removes its oldest documents by itself.";
        remarks.push(remark(Remark::CAPPED, text));
    }
    if options.collation.is_some() {
        let text = "The collection has a collation of its own; MongoDB compares its keys by that.";
        remarks.push(remark("collation", text));
    }
    remarks
}
