//! Writes archives: compressed by name, counted and digested, invisible until they are committed.

use std::io::Write;
use std::path::Path;

use super::Totals;
use super::compression::{Compression, Encoder};
use super::part_file::PartFile;
use super::spool::Spooler;
use super::staged::{Kind, Output};
use super::tally::Tally;
use crate::failpoint::{self, Point};
use crate::{Error, Result};

/// How many bytes are digested and written at once: whole pages, and still in the processor's cache between the
/// digest and the write.
const PIECE_BYTES: usize = 128 * 1024;

/// Takes the lines of an archive, key map or list.
///
/// Dropped before [`Self::finish`], it leaves nothing behind.
pub struct ArchiveWriter {
    target: Target,
    tally: Tally,
    /// Bytes that wait until they are worth a digest and a write: less than [`PIECE_BYTES`].
    pending: Vec<u8>,
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
        Self::compress(PartFile::create(path)?, Compression::by_name(path))
    }

    /// Writes standard output, from an unnamed file in `dir` that is copied there when it is committed.
    pub fn spooled(dir: &Path) -> Result<Self> {
        Ok(Self::to(Target::Spool(Box::new(Spooler::create(dir)?))))
    }

    fn compress(file: PartFile, compression: Compression) -> Result<Self> {
        let path = file.path().to_owned();
        let encoder =
            Encoder::new(file, compression).map_err(|source| Error::io("compress", path, source))?;
        Ok(Self::to(Target::File(Box::new(encoder))))
    }

    fn to(target: Target) -> Self {
        Self { target, tally: Tally::default(), pending: Vec::new() }
    }

    /// Writes one document, given without its line end.
    ///
    /// A line that would not be read back as it is (empty, with a line end in it or CR as its last byte) is
    /// a bug of the caller.
    pub fn write_line(&mut self, line: &[u8]) -> Result<()> {
        if memchr::memchr(b'\n', line).is_some() || line.ends_with(b"\r") || super::chunk::is_blank(line) {
            return Err(Error::bug("a document was to be written that is not one line"));
        }
        self.tally.count(1);
        self.take(line)?;
        self.take(b"\n")
    }

    /// Writes many documents at once: whole lines, each with its LF, under the rules of
    /// [`Self::write_line`].
    pub fn write_block(&mut self, lines: &[u8], documents: u64) -> Result<()> {
        debug_assert_eq!(memchr::memchr_iter(b'\n', lines).count() as u64, documents);
        if lines.last().is_some_and(|last| *last != b'\n') {
            return Err(Error::bug("a block was to be written that does not end with a line end"));
        }
        self.tally.count(documents);
        self.take(lines)
    }

    /// How many documents were taken so far.
    pub fn documents(&self) -> u64 {
        self.tally.documents()
    }

    /// Writes what is left and waits until it is on the disk. The archive has its name only when the output
    /// is committed.
    pub fn finish(mut self) -> Result<WrittenArchive> {
        let pending = std::mem::take(&mut self.pending);
        self.write(&pending)?;
        let totals = self.tally.totals();
        let kind = match self.target {
            Target::Spool(spooler) => Kind::Stdout(spooler.finish()?),
            Target::File(encoder) => {
                let path = encoder.get_ref().path().to_owned();
                let mut file = encoder.finish().map_err(|source| Error::io("write", path, source))?;
                failpoint::pass(Point::OutputSync)?;
                file.sync()?;
                Kind::File(file)
            }
        };
        Ok(WrittenArchive { totals, output: Output(kind) })
    }

    /// Takes bytes and writes them in pieces of exactly [`PIECE_BYTES`].
    ///
    /// A write that ends inside a page costs the file system that page twice.
    fn take(&mut self, mut bytes: &[u8]) -> Result<()> {
        while let Some((piece, rest)) = bytes.split_at_checked(PIECE_BYTES - self.pending.len()) {
            bytes = rest;
            if self.pending.is_empty() {
                self.write(piece)?;
                continue;
            }
            self.pending.extend_from_slice(piece);
            let mut pending = std::mem::take(&mut self.pending);
            let written = self.write(&pending);
            pending.clear();
            self.pending = pending;
            written?;
        }
        self.pending.extend_from_slice(bytes);
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.tally.digest(bytes);
        match &mut self.target {
            Target::Spool(spooler) => spooler.write(bytes),
            Target::File(encoder) => {
                encoder.write_all(bytes).map_err(|source| encoder.get_ref().write_error(source))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::archive::Staged;
    use std::os::unix::fs::MetadataExt;

    fn commit(written: WrittenArchive) {
        let mut staged = Staged::new();
        staged.add(written.output);
        staged.commit().unwrap();
    }

    #[test]
    fn lines_and_blocks_make_the_same_archive() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a.ndjson"), dir.path().join("b.ndjson"));
        let mut by_line = ArchiveWriter::create(&a).unwrap();
        for line in ["{1}", "{2}", "{3}"] {
            by_line.write_line(line.as_bytes()).unwrap();
        }
        let mut by_block = ArchiveWriter::create(&b).unwrap();
        by_block.write_line(b"{1}").unwrap();
        by_block.write_block(b"{2}\n{3}\n", 2).unwrap();
        assert_eq!((by_line.documents(), by_block.documents()), (3, 3));
        let (by_line, by_block) = (by_line.finish().unwrap(), by_block.finish().unwrap());
        assert_eq!(by_line.totals, by_block.totals);
        commit(by_line);
        commit(by_block);
        assert_eq!(std::fs::read(&a).unwrap(), b"{1}\n{2}\n{3}\n");
        assert_eq!(std::fs::read(&a).unwrap(), std::fs::read(&b).unwrap());
        assert_eq!(std::fs::metadata(&a).unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn what_would_not_be_read_back_is_not_written() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = ArchiveWriter::create(&dir.path().join("a")).unwrap();
        for line in ["", " \t", "{1}\n{2}", "{1}\r"] {
            assert_eq!(writer.write_line(line.as_bytes()).unwrap_err().kind(), ErrorKind::Bug, "{line:?}");
        }
        assert_eq!(writer.write_block(b"{1}\n{2", 1).unwrap_err().kind(), ErrorKind::Bug);
    }

    #[test]
    fn equal_lines_make_equal_bytes_in_every_compression() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a.ndjson", "a.ndjson.gz", "a.ndjson.zst"] {
            let write = || {
                let mut writer = ArchiveWriter::create(&dir.path().join(name)).unwrap();
                (0..1000).for_each(|n| writer.write_line(format!("{{{n}}}").as_bytes()).unwrap());
                commit(writer.finish().unwrap());
                std::fs::read(dir.path().join(name)).unwrap()
            };
            assert_eq!(write(), write(), "{name}");
        }
    }

    #[test]
    fn a_full_disk_is_a_file_error_that_names_the_path_however_late_it_shows() {
        for compression in [Compression::None, Compression::Gzip, Compression::Zstd] {
            let file = PartFile::over(Path::new("/dev/full"));
            let mut writer = ArchiveWriter::compress(file, compression).unwrap();
            writer.write_line(b"{}").unwrap();
            let error = writer.finish().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::File);
            assert!(error.to_string().contains("/dev/full"), "{error}");
        }
    }

    #[test]
    fn an_unfinished_writer_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = ArchiveWriter::create(&dir.path().join("a.ndjson.zst")).unwrap();
        writer.write_line(b"{}").unwrap();
        drop(writer);
        drop(ArchiveWriter::spooled(dir.path()).unwrap());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
