//! Documents in the stores' own lossless JSON: tokenizing, typed values, canonical form, sizes.
//!
//! A document is never turned into a generic JSON value and back. [`json::Tape`] checks a whole line and
//! yields spans; everything else reads or splices those spans.

mod decimal;
pub mod json;
mod lines;
mod store_kind;
pub mod text;
pub mod value;

pub use lines::Lines;
pub use store_kind::StoreKind;

/// The key under which a store holds one document: a compact JSON array of typed value texts.
///
/// | store | example |
/// |---|---|
/// | MongoDB | `[{"$oid":"65a0f1c2d3e4f5a6b7c8d9e0"}]` (the `_id` as canonical Extended JSON) |
/// | DynamoDB | `[{"S":"Order:A-1001"},{"N":"0"}]` (partition key, then sort key; numbers normalised) |
/// | Firestore | `["Order:A-1001:0"]` (document id within its collection) |
/// | Cosmos DB | `["Order:A-1001","Order:A-1001:0"]` (every partition key component, then the id) |
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StoreKey(pub Box<str>);

impl std::fmt::Display for StoreKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
