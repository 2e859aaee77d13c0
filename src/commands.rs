//! The verbs: each wires the parts together and knows no argument and no terminal control sequence.

mod batches;
pub mod combine;
mod counter;
pub mod demo;
pub mod doctor;
pub mod explain;
pub mod export;
pub mod import;
pub mod init;
mod legacy_blocks;
mod manifest;
pub mod plan;
pub mod prune;
pub mod rehearse;
pub mod rekey;
pub mod run;
pub mod sagas;
pub mod shard;
mod source;
pub mod status;
mod store;
pub mod undo;
pub mod verify;
mod withdraw;
pub(crate) use source::{OpenedArchive, companion, journal_stem, open_archive, state_folder};
