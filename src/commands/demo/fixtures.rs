/// Legacy documents of one kind, as they are shipped.
pub(super) struct Fixture {
    /// The layout's full name.
    pub layout: &'static str,
    /// The documents, one a line.
    pub documents: &'static str,
    /// The tenant map.
    pub tenants: &'static str,
}

macro_rules! fixtures {
    ($($layout:literal),* $(,)?) => {
        /// All eight kinds.
        pub(super) const FIXTURES: &[Fixture] = &[$(Fixture {
            layout: $layout,
            documents: include_str!(concat!("../../../fixtures/", $layout, ".ndjson")),
            tenants: include_str!(concat!("../../../fixtures/", $layout, ".tenants.csv")),
        }),*];
    };
}

fixtures!(
    "cosmosdb-events",
    "cosmosdb-sagas",
    "dynamodb-events",
    "dynamodb-sagas",
    "firestore-events",
    "firestore-sagas",
    "mongodb-events",
    "mongodb-sagas",
);
