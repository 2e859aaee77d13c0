//! How a key is made of terms: templates that only render, the two ways to join, keys that sort.
//!
//! A key is always rendered from a document's own fields and compared; it is never cut up to find them.
//! The one thing that is read out of a key is the tenant of a rekeyed one, between the part before it and
//! the part after it, which are both known ([`Template::solve`]).

mod escaping;
pub(crate) mod order;
mod solve;
mod template;

pub use escaping::{Escaping, needs_escaping};
pub use order::version_of;
pub use solve::Solution;
pub use template::{OtherTerm, Part, Template, Term, Terms};
