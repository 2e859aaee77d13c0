//! Compares what a store holds with what the archives say it must hold.
//!
//! ```text
//! archives ─▶ expected documents ─┐ sorted by new key
//!                                 ├─▶ join ─▶ findings, counts per tenant
//! store ───▶ found documents ─────┘ sorted by new key
//! ```
//!
//! Both sides become short records (place, digest, tenant) that are sorted on disk and joined; only what
//! differs is read again to say how.

mod doubled;
mod expected;
mod found;
mod framework;
mod join;
mod kept_bodies;
mod key_maps;
mod key_samples;
mod record;
mod tenants;

pub use doubled::find_doubled;
pub use expected::{Expected, collect_expected};
pub use found::{Found, FoundConsumer};
pub use framework::{SampledStream, StreamChoice, StreamSample, query_streams};
pub use join::{Comparison, Difference, Receivers, TenantComparison, by_name, compare, compare_counts};
pub use kept_bodies::{Bodies, compare_bodies, write_place};
pub use key_maps::KeyMaps;
pub use key_samples::{FoundKey, KeySamples};
pub(crate) use record::event_digest;
pub use record::{Record, join_key};
pub use tenants::TenantNames;
