//! Bare loops over the MongoDB driver, which `scripts/bench/mongodb.sh` compares the tool with: as many requests at one
//! time as the tool sends.
//!
//! ```text
//! mongodb_loop dump ADDRESS COLLECTION FILE       every document as BSON, one after the other
//! mongodb_loop indexes ADDRESS COLLECTION...      makes collections with the framework's indexes
//! mongodb_loop export ADDRESS COLLECTION FILE     every document as the driver's own canonical Extended JSON
//! mongodb_loop scan ADDRESS COLLECTION            reads every document as it came, and drops it
//! mongodb_loop insert ADDRESS COLLECTION FILE     the documents of a dump, a thousand a call, unordered
//! ```

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::sync::Mutex;

use futures::{StreamExt as _, TryStreamExt as _, stream};
use mongodb::bson::{Bson, Document, RawDocumentBuf, doc};
use mongodb::options::IndexOptions;
use mongodb::{Client, Collection, Database, IndexModel};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// What `rekey export` uses if nobody says: readers at one time, parts, documents of a page.
const READERS: usize = 4;
const PARTS: usize = 16;
const PAGE: u32 = 1_000;
/// What `rekey import` uses if nobody says: requests in flight, documents of a request.
const REQUESTS: usize = 8;
const BATCH: usize = 1_000;

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [verb, address, rest @ ..] = &arguments[..] else { return Err("usage: see the source".into()) };
    let client = Client::with_uri_str(address).await?;
    let database = client.default_database().ok_or("the address names no database")?;
    match (verb.as_str(), rest) {
        ("dump", [collection, file]) => dump(&database.collection(collection), file).await?,
        ("indexes", collections) => {
            for collection in collections {
                make(&database, collection).await?;
            }
        }
        ("export", [collection, file]) => export(&database.collection(collection), file).await?,
        ("scan", [collection]) => scan(&database.collection(collection)).await?,
        ("insert", [collection, file]) => insert(&database.collection(collection), file).await?,
        _ => return Err("usage: see the source".into()),
    }
    client.shutdown().await;
    Ok(())
}

async fn dump(collection: &Collection<RawDocumentBuf>, file: &str) -> Result<()> {
    let mut out = BufWriter::new(File::create(file)?);
    let mut cursor = collection.find(doc! {}).await?;
    while cursor.advance().await? {
        out.write_all(cursor.current().as_bytes())?;
    }
    out.flush()?;
    Ok(())
}

async fn make(database: &Database, collection: &str) -> Result<()> {
    let collection = database.collection::<Document>(collection);
    let unique = IndexOptions::builder().name("ix_stream_version_unique".to_owned()).unique(true).build();
    let index = |keys: Document| IndexModel::builder().keys(keys);
    let indexes = [
        index(doc! { "streamId": 1, "aggregateType": 1, "version": 1 }).options(unique).build(),
        index(doc! { "globalSequence": 1 }).build(),
        index(doc! { "eventId": 1 }).build(),
    ];
    let _made = collection.create_indexes(indexes).await?;
    Ok(())
}

/// Ranges of `_id` of about one size, by a sample.
async fn parts(collection: &Collection<Document>) -> Result<Vec<Document>> {
    let sample = [
        doc! { "$sample": { "size": i32::try_from(PARTS * 20)? } },
        doc! { "$project": { "_id": 1 } },
        doc! { "$sort": { "_id": 1 } },
    ];
    let sampled: Vec<Document> = collection.aggregate(sample).await?.try_collect().await?;
    let cuts: Vec<&Bson> = (1..PARTS)
        .filter_map(|part| sampled.get(part * sampled.len() / PARTS).and_then(|one| one.get("_id")))
        .collect();
    let (Some(first), Some(last)) = (cuts.first(), cuts.last()) else { return Ok(vec![doc! {}]) };
    let mut parts = vec![doc! { "_id": { "$lt": *first } }, doc! { "_id": { "$gte": *last } }];
    parts.extend(cuts.windows(2).map(|cut| doc! { "_id": { "$gte": cut[0], "$lt": cut[1] } }));
    Ok(parts)
}

async fn export(collection: &Collection<Document>, file: &str) -> Result<()> {
    let out = Mutex::new(BufWriter::with_capacity(1 << 20, File::create(file)?));
    stream::iter(parts(collection).await?.into_iter().map(Ok::<_, Box<dyn Error>>))
        .try_for_each_concurrent(READERS, |part| async {
            let mut cursor = collection.find(part).batch_size(PAGE).await?;
            while let Some(document) = cursor.try_next().await? {
                let mut out = out.lock().map_err(|_| "the other loops have ended")?;
                serde_json::to_writer(&mut *out, &Bson::Document(document).into_canonical_extjson())?;
                out.write_all(b"\n")?;
            }
            Ok(())
        })
        .await?;
    out.into_inner().map_err(|_| "the other loops have ended")?.flush()?;
    Ok(())
}

async fn scan(collection: &Collection<Document>) -> Result<()> {
    let raw = collection.clone_with_type::<RawDocumentBuf>();
    stream::iter(parts(collection).await?.into_iter().map(Ok::<_, Box<dyn Error>>))
        .try_for_each_concurrent(READERS, |part| async {
            let mut cursor = raw.find(part).batch_size(PAGE).await?;
            while cursor.advance().await? {}
            Ok(())
        })
        .await
}

async fn insert(collection: &Collection<RawDocumentBuf>, file: &str) -> Result<()> {
    let dump = std::fs::read(file)?;
    let mut documents = Vec::new();
    let mut rest = dump.as_slice();
    while let Some(length) = rest.first_chunk::<4>() {
        let (document, after) = rest.split_at(usize::try_from(i32::from_le_bytes(*length))?);
        documents.push(document);
        rest = after;
    }
    stream::iter(documents.chunks(BATCH))
        .map(Ok::<_, Box<dyn Error>>)
        .try_for_each_concurrent(REQUESTS, |batch| async move {
            let batch = batch.iter().map(|document| RawDocumentBuf::from_bytes(document.to_vec()));
            let batch = batch.collect::<std::result::Result<Vec<_>, _>>()?;
            let _inserted = collection.insert_many(batch).ordered(false).await?;
            Ok(())
        })
        .await
}
