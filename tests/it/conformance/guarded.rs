use rekey::document::{StoreKey, StoreKind};
use rekey::stores::{Created, Guarded, GuardedUpdate, StoreErrorKind, outcome};

use super::Factory;
use super::documents::{event, event_with, holding, key, keys, lines, read_one, same, scan};

pub async fn a_delete_wants_the_expected_document(factory: &dyn Factory) {
    let kind = factory.kind();
    let stored = lines([&event(kind, "Order:A-1", 0), &event(kind, "Order:A-1", 1)]);
    let collection = holding(factory, &stored).await;
    let expected = lines([
        &event_with(kind, "Order:A-1", 0, "something else"),
        &event(kind, "Order:A-1", 1),
        &event(kind, "Order:A-1", 2),
    ]);
    let deleted = collection.delete(&keys(kind, &expected), &expected).await;
    match &deleted[..] {
        [Guarded::Differs(different), Guarded::Done, Guarded::Missing] => {
            let differs =
                different.as_ref().is_none_or(|line| same(kind, line, stored.get(0).expect("there")));
            assert!(differs, "the stored one is given back, if any");
        }
        other => panic!("{other:?}"),
    }
    let left = scan(&*collection, 1, 10, None).await;
    assert!(left.len() == 1 && same(kind, &left[0], stored.get(0).expect("there")));
}

pub async fn a_delete_takes_what_was_written_anew_with_the_same_content(factory: &dyn Factory) {
    let kind = factory.kind();
    let line = event(kind, "Order:A-1", 0);
    let collection = holding(factory, &lines([&line])).await;
    let key = key(kind, &line);
    let before = read_one(&*collection, &key).await.expect("there");
    let deleted = collection.delete(std::slice::from_ref(&key), &lines([&line])).await;
    assert!(matches!(deleted[..], [Guarded::Done]), "without a change mark: {deleted:?}");
    assert!(matches!(collection.create(&lines([&line])).await[..], [Created::Written]));
    let deleted = collection.delete(std::slice::from_ref(&key), &lines([&before])).await;
    assert!(matches!(deleted[..], [Guarded::Done]), "with the change mark of an earlier state: {deleted:?}");
}

pub async fn a_delete_keeps_what_was_written_anew_with_another_content(factory: &dyn Factory) {
    let kind = factory.kind();
    let line = event(kind, "Order:A-1", 0);
    let collection = holding(factory, &lines([&line])).await;
    let key = key(kind, &line);
    let before = read_one(&*collection, &key).await.expect("there");
    let deleted = collection.delete(std::slice::from_ref(&key), &lines([&before])).await;
    assert!(matches!(deleted[..], [Guarded::Done]), "{deleted:?}");
    let changed = lines([&event_with(kind, "Order:A-1", 0, "something else")]);
    assert!(matches!(collection.create(&changed).await[..], [Created::Written]));
    let deleted = collection.delete(std::slice::from_ref(&key), &lines([&before])).await;
    assert!(matches!(deleted[..], [Guarded::Differs(_)]), "{deleted:?}");
}

pub async fn a_delete_frees_the_key(factory: &dyn Factory) {
    let kind = factory.kind();
    let batch = lines([&event(kind, "Order:A-1", 0)]);
    let collection = holding(factory, &batch).await;
    for _ in 0..3 {
        let deleted = outcome::delete(&*collection, &keys(kind, &batch), &batch).await;
        assert!(matches!(deleted[..], [Guarded::Done]), "{deleted:?}");
        let deleted = collection.delete(&keys(kind, &batch), &batch).await;
        assert!(matches!(deleted[..], [Guarded::Missing]), "{deleted:?}");
        assert!(matches!(collection.create(&batch).await[..], [Created::Written]));
    }
}

fn to_new_stream(line: &[u8], from: &str, version: i64, to: &str) -> GuardedUpdate {
    GuardedUpdate {
        key: key(StoreKind::MongoDb, line),
        set: ("streamId".to_owned(), to.to_owned()),
        when_text: vec![("streamId".to_owned(), from.to_owned())],
        when_integer: vec![("version".to_owned(), version)],
    }
}

/// Only MongoDB events are ever changed in place.
pub async fn an_update_wants_its_guard(factory: &dyn Factory) {
    let kind = factory.kind();
    if kind != StoreKind::MongoDb {
        return;
    }
    let (first, second, missing) = (event(kind, "A-1", 0), event(kind, "A-1", 1), event(kind, "A-1", 2));
    let collection = holding(factory, &lines([&first, &second])).await;
    let updates = [
        to_new_stream(&first, "A-1", 0, "t:acme:A-1"),
        to_new_stream(&second, "A-1", 7, "t:acme:A-1"),
        to_new_stream(&missing, "A-1", 2, "t:acme:A-1"),
    ];
    let changed = collection.update(&updates).await;
    assert!(matches!(changed[..], [Guarded::Done, Guarded::Differs(_), Guarded::Missing]), "{changed:?}");
    let stored = read_one(&*collection, &key(kind, &first)).await.expect("there");
    let expected = String::from_utf8(first.clone()).expect("UTF-8").replace("\"A-1\"", "\"t:acme:A-1\"");
    assert_eq!(String::from_utf8(stored).expect("UTF-8"), expected, "nothing else changes");
    let untouched = read_one(&*collection, &key(kind, &second)).await.expect("there");
    assert_eq!(untouched, second);
    // Run again: the guard no longer holds, and what is stored says why.
    match &collection.update(&updates[..1]).await[..] {
        [Guarded::Differs(Some(stored))] => assert!(same(kind, stored, expected.as_bytes())),
        other => panic!("{other:?}"),
    }
}

pub async fn an_update_keeps_a_unique_index(factory: &dyn Factory) {
    let kind = factory.kind();
    if kind != StoreKind::MongoDb {
        return;
    }
    let (legacy, squatter) = (event(kind, "A-1", 0), event(kind, "t:acme:A-1", 0));
    let collection = holding(factory, &lines([&legacy, &squatter])).await;
    let changed = collection.update(&[to_new_stream(&legacy, "A-1", 0, "t:acme:A-1")]).await;
    assert!(matches!(changed[..], [Guarded::UniqueTaken(_)]), "{changed:?}");
    assert_eq!(read_one(&*collection, &key(kind, &legacy)).await, Some(legacy));
}

pub async fn a_counter_is_raised_and_never_lowered(factory: &dyn Factory) {
    let kind = factory.kind();
    let collection = factory.fresh(&super::documents::spec(kind)).await;
    let key = StoreKey(r#"["global_sequence"]"#.into());
    if kind != StoreKind::MongoDb {
        let error = collection.raise(&key, "sequence", 1).await.expect_err("no counters");
        assert_eq!(error.kind, StoreErrorKind::Permanent);
        return;
    }
    for (least, before) in [(17, None), (9, Some(17)), (20, Some(17)), (20, Some(20))] {
        assert_eq!(collection.raise(&key, "sequence", least).await.expect("raised"), before);
    }
    let stored = read_one(&*collection, &key).await.expect("there");
    assert!(same(kind, &stored, br#"{"_id":"global_sequence","sequence":{"$numberLong":"20"}}"#));
}
