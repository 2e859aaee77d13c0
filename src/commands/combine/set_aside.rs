//! Merges the lists of what was set aside.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;

use super::Part;
use crate::archive::{ArchiveWriter, Chunk, Companions, LineReader, WrittenArchive};
use crate::commands::legacy_blocks::SORT_BUDGET;
use crate::sort::Sorter;
use crate::{Error, Result};

/// The member of an entry that tells its place.
#[derive(Deserialize)]
struct Entry {
    line: u64,
}

/// Writes the entries of all lists, in the order of the lines that they are about; `None` if there is none.
///
/// A line of which nobody could tell the stream is in the list of every part that was made from one archive; it is
/// written once.
pub(super) fn merge(parts: &[Part], folder: &Path, out: &Path) -> Result<Option<WrittenArchive>> {
    let inputs: BTreeSet<_> = parts
        .iter()
        .filter_map(|part| part.manifest.rekey.as_ref())
        .map(|rekey| &rekey.input_sha256)
        .collect();
    let one_input = inputs.len() <= 1;
    let mut entries = Sorter::new(folder, SORT_BUDGET);
    for (index, part) in parts.iter().enumerate() {
        let set_aside = part.manifest.rekey.as_ref().map_or(0, |rekey| rekey.set_aside);
        if set_aside > 0 {
            // Of several inputs the numbers of lines say nothing together.
            read(part, set_aside, if one_input { 0 } else { index as u64 }, &mut entries)?;
        }
    }
    if entries.rows() == 0 {
        return Ok(None);
    }
    let mut list = ArchiveWriter::create(&Companions::of(out).refused)?;
    let mut entries = entries.finish()?;
    let mut written: Vec<u8> = Vec::new();
    while let Some((_, entry)) = entries.next()? {
        if entry != written {
            list.write_line(entry)?;
            written.clear();
            written.extend_from_slice(entry);
        }
    }
    list.finish().map(Some)
}

fn read(part: &Part, set_aside: u64, input: u64, entries: &mut Sorter) -> Result<()> {
    let path = part.companions().refused;
    let incomplete = |what: String| {
        Error::file(format!("{what}; nothing was written"))
            .hint("Put the list that rekey wrote beside the manifest of its archive.")
    };
    if !path.exists() {
        return Err(incomplete(format!("{path:?} is not there, and its archive's manifest says that it is")));
    }
    let mut reader = LineReader::open_file(&path, None);
    let mut chunk = Chunk::new();
    let mut found = 0;
    while reader.fill(&mut chunk)? {
        for line in chunk.lines() {
            let Entry { line: number } = serde_json::from_slice(line.bytes).map_err(|error| {
                incomplete(format!("Line {} of {path:?} is damaged: {error}", line.number))
            })?;
            let key = [input.to_be_bytes(), number.to_be_bytes()].concat();
            entries.push(&key, line.bytes)?;
            found += 1;
        }
    }
    if found == set_aside {
        return Ok(());
    }
    Err(incomplete(format!("{path:?} holds {found} documents, and its archive's manifest says {set_aside}")))
}
