//! The framework's questions, answered by key, by an index, or by looking at every document.

use std::sync::{Mutex, PoisonError};

use super::automatic::AutomaticIndex;
use super::catalog::Entry;
use super::fields::{read_stored, text, write_ordered};
use super::order;
use super::view::View;
use crate::document::json::Tape;
use crate::document::{Lines, StoreKind, find_field};
use crate::stores::{FrameworkQuery, Index, LegacyProbe, StoreResult};

/// Asks every document; the first [`LegacyProbe::ANSWERS`] different offending values.
pub(super) fn probe(view: &View, kind: StoreKind, probe: &LegacyProbe) -> StoreResult<Vec<String>> {
    let (mut tape, mut found) = (Tape::new(), Vec::new());
    view.each(|_, line| {
        read_stored(&mut tape, line)?;
        let value = text(kind, &tape, line, &probe.field).filter(|value| probe.offends(value));
        if let Some(value) = value.filter(|value| !found.iter().any(|known| known == value)) {
            found.push(value.into_owned());
        }
        Ok(found.len() < LegacyProbe::ANSWERS)
    })?;
    Ok(found)
}

/// Reads the documents that match a query, ordered as it says.
pub(super) fn query(
    view: &View,
    kind: StoreKind,
    query: &FrameworkQuery,
    automatic: &Mutex<Option<AutomaticIndex>>,
) -> StoreResult<Lines> {
    let mut tape = Tape::new();
    let mut found: Vec<(Vec<u8>, Box<[u8]>)> = Vec::new();
    for line in candidates(view, kind, query, automatic)? {
        read_stored(&mut tape, &line)?;
        let equal =
            |(name, value): &(String, String)| text(kind, &tape, &line, name).is_some_and(|it| it == *value);
        if !query.equals.iter().all(equal) {
            continue;
        }
        let mut order = Vec::new();
        if let Some(name) = &query.order_by {
            let value = find_field(kind, &tape, &line, name).ok().flatten();
            // These two leave out a document without the field they order by.
            if value.is_none() && matches!(kind, StoreKind::Firestore | StoreKind::CosmosDb) {
                continue;
            }
            order::write_value(kind, &tape, &line, value, &mut order);
        }
        found.push((order, line));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    let mut lines = Lines::new();
    for (_, line) in &found {
        lines.push(line);
    }
    Ok(lines)
}

/// The documents that may match: those under the leading key fields, else under the leading fields of the
/// index that narrows most, else under an index made for the purpose.
fn candidates(
    view: &View,
    kind: StoreKind,
    query: &FrameworkQuery,
    automatic: &Mutex<Option<AutomaticIndex>>,
) -> StoreResult<Vec<Box<[u8]>>> {
    let (Some(entry), Some(documents)) = (view.entry(), view.documents()?) else { return Ok(Vec::new()) };
    let (fields, prefix) = leading(entry.store_key_fields(kind), query);
    if fields > 0 {
        return view.beginning_with(&documents, &prefix);
    }
    let indexes = entry.indexes().iter().enumerate();
    let narrowing = indexes.map(|(at, index)| (at, leading(index_fields(kind, entry, index), query)));
    let narrowest = narrowing.max_by_key(|(_, (fields, _))| *fields);
    let keys = if let Some((at, (1.., prefix))) = narrowest {
        view.index(at)?.map(|index| view.beginning_with(&index, &prefix)).transpose()?.unwrap_or_default()
    } else {
        let mut automatic = automatic.lock().unwrap_or_else(PoisonError::into_inner);
        let names: Vec<&str> = query.equals.iter().map(|(name, _)| name.as_str()).collect();
        let (_, prefix) = leading(names.iter().copied(), query);
        let writes = view.writes()?;
        let index = match automatic.take() {
            Some(index) if index.is_for(writes, &names) => index,
            _ => AutomaticIndex::build(view, kind, writes, &names)?,
        };
        automatic.insert(index).keys(view, &prefix)?
    };
    keys.iter().filter_map(|key| view.get(key).transpose()).collect()
}

/// The fields of an index in the order of its rows. A unique key of Cosmos DB holds within one logical
/// partition, so the partition key comes first.
pub(super) fn index_fields<'e>(kind: StoreKind, entry: &'e Entry, index: &'e Index) -> Vec<&'e str> {
    let partition = entry.key_fields().iter().filter(|_| kind == StoreKind::CosmosDb && index.unique);
    partition.map(|field| field.name.as_str()).chain(index.fields.iter().map(String::as_str)).collect()
}

/// How many of the names, from the first on, the query gives a value for, and those values in ordered form.
fn leading<'n>(names: impl IntoIterator<Item = &'n str>, query: &FrameworkQuery) -> (usize, Vec<u8>) {
    let (mut fields, mut prefix) = (0, Vec::new());
    for name in names {
        let Some((_, value)) = query.equals.iter().find(|(known, _)| known == name) else { break };
        order::write_text(value, &mut prefix);
        fields += 1;
    }
    (fields, prefix)
}

/// Appends the indexed values of a document.
pub(super) fn write_indexed(
    kind: StoreKind,
    entry: &Entry,
    index: &Index,
    tape: &Tape,
    line: &[u8],
    out: &mut Vec<u8>,
) {
    write_ordered(kind, tape, line, index_fields(kind, entry, index), out);
}
