use std::ops::Range;

use crate::archive::ContentSum;
use crate::check::{Reason, Refusal};

/// What became of one stream.
#[derive(Debug)]
pub struct StreamResult {
    /// Its lines: indexes into the block.
    pub lines: Range<usize>,
    /// Its rewritten documents, if it is moved: indexes into the output's.
    pub written: Range<usize>,
    /// What became of it.
    pub verdict: Verdict,
    /// The part of the legacy order key that identifies it; empty for an unattributable document.
    pub stream: Box<[u8]>,
}

/// What became of one stream.
#[derive(Debug)]
pub enum Verdict {
    /// It is in the output.
    Moved(Moved),
    /// Its tenant is not to be moved.
    OutOfScope,
    /// These documents are refused, so the whole stream is.
    Refused(Vec<RefusedDocument>),
}

/// A stream in the output.
#[derive(Debug)]
pub struct Moved {
    /// Its tenant.
    pub tenant: String,
    /// How many documents it has.
    pub documents: u64,
    /// Its last version, where it has versions.
    pub last_version: Option<i64>,
    /// How many holes its versions have.
    pub holes: u64,
    /// How many of its documents carried the tenant already.
    pub kept: u64,
    /// How many of its documents named another owner, which was replaced.
    pub owners_replaced: u64,
    /// How many of its documents stand as escape records.
    pub escape_records: u64,
    /// What its documents add to the tenant's content sum.
    pub content: ContentSum,
}

/// One refused document.
#[derive(Clone, Debug)]
pub struct RefusedDocument {
    /// Its line in the archive.
    pub line: u64,
    /// The key a person sees; empty if it has none.
    pub key: String,
    /// Its version, where it has one.
    pub version: Option<i64>,
    /// Why.
    pub refusal: Refusal,
}

/// The refusal that the other documents of a refused stream share.
pub fn stream_refused() -> Refusal {
    Refusal::new(Reason::StreamRefused, "another document of the stream is refused")
}
