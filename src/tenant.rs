//! Which tenant a stream belongs to: the rule the operator states, and the checks on what it yields.

mod known;
mod pointer;
mod prefixes;
mod rows;
mod term;

pub use known::KnownTenants;
pub use prefixes::{PrefixConflict, PrefixSet};
pub use term::{MAX_UTF16_UNITS, Origin, SINGLE_TENANT, UNTENANTED, check_tenant, is_constant};
