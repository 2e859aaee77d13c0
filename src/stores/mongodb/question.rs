//! The framework's own questions.

use serde_json::{Value, json};

use super::command::Body;
use super::failure::broken;
use super::{MongoDbCollection, PAGE_BYTES};
use crate::document::bson::{Elements, write_line};
use crate::stores::{FrameworkQuery, LegacyProbe, Page, Position, StoreResult};

impl MongoDbCollection {
    /// Asks for strings on both sides of the rekeyed range. A comparison stays within one type, so that a
    /// document without the field, or with another type in it, never answers.
    pub(super) async fn ask_for_legacy(&self, probe: &LegacyProbe) -> StoreResult<Vec<String>> {
        let mut answers = Vec::new();
        let mut body = Body::command("find", &self.name);
        body.within("filter", |filter| {
            if !probe.within.is_empty() {
                filter.within(&probe.field, |it| it.text("$gte", &probe.within));
            }
            filter.array("$or", |sides| {
                let mut side = |name: &str, operator: &str, bound: &str| {
                    sides.within(name, |it| it.within(&probe.field, |it| it.text(operator, bound)));
                };
                side("0", "$lt", &probe.rekeyed_prefix);
                side("1", "$gte", &probe.behind_rekeyed());
            });
        });
        body.within("projection", |fields| {
            if probe.field != "_id" {
                fields.int32("_id", 0);
            }
            fields.int32(&probe.field, 1);
        });
        body.count("limit", LegacyProbe::ANSWERS);
        let asked = self.each(body, |document| {
            for element in Elements::of(document).map_err(|_| broken("a document"))? {
                let element = element.map_err(|_| broken("a document"))?;
                let text = element.text().filter(|text| probe.offends(text));
                answers.extend(text.map(str::to_owned));
            }
            Ok(true)
        });
        let _ = asked.await?;
        Ok(answers)
    }

    /// Reads one page of an answer. The server keeps nothing between pages, so that the documents before this
    /// page are skipped.
    pub(super) async fn ask(&self, query: &FrameworkQuery, from: Option<&Position>) -> StoreResult<Page> {
        let skip = match from {
            None => 0,
            Some(Position(from)) => {
                from.get("skip").and_then(Value::as_u64).ok_or_else(|| broken("a position"))?
            }
        };
        let mut page = Page::default();
        let mut body = Body::command("find", &self.name);
        body.within("filter", |filter| query.equals.iter().for_each(|(name, text)| filter.text(name, text)));
        if let Some(field) = &query.order_by {
            body.within("sort", |keys| keys.int32(field, 1));
        }
        body.int64("skip", i64::try_from(skip).unwrap_or(i64::MAX));
        let ended = self.each(body, |document| {
            if page.lines.bytes() >= PAGE_BYTES {
                return Ok(false);
            }
            page.lines.push_with(|out| write_line(document, out));
            Ok(true)
        });
        if !ended.await? {
            page.next = Some(Position(json!({ "skip": skip.saturating_add(page.lines.len() as u64) })));
        }
        Ok(page)
    }
}
