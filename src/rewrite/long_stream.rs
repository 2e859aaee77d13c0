use std::io::{BufReader, Read, Write};
use std::ops::Range;
use std::path::Path;

use super::buffer::Output;
use super::collect::Collector;
use super::lines::{LineSource, line_at};
use super::stream::{OpenStream, StreamRewriter};
use super::verdict::Verdict;
use crate::archive::{Chunk, ContentSum, Line};
use crate::sort::TempFile;
use crate::{Error, Result};

/// How many bytes of rewritten lines are handed on at a time.
const PIECE_BYTES: usize = 1024 * 1024;

/// The lines of a stream that is too long to be held in memory, in an unnamed file.
pub struct LongStream {
    file: TempFile,
    folder: std::path::PathBuf,
    written: u64,
    buffer: Vec<u8>,
}

impl LongStream {
    /// Makes an empty one in `folder`.
    pub fn new(folder: &Path) -> Result<Self> {
        Ok(Self {
            file: TempFile::create(folder)?,
            folder: folder.to_owned(),
            written: 0,
            buffer: Vec::new(),
        })
    }

    /// Appends lines of a block.
    pub fn append(&mut self, block: &Chunk, lines: Range<usize>) -> Result<()> {
        self.buffer.clear();
        for index in lines {
            let line = line_at(block, index);
            self.buffer.extend_from_slice(&line.number.to_le_bytes());
            self.buffer.extend_from_slice(&(line.bytes.len() as u64).to_le_bytes());
            self.buffer.extend_from_slice(line.bytes);
        }
        self.written += self.buffer.len() as u64;
        self.file.write_all(&self.buffer).map_err(|e| Error::io("write a temporary file in", &self.folder, e))
    }

    /// Rewrites the whole stream: once to decide, once more to write it piece by piece.
    pub fn rewrite(
        &self,
        rewriter: &mut StreamRewriter,
        out: &mut Output,
        collector: &mut Collector,
    ) -> Result<()> {
        let mut content = ContentSum::default();
        let mut open: Option<OpenStream> = None;
        out.clear();
        self.visit(&mut |line| {
            let reading = rewriter.read(line.bytes);
            let open = open.get_or_insert_with(|| rewriter.begin(0, out));
            rewriter.add(open, reading, line, out)?;
            content.merge(&std::mem::take(&mut out.content));
            out.clear();
            Ok(())
        })?;
        let Some(mut open) = open else { return Ok(()) };
        rewriter.settle(&mut open, self)?;
        if rewriter.reads_documents() && open.is_to_be_moved(rewriter.rules()) {
            content = self.write_through(rewriter, &mut open, out, &mut |_| Ok(()))?;
        }
        let stream = open.stream().to_vec();
        let mut again = open.for_writing_again();
        let verdict = open.verdict(rewriter.rules(), content);
        if let Verdict::Moved(_) = verdict {
            let _ = self.write_through(rewriter, &mut again, out, &mut |out| {
                collector.documents(&stream, out, 0..out.documents.len())
            })?;
        }
        collector.settled(&stream, &verdict, self)
    }

    /// Writes every document, handing the output on whenever it has grown to a piece.
    fn write_through(
        &self,
        rewriter: &mut StreamRewriter,
        open: &mut OpenStream,
        out: &mut Output,
        take: &mut dyn FnMut(&Output) -> Result<()>,
    ) -> Result<ContentSum> {
        let mut content = ContentSum::default();
        self.visit(&mut |line| {
            rewriter.write_again(open, line, out);
            content.merge(&std::mem::take(&mut out.content));
            if out.lines.len() >= PIECE_BYTES {
                take(out)?;
                out.clear();
            }
            Ok(())
        })?;
        take(out)?;
        out.clear();
        Ok(content)
    }
}

impl LineSource for LongStream {
    fn visit(&self, each: &mut dyn FnMut(Line<'_>) -> Result<()>) -> Result<()> {
        let failed = |e| Error::io("read a temporary file in", &self.folder, e);
        let mut reader = BufReader::with_capacity(256 * 1024, self.file.section(0..self.written));
        let mut bytes = Vec::new();
        let mut left = self.written;
        while left > 0 {
            let (mut number, mut length) = ([0; 8], [0; 8]);
            reader.read_exact(&mut number).and_then(|()| reader.read_exact(&mut length)).map_err(failed)?;
            let length = u64::from_le_bytes(length);
            bytes.resize(usize::try_from(length).unwrap_or(usize::MAX), 0);
            reader.read_exact(&mut bytes).map_err(failed)?;
            left = left.saturating_sub(16 + length);
            each(Line { number: u64::from_le_bytes(number), bytes: &bytes })?;
        }
        Ok(())
    }
}
