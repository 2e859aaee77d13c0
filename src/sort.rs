//! Sorting rows that do not fit into memory, and looking them up afterwards.
//!
//! A row is a key and a payload, both bytes; keys are compared bytewise, and rows with one key keep the
//! order they came in. [`Sorter`] takes rows within a budget of bytes and spills sorted runs to one unnamed
//! temporary file; [`Sorted`] gives them back in order; [`SortedTable`] answers `get(key)`.
//!
//! Memory stays within the budget plus a fixed part: a merge reads at most [`MERGE_WIDTH`] runs at once
//! (about 0.4 MiB each), in several passes where there are more.

mod batch;
mod block;
mod merge;
mod run;
mod sorter;
mod table;
mod temp_file;

pub use merge::MERGE_WIDTH;
pub use sorter::{Sorted, Sorter};
pub use table::{Rows, SortedTable};
pub(crate) use temp_file::{Section, TempFile};
