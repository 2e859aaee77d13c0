//! Scans by feed ranges, in parallel; the exact count by a second read.

use std::sync::Arc;

use azure_data_cosmos::FeedScope;
use azure_data_cosmos::feed::{ContinuationToken, FeedRange};
use azure_data_cosmos::options::ReadFeedRangesOptions;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::ask::{Question, ask_for_items, each_page, read_position, write_position};
use super::container::Container;
use super::error::{Effect, foreign, store_error};
use crate::stores::requests::side_by_side;
use crate::stores::{Page, Position, ScanPart, StoreResult};

/// Never `ORDER BY`, which leaves out items without the field.
const ALL_ITEMS: &str = "SELECT * FROM c";
/// Every item has an id.
const ALL_IDS: &str = "SELECT VALUE c.id FROM c";
/// How many ids a page of the count has.
const COUNTED: usize = 5_000;

/// One part for each physical partition that there is now. A part stays what it is when its partition is split.
///
/// Errors: [`NotFound`](crate::stores::StoreErrorKind::NotFound) if there is no such container.
pub(super) async fn parts(container: &Container) -> StoreResult<Vec<ScanPart>> {
    let ranges = feed_ranges(container).await?;
    let parts = ranges.iter().zip(0..).map(|(range, number)| {
        let range = serde_json::to_value(range).map_err(|_| foreign())?;
        Ok(ScanPart { number, range })
    });
    parts.collect()
}

async fn feed_ranges(container: &Container) -> StoreResult<Vec<FeedRange>> {
    let client = &container.opened().await?.client;
    let options = ReadFeedRangesOptions::default().with_force_refresh(true);
    let ranges = Box::pin(client.read_feed_ranges(Some(options))).await;
    ranges.map_err(|error| store_error("the feed ranges", Effect::Reads, &error))
}

/// Reads a page of a part. It may be empty although more follow.
pub(super) async fn page(
    container: &Arc<Container>,
    part: &ScanPart,
    from: Option<&Position>,
    limit: usize,
) -> StoreResult<Page> {
    let range = FeedRange::deserialize(&part.range).map_err(|_| foreign())?;
    let question = Question {
        query: ALL_ITEMS.into(),
        scope: FeedScope::range(range),
        limit,
        from: from.map(read_position).transpose()?,
    };
    let (lines, next) = ask_for_items(container, question).await?;
    Ok(Page { lines, next: next.as_ref().map(write_position) })
}

/// Counts the items by reading their ids: an aggregate over several partitions is none that the SDK can ask for.
pub(super) async fn count(container: &Arc<Container>) -> StoreResult<u64> {
    let ranges = feed_ranges(container).await?.into_iter().map(|range| {
        let container = container.clone();
        async move { count_range(&container, range).await }
    });
    let mut count = 0;
    for counted in side_by_side(ranges.collect::<Vec<_>>()).await {
        count += counted?;
    }
    Ok(count)
}

async fn count_range(container: &Container, range: FeedRange) -> StoreResult<u64> {
    let question = |from: Option<ContinuationToken>| Question {
        query: ALL_IDS.into(),
        scope: FeedScope::range(range.clone()),
        limit: COUNTED,
        from,
    };
    let mut count = 0;
    let all = each_page(container, question, |ids: Vec<IgnoredAny>| {
        count += ids.len() as u64;
        true
    });
    all.await?;
    Ok(count)
}
