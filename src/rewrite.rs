//! Rewrites a legacy archive: every check, every new key, one pass over the lines.
//!
//! ```text
//! blocks of lines ─▶ workers: streams inside a block ─▶ joiner: streams across blocks ─▶ output in order
//! ```
//!
//! The unit of work is a stream: it is rewritten whole or refused whole. A worker finishes every stream that
//! begins and ends inside its block; the joiner puts the ends of neighbouring blocks together and finishes
//! those. What comes out goes straight to the archive while its order is that of the input (one tenant), and
//! through a sort by new key otherwise, where two streams that meet under one key are noticed.

mod account;
mod buffer;
mod collect;
mod document;
mod join;
mod lines;
mod long_stream;
mod output;
mod preview;
mod refused;
mod rules;
mod run;
mod stream;
mod stream_id;
mod suspicion;
mod verdict;
mod versions;
mod worker;

pub use account::{Account, KeySample};
pub use buffer::Output;
pub use collect::{Collected, Collector, Side};
pub use document::{DocumentRewriter, Reading, content_entry};
pub use output::{Lines, OrderedOutput, Written};
pub use preview::Preview;
pub use refused::write_entry;
pub use rules::{AlreadyRekeyed, Rules};
pub use run::{BlockSource, Pass};
pub use stream_id::{StreamId, stream_id};
pub use suspicion::Suspicion;
pub use verdict::{RefusedDocument, stream_refused};
pub use versions::VersionRun;
pub use worker::{out_of_order, refuse_cut_off};

/// The version of the rules by which keys are made and documents are refused.
///
/// Raised with every change after which the same archive, layout and tenant rule come to another rekeyed archive: a plan
/// made by other rules is then refused.
pub const RULES_VERSION: u32 = 1;
