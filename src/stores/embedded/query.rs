//! The framework's questions, answered by key, by an index, or by looking at every document.
//!
//! A stream may be larger than the memory, so nothing is sorted here: the rows of the table that is read
//! come in the order that is asked for.

use std::sync::{Mutex, PoisonError};

use super::automatic::AutomaticIndex;
use super::catalog::Entry;
use super::fields::{read_stored, text, write_ordered};
use super::order;
use super::scan::behind;
use super::view::{PAGE_BYTES, Table, View};
use crate::document::json::Tape;
use crate::document::{Lines, StoreKind, find_field};
use crate::stores::{FrameworkQuery, Index, LegacyProbe, Page, StoreResult};

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

/// Reads a page of the documents that match a query, in the order it asks for, from behind the row `after`.
pub(super) fn query(
    view: &View,
    kind: StoreKind,
    query: &FrameworkQuery,
    after: Option<Vec<u8>>,
    automatic: &Mutex<Option<AutomaticIndex>>,
) -> StoreResult<Page> {
    let Some(entry) = view.entry() else { return Ok(Page::default()) };
    let mut page = PageOfQuery { view, kind, query, lines: Lines::new(), tape: Tape::new(), last: after };
    let next = if let Some(prefix) = in_order(entry.store_key_fields(kind), query) {
        page.fill(view.documents()?, &prefix, |page, _, line| page.take(line))?
    } else if let Some((at, prefix)) = fitting_index(kind, entry, query) {
        page.fill(view.index(at)?, &prefix, PageOfQuery::take_key)?
    } else {
        let mut automatic = automatic.lock().unwrap_or_else(PoisonError::into_inner);
        let equal = query.equals.iter().map(|(name, _)| name.as_str());
        let names: Vec<&str> = equal.chain(query.order_by.as_deref()).collect();
        let (_, prefix) = leading(names.iter().copied(), query);
        let writes = view.writes()?;
        let index = match automatic.take() {
            Some(index) if index.is_for(writes, &names) => index,
            _ => AutomaticIndex::build(view, kind, writes, &names)?,
        };
        page.fill(Some(automatic.insert(index).table()?), &prefix, PageOfQuery::take_key)?
    };
    Ok(Page { lines: page.lines, next: next.as_deref().map(behind).transpose()? })
}

/// A page while it grows.
struct PageOfQuery<'a> {
    view: &'a View,
    kind: StoreKind,
    query: &'a FrameworkQuery,
    lines: Lines,
    tape: Tape,
    /// The row looked at last.
    last: Option<Vec<u8>>,
}

impl PageOfQuery<'_> {
    /// Looks at rows that begin with `prefix` until the page is full; then the row looked at last.
    fn fill(
        &mut self,
        table: Option<Table>,
        prefix: &[u8],
        mut take: impl FnMut(&mut Self, &[u8], &[u8]) -> StoreResult<()>,
    ) -> StoreResult<Option<Vec<u8>>> {
        let (Some(table), after) = (table, self.last.take()) else { return Ok(None) };
        self.view.each_beginning_with(&table, prefix, after.as_deref(), |row, value| {
            take(self, row, value)?;
            let is_full = self.lines.bytes() >= PAGE_BYTES;
            self.last = is_full.then(|| row.to_vec());
            Ok(!is_full)
        })?;
        Ok(self.last.take())
    }

    /// Takes the document that a row of an index names.
    fn take_key(&mut self, _row: &[u8], key: &[u8]) -> StoreResult<()> {
        match self.view.get(key)? {
            Some(line) => self.take(&line),
            None => Ok(()),
        }
    }

    /// Takes a document if it matches.
    fn take(&mut self, line: &[u8]) -> StoreResult<()> {
        let Self { kind, query, tape, .. } = self;
        read_stored(tape, line)?;
        let equal =
            |(name, value): &(String, String)| text(*kind, tape, line, name).is_some_and(|it| it == *value);
        // These two leave out a document without the field they order by.
        let left_out = matches!(kind, StoreKind::Firestore | StoreKind::CosmosDb)
            && query.order_by.iter().any(|name| !matches!(find_field(*kind, tape, line, name), Ok(Some(_))));
        if query.equals.iter().all(equal) && !left_out {
            self.lines.push(line);
        }
        Ok(())
    }
}

/// The index that narrows most among those whose rows come in the query's order.
fn fitting_index(kind: StoreKind, entry: &Entry, query: &FrameworkQuery) -> Option<(usize, Vec<u8>)> {
    let indexes = entry.indexes().iter().enumerate();
    let fitting =
        indexes.filter_map(|(at, index)| Some((at, in_order(index_fields(kind, entry, index), query)?)));
    fitting.max_by_key(|(_, prefix)| prefix.len())
}

/// What the rows of a table on these fields begin with that may match, if they narrow the search and come in
/// the query's order.
fn in_order<'n>(names: impl IntoIterator<Item = &'n str>, query: &FrameworkQuery) -> Option<Vec<u8>> {
    let names: Vec<&str> = names.into_iter().collect();
    let (fields, prefix) = leading(names.iter().copied(), query);
    let ordered = query.order_by.is_none() || names.get(fields).copied() == query.order_by.as_deref();
    (fields > 0 && ordered).then_some(prefix)
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
