//! Documents to test with: events as the framework writes them, cut to what matters here.

use rekey::document::json::Tape;
use rekey::document::{Lines, StoreKey, StoreKind};
use rekey::stores::{
    Collection, CollectionReader, CollectionSpec, Created, FrameworkQuery, Index, KeyField, Position,
    ScanPart, Snapshot, store_key_fields,
};

use super::Factory;

/// What a collection of events needs.
pub fn spec(kind: StoreKind) -> CollectionSpec {
    let field = |name: &str, kind: Option<&str>| KeyField {
        name: name.to_owned(),
        kind: kind.map(ToOwned::to_owned),
    };
    match kind {
        StoreKind::MongoDb => CollectionSpec {
            key_fields: Vec::new(),
            indexes: vec![unique_index(
                "ix_stream_version_unique",
                &["streamId", "aggregateType", "version"],
            )],
        },
        StoreKind::DynamoDb => CollectionSpec {
            key_fields: vec![field("pk", Some("S")), field("sk", Some("N"))],
            indexes: Vec::new(),
        },
        StoreKind::Firestore => CollectionSpec::default(),
        StoreKind::CosmosDb => {
            CollectionSpec { key_fields: vec![field("streamId", None)], indexes: Vec::new() }
        }
    }
}

pub fn unique_index(name: &str, fields: &[&str]) -> Index {
    let fields = fields.iter().map(|field| (*field).to_owned()).collect();
    Index { name: name.to_owned(), fields, unique: true }
}

/// The field that names the stream.
pub fn stream_field(kind: StoreKind) -> &'static str {
    if kind == StoreKind::DynamoDb { "pk" } else { "streamId" }
}

/// One event with a payload.
pub fn event_with(kind: StoreKind, stream: &str, version: i64, payload: &str) -> Vec<u8> {
    let text = |text: &str| {
        let mut quoted = Vec::new();
        kind.write_text(text, &mut quoted);
        String::from_utf8(quoted).expect("UTF-8")
    };
    let (stream_text, payload) = (text(stream), text(payload));
    match kind {
        StoreKind::MongoDb => format!(
            r#"{{"_id":{{"$oid":"{:024x}"}},"streamId":{stream_text},"aggregateType":"Order","version":{{"$numberLong":"{version}"}},"data":{payload}}}"#,
            object_id(stream, version)
        ),
        StoreKind::DynamoDb => format!(
            r#"{{"Item":{{"data":{payload},"pk":{stream_text},"sk":{{"N":"{version}"}},"version":{{"N":"{version}"}}}}}}"#
        ),
        StoreKind::Firestore => {
            let name = format!("projects/source/databases/(default)/documents/old/{stream}:{version}");
            let mut quoted = Vec::new();
            rekey::document::text::write_quoted(&name, &mut quoted);
            format!(
                r#"{{"name":{},"fields":{{"data":{payload},"streamId":{stream_text},"version":{{"integerValue":"{version}"}}}}}}"#,
                String::from_utf8(quoted).expect("UTF-8")
            )
        }
        StoreKind::CosmosDb => {
            let id = text(&format!("{stream}:{version}"));
            format!(r#"{{"id":{id},"streamId":{stream_text},"version":{version},"data":{payload}}}"#)
        }
    }
    .into_bytes()
}

/// One event.
pub fn event(kind: StoreKind, stream: &str, version: i64) -> Vec<u8> {
    event_with(kind, stream, version, "eyJhbW91bnQiOjEwfQ==")
}

fn object_id(stream: &str, version: i64) -> u64 {
    let hash = stream.bytes().fold(7_u64, |hash, byte| hash.wrapping_mul(131).wrapping_add(u64::from(byte)));
    hash.wrapping_mul(1 << 16).wrapping_add_signed(version)
}

/// So many events in streams of ten.
pub fn events(kind: StoreKind, count: usize) -> Lines {
    let mut lines = Lines::new();
    for at in 0..count {
        let version = i64::try_from(at % 10).expect("small");
        lines.push(&event(kind, &format!("Order:A-{:05}", at / 10), version));
    }
    lines
}

pub fn lines<'a>(documents: impl IntoIterator<Item = &'a Vec<u8>>) -> Lines {
    let mut lines = Lines::new();
    documents.into_iter().for_each(|document| lines.push(document));
    lines
}

/// The store key of a document of [`spec`].
pub fn key(kind: StoreKind, line: &[u8]) -> StoreKey {
    key_of(kind, &spec(kind), line)
}

pub fn key_of(kind: StoreKind, spec: &CollectionSpec, line: &[u8]) -> StoreKey {
    let mut tape = Tape::new();
    tape.read(line).expect("a document");
    StoreKey::of(kind, &store_key_fields(kind, &spec.key_fields), &tape, line).expect("a key")
}

pub fn keys(kind: StoreKind, lines: &Lines) -> Vec<StoreKey> {
    lines.iter().map(|line| key(kind, line)).collect()
}

/// Whether two documents are the same for the store, system fields aside.
pub fn same(kind: StoreKind, a: &[u8], b: &[u8]) -> bool {
    rekey::stores::guard::is_same(kind, a, b).expect("two documents")
}

/// A collection of [`spec`] that holds these documents.
pub async fn holding(factory: &dyn Factory, documents: &Lines) -> Box<dyn Collection> {
    let collection = factory.fresh(&spec(factory.kind())).await;
    write(&*collection, documents).await;
    collection
}

/// Writes documents that are not there yet, in batches.
pub async fn write(collection: &dyn Collection, documents: &Lines) {
    let limits = collection.batch_limits();
    let mut batch = Lines::new();
    for (at, line) in documents.iter().enumerate() {
        batch.push(line);
        let next = documents.get(at + 1).map_or(0, <[u8]>::len);
        let full = batch.len() == limits.documents || batch.bytes() + next > limits.bytes;
        if full || at + 1 == documents.len() {
            for created in collection.create(&batch).await {
                assert!(matches!(created, Created::Written), "{created:?}");
            }
            batch.clear();
        }
    }
}

/// Reads a part from a position to its end, in pages; the positions between them too.
pub async fn scan_part(
    reader: &dyn CollectionReader,
    part: &ScanPart,
    from: Option<Position>,
    limit: usize,
    snapshot: Option<&Snapshot>,
) -> (Vec<Vec<u8>>, Vec<Position>) {
    let (mut documents, mut positions, mut from) = (Vec::new(), Vec::new(), from);
    loop {
        let page = reader.page(part, from.as_ref(), limit, snapshot).await.expect("a page");
        assert!(page.lines.len() <= limit, "a page of {} instead of {limit}", page.lines.len());
        documents.extend(page.lines.iter().map(<[u8]>::to_vec));
        match page.next {
            Some(next) => {
                positions.push(next.clone());
                from = Some(next);
            }
            None => return (documents, positions),
        }
    }
}

/// Reads the pages of an answer to the framework's query.
pub async fn answer(reader: &dyn CollectionReader, query: &FrameworkQuery) -> Vec<Lines> {
    let (mut pages, mut from) = (Vec::new(), None);
    loop {
        let page = reader.query(query, from.as_ref()).await.expect("an answer");
        pages.push(page.lines);
        match page.next {
            Some(next) => from = Some(next),
            None => return pages,
        }
    }
}

/// Reads everything.
pub async fn scan(
    reader: &dyn CollectionReader,
    parts: usize,
    limit: usize,
    snapshot: Option<&Snapshot>,
) -> Vec<Vec<u8>> {
    let mut documents = Vec::new();
    for part in reader.parts(parts).await.expect("parts") {
        documents.extend(scan_part(reader, &part, None, limit, snapshot).await.0);
    }
    documents
}

/// Reads one document.
pub async fn read_one(reader: &dyn CollectionReader, key: &StoreKey) -> Option<Vec<u8>> {
    let read = reader.read(std::slice::from_ref(key)).await.expect("an answer");
    read.into_iter().next().flatten().map(Vec::from)
}
