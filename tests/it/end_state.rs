//! How the end state of a command that was disturbed differs from that of one that was left alone, event by event.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use serde_json::Value;

/// The numbers of events that are other ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Documents that are no longer there.
    pub lost: usize,
    /// Documents of the same event that are there once more than they should be.
    pub doubled: usize,
    /// Events whose documents are not what they should be.
    pub changed: usize,
}

impl Difference {
    /// What `found` has otherwise than `expected`, whatever the order.
    pub fn between(expected: &[Value], found: &[Value]) -> Self {
        let (expected, mut found) = (by_event(expected), by_event(found));
        let mut difference = Self::default();
        for (event, documents) in expected {
            let now = found.remove(event).unwrap_or_default();
            difference.lost += documents.len().saturating_sub(now.len());
            difference.doubled += now.len().saturating_sub(documents.len());
            difference.changed += usize::from(documents.len() == now.len() && documents != now);
        }
        // An event that nobody wrote was made out of another one.
        difference.doubled += found.values().map(Vec::len).sum::<usize>();
        difference
    }
}

impl AddAssign for Difference {
    fn add_assign(&mut self, other: Self) {
        self.lost += other.lost;
        self.doubled += other.doubled;
        self.changed += other.changed;
    }
}

/// The documents of each event, which has an id of its own in every store.
fn by_event(documents: &[Value]) -> BTreeMap<&str, Vec<String>> {
    let mut events = BTreeMap::<_, Vec<_>>::new();
    for document in documents {
        let places = ["/eventId", "/Item/eventId/S", "/fields/eventId/stringValue"];
        let id = places.iter().find_map(|place| document.pointer(place)?.as_str());
        events.entry(id.expect("an event")).or_default().push(document.to_string());
    }
    for documents in events.values_mut() {
        documents.sort();
    }
    events
}

#[test]
fn a_document_that_is_gone_there_twice_or_another_one_is_counted() {
    let event = |id: &str, version: u64| serde_json::json!({ "eventId": id, "version": version });
    let expected = [event("a", 1), event("b", 2), event("c", 3)];
    let found = [event("c", 3), event("a", 9), event("c", 3), event("d", 4)];
    let difference = Difference::between(&expected, &found);
    assert_eq!(difference, Difference { lost: 1, doubled: 2, changed: 1 });
    let backwards: Vec<_> = expected.iter().rev().cloned().collect();
    assert_eq!(Difference::between(&expected, &backwards), Difference::default());
}
