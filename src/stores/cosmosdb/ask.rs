//! One page of a query, and where the next one begins.

use std::num::NonZeroU32;
use std::sync::Arc;

use azure_data_cosmos::feed::ContinuationToken;
use azure_data_cosmos::options::{MaxItemCountHint, QueryOptions};
use azure_data_cosmos::{FeedScope, Query};
use futures::StreamExt as _;
use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::RawValue;

use super::container::Container;
use super::error::{Effect, foreign, store_error};
use crate::document::Lines;
use crate::stores::requests::{Patience, side_by_side};
use crate::stores::{Position, StoreError, StoreResult};

/// A query, or the rest of one.
pub(super) struct Question {
    pub query: Query,
    pub scope: FeedScope,
    /// How many answers a page has at most.
    pub limit: usize,
    pub from: Option<ContinuationToken>,
}

/// A page of answers, and the token that the next page is asked for with.
pub(super) struct Answer<T> {
    pub items: Vec<T>,
    pub next: Option<ContinuationToken>,
}

/// An item's text as the service sent it.
pub(super) type Text = Box<RawValue>;

impl Question {
    /// Asks for one page. It may be empty although more follow; after the last one there is no token.
    ///
    /// A token knows the ranges of partition keys that are still to be read, so that a partition that is split
    /// meanwhile loses and repeats nothing.
    pub(super) async fn ask<T: DeserializeOwned + Send + 'static>(
        self,
        container: &Container,
    ) -> StoreResult<Answer<T>> {
        let client = &container.opened().await?.client;
        let limit = container.units.page(self.limit);
        let hint = NonZeroU32::new(u32::try_from(limit).unwrap_or(u32::MAX)).unwrap_or(NonZeroU32::MIN);
        let mut options = QueryOptions::default().with_max_item_count(MaxItemCountHint::Limit(hint));
        if let Some(from) = self.from {
            options = options.with_continuation_token(from);
        }
        let (admitted, request) = container.enter(container.units.admit_documents(limit)).await?;
        let failed = |error| {
            container.charge_failure(admitted, &error);
            store_error("a query", Effect::Reads, &error)
        };
        let asked = Box::pin(client.query_items::<T>(self.query, self.scope, Some(options))).await;
        let mut pages = asked.map_err(failed)?.into_pages();
        let page = pages.next().await;
        drop(request);
        let Some(page) = page else {
            container.units.refused(admitted);
            return Ok(Answer { items: Vec::new(), next: None });
        };
        let page = page.map_err(failed)?;
        let units = container.charge(admitted, page.headers());
        let next =
            pages.to_continuation_token().map_err(|error| store_error("a query", Effect::Reads, &error))?;
        let items = page.into_items();
        container.units.learn(items.len(), units);
        Ok(Answer { items, next: Some(next) })
    }
}

/// Asks for every page, pausing where one is turned down; `take` gets the answers and says whether to go on.
pub(super) async fn each_page<T: DeserializeOwned + Send + 'static>(
    container: &Container,
    question: impl Fn(Option<ContinuationToken>) -> Question,
    mut take: impl FnMut(Vec<T>) -> bool,
) -> StoreResult<()> {
    let (mut from, mut patience) = (None, Patience::new(&container.waits));
    loop {
        match question(from.clone()).ask(container).await {
            Ok(Answer { items, next }) => {
                patience.progress();
                if !take(items) || next.is_none() {
                    return Ok(());
                }
                from = next;
            }
            Err(error) => patience.pause(error).await?,
        }
    }
}

/// Asks for a page of whole items on a task of its own, so that the pages of several parts are taken apart on all
/// cores.
pub(super) async fn ask_for_items(
    container: &Arc<Container>,
    question: Question,
) -> StoreResult<(Lines, Option<ContinuationToken>)> {
    let container = container.clone();
    let asking = async move {
        let answer = question.ask::<Text>(&container).await?;
        let mut lines = Lines::new();
        for item in &answer.items {
            lines.push_with(|out| write_line(item, out));
        }
        Ok::<_, StoreError>((lines, answer.next))
    };
    side_by_side([asking]).await.pop().unwrap_or_else(|| Err(foreign()))
}

/// Appends an item as one line: as it was sent, without the line breaks that may stand between its values.
pub(super) fn write_line(item: &RawValue, out: &mut Vec<u8>) {
    let text = item.get().as_bytes();
    let mut from = 0;
    for at in memchr::memchr2_iter(b'\n', b'\r', text) {
        out.extend_from_slice(text.get(from..at).unwrap_or_default());
        from = at + 1;
    }
    out.extend_from_slice(text.get(from..).unwrap_or_default());
}

/// A token as a position that outlives the process.
pub(super) fn write_position(next: &ContinuationToken) -> Position {
    Position(json!({ "continuation": next.as_str() }))
}

/// The token of a position.
///
/// Errors: [`StoreErrorKind::Permanent`](crate::stores::StoreErrorKind::Permanent) if it is none of this store's.
pub(super) fn read_position(position: &Position) -> StoreResult<ContinuationToken> {
    let token = position.0.get("continuation").and_then(serde_json::Value::as_str).ok_or_else(foreign)?;
    Ok(ContinuationToken::from_string(token.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_one_line_whatever_stands_between_its_values() {
        let item: Text = serde_json::from_str("{\"n\":1.50,\r\n \"s\":\"a\\nb\",\n\"e\":1e3}").unwrap();
        let mut line = Vec::new();
        write_line(&item, &mut line);
        assert_eq!(line, br#"{"n":1.50, "s":"a\nb","e":1e3}"#);
    }

    #[test]
    fn a_position_outlives_the_process() {
        let position = write_position(&ContinuationToken::from_string("c1.x".to_owned()));
        let text = serde_json::to_string(&position).unwrap();
        assert_eq!(read_position(&serde_json::from_str(&text).unwrap()).unwrap().as_str(), "c1.x");
        assert!(read_position(&Position("x".into())).is_err());
    }
}
