//! Merges the lines of the parts, each with its row of the key map.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;

use super::{NOTHING_WRITTEN, Part};
use crate::archive::{ArchiveWriter, Chunk, Companions, Expectation, LineReader, Manifest, WrittenArchive};
use crate::document::json::Tape;
use crate::layout::{Inspector, Layout};
use crate::rewrite::out_of_order;
use crate::signal::StopSignal;
use crate::ui::Ui;
use crate::{Error, Result};

/// What was written; no key map where the parts have none.
pub(super) struct Merged {
    pub archive: WrittenArchive,
    pub key_map: Option<WrittenArchive>,
}

/// Writes the lines of all parts in the order of an archive. Memory is a chunk or two for each part.
pub(super) fn merge(
    parts: &[Part],
    layout: &Layout,
    whole: &Manifest,
    out: &Path,
    ui: &Ui,
    stop: &StopSignal,
) -> Result<Merged> {
    let escaping = whole.rekey.as_ref().and_then(|rekey| rekey.escaping.escaping());
    let mut order = Order { tape: Tape::new(), inspector: Inspector::new(layout, escaping) };
    let mut archive = ArchiveWriter::create(out)?;
    let has_key_map =
        |part: &Part| part.manifest.rekey.as_ref().is_some_and(|it| it.key_map_sha256.is_some());
    let key_map_path = Companions::of(out).key_map;
    let mut key_map =
        parts.iter().all(has_key_map).then(|| ArchiveWriter::create(&key_map_path)).transpose()?;

    let task =
        ui.progress().start("combining", Some(parts.iter().map(|it| it.manifest.totals.documents).sum()));
    let mut sources: Vec<_> = parts.iter().map(|part| Source::open(part, key_map.is_some())).collect();
    let mut next = BinaryHeap::with_capacity(sources.len());
    for (index, source) in sources.iter_mut().enumerate() {
        if let Some(key) = source.key(&mut order, Vec::new())? {
            next.push(Reverse((key, index)));
        }
    }
    let mut written: u64 = 0;
    while let Some(Reverse((key, index))) = next.pop() {
        let Some(source) = sources.get_mut(index) else { continue };
        let bytes = source.write(&mut archive, key_map.as_mut())?;
        if let Some(key) = source.key(&mut order, key)? {
            next.push(Reverse((key, index)));
        }
        written += 1;
        if written.is_multiple_of(10_000) {
            stop.check(NOTHING_WRITTEN)?;
        }
        task.add(1, bytes as u64);
    }
    for source in sources {
        source.finish()?;
    }
    task.finish();
    Ok(Merged { archive: archive.finish()?, key_map: key_map.map(ArchiveWriter::finish).transpose()? })
}

/// Tells the order keys of lines.
struct Order {
    tape: Tape,
    inspector: Inspector,
}

impl Order {
    fn key(&mut self, line: &[u8], key: &mut Vec<u8>) -> Result<(), String> {
        key.clear();
        self.tape.read(line).map_err(|error| error.to_string())?;
        self.inspector.order_key(&self.tape, line, key).map(drop).map_err(|refusal| refusal.to_string())
    }
}

/// The lines of one part that are not written yet, with the rows of its key map.
struct Source {
    lines: Cursor,
    rows: Option<Cursor>,
    /// The order key of the line written last.
    last: Vec<u8>,
}

impl Source {
    fn open(part: &Part, with_key_map: bool) -> Self {
        let rows = with_key_map.then(|| {
            let sha256 = part.manifest.rekey.as_ref().and_then(|rekey| rekey.key_map_sha256.clone());
            let expectation = Expectation {
                source: format!("the manifest {:?}", part.manifest_path),
                documents: Some(part.manifest.totals.documents),
                bytes: None,
                sha256,
            };
            Cursor::new(LineReader::open_file(&part.companions().key_map, Some(expectation)))
        });
        Self { lines: Cursor::new(part.input.line_reader()), rows, last: Vec::new() }
    }

    /// The order key of the next line, in the buffer given; `None` at the end.
    fn key(&mut self, order: &mut Order, mut key: Vec<u8>) -> Result<Option<Vec<u8>>> {
        std::mem::swap(&mut self.last, &mut key);
        if !self.lines.has_next()? {
            return Ok(None);
        }
        let (line, number) = self.lines.line();
        let file = self.lines.chunk.file();
        order.key(line, &mut key).map_err(|why| {
            Error::file(format!("Line {number} of {file:?} is no document of its layout: {why}"))
                .hint("Fetch the archive again from where it was written.")
        })?;
        if key < self.last {
            return Err(out_of_order(number));
        }
        Ok(Some(key))
    }

    /// Writes the next line and its row; how many bytes the line has.
    fn write(&mut self, archive: &mut ArchiveWriter, key_map: Option<&mut ArchiveWriter>) -> Result<usize> {
        let (line, _) = self.lines.line();
        archive.write_line(line)?;
        let bytes = line.len();
        if let (Some(rows), Some(key_map)) = (&mut self.rows, key_map) {
            if !rows.has_next()? {
                return Err(Error::file("A key map ends before its archive does; nothing was written"));
            }
            key_map.write_line(rows.line().0)?;
            rows.next += 1;
        }
        self.lines.next += 1;
        Ok(bytes)
    }

    fn finish(self) -> Result<()> {
        let _totals = self.lines.reader.finish()?;
        if let Some(rows) = self.rows {
            let _totals = rows.reader.finish()?;
        }
        Ok(())
    }
}

/// Lines, one at a time.
struct Cursor {
    reader: LineReader,
    chunk: Chunk,
    next: usize,
}

impl Cursor {
    fn new(reader: LineReader) -> Self {
        Self { reader, chunk: Chunk::new(), next: 0 }
    }

    fn has_next(&mut self) -> Result<bool> {
        if self.next < self.chunk.len() {
            return Ok(true);
        }
        self.next = 0;
        self.reader.fill(&mut self.chunk)
    }

    /// The next line and its number, which [`Self::has_next`] found to be there.
    fn line(&self) -> (&[u8], u64) {
        self.chunk.line(self.next).map_or((&[], 0), |line| (line.bytes, line.number))
    }
}
