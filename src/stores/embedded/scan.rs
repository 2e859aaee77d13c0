//! Parts and pages of a scan: ranges of keys.

use std::ops::Bound;

use serde::{Deserialize, Serialize};

use super::view::{KeyRange, View};
use crate::stores::{Page, Position, ScanPart, StoreError, StoreErrorKind, StoreResult};

/// Keys from `from` on and before `before`, as hexadecimal digits.
#[derive(Default, Serialize, Deserialize)]
struct Range {
    from: Option<String>,
    before: Option<String>,
}

/// Behind the document with this key.
#[derive(Serialize, Deserialize)]
struct After {
    after: String,
}

/// Cuts the collection into about `wanted` parts.
pub(super) fn parts(view: &View, wanted: usize) -> StoreResult<Vec<ScanPart>> {
    let cuts: Vec<String> = view.cuts(wanted)?.iter().map(hex::encode).collect();
    let from = std::iter::once(None).chain(cuts.iter().cloned().map(Some));
    let before = cuts.iter().cloned().map(Some).chain([None]);
    let ranges = from.zip(before).map(|(from, before)| Range { from, before });
    (0..).zip(ranges).map(|(number, range)| Ok(ScanPart { number, range: written(&range)? })).collect()
}

/// The keys of a page of a part.
///
/// Errors: [`StoreErrorKind::Permanent`] if the part or the position is not one of this store's.
pub(super) fn range(part: &ScanPart, from: Option<&Position>) -> StoreResult<KeyRange> {
    let range = Range::deserialize(&part.range).map_err(foreign)?;
    let start = match (from, &range.from) {
        (Some(position), _) => Bound::Excluded(after(position)?),
        (None, Some(from)) => Bound::Included(decoded(from)?),
        (None, None) => Bound::Unbounded,
    };
    let end = match &range.before {
        Some(before) => Bound::Excluded(decoded(before)?),
        None => Bound::Unbounded,
    };
    Ok((start, end))
}

/// Reads a page.
pub(super) fn page(view: &View, range: KeyRange, limit: usize) -> StoreResult<Page> {
    let (lines, last) = view.page(range, limit)?;
    Ok(Page { lines, next: last.as_deref().map(behind).transpose()? })
}

/// The key that a position stands behind.
pub(super) fn after(position: &Position) -> StoreResult<Vec<u8>> {
    decoded(&After::deserialize(&position.0).map_err(foreign)?.after)
}

/// The position behind a key.
pub(super) fn behind(key: &[u8]) -> StoreResult<Position> {
    written(&After { after: hex::encode(key) }).map(Position)
}

fn written(value: &impl Serialize) -> StoreResult<serde_json::Value> {
    serde_json::to_value(value).map_err(foreign)
}

fn decoded(digits: &str) -> StoreResult<Vec<u8>> {
    hex::decode(digits).map_err(foreign)
}

fn foreign(error: impl std::error::Error + Send + Sync + 'static) -> StoreError {
    let message = "The position of the scan is not one of this collection's";
    StoreError::new(StoreErrorKind::Permanent, message).with_source(error)
}
