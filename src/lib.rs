//! Moves legacy event and saga documents to tenant-carrying keys.
//!
//! ```text
//!          scan                 sort                     rewrite                  write                  compare
//! store ──────────▶ documents ─────────▶ archive ─────────────────▶ archive ─────────────▶ store ─────────────────▶ verdict
//!       export                 export             rekey + checks             import               verify (and prune)
//! ```

pub mod archive;
pub mod check;
pub mod cli;
mod commands;
pub mod document;
mod error;
pub mod exit;
pub mod failpoint;
pub mod journal;
pub mod key;
pub mod layout;
pub mod migration;
pub mod options;
pub mod plan;
pub mod project;
pub mod report;
pub mod rewrite;
pub mod scan;
pub mod shard;
pub mod signal;
pub mod sort;
pub mod stores;
pub mod tenant;
pub mod ui;
pub mod undo_list;
pub mod verify;

pub use error::{Error, ErrorKind, Result};
