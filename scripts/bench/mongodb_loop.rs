//! Bare loops over the MongoDB driver, which `scripts/bench/mongodb.sh` compares the tool with.
//!
//! ```text
//! mongodb_loop dump ADDRESS COLLECTION FILE       every document as BSON, one after the other
//! mongodb_loop indexes ADDRESS COLLECTION...      makes collections with the framework's indexes
//! mongodb_loop export ADDRESS COLLECTION FILE     every document as the driver's own canonical Extended JSON
//! mongodb_loop insert ADDRESS COLLECTION FILE     the documents of a dump, a thousand a call, unordered
//! ```

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write as _};

use futures::TryStreamExt as _;
use mongodb::bson::{Bson, Document, RawDocumentBuf, doc};
use mongodb::options::IndexOptions;
use mongodb::{Client, Collection, Database, IndexModel};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

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

async fn export(collection: &Collection<Document>, file: &str) -> Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(file)?);
    let mut cursor = collection.find(doc! {}).batch_size(1000).await?;
    while let Some(document) = cursor.try_next().await? {
        serde_json::to_writer(&mut out, &Bson::Document(document).into_canonical_extjson())?;
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(())
}

async fn insert(collection: &Collection<RawDocumentBuf>, file: &str) -> Result<()> {
    let dump = std::fs::read(file)?;
    let mut rest = dump.as_slice();
    let mut batch = Vec::with_capacity(1000);
    while let Some(length) = rest.first_chunk::<4>() {
        let (document, after) = rest.split_at(usize::try_from(i32::from_le_bytes(*length))?);
        batch.push(RawDocumentBuf::from_bytes(document.to_vec())?);
        rest = after;
        if batch.len() == 1000 || rest.is_empty() {
            let _inserted = collection.insert_many(batch.drain(..)).ordered(false).await?;
        }
    }
    Ok(())
}
