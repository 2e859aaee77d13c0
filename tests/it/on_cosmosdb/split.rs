//! A partition that is split in the middle of a scan: each document comes once, also from a position saved before.

use std::collections::BTreeSet;

use rekey::document::StoreKind;
use rekey::stores::{CollectionReader as _, CollectionWriter as _};
use serde_json::json;

use super::adapter::collection;
use super::server::Place;
use crate::conformance::documents::{events, key, scan_part, spec, write};

const KIND: StoreKind = StoreKind::CosmosDb;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_partition_split_in_the_middle_of_a_scan_loses_and_repeats_nothing() {
    let collection = collection().await;
    collection.create_collection(&spec(KIND)).await.unwrap();
    let documents = events(KIND, 400);
    write(&collection, &documents).await;
    let expected: BTreeSet<_> = documents.iter().map(|line| key(KIND, line)).collect();
    let database = collection.location().split('"').nth(1).unwrap().to_owned();
    let place = Place { database, scene: crate::scene::Scene::new(KIND) };

    let parts = collection.parts(4).await.unwrap();
    assert_eq!(parts.len(), 4);
    // The first part is read to its second page, then its partition is split at the third.
    let first = collection.page(&parts[0], None, 7, None).await.unwrap();
    let saved = first.next.clone();
    place.plan(collection.name(), &json!({ "split_at_query": 2 }));
    let (rest, _) = scan_part(&collection, &parts[0], saved.clone(), 7, None).await;
    assert_eq!(place.tally(collection.name())["splits"], 1);
    let (again, _) = scan_part(&collection, &parts[0], saved, 7, None).await;
    let keys = |lines: &[Vec<u8>]| lines.iter().map(|line| key(KIND, line)).collect::<BTreeSet<_>>();
    assert_eq!(
        (rest.len(), keys(&rest)),
        (again.len(), keys(&again)),
        "from a position saved before the split"
    );
    let mut seen: Vec<Vec<u8>> = first.lines.iter().map(<[u8]>::to_vec).chain(rest).collect();
    for part in &parts[1..] {
        seen.extend(scan_part(&collection, part, None, 50, None).await.0);
    }
    assert_eq!(seen.len(), documents.len());
    assert_eq!(keys(&seen), expected);
    assert_eq!(collection.count(None).await.unwrap(), Some(400));
    assert_eq!(collection.parts(1).await.unwrap().len(), 5);
}
