use std::num::NonZeroU32;

/// Upper bounds on the use of a store; `None` leaves it to the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// DynamoDB read capacity units a second.
    pub max_rcu: Option<NonZeroU32>,
    /// DynamoDB write capacity units a second.
    pub max_wcu: Option<NonZeroU32>,
    /// Cosmos DB request units a second.
    pub max_ru: Option<NonZeroU32>,
    /// Documents written a second, on any store.
    pub max_writes_per_second: Option<NonZeroU32>,
    /// Requests in flight at one time.
    pub concurrency: Option<NonZeroU32>,
}
