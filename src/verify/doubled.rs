use super::Record;
use crate::Result;
use crate::layout::DocumentKind;
use crate::sort::Sorter;

/// Finds documents that stand under more than one rekeyed key; hands over each with another of its keys.
///
/// Rows are what the join hands on: what identifies the document whatever its key, and its record.
pub fn find_doubled(
    events: Sorter,
    kind: DocumentKind,
    doubled: &mut dyn FnMut(&Record<'_>, &str) -> Result<()>,
) -> Result<u64> {
    let mut rows = events.finish()?;
    let mut event: Vec<u8> = Vec::new();
    let mut first: Option<Record<'static>> = None;
    let mut count = 0;
    while let Some((key, row)) = rows.next()? {
        let record = Record::read(row)?;
        match &first {
            Some(first) if event == key => {
                if is_doubled(kind, first.archive, record.archive) {
                    count += 1;
                    doubled(&record, &first.shown)?;
                }
            }
            _ => {
                event.clear();
                event.extend_from_slice(key);
                first = Some(record.into_owned());
            }
        }
    }
    Ok(count)
}

/// Whether the rewrite doubled what stands under two keys, which archives of these numbers expect (0: none does).
///
/// Documents that share their event id within one archive had it before the rewrite. Items are known by nothing but
/// their keys, which two tenants may share: only one that no archive expects can be another one's double.
fn is_doubled(kind: DocumentKind, one: u32, two: u32) -> bool {
    match kind {
        DocumentKind::Events | DocumentKind::Sagas => one == 0 || one != two,
        DocumentKind::Items => (one == 0) != (two == 0),
    }
}
