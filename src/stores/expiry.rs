use std::time::{SystemTime, UNIX_EPOCH};

use super::{Description, TimeToLive};

/// How far back a time may be for the store to act on it; what is older it never deletes (Amazon DynamoDB Developer
/// Guide, "Using time to live").
const FURTHEST_BACK: i64 = 5 * 365 * 24 * 60 * 60;

/// Which documents a collection loses by itself, because a time that they carry has passed.
///
/// That a document carries such a time says nothing: only a collection whose time to live is switched on for that very
/// field deletes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expiry {
    /// The present, in seconds since 1970, where the collection deletes at all.
    now: Option<i64>,
}

impl Expiry {
    /// What a collection does with the times in `field`, if its layout has such a field.
    #[must_use]
    pub fn of(collection: &Description, field: Option<&str>) -> Self {
        let is_on = field.is_some_and(
            |field| matches!(&collection.time_to_live, Some(TimeToLive::Field(watched)) if watched == field),
        );
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
        Self { now: is_on.then(|| i64::try_from(now).unwrap_or(i64::MAX)) }
    }

    /// Whether a document that carries the time `expires_at`, in seconds since 1970, is deleted or will be any moment.
    #[must_use]
    pub fn has_passed(self, expires_at: i64) -> bool {
        self.now.is_some_and(|now| expires_at <= now && expires_at > now - FURTHEST_BACK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::StoreKind;
    use crate::stores::CollectionSpec;

    fn table(time_to_live: Option<TimeToLive>) -> Description {
        let new = Description::of_new(StoreKind::DynamoDb, "a table", CollectionSpec::default());
        Description { time_to_live, ..new }
    }

    #[test]
    fn only_a_collection_that_watches_the_field_deletes_and_nothing_that_passed_years_ago() {
        let watching = table(Some(TimeToLive::Field("ttl".to_owned())));
        let expiry = Expiry::of(&watching, Some("ttl"));
        let now = expiry.now.unwrap();
        assert!(expiry.has_passed(now) && expiry.has_passed(now - 1_000));
        assert!(!expiry.has_passed(now + 1_000) && !expiry.has_passed(0));
        assert!(!expiry.has_passed(now - 6 * 365 * 24 * 60 * 60));
        let others = [
            Expiry::of(&watching, None),
            Expiry::of(&watching, Some("expires")),
            Expiry::of(&table(None), Some("ttl")),
            Expiry::of(&table(Some(TimeToLive::Default(60))), Some("ttl")),
        ];
        assert!(others.into_iter().all(|expiry| !expiry.has_passed(now - 1_000)));
    }
}
