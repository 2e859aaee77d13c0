//! One file of an archive, read as whole lines under the rules that [`crate::archive`] lists.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use memchr::{memchr, memchr_iter, memrchr};

use super::chunk::is_blank;
use super::compression::{Compression, decoder, read_error};
use super::spool::Spool;
use super::tally::Tally;
use super::{CHUNK_BYTES, Chunk, Expectation};
use crate::{Error, Result};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// The least that is read at once, however much of a line is left over from before.
const LEAST_READ: usize = 64 * 1024;

/// Where one part of an archive is read from, any number of times.
#[derive(Clone, Debug)]
pub(super) struct Source {
    path: Arc<Path>,
    spool: Option<Spool>,
    expectation: Option<Expectation>,
}

impl Source {
    /// A file, and what is said of it alone.
    pub(super) fn file(path: &Path, expectation: Option<Expectation>) -> Self {
        Self { path: path.into(), spool: None, expectation }
    }

    /// Bytes that were spooled from `path`, which cannot be read twice.
    pub(super) fn spooled(path: &Path, spool: Spool, expectation: Option<Expectation>) -> Self {
        Self { path: path.into(), spool: Some(spool), expectation }
    }
}

/// A source being read.
pub(super) struct OpenSource {
    path: Arc<Path>,
    input: Box<dyn Read + Send>,
    compression: Compression,
    /// The beginning of a line whose end was not read yet.
    carry: Vec<u8>,
    next_line: u64,
    at_start: bool,
    at_end: bool,
    account: Option<(Expectation, Tally)>,
}

impl OpenSource {
    /// Opens the source and checks that its first bytes are what its name says.
    pub(super) fn open(source: Source) -> Result<Self> {
        let Source { path, spool, expectation } = source;
        let (input, compression) = if let Some(spool) = spool {
            let plain = Compression::None;
            (decoder(spool.reader(&path)?, plain, &path)?, plain)
        } else {
            let file = File::open(&path).map_err(|source| Error::io("open", &path, source))?;
            let compression = Compression::by_name(&path);
            (decoder(file, compression, &path)?, compression)
        };
        let account = expectation.map(|expectation| (expectation, Tally::default()));
        let (carry, at_start, at_end) = (Vec::new(), true, false);
        Ok(Self { path, input, compression, carry, next_line: 1, at_start, at_end, account })
    }

    pub(super) fn path(&self) -> &Arc<Path> {
        &self.path
    }

    /// Reads about [`CHUNK_BYTES`] of whole lines into an empty chunk; `false` if there was nothing left.
    pub(super) fn read(&mut self, chunk: &mut Chunk, max_line: usize) -> Result<bool> {
        if self.at_end {
            return Ok(false);
        }
        chunk.bytes.append(&mut self.carry);
        while !self.read_to_line_end(&mut chunk.bytes)? {
            if chunk.bytes.len() > max_line {
                return Err(self.too_long(self.next_line, max_line));
            }
        }
        if self.at_end && !chunk.bytes.is_empty() && chunk.bytes.last() != Some(&b'\n') {
            self.end_last_line(chunk)?;
        }
        if let Some(number) = chunk.cut(&mut self.next_line, max_line) {
            return Err(self.too_long(number, max_line));
        }
        if let Some((expectation, tally)) = &mut self.account {
            let add = if expectation.sha256.is_some() { Tally::add } else { Tally::add_undigested };
            add(tally, chunk.block(), chunk.len() as u64);
        }
        Ok(true)
    }

    /// Checks what is said of this source alone.
    pub(super) fn finish(&self) -> Result<()> {
        let Some((expectation, tally)) = &self.account else { return Ok(()) };
        expectation.check(&format!("{:?}", self.path), &tally.totals())
    }

    /// Reads once; `true` when `bytes` ends with a line end, or the source has ended.
    fn read_to_line_end(&mut self, bytes: &mut Vec<u8>) -> Result<bool> {
        let before = bytes.len();
        let wanted = CHUNK_BYTES.saturating_sub(before).max(LEAST_READ);
        bytes.reserve(wanted);
        let read = self
            .input
            .by_ref()
            .take(wanted as u64)
            .read_to_end(bytes)
            .map_err(|source| read_error(&self.path, self.compression, source))?;
        self.at_end = read < wanted;
        let is_first = std::mem::take(&mut self.at_start);
        if is_first && bytes.starts_with(BYTE_ORDER_MARK) {
            let _ = bytes.drain(..BYTE_ORDER_MARK.len());
        }
        if is_first {
            self.refuse_other_json(bytes)?;
        }
        let new = bytes.get(before..).unwrap_or_default();
        if let Some(nul) = memchr(0, new) {
            return Err(self.binary(bytes.get(..before + nul).unwrap_or_default()));
        }
        if self.at_end {
            return Ok(true);
        }
        let Some(line_end) = memrchr(b'\n', new) else { return Ok(false) };
        self.carry = bytes.split_off(before + line_end + 1);
        Ok(true)
    }

    /// Gives the last line the line end it lacks, if it can be a whole document.
    fn end_last_line(&self, chunk: &mut Chunk) -> Result<()> {
        let start = memrchr(b'\n', &chunk.bytes).map_or(0, |line_end| line_end + 1);
        let line = chunk.bytes.get(start..).unwrap_or_default();
        if !is_blank(line) {
            if !line.trim_ascii_end().ends_with(b"}") {
                return Err(self.cut_off(chunk.bytes.get(..start).unwrap_or_default()));
            }
            chunk.mark_unterminated();
        }
        chunk.bytes.push(b'\n');
        Ok(())
    }

    /// The number of the line that begins or goes on after `before`, which begins with the next line.
    fn line_after(&self, before: &[u8]) -> u64 {
        self.next_line + memchr_iter(b'\n', before).count() as u64
    }

    /// Refuses a file whose beginning says that its documents do not stand one a line.
    fn refuse_other_json(&self, beginning: &[u8]) -> Result<()> {
        let mut lines = beginning.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let first = lines.by_ref().find(|line| !line.is_empty()).unwrap_or_default();
        let (what, hint) = if first.starts_with(b"[") {
            ("is a JSON array", "Export one document a line: mongoexport without --jsonArray, jq -c '.[]'.")
        } else if first == b"{" {
            ("is pretty-printed JSON", "Export one document a line: mongoexport without --pretty, jq -c .")
        } else {
            return Ok(());
        };
        Err(Error::file(format!("{:?} {what}, not one document a line", self.path)).hint(hint))
    }

    fn binary(&self, before: &[u8]) -> Error {
        let number = self.line_after(before);
        Error::file(format!(
            "Line {number} of {:?} holds a NUL byte: the file is binary or damaged",
            self.path
        ))
        .hint("Export again as text, one JSON document a line.")
    }

    fn cut_off(&self, before: &[u8]) -> Error {
        let number = self.line_after(before);
        Error::file(format!("{:?} is cut off in line {number}, its last: it has no end", self.path))
            .hint("Fetch the file again from where it was written, or export again.")
    }

    fn too_long(&self, number: u64, max_line: usize) -> Error {
        Error::file(format!("Line {number} of {:?} is longer than {max_line} bytes", self.path))
            .hint("Write one document a line: a JSON array or pretty-printed JSON is no archive.")
    }
}
