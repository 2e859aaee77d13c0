//! The counter of a global sequence, which stands in a collection of its own beside the documents.
//!
//! It must never be below the highest number that a stored document holds, or numbers would be given twice.

use crate::archive::CounterAccount;
use crate::document::json::Tape;
use crate::document::text::write_quoted;
use crate::document::{StoreKey, double, integer_field};
use crate::layout::{CounterRule, Layout};
use crate::report::{Finding, FindingCode};
use crate::signal::StopSignal;
use crate::stores::connect::{self, StoreOptions};
use crate::stores::{CollectionReader, StoreErrorKind};
use crate::{Error, Result};

/// Reads the counter beside a collection; `None` where the layout has none or the store holds none.
pub(super) async fn read(
    store: &StoreOptions,
    layout: &Layout,
    stop: &StopSignal,
) -> Result<Option<CounterAccount>> {
    let Some(rule) = &layout.counter else { return Ok(None) };
    let reader = connect::open_reader(&beside(store, rule), stop).await?;
    read_from(&*reader, rule).await
}

/// The finding of a store whose counter is below the highest number its documents hold.
pub(super) async fn check(
    store: &StoreOptions,
    layout: &Layout,
    highest: Option<i64>,
    stop: &StopSignal,
) -> Result<Option<Finding>> {
    let (Some(rule), Some(highest)) = (&layout.counter, highest) else { return Ok(None) };
    let counter = read(store, layout, stop).await?;
    Ok(finding(rule, counter.as_ref(), highest))
}

pub(super) fn finding(rule: &CounterRule, counter: Option<&CounterAccount>, least: i64) -> Option<Finding> {
    let holds = match counter {
        Some(counter) if counter.value >= least => return None,
        Some(counter) => format!("holds {}", counter.value),
        None => "does not exist".to_owned(),
    };
    let message = format!(
        "The counter {} in {} {holds}, and {} is given up to {least}: numbers would be given twice. Raise it before anybody writes.",
        rule.value, rule.collection, rule.counts
    );
    Some(Finding { key: Some(rule.id.clone()), ..Finding::new(FindingCode::CounterLow, message) })
}

pub(super) async fn read_from(
    reader: &dyn CollectionReader,
    rule: &CounterRule,
) -> Result<Option<CounterAccount>> {
    let description = match reader.describe().await {
        Err(error) if error.kind == StoreErrorKind::NotFound => return Ok(None),
        description => description?,
    };
    let stored = reader.read(&[key(rule)]).await?.into_iter().next().flatten();
    let Some(line) = stored else { return Ok(None) };
    let mut tape = Tape::new();
    tape.read(&line).map_err(|error| Error::store(format!("The counter is no JSON: {error}")))?;
    let value =
        integer_field(reader.kind(), &tape, &line, &rule.value).or_else(|| whole_double(&line, &rule.value));
    let value = value.ok_or_else(|| {
        Error::usage(format!(
            "The counter {:?} in {} is no integer; nothing was done",
            rule.value,
            reader.location()
        ))
        .hint(format!("Set it to at least the highest {} of the documents, as an int64.", rule.counts))
    })?;
    Ok(Some(CounterAccount { collection: rule.collection.clone(), identity: description.identity, value }))
}

/// A counter that a shell has set is a double.
fn whole_double(line: &[u8], field: &str) -> Option<i64> {
    let document: serde_json::Value = serde_json::from_slice(line).ok()?;
    double::whole(double::parse(document.get(field)?.get("$numberDouble")?.as_str()?)?)
}

/// The counter's collection in the database of another one.
pub(super) fn beside(store: &StoreOptions, rule: &CounterRule) -> StoreOptions {
    StoreOptions { collection: rule.collection.clone(), ..store.clone() }
}

pub(super) fn key(rule: &CounterRule) -> StoreKey {
    let mut quoted = Vec::new();
    write_quoted(&rule.id, &mut quoted);
    // A quoted text is UTF-8.
    StoreKey(format!("[{}]", String::from_utf8_lossy(&quoted)).into())
}
