use rekey::document::{Lines, StoreKind};
use rekey::stores::outcome::{self, Conflict, Outcome};
use rekey::stores::{Created, StoreErrorKind};

use super::Factory;
use super::documents::{
    event, event_with, events, holding, key, keys, lines, read_one, same, scan, spec, unique_index,
};

pub async fn answers_stand_in_the_order_of_the_documents(factory: &dyn Factory) {
    let kind = factory.kind();
    let all: Vec<_> = (0..5).map(|version| event(kind, "Order:A-1", version)).collect();
    let collection = holding(factory, &lines([&all[1], &all[3]])).await;
    let created = collection.create(&lines(&all)).await;
    let written: Vec<bool> = created.iter().map(|created| matches!(created, Created::Written)).collect();
    assert_eq!(written, [true, false, true, false, true], "{created:?}");
    for at in [1, 3] {
        match &created[at] {
            Created::Exists(Some(stored)) => assert!(same(kind, stored, &all[at])),
            Created::Exists(None) => {}
            other => panic!("{other:?}"),
        }
    }
}

pub async fn nothing_is_ever_replaced(factory: &dyn Factory) {
    let kind = factory.kind();
    let first = event_with(kind, "Order:A-1", 0, "first");
    let collection = holding(factory, &lines([&first])).await;
    let second = event_with(kind, "Order:A-1", 0, "second");
    let created = collection.create(&lines([&second])).await;
    match &created[..] {
        [Created::Exists(Some(stored))] => assert!(same(kind, stored, &first)),
        [Created::Exists(None)] => {}
        other => panic!("{other:?}"),
    }
    let stored = read_one(&*collection, &key(kind, &first)).await.expect("still there");
    assert!(same(kind, &stored, &first));
}

pub async fn one_bad_document_does_not_harm_the_others(factory: &dyn Factory) {
    let kind = factory.kind();
    let collection = factory.fresh(&spec(kind)).await;
    let bad: Vec<u8> = match kind {
        StoreKind::MongoDb => br#"{"_id":["an array"],"streamId":"x"}"#.to_vec(),
        StoreKind::DynamoDb => event(kind, "", 0),
        StoreKind::Firestore => {
            br#"{"name":"projects/p/databases/d/documents/c/__reserved__","fields":{}}"#.to_vec()
        }
        StoreKind::CosmosDb => event(kind, "Order:A/1", 0),
    };
    let (a, b) = (event(kind, "Order:A-1", 0), event(kind, "Order:A-1", 1));
    let created = collection.create(&lines([&a, &bad, &b])).await;
    assert_eq!(created[1].failure(), Some(StoreErrorKind::Permanent), "{created:?}");
    assert!(matches!(created[..], [Created::Written, _, Created::Written]), "{created:?}");
    assert_eq!(scan(&*collection, 1, 10, None).await.len(), 2);
}

pub async fn documents_beyond_the_stores_limits_are_refused(factory: &dyn Factory) {
    let kind = factory.kind();
    let collection = factory.fresh(&spec(kind)).await;
    let (limit, long_key) = match kind {
        StoreKind::MongoDb => (16 << 20, None),
        StoreKind::DynamoDb => (400 << 10, Some(2049)),
        StoreKind::Firestore => (1 << 20, Some(1499)),
        StoreKind::CosmosDb => (2 << 20, Some(1022)),
    };
    let too_large = event_with(kind, "Order:A-1", 0, &"x".repeat(limit));
    let created = collection.create(&lines([&too_large])).await;
    assert_eq!(created[0].failure(), Some(StoreErrorKind::Permanent));
    let fits = event_with(kind, "Order:A-1", 0, &"x".repeat(limit - 1000));
    let created = collection.create(&lines([&fits])).await;
    assert!(matches!(created[..], [Created::Written]), "{:?}", created[0].failure());
    if let Some(bytes) = long_key {
        let created = collection.create(&lines([&event(kind, &"k".repeat(bytes), 0)])).await;
        assert_eq!(created[0].failure(), Some(StoreErrorKind::Permanent), "{created:?}");
    }
}

pub async fn a_key_in_another_spelling_is_the_same_key(factory: &dyn Factory) {
    let kind = factory.kind();
    let (first, again): (Vec<u8>, &[u8]) = match kind {
        StoreKind::MongoDb => (
            br#"{"_id":{"$numberInt":"1"},"streamId":"a"}"#.to_vec(),
            br#"{"_id":{"$numberDouble":"1.0"},"streamId":"b"}"#,
        ),
        StoreKind::DynamoDb => (event(kind, "A", 1), br#"{"Item":{"pk":{"S":"\u0041"},"sk":{"N":"1.0"}}}"#),
        StoreKind::Firestore => {
            (event(kind, "A", 1), br#"{"name":"projects/p/databases/d/documents/c/\u0041:1","fields":{}}"#)
        }
        StoreKind::CosmosDb => (event(kind, "A", 1), br#"{"id":"\u0041:1","streamId":"A"}"#),
    };
    let collection = holding(factory, &lines([&first])).await;
    let created = collection.create(&lines([&again.to_vec()])).await;
    assert!(matches!(created[..], [Created::Exists(_)]), "{created:?}");
}

pub async fn a_unique_index_is_kept(factory: &dyn Factory) {
    let kind = factory.kind();
    let mut spec = spec(kind);
    let other = match kind {
        StoreKind::MongoDb => {
            let line = String::from_utf8(event(kind, "Order:A-1", 0)).expect("UTF-8");
            let id = line.find("$oid").expect("an id") + 7;
            [&line[..id], "ffffffffffffffffffffffff", &line[id + 24..]].concat().into_bytes()
        }
        StoreKind::CosmosDb => {
            spec.indexes.push(unique_index("/version", &["version"]));
            br#"{"id":"another","streamId":"Order:A-1","version":0.0}"#.to_vec()
        }
        StoreKind::DynamoDb | StoreKind::Firestore => return,
    };
    let collection = factory.fresh(&spec).await;
    let first = lines([&event(kind, "Order:A-1", 0)]);
    assert!(matches!(collection.create(&first).await[..], [Created::Written]));
    let second = lines([&other]);
    let created = collection.create(&second).await;
    assert!(matches!(created[..], [Created::UniqueTaken(_) | Created::Exists(None)]), "{created:?}");
    let settled = outcome::create(&*collection, &keys(kind, &second), &second, false).await;
    assert!(
        matches!(settled[..], [Outcome::Conflict(Conflict::UniqueTaken(_))]),
        "neither written nor under its own key: {settled:?}"
    );
    // Another stream is another matter.
    assert!(matches!(
        collection.create(&lines([&event(kind, "Order:A-2", 0)])).await[..],
        [Created::Written]
    ));
}

/// A field that is not there counts as null in a unique key of Cosmos DB, and in a unique index of MongoDB.
pub async fn a_unique_index_takes_a_missing_field_for_null(factory: &dyn Factory) {
    let kind = factory.kind();
    let mut spec = spec(kind);
    let (missing, null, other) = match kind {
        StoreKind::MongoDb => (
            r#"{"_id":"1","streamId":"A","aggregateType":"x","reference":"x"}"#,
            r#"{"_id":"2","streamId":"A","aggregateType":"x","reference":null,"version":null}"#,
            r#"{"_id":"3","streamId":"A","aggregateType":"x","version":{"$numberInt":"1"}}"#,
        ),
        StoreKind::CosmosDb => {
            spec.indexes.push(unique_index("/version", &["version"]));
            (
                r#"{"id":"1","streamId":"A"}"#,
                r#"{"id":"2","streamId":"A","version":null}"#,
                r#"{"id":"3","streamId":"A","version":1}"#,
            )
        }
        StoreKind::DynamoDb | StoreKind::Firestore => return,
    };
    let collection = factory.fresh(&spec).await;
    let [missing, null, other] = [missing, null, other].map(|line| line.as_bytes().to_vec());
    assert!(matches!(collection.create(&lines([&missing])).await[..], [Created::Written]));
    let created = collection.create(&lines([&null])).await;
    assert!(matches!(created[..], [Created::UniqueTaken(_) | Created::Exists(None)]), "{created:?}");
    assert!(matches!(collection.create(&lines([&other])).await[..], [Created::Written]));
}

pub async fn what_the_store_sets_is_not_taken_from_a_line(factory: &dyn Factory) {
    let kind = factory.kind();
    let line = String::from_utf8(event(kind, "Order:A-1", 0)).expect("UTF-8");
    let system = match kind {
        StoreKind::Firestore => {
            r#","createTime":"2020-01-01T00:00:00Z","updateTime":"2020-01-01T00:00:00Z"}"#
        }
        StoreKind::CosmosDb => r#","_rid":"r","_self":"s","_etag":"\"foreign\"","_attachments":"a","_ts":1}"#,
        StoreKind::MongoDb | StoreKind::DynamoDb => return,
    };
    let line = [&line[..line.len() - 1], system].concat().into_bytes();
    let collection = holding(factory, &lines([&line])).await;
    let stored = read_one(&*collection, &key(kind, &line)).await.expect("there");
    let stored = String::from_utf8(stored).expect("UTF-8");
    assert!(!stored.contains("foreign") && !stored.contains("2020-01-01"), "{stored}");
    assert!(!stored.contains("projects/source/"), "the name is under the target's collection: {stored}");
    assert!(stored.contains(if kind == StoreKind::Firestore { "updateTime" } else { "_etag" }), "{stored}");
    assert!(same(kind, stored.as_bytes(), &line));
}

pub async fn existing_documents_are_identical_or_in_conflict(factory: &dyn Factory) {
    let kind = factory.kind();
    let stored = lines([&event(kind, "Order:A-1", 0), &event_with(kind, "Order:A-1", 1, "other")]);
    let collection = holding(factory, &stored).await;
    let batch = lines(&(0..3).map(|version| event(kind, "Order:A-1", version)).collect::<Vec<_>>());
    let settled = outcome::create(&*collection, &keys(kind, &batch), &batch, false).await;
    match &settled[..] {
        [Outcome::Identical, Outcome::Conflict(Conflict::Different(different)), Outcome::Written] => {
            assert!(same(kind, different, stored.get(1).expect("there")));
        }
        other => panic!("{other:?}"),
    }
    let again = outcome::create(&*collection, &keys(kind, &batch), &batch, false).await;
    assert!(matches!(again[..], [Outcome::Identical, Outcome::Conflict(_), Outcome::Identical]), "{again:?}");
}

pub async fn a_full_batch_is_written(factory: &dyn Factory) {
    let kind = factory.kind();
    let collection = factory.fresh(&spec(kind)).await;
    let limits = collection.batch_limits();
    assert!(limits.documents > 0 && limits.bytes > 0);
    let batch: Lines = events(kind, limits.documents.min(1000));
    let created = collection.create_in_empty(&batch).await;
    assert!(created.iter().all(|created| matches!(created, Created::Written)));
    assert_eq!(scan(&*collection, 2, 300, None).await.len(), batch.len());
}
