use crate::document::StoreKind;

/// What a store says of itself and of us, looked at without changing anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Examination {
    /// Who we are there: a user, a role, a key; never a secret. `None` where the store does not say.
    pub identity: Option<String>,
    /// The server with its version, where it has one.
    pub server: Option<String>,
    /// What both clocks showed.
    pub clock: Option<Clock>,
    /// How many bytes the collection takes, as the store counts them.
    pub bytes: Option<u64>,
    /// What we may do with the collection: one for each [`Right`].
    pub permissions: Vec<Permission>,
}

/// The server's clock beside ours, both in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// What the server's showed.
    pub server: i64,
    /// What ours showed in the middle of the question.
    pub local: i64,
}

/// Something that may be done with a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Right {
    /// Documents are read.
    Read,
    /// Documents are created.
    Create,
    /// Documents are changed.
    Update,
    /// Documents are deleted.
    Delete,
    /// Collections are created.
    MakeCollection,
}

/// Whether we have a right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// We have it.
    Yes,
    /// We do not.
    No,
    /// The store does not tell, and nothing that changes nothing can find out.
    Unknown,
}

/// One right, whether we have it, and what gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permission {
    /// The right.
    pub right: Right,
    /// Whether we have it.
    pub held: Held,
    /// What gives it, in the store's own words: `the action remove on the collection "events"`.
    pub given_by: String,
}

impl Clock {
    /// How far the server's clock is ahead of ours, in milliseconds.
    #[must_use]
    pub fn ahead(self) -> i64 {
        self.server.saturating_sub(self.local)
    }
}

impl Right {
    /// Every right, in the order shown.
    pub const ALL: [Self; 5] = [Self::Read, Self::Create, Self::Update, Self::Delete, Self::MakeCollection];

    /// The word for it in results.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::MakeCollection => "make-collection",
        }
    }
}

impl Held {
    /// The word for it in results.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unknown => "unknown",
        }
    }
}

/// The version of the library that speaks to a kind of store, as it was built in.
#[must_use]
pub fn sdk(kind: StoreKind) -> &'static str {
    match kind {
        StoreKind::MongoDb => concat!("mongodb ", env!("REKEY_VERSION_MONGODB")),
        StoreKind::DynamoDb => concat!("aws-sdk-dynamodb ", env!("REKEY_VERSION_AWS_SDK_DYNAMODB")),
        StoreKind::Firestore => concat!("firestore ", env!("REKEY_VERSION_FIRESTORE")),
        StoreKind::CosmosDb => concat!("azure_data_cosmos ", env!("REKEY_VERSION_AZURE_DATA_COSMOS")),
    }
}

/// Milliseconds since 1970, by our clock.
#[cfg(any(feature = "mongodb", feature = "dynamodb", feature = "firestore"))]
pub(super) fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// The time in the `date` of an answer by HTTP, in milliseconds since 1970: the middle of the second that it names.
#[cfg(any(feature = "dynamodb", test))]
pub(super) fn http_date(text: &str) -> Option<i64> {
    let time = jiff::fmt::rfc2822::parse(text).ok()?;
    Some(time.timestamp().as_millisecond().saturating_add(500))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sdk_has_the_version_of_the_lock_file() {
        for kind in StoreKind::ALL {
            let (_, version) = sdk(kind).split_once(' ').unwrap();
            assert!(version.split('.').count() >= 3, "{}", sdk(kind));
        }
    }

    #[test]
    fn a_date_of_http_is_read_to_the_middle_of_its_second() {
        assert_eq!(http_date("Fri, 02 Jan 2026 03:04:05 GMT"), Some(1_767_323_045_500));
        assert_eq!(http_date("soon"), None);
    }
}
