//! The framework's own questions.

use std::fmt::Write as _;
use std::sync::Arc;

use azure_data_cosmos::feed::ContinuationToken;
use azure_data_cosmos::models::PartitionKeyValue;
use azure_data_cosmos::{FeedScope, PartitionKey, Query};
use serde_json::{Value, json};

use super::ask::{Question, ask_for_items, each_page, read_position};
use super::container::Container;
use super::error::{broken, foreign};
use crate::stores::{FrameworkQuery, LegacyProbe, Page, Position, StoreResult};

/// How many documents of a stream the first page has; nearly every stream is over then.
const FIRST_PAGE: usize = 20;
/// About how many bytes a further page has.
const PAGE_BYTES: usize = 3 * 1024 * 1024;
/// How many documents a page has at most.
const LONGEST_PAGE: usize = 1_000;
/// How many offending values a page has.
const OFFENDING: usize = 100;

/// Asks every item whether it has a legacy key, and follows the pages to the end; the first
/// [`LegacyProbe::ANSWERS`] different ones.
pub(super) async fn probe(container: &Container, probe: &LegacyProbe) -> StoreResult<Vec<String>> {
    let query = probe_query(probe)?;
    let question = |from: Option<ContinuationToken>| Question {
        query: query.clone(),
        scope: FeedScope::full_container(),
        limit: OFFENDING,
        from,
    };
    let mut found: Vec<String> = Vec::new();
    let all = each_page(container, question, |values: Vec<Value>| {
        for value in values {
            if let Value::String(value) = value
                && probe.offends(&value)
                && !found.contains(&value)
            {
                found.push(value);
            }
        }
        found.len() < LegacyProbe::ANSWERS
    });
    all.await?;
    found.sort_unstable();
    found.truncate(LegacyProbe::ANSWERS);
    Ok(found)
}

/// The framework's predicate: outside the range of texts that begin with the prefix.
fn probe_query(probe: &LegacyProbe) -> StoreResult<Query> {
    let field = property(&probe.field);
    let mut text = format!("SELECT VALUE {field} FROM c WHERE ({field} < @from OR {field} >= @to)");
    if !probe.within.is_empty() {
        let _infallible = write!(text, " AND STARTSWITH({field}, @within)");
    }
    let parameters = [
        ("@from", probe.rekeyed_prefix.clone()),
        ("@to", probe.behind_rekeyed()),
        ("@within", probe.within.clone()),
    ];
    let named = parameters.into_iter().filter(|(name, _)| text.contains(name)).collect::<Vec<_>>();
    with_parameters(text.into(), named)
}

/// Reads one page of a stream or saga the way the framework does: in one logical partition where the query names
/// its whole key.
pub(super) async fn query(
    container: &Arc<Container>,
    query: &FrameworkQuery,
    from: Option<&Position>,
) -> StoreResult<Page> {
    let paths = &container.opened().await?.paths;
    let limit = from.map_or(Ok(FIRST_PAGE), read_limit)?;
    let question = Question {
        query: framework_query(query)?,
        scope: scope(paths, query)?,
        limit,
        from: from.map(read_position).transpose()?,
    };
    let (lines, next) = ask_for_items(container, question).await?;
    let bytes = lines.bytes().div_ceil(lines.len().max(1)).max(1);
    let limit = (PAGE_BYTES / bytes).clamp(1, LONGEST_PAGE);
    let next = next.map(|next| Position(json!({ "continuation": next.as_str(), "limit": limit })));
    Ok(Page { lines, next })
}

fn read_limit(position: &Position) -> StoreResult<usize> {
    let limit = position.0.get("limit").and_then(Value::as_u64).and_then(|limit| usize::try_from(limit).ok());
    limit.ok_or_else(foreign)
}

fn framework_query(query: &FrameworkQuery) -> StoreResult<Query> {
    let mut text = "SELECT * FROM c".to_owned();
    for (at, (name, _)) in query.equals.iter().enumerate() {
        text.push_str(if at == 0 { " WHERE " } else { " AND " });
        let _infallible = write!(text, "{} = @p{at}", property(name));
    }
    if let Some(order) = &query.order_by {
        let _infallible = write!(text, " ORDER BY {}", property(order));
    }
    let values = query.equals.iter().enumerate().map(|(at, (_, value))| (format!("@p{at}"), value.clone()));
    with_parameters(text.into(), values)
}

/// The logical partition whose key the query names, else the whole container.
fn scope(paths: &[String], query: &FrameworkQuery) -> StoreResult<FeedScope> {
    let value = |path: &String| query.equals.iter().find(|(name, _)| name == path).map(|(_, value)| value);
    let values: Option<Vec<PartitionKeyValue>> =
        paths.iter().map(|path| value(path).map(|value| value.clone().into())).collect();
    let Some(values) = values else { return Ok(FeedScope::full_container()) };
    let key = PartitionKey::try_from(values).map_err(|_| broken("a partition key"))?;
    Ok(FeedScope::partition(key))
}

fn with_parameters<N: Into<String>>(
    query: Query,
    parameters: impl IntoIterator<Item = (N, String)>,
) -> StoreResult<Query> {
    parameters.into_iter().try_fold(query, |query, (name, value)| {
        query.with_parameter(name, value).map_err(|_| broken("a parameter"))
    })
}

/// A field in a query; a path (`address/city`) leads into objects. In brackets a name may be a word of the language;
/// between double quotes the SDK's own parser would not take it for a text.
fn property(name: &str) -> String {
    let escaped = name.split('/').map(|segment| segment.replace('\\', "\\\\").replace('\'', "\\'"));
    escaped.fold("c".to_owned(), |property, segment| format!("{property}['{segment}']"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(query: &Query) -> String {
        serde_json::to_value(query).unwrap().to_string()
    }

    #[test]
    fn the_framework_s_predicates_are_asked() {
        let query = FrameworkQuery {
            equals: vec![("streamId".into(), "t:a\"".into())],
            order_by: Some("version".into()),
        };
        assert_eq!(
            text(&framework_query(&query).unwrap()),
            r#"{"parameters":[{"name":"@p0","value":"t:a\""}],"query":"SELECT * FROM c WHERE c['streamId'] = @p0 ORDER BY c['version']"}"#
        );
        let probe = LegacyProbe { field: "id".into(), within: String::new(), rekeyed_prefix: "t:".into() };
        assert_eq!(
            text(&probe_query(&probe).unwrap()),
            r#"{"parameters":[{"name":"@from","value":"t:"},{"name":"@to","value":"t;"}],"query":"SELECT VALUE c['id'] FROM c WHERE (c['id'] < @from OR c['id'] >= @to)"}"#
        );
        assert_eq!(property("a\\'b/value"), r"c['a\\\'b']['value']");
    }

    #[test]
    fn a_query_that_names_the_whole_partition_key_stays_in_its_partition() {
        let paths = ["customerId".to_owned(), "slug".to_owned()];
        let query = |names: &[&str]| FrameworkQuery {
            equals: names.iter().map(|name| ((*name).to_owned(), "x".to_owned())).collect(),
            order_by: None,
        };
        let partition = |names| matches!(scope(&paths, &query(names)).unwrap(), FeedScope::Partition(_));
        assert!(partition(&["slug", "customerId", "id"]));
        assert!(!partition(&["customerId", "id"]) && !partition(&[]));
    }
}
