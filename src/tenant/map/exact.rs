//! The rows that match one key: possibly millions, so they are sorted, on disk when they are many.

use super::rows::Row;
use crate::{
    Error, Result,
    sort::{SortedTable, Sorter},
};

/// Writes a row as the payload under its key: line, length of the type, type (empty for any), tenant.
pub(super) fn push(sorter: &mut Sorter, row: &Row<'_>, payload: &mut Vec<u8>) -> Result<()> {
    let type_name = row.type_name.unwrap_or_default();
    payload.clear();
    payload.extend_from_slice(&row.line.to_le_bytes());
    payload.extend_from_slice(&(type_name.len() as u64).to_le_bytes());
    payload.extend_from_slice(type_name.as_bytes());
    payload.extend_from_slice(row.tenant.as_bytes());
    sorter.push(row.key.as_bytes(), payload)
}

/// Gives line and tenant of every row with `key` that is for the type to `add`; tells whether there was any.
pub(super) fn find(
    table: &mut SortedTable,
    type_name: &str,
    key: &str,
    mut add: impl FnMut(u64, &str),
) -> Result<bool> {
    let mut rows = table.get(key.as_bytes())?;
    let mut found = false;
    while let Some(payload) = rows.next()? {
        let (line, only, tenant) =
            read(payload).ok_or_else(|| Error::bug("A sorted row of the tenant map is damaged"))?;
        if only.is_empty() || only == type_name {
            add(line, tenant);
            found = true;
        }
    }
    Ok(found)
}

fn read(payload: &[u8]) -> Option<(u64, &str, &str)> {
    let (line, rest) = payload.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let (only, tenant) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    Some((u64::from_le_bytes(*line), std::str::from_utf8(only).ok()?, std::str::from_utf8(tenant).ok()?))
}
