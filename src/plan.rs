//! A plan: what a run of a project will do, as a file with a digest that `rekey apply` holds the run to.
//!
//! A plan made from archives binds their digests: the run moves exactly these documents. One made from stores, a week
//! ahead, binds rule, layout, places and limits, and lets the data grow within a bound, but takes no new tenant and no
//! new reason for a refusal.

mod difference;
mod file;
mod store_plan;

pub use difference::{Difference, grown_beyond, of_content, of_settings};
pub use file::{Basis, Plan};
pub use store_plan::{Forecast, PlannedTenant, Remark, Sample, StorePlan, settings_of};
