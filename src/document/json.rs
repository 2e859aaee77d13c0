//! One strict JSON tokenizer: a whole line is checked and its shallow members become spans.

use std::borrow::Cow;
use std::ops::Range;

/// How deep members are recorded: `{"Item":{"pk":{"S":"…"}}}` needs three levels.
pub const RECORDED_DEPTH: u8 = 3;
/// The deepest nesting a line may have; MongoDB stores up to 180 levels and Extended JSON adds one per wrapper.
pub const MAX_DEPTH: usize = 400;

/// What a JSON value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An object.
    Object,
    /// An array.
    Array,
    /// A string.
    String,
    /// A number.
    Number,
    /// `true` or `false`.
    Bool,
    /// `null`.
    Null,
}

/// One member of an object (or element of an array, with an empty name) at depth 1 to [`RECORDED_DEPTH`].
#[derive(Clone, Debug)]
pub struct Member {
    /// The depth: 1 for a member of the line's own object.
    pub depth: u8,
    /// The name with its quotes, as it stands in the line; empty for an array element.
    pub name: Range<u32>,
    /// The value as it stands in the line (a string with its quotes).
    pub value: Range<u32>,
    /// What the value is.
    pub kind: Kind,
    /// Where in the tape the member after this one and its descendants stands.
    pub next: u32,
}

/// Why a line is not a document; `at` is a byte offset in the line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} at byte {at}")]
pub struct JsonError {
    /// What is wrong, in words (“a lone surrogate”, “the member "pk" twice”).
    pub what: Cow<'static, str>,
    /// Where.
    pub at: usize,
    /// Whether the line ends too early (a cut-off file), rather than being malformed.
    pub truncated: bool,
    /// Whether a member stands twice in an object that a layout reads.
    pub duplicate: bool,
}
