//! The verbs: each wires the parts together and knows no argument and no terminal control sequence.

mod legacy_blocks;
pub mod rekey;
mod source;
pub(crate) use source::{OpenedArchive, open_archive, state_folder};
