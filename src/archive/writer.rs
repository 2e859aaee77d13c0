//! Writes archives: compressed by name, counted and digested, invisible until they are committed.

use std::io::Write;
use std::path::Path;

use super::compression::{Compression, Encoder};
use super::part_file::PartFile;
use super::spool::Spooler;
use super::staged::{Kind, Output};
use super::tally::Tally;
use super::{CHUNK_BYTES, Totals};
use crate::{Error, Result};

/// Takes the lines of an archive, key map or list.
///
/// Dropped before [`Self::finish`], it leaves nothing behind.
pub struct ArchiveWriter {
    target: Target,
    tally: Tally,
    /// Lines that wait until they are worth a digest and a write.
    pending: Vec<u8>,
    pending_documents: u64,
}

enum Target {
    File(Box<Encoder<PartFile>>),
    Spool(Box<Spooler>),
}

/// A finished archive that is not visible yet.
#[derive(Debug)]
pub struct WrittenArchive {
    /// What was written.
    pub totals: Totals,
    /// The output, to be added to [`super::Staged`].
    pub output: Output,
}

impl ArchiveWriter {
    /// Writes `path`, as `path.part` (mode 0600) until it is committed; `.zst` and `.gz` are compressed.
    ///
    /// # Errors
    /// Usage: the name ends in `.part`, is a folder's, or is being written by another run. File: the file
    /// cannot be created.
    pub fn create(path: &Path) -> Result<Self> {
        let file = PartFile::create(path)?;
        let encoder = Encoder::new(file, Compression::by_name(path))
            .map_err(|source| Error::io("compress", path, source))?;
        Ok(Self::to(Target::File(Box::new(encoder))))
    }

    /// Writes standard output, from an unnamed file in `dir` that is copied there when it is committed.
    pub fn spooled(dir: &Path) -> Result<Self> {
        Ok(Self::to(Target::Spool(Box::new(Spooler::create(dir)?))))
    }

    fn to(target: Target) -> Self {
        Self { target, tally: Tally::default(), pending: Vec::new(), pending_documents: 0 }
    }

    /// Writes one document, given without its line end.
    ///
    /// A line that would not be read back as it is (empty, with a line end in it or CR as its last byte) is
    /// a bug of the caller.
    pub fn write_line(&mut self, line: &[u8]) -> Result<()> {
        if memchr::memchr(b'\n', line).is_some() || line.ends_with(b"\r") || super::chunk::is_blank(line) {
            return Err(Error::bug("a document was to be written that is not one line"));
        }
        self.pending.extend_from_slice(line);
        self.pending.push(b'\n');
        self.pending_documents += 1;
        if self.pending.len() >= CHUNK_BYTES { self.write_pending() } else { Ok(()) }
    }

    /// Writes many documents at once: whole lines, each with its LF, under the rules of
    /// [`Self::write_line`]. Blocks of about a megabyte are digested and written without being copied.
    pub fn write_block(&mut self, lines: &[u8], documents: u64) -> Result<()> {
        debug_assert_eq!(memchr::memchr_iter(b'\n', lines).count() as u64, documents);
        if lines.last().is_some_and(|last| *last != b'\n') {
            return Err(Error::bug("a block was to be written that does not end with a line end"));
        }
        self.write_pending()?;
        self.tally.add(lines, documents);
        self.write(lines)
    }

    /// How many documents were taken so far.
    pub fn documents(&self) -> u64 {
        self.tally.documents() + self.pending_documents
    }

    /// Writes what is left and waits until it is on the disk. The archive has its name only when the output
    /// is committed.
    pub fn finish(mut self) -> Result<WrittenArchive> {
        self.write_pending()?;
        let totals = self.tally.totals();
        let kind = match self.target {
            Target::Spool(spooler) => Kind::Stdout(spooler.finish()?),
            Target::File(encoder) => {
                let path = encoder.get_ref().path().to_owned();
                let mut file = encoder.finish().map_err(|source| Error::io("write", path, source))?;
                file.sync()?;
                Kind::File(file)
            }
        };
        Ok(WrittenArchive { totals, output: Output(kind) })
    }

    fn write_pending(&mut self) -> Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let pending = std::mem::take(&mut self.pending);
        self.tally.add(&pending, std::mem::take(&mut self.pending_documents));
        let written = self.write(&pending);
        self.pending = pending;
        self.pending.clear();
        written
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.target {
            Target::Spool(spooler) => spooler.write(bytes),
            Target::File(encoder) => {
                encoder.write_all(bytes).map_err(|source| encoder.get_ref().write_error(source))
            }
        }
    }
}
