//! Which tenant a stream belongs to: the rule the operator states, and the checks on what it yields.
//!
//! A [`TenantRule`] comes from the command line; a [`TenantResolver`] asks it stream by stream. Nothing here
//! knows a layout: the caller says what a stream's type and legacy key are.

mod claims;
mod field;
mod known;
mod map;
mod pointer;
mod prefixes;
mod resolver;
mod rule;
mod term;
mod wanted;

pub use field::TenantField;
pub use known::KnownTenants;
pub use map::{TenantMap, UnusedRows};
pub use prefixes::{PrefixConflict, PrefixSet};
pub use resolver::TenantResolver;
pub use rule::{DescribedRule, FileDescription, RuleDescription, TenantRule};
pub use term::{MAX_UTF16_UNITS, Origin, SINGLE_TENANT, UNTENANTED, check_tenant, is_constant};
pub use wanted::WantedTenants;
