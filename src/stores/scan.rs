//! A scan of a whole collection: parts, pages and positions.

use serde::{Deserialize, Serialize};

use crate::document::Lines;

/// One part of a scan: what one reader reads alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScanPart {
    /// The part's number, from 0.
    pub number: u32,
    /// The store's own words for the range (segment of segments, key range, feed range).
    pub range: serde_json::Value,
}

/// Where in a part the next page begins, in the store's own words; it outlives the process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position(pub serde_json::Value);

/// One page of a scan.
#[derive(Debug, Default)]
pub struct Page {
    /// The documents, each in its lossless form. May be empty although more pages follow.
    pub lines: Lines,
    /// Where the next page begins; `None` after the last one.
    pub next: Option<Position>,
}

/// A consistent moment that all parts of one scan read at (MongoDB snapshot, Firestore read time).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot(pub serde_json::Value);

/// A store's own count of writes: two equal marks mean that nobody wrote in between.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Activity(pub serde_json::Value);
