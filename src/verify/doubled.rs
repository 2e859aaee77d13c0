use super::Record;
use crate::Result;
use crate::sort::Sorter;

/// Finds events and sagas that stand under more than one rekeyed key; hands over each with another of its keys.
///
/// Rows are what the join hands on: what identifies the document whatever its key, and its record. Documents
/// that share their event id within one archive had it before the rewrite and are not doubled by it.
pub fn find_doubled(events: Sorter, doubled: &mut dyn FnMut(&Record<'_>, &str) -> Result<()>) -> Result<u64> {
    let mut rows = events.finish()?;
    let mut event: Vec<u8> = Vec::new();
    let mut first: Option<Record<'static>> = None;
    let mut count = 0;
    while let Some((key, row)) = rows.next()? {
        let record = Record::read(row)?;
        match &first {
            Some(first) if event == key => {
                let one_archive = record.archive != 0 && record.archive == first.archive;
                if !one_archive {
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
