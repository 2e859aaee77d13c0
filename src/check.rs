//! What is refused, and in which words.

mod reason;

pub use reason::{Reason, Refusal};
