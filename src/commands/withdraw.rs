//! Documents that go by whole streams, each only while its counterpart stands: what `prune` and `undo` share.
//!
//! ```text
//! evidence ─▶ a verdict on each stream ─▶ guarded changes of the streams that may go, batch by batch
//! ```
//!
//! The two are mirror images. Prune takes away legacy documents for whose streams every rekeyed twin stands; undo takes
//! away what an import wrote, for whose streams every legacy document stands. What proves it is theirs to say. No
//! journal says what an earlier run has finished: the verdicts are on what the stores hold now, and what went before, or
//! was put back since, shows there.

mod pass;
mod verdicts;

pub(super) use pass::{Pass, Withdrawal, go_on};
pub(super) use verdicts::{OpenStream, Reason, Verdicts};
