//! A scan by the index of `_id`: parts, pages and positions.

use serde_json::{Value, json};

use super::command::{Body, first, id_of, identity};
use super::failure::broken;
use super::{MongoDbCollection, PAGE_BYTES};
use crate::document::bson::{Element, ElementType, Parser, write_line};
use crate::stores::{Page, Position, ScanPart, Snapshot, StoreResult};

/// How many `_id`s are sampled for each part.
const SAMPLES: usize = 20;
/// The most `_id`s that are sampled.
const MOST_SAMPLES: usize = 1000;

impl MongoDbCollection {
    /// Cuts the index of `_id` at sampled values. Their order is the server's, which knows every type.
    pub(super) async fn cut(&self, wanted: usize) -> StoreResult<Vec<ScanPart>> {
        let samples = if wanted > 1 {
            self.sample(wanted.saturating_mul(SAMPLES).min(MOST_SAMPLES)).await?
        } else {
            Vec::new()
        };
        if samples.is_empty() {
            let _ = self.specification().await?;
        }
        let parts = wanted.min(samples.len()).max(1);
        let mut cuts: Vec<&Value> =
            (1..parts).filter_map(|part| samples.get(part * samples.len() / parts)).collect();
        cuts.dedup();
        let mut bounds = vec![&Value::Null];
        bounds.extend(cuts);
        let ends = bounds.iter().copied().skip(1).chain([&Value::Null]);
        let part = |(number, (from, to)): (usize, (&Value, &Value))| ScanPart {
            number: u32::try_from(number).unwrap_or(u32::MAX),
            range: json!({ "from": from, "to": to }),
        };
        Ok(bounds.iter().copied().zip(ends).enumerate().map(part).collect())
    }

    async fn sample(&self, size: usize) -> StoreResult<Vec<Value>> {
        let mut body = Body::command("aggregate", &self.name);
        body.array("pipeline", |stages| {
            stages.within("0", |stage| stage.within("$sample", |sample| sample.count("size", size)));
            stages.within("1", |stage| stage.within("$project", |fields| fields.int32("_id", 1)));
            stages.within("2", |stage| stage.within("$sort", |keys| keys.int32("_id", 1)));
        });
        body.within("cursor", |cursor| cursor.count("batchSize", size));
        let mut samples = Vec::with_capacity(size);
        let all = self.each(body, |document| {
            samples.push(bound(&id_of(document)?));
            Ok(true)
        });
        let _ = all.await?;
        Ok(samples)
    }

    pub(super) async fn read_page(
        &self,
        part: &ScanPart,
        from: Option<&Position>,
        limit: usize,
        snapshot: Option<&Snapshot>,
    ) -> StoreResult<Page> {
        let after = from.and_then(|Position(position)| position.get("after")).map(read_bound).transpose()?;
        let lower = match &after {
            Some(after) => Some(after.clone()),
            None => part.range.get("from").filter(|from| !from.is_null()).map(read_bound).transpose()?,
        };
        let upper = part.range.get("to").filter(|to| !to.is_null()).map(read_bound).transpose()?;
        let after = after.as_deref().map(first).transpose()?.map(|id| identity(&id));
        // The one at the position comes again.
        let asked = limit + usize::from(after.is_some());
        let mut page = Page::default();
        let (mut seen, mut last) = (0, None);
        let body = self.range(lower.as_deref(), upper.as_deref(), asked, snapshot)?;
        let ended = self.each_anywhere(body, |document| {
            let id = id_of(document)?;
            seen += 1;
            if after.as_ref().is_some_and(|after| *after == identity(&id)) {
                return Ok(true);
            }
            if page.lines.len() == limit || page.lines.bytes() >= PAGE_BYTES {
                return Ok(false);
            }
            last = Some(bound(&id));
            page.lines.push_with(|out| write_line(document, out));
            Ok(true)
        });
        let ended = ended.await? && seen < asked;
        match last {
            Some(last) if !ended => page.next = Some(Position(json!({ "after": last }))),
            _ if lower.is_some() && upper.is_none() => self.read_greatest(&mut page, snapshot).await?,
            _ => {}
        }
        Ok(page)
    }

    /// The find of a page; without bounds the whole index, else from the lower bound up to before the upper.
    fn range(
        &self,
        lower: Option<&[u8]>,
        upper: Option<&[u8]>,
        limit: usize,
        snapshot: Option<&Snapshot>,
    ) -> StoreResult<Body> {
        let mut body = Body::command("find", &self.name);
        body.within("filter", |_| {});
        body.within("hint", |keys| keys.int32("_id", 1));
        body.within("sort", |keys| keys.int32("_id", 1));
        if let Some(lower) = lower {
            body.document("min", lower);
        }
        if let Some(upper) = upper {
            body.document("max", upper);
        }
        body.count("limit", limit);
        body.count("batchSize", limit);
        body.at(snapshot)?;
        Ok(body)
    }

    /// Adds the document whose `_id` is the greatest value of all, which no range without an end includes.
    async fn read_greatest(&self, page: &mut Page, snapshot: Option<&Snapshot>) -> StoreResult<()> {
        let greatest = Element { kind: ElementType::MaxKey, name: b"_id", value: b"", whole: b"" };
        let mut body = Body::command("find", &self.name);
        body.within("filter", |filter| filter.within("_id", |id| id.value("$eq", &greatest)));
        body.int32("limit", 1);
        body.at(snapshot)?;
        let found = self.each_anywhere(body, |document| {
            page.lines.push_with(|out| write_line(document, out));
            Ok(true)
        });
        let _ = found.await?;
        Ok(())
    }
}

/// A value of `_id` as it stands in a part or a position: the line of `{"_id": …}`.
fn bound(id: &Element<'_>) -> Value {
    let mut body = Body::new();
    body.value("_id", id);
    let mut line = Vec::new();
    write_line(&body.finish(), &mut line);
    // A line is UTF-8.
    Value::String(String::from_utf8_lossy(&line).into_owned())
}

fn read_bound(bound: &Value) -> StoreResult<Vec<u8>> {
    let mut document = Vec::new();
    let line = bound.as_str().ok_or_else(|| broken("a position of another store"))?;
    Parser::default()
        .document(line.as_bytes(), &mut document)
        .map_err(|_| broken("a position of another store"))?;
    Ok(document)
}
