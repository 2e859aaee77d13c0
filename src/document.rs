//! Documents in the stores' own lossless JSON: tokenizing, typed values, canonical form, sizes.
//!
//! A document is never turned into a generic JSON value and back. [`json::Tape`] checks a whole line and
//! yields spans; everything else reads or splices those spans.

#[cfg(test)]
mod accepted;
pub(crate) mod base64_text;
pub mod bson;
pub mod canonical;
pub(crate) mod decimal;
pub(crate) mod double;
mod field;
pub mod json;
mod lines;
pub mod lossless;
mod notable;
pub mod size;
mod store_key;
mod store_kind;
pub mod system_fields;
pub mod text;
pub mod timestamp;
pub mod value;

pub use field::{boolean_field, integer_field, text_field, time_field};
pub use lines::Lines;
pub use notable::{has_large_integer, has_reference};
pub use store_key::{DOCUMENT_ID, StoreKey, document_id, find_field};
pub(crate) use store_key::{write_compact, write_key_value};
pub use store_kind::StoreKind;
