//! A migration as states in order, each with the evidence that it was reached and what that rests on.
//!
//! ```text
//! exported ─▶ rekeyed ─▶ imported ─▶ verified ─ ─ ─▶ pruned
//! ```
//!
//! The evidence of a state is a file in the store's folder, `exported.json` and so on. It names the inputs of the state
//! by their digests and what came of it; a state whose evidence is complete and whose inputs are still the same need not
//! be gone through again.

mod evidence;
mod inputs;
mod state;

pub use evidence::{Evidence, Status};
pub use inputs::{Archives, Inputs, file_digest, inputs_of};
pub use state::State;
