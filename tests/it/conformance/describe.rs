use rekey::document::StoreKind;
use rekey::stores::{Created, StoreErrorKind, lookup};

use super::Factory;
use super::documents::{event, holding, keys, lines, spec, write};

pub async fn a_collection_is_described_as_it_was_made(factory: &dyn Factory) {
    let kind = factory.kind();
    let spec = spec(kind);
    let collection = holding(factory, &lines([&event(kind, "Order:A-1", 0)])).await;
    let description = collection.describe().await.expect("a description");
    assert_eq!(description.store, kind);
    assert_eq!(collection.kind(), kind);
    assert_eq!(description.location, collection.location());
    assert!(description.location.contains(collection.name()), "{}", description.location);
    assert_eq!(description.key_fields, spec.key_fields);
    for index in &spec.indexes {
        assert!(description.indexes.contains(index), "{:?}", description.indexes);
    }
    assert!(matches!(description.documents, None | Some(1)));
    let again = collection.describe().await.expect("a description");
    assert_eq!(again.identity, description.identity);
    let other = factory.fresh(&spec).await;
    write(&*other, &lines([&event(kind, "Order:A-1", 0)])).await;
    let other = other.describe().await.expect("a description").identity;
    assert!(other.is_none() || other != description.identity, "another collection has another identity");
}

pub async fn a_missing_collection_is_not_found_but_on_firestore(factory: &dyn Factory) {
    let kind = factory.kind();
    let collection = factory.missing().await;
    let batch = lines([&event(kind, "Order:A-1", 0)]);
    if kind == StoreKind::Firestore {
        assert!(collection.describe().await.is_ok());
        assert!(lookup::is_empty(&*collection).await.expect("an answer"));
        assert!(matches!(collection.create(&batch).await[..], [Created::Written]));
        return;
    }
    let error = collection.describe().await.expect_err("missing");
    assert_eq!(error.kind, StoreErrorKind::NotFound);
    assert_eq!(rekey::Error::from(error).kind().exit_code(), 2);
    assert!(lookup::alternatives(&*collection).await.is_some(), "a hint says what there is");
    assert!(lookup::is_empty(&*collection).await.expect("an answer"));
    let created = collection.create(&batch).await;
    assert_eq!(created[0].failure(), Some(StoreErrorKind::NotFound), "{created:?}");
    assert!(collection.describe().await.is_err(), "a write does not make the collection");
    let read = collection.read(&keys(kind, &batch)).await;
    assert_eq!(read.expect_err("missing").kind, StoreErrorKind::NotFound);
}

pub async fn a_collection_is_made_once(factory: &dyn Factory) {
    let kind = factory.kind();
    let collection = factory.fresh(&spec(kind)).await;
    let again = collection.create_collection(&spec(kind)).await;
    if kind == StoreKind::Firestore {
        assert!(again.is_ok(), "there is nothing to make");
    } else {
        assert_eq!(again.expect_err("there already").kind, StoreErrorKind::AlreadyExists);
    }
    let missing = factory.missing().await;
    missing.create_collection(&spec(kind)).await.expect("made");
    assert!(missing.describe().await.is_ok());
}

pub async fn every_write_shows_in_the_activity(factory: &dyn Factory) {
    let kind = factory.kind();
    let collection = holding(factory, &lines([&event(kind, "Order:A-1", 0)])).await;
    let Some(before) = collection.activity().await.expect("an answer") else { return };
    let _ = collection.read(&keys(kind, &lines([&event(kind, "Order:A-1", 0)]))).await.expect("an answer");
    assert_eq!(collection.activity().await.expect("an answer"), Some(before.clone()));
    write(&*collection, &lines([&event(kind, "Order:A-1", 1)])).await;
    assert_ne!(collection.activity().await.expect("an answer"), Some(before));
}

pub async fn the_neighbours_are_named(factory: &dyn Factory) {
    let kind = factory.kind();
    let collection = holding(factory, &lines([&event(kind, "Order:A-1", 0)])).await;
    let names = collection.collections().await.expect("names");
    assert!(names.iter().any(|name| name == collection.name()), "{names:?}");
}
