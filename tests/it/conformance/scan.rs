use std::collections::BTreeSet;

use rekey::document::{Lines, StoreKey};
use rekey::stores::lookup;

use super::Factory;
use super::documents::{event, events, holding, key, keys, lines, same, scan, scan_part, spec, write};

pub async fn parts_give_each_document_once(factory: &dyn Factory) {
    let kind = factory.kind();
    let documents = events(kind, 300);
    let collection = holding(factory, &documents).await;
    let expected: BTreeSet<StoreKey> = keys(kind, &documents).into_iter().collect();
    for wanted in [1, 3, 16] {
        let parts = collection.parts(wanted).await.expect("parts");
        let numbers: Vec<u32> = parts.iter().map(|part| part.number).collect();
        assert!(numbers.iter().copied().eq(0..u32::try_from(parts.len()).expect("few")), "{numbers:?}");
        let found = scan(&*collection, wanted, 7, None).await;
        assert_eq!(found.len(), 300, "{wanted} parts");
        assert_eq!(found.iter().map(|line| key(kind, line)).collect::<BTreeSet<_>>(), expected);
    }
    assert!(matches!(collection.count(None).await.expect("an answer"), None | Some(300)));
}

pub async fn a_scan_goes_on_from_any_position_in_another_process(factory: &dyn Factory) {
    let kind = factory.kind();
    let collection = holding(factory, &events(kind, 60)).await;
    for part in collection.parts(3).await.expect("parts") {
        let (whole, positions) = scan_part(&*collection, &part, None, 7, None).await;
        for position in positions {
            // What another process reads in its journal.
            let part = serde_json::from_str(&serde_json::to_string(&part).expect("JSON")).expect("a part");
            let position = serde_json::to_string(&position).expect("JSON");
            let position = serde_json::from_str(&position).expect("a position");
            let (rest, _) = scan_part(&*collection, &part, Some(position), 5, None).await;
            assert_eq!(rest, whole[whole.len() - rest.len()..], "the rest is the end of the part");
        }
    }
}

pub async fn an_empty_collection_has_nothing_to_scan(factory: &dyn Factory) {
    let kind = factory.kind();
    let collection = factory.fresh(&spec(kind)).await;
    assert!(scan(&*collection, 4, 10, None).await.is_empty());
    assert!(lookup::is_empty(&*collection).await.expect("an answer"));
    write(&*collection, &lines([&event(kind, "Order:A-1", 0)])).await;
    assert!(!lookup::is_empty(&*collection).await.expect("an answer"));
}

pub async fn a_snapshot_does_not_move(factory: &dyn Factory) {
    let kind = factory.kind();
    let documents = events(kind, 50);
    let collection = holding(factory, &documents).await;
    let Some(snapshot) = collection.snapshot().await.expect("an answer") else { return };
    let parts = collection.parts(2).await.expect("parts");
    write(&*collection, &lines([&event(kind, "Order:A-00002x", 0), &event(kind, "Order:Z", 0)])).await;
    let gone = lines([&event(kind, "Order:A-00000", 3)]);
    let _ = collection.delete(&keys(kind, &gone), &gone).await;
    let mut seen = Vec::new();
    for part in &parts {
        seen.extend(scan_part(&*collection, part, None, 9, Some(&snapshot)).await.0);
    }
    let seen: BTreeSet<StoreKey> = seen.iter().map(|line| key(kind, line)).collect();
    assert_eq!(seen, keys(kind, &documents).into_iter().collect());
    assert!(matches!(collection.count(Some(&snapshot)).await.expect("an answer"), None | Some(50)));
    assert_eq!(scan(&*collection, 2, 9, None).await.len(), 51);
}

pub async fn documents_are_read_in_the_order_of_the_keys_with_gaps(factory: &dyn Factory) {
    let kind = factory.kind();
    let documents = events(kind, 120);
    let collection = holding(factory, &documents).await;
    let mut asked = Lines::new();
    for at in (0..120).rev() {
        asked.push(documents.get(at).expect("there"));
        asked.push(&event(kind, "Order:nowhere", at.try_into().expect("small")));
    }
    let read = collection.read(&keys(kind, &asked)).await.expect("an answer");
    assert_eq!(read.len(), 240);
    for (at, (asked, read)) in asked.iter().zip(&read).enumerate() {
        match read {
            Some(line) => assert!(at % 2 == 0 && same(kind, line, asked), "{at}"),
            None => assert!(at % 2 == 1, "{at}"),
        }
    }
    assert!(collection.read(&[]).await.expect("an answer").is_empty());
}
