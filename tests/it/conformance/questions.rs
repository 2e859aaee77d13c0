use rekey::document::{Lines, StoreKind};
use rekey::stores::{CollectionReader, CollectionSpec, FrameworkQuery, KeyField, LegacyProbe};

use super::Factory;
use super::documents::{answer, event, event_with, holding, lines, same, spec, stream_field, write};

fn stream_query(kind: StoreKind, stream: &str) -> FrameworkQuery {
    let mut equals = vec![(stream_field(kind).to_owned(), stream.to_owned())];
    if kind == StoreKind::MongoDb {
        equals.push(("aggregateType".to_owned(), "Order".to_owned()));
    }
    FrameworkQuery { equals, order_by: Some("version".to_owned()) }
}

pub async fn a_stream_comes_in_the_order_of_its_versions(factory: &dyn Factory) {
    let kind = factory.kind();
    let stream = |name: &str| (0..12).map(|version| event(kind, name, version)).collect::<Vec<_>>();
    let ours = stream("t:acme:Order:A-1");
    let mut all = [ours.clone(), stream("t:acme:Order:A-10"), stream("t:acme:Order:A-1:x")].concat();
    all.sort_by_key(|line| line.iter().rev().map(|byte| u64::from(*byte) * 31).sum::<u64>() % 97);
    let collection = holding(factory, &lines(&all)).await;
    let found = whole(&*collection, &stream_query(kind, "t:acme:Order:A-1")).await;
    assert_eq!(found.len(), 12, "10 comes after 9, and another stream is not this one");
    assert!(found.iter().zip(&ours).all(|(found, ours)| same(kind, found, ours)));
    let none = whole(&*collection, &stream_query(kind, "t:acme:Order")).await;
    assert!(none.is_empty(), "a beginning of a stream's name is no stream");
}

pub async fn a_large_stream_comes_in_pages(factory: &dyn Factory) {
    const PAYLOAD: usize = 300 * 1024;
    const EVENTS: i64 = 40;
    let kind = factory.kind();
    let payload = "x".repeat(PAYLOAD);
    let stream: Vec<_> =
        (0..EVENTS).map(|version| event_with(kind, "t:acme:Order:A-1", version, &payload)).collect();
    let collection = holding(factory, &lines(stream.iter().rev())).await;
    let pages = answer(&*collection, &stream_query(kind, "t:acme:Order:A-1")).await;
    let largest = pages.iter().map(Lines::bytes).max().expect("a page");
    assert!(largest < 8 * 1024 * 1024, "a page of {largest} bytes");
    let found: Vec<&[u8]> = pages.iter().flat_map(Lines::iter).collect();
    assert_eq!(found.len(), stream.len());
    assert!(found.iter().zip(&stream).all(|(found, ours)| same(kind, found, ours)), "in order");
}

/// The whole answer to a query.
async fn whole(reader: &dyn CollectionReader, query: &FrameworkQuery) -> Vec<Vec<u8>> {
    answer(reader, query).await.iter().flat_map(|page| page.iter().map(<[u8]>::to_vec)).collect()
}

pub async fn a_single_document_is_found_by_its_whole_key(factory: &dyn Factory) {
    let kind = factory.kind();
    let collection = factory.fresh(&saga_spec(kind)).await;
    let sagas = [saga(kind, "t:acme:1", "acme"), saga(kind, "t:acme:2", "acme")];
    write(&*collection, &lines(&sagas)).await;
    let query = |id: &str, tenant: &str| {
        let (id_field, id) = saga_id(kind, id);
        let mut equals = vec![(id_field, id), ("tenantId".to_owned(), tenant.to_owned())];
        match kind {
            StoreKind::CosmosDb => equals.push(("sagaType".to_owned(), "OrderSaga".to_owned())),
            StoreKind::DynamoDb => equals.push(("SK".to_owned(), "OrderSaga".to_owned())),
            StoreKind::MongoDb | StoreKind::Firestore => {}
        }
        FrameworkQuery { equals, order_by: None }
    };
    let found = whole(&*collection, &query("t:acme:2", "acme")).await;
    assert!(found.len() == 1 && same(kind, &found[0], &sagas[1]));
    assert!(whole(&*collection, &query("t:acme:2", "other")).await.is_empty());
    assert!(whole(&*collection, &query("t:acme:3", "acme")).await.is_empty());
}

pub async fn the_probe_sees_both_sides_of_the_rekeyed_range(factory: &dyn Factory) {
    let kind = factory.kind();
    let probe = LegacyProbe {
        field: stream_field(kind).to_owned(),
        within: String::new(),
        rekeyed_prefix: "t:".to_owned(),
    };
    let rekeyed = lines([&event(kind, "t:acme:Order:A-1", 0), &event(kind, "t:\u{10ffff}", 0)]);
    let collection = holding(factory, &rekeyed).await;
    assert!(collection.probe(&probe).await.expect("an answer").is_empty());
    for legacy in ["Order:A-1", "t;", "t", "u:x"] {
        let collection = holding(factory, &rekeyed).await;
        write(&*collection, &lines([&event(kind, legacy, 0)])).await;
        assert_eq!(collection.probe(&probe).await.expect("an answer"), [legacy]);
    }
    let many: Vec<_> = (0..50).map(|at| event(kind, &format!("Order:{at}"), 0)).collect();
    write(&*collection, &lines(&many)).await;
    let answer = collection.probe(&probe).await.expect("an answer");
    assert!((1..=LegacyProbe::ANSWERS).contains(&answer.len()), "a few are enough: {answer:?}");
}

pub async fn the_probe_of_sagas_looks_at_sagas_alone(factory: &dyn Factory) {
    let kind = factory.kind();
    let within = if kind == StoreKind::DynamoDb { "SAGA#" } else { "" };
    let (field, _) = saga_id(kind, "");
    let probe = LegacyProbe { field, within: within.to_owned(), rekeyed_prefix: format!("{within}t:") };
    let collection = factory.fresh(&saga_spec(kind)).await;
    write(&*collection, &lines([&saga(kind, "t:acme:6f96", "acme")])).await;
    if kind == StoreKind::DynamoDb {
        let snapshot = br#"{"Item":{"PK":{"S":"SNAPSHOT#1"},"SK":{"S":"Order"}}}"#.to_vec();
        write(&*collection, &lines([&snapshot])).await;
    }
    assert!(collection.probe(&probe).await.expect("an answer").is_empty());
    write(&*collection, &lines([&saga(kind, "6f96", "acme")])).await;
    assert_eq!(collection.probe(&probe).await.expect("an answer"), [format!("{within}6f96")]);
}

pub async fn the_probe_reads_strings_only(factory: &dyn Factory) {
    let kind = factory.kind();
    let odd: &[u8] = match kind {
        StoreKind::MongoDb => br#"{"_id":"odd","streamId":{"$numberInt":"1"}}"#,
        StoreKind::Firestore => {
            br#"{"name":"projects/p/databases/d/documents/c/odd","fields":{"streamId":{"integerValue":"1"}}}"#
        }
        StoreKind::CosmosDb => br#"{"id":"odd","streamId":1}"#,
        StoreKind::DynamoDb => return,
    };
    let collection = factory.fresh(&spec(kind)).await;
    write(&*collection, &lines([&odd.to_vec()])).await;
    let probe = LegacyProbe {
        field: stream_field(kind).to_owned(),
        within: String::new(),
        rekeyed_prefix: "t:".to_owned(),
    };
    assert!(collection.probe(&probe).await.expect("an answer").is_empty());
}

fn saga_spec(kind: StoreKind) -> CollectionSpec {
    let field = |name: &str, kind: Option<&str>| KeyField {
        name: name.to_owned(),
        kind: kind.map(ToOwned::to_owned),
    };
    let key_fields = match kind {
        StoreKind::MongoDb | StoreKind::Firestore => Vec::new(),
        StoreKind::DynamoDb => vec![field("PK", Some("S")), field("SK", Some("S"))],
        StoreKind::CosmosDb => vec![field("sagaType", None)],
    };
    CollectionSpec { key_fields, indexes: Vec::new() }
}

/// The field that holds a saga's key, and its value.
fn saga_id(kind: StoreKind, id: &str) -> (String, String) {
    let (field, id) = match kind {
        StoreKind::MongoDb => ("_id", id.to_owned()),
        StoreKind::DynamoDb => ("PK", format!("SAGA#{id}")),
        StoreKind::Firestore => ("@id", id.to_owned()),
        StoreKind::CosmosDb => ("id", id.to_owned()),
    };
    (field.to_owned(), id)
}

fn saga(kind: StoreKind, id: &str, tenant: &str) -> Vec<u8> {
    let (_, id) = saga_id(kind, id);
    match kind {
        StoreKind::MongoDb => format!(r#"{{"_id":"{id}","sagaType":"OrderSaga","tenantId":"{tenant}"}}"#),
        StoreKind::DynamoDb => format!(
            r#"{{"Item":{{"PK":{{"S":"{id}"}},"SK":{{"S":"OrderSaga"}},"tenantId":{{"S":"{tenant}"}}}}}}"#
        ),
        StoreKind::Firestore => format!(
            r#"{{"name":"projects/p/databases/d/documents/sagas/{id}","fields":{{"tenantId":{{"stringValue":"{tenant}"}}}}}}"#
        ),
        StoreKind::CosmosDb => format!(r#"{{"id":"{id}","sagaType":"OrderSaga","tenantId":"{tenant}"}}"#),
    }
    .into_bytes()
}
