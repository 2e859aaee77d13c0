//! A megabyte of whole lines.

use std::path::Path;
use std::sync::Arc;

/// A chunk whose buffer has grown beyond this gives it back when it is reused.
const KEPT_CAPACITY: usize = 4 * 1024 * 1024;

/// Whole lines of one file, normalized: each without CR and with one LF.
#[derive(Debug)]
pub struct Chunk {
    /// The lines one after the other; once cut, each ends with its LF and nothing stands between them.
    pub(super) bytes: Vec<u8>,
    spans: Vec<Span>,
    file: Arc<Path>,
    first_document: u64,
    last_line_unterminated: bool,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    start: usize,
    end: usize,
    number: u64,
    /// Its place among the lines that were read, which is another than in the chunk where some were left out.
    index: u32,
}

/// One line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Its number in its file, from 1, blank lines counted.
    pub number: u64,
    /// Its bytes without the line end.
    pub bytes: &'a [u8],
}

impl Default for Chunk {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            spans: Vec::new(),
            file: Path::new("").into(),
            first_document: 0,
            last_line_unterminated: false,
        }
    }
}

impl Chunk {
    /// Makes an empty chunk for a reader to fill.
    pub fn new() -> Self {
        Self::default()
    }

    /// Copies a line in, given without its line end.
    pub fn push(&mut self, line: &[u8], number: u64) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(line);
        self.spans.push(Span { start, end: self.bytes.len(), number, index: self.next_index() });
        self.bytes.push(b'\n');
    }

    /// Forgets the lines and keeps the buffers, unless one long line has made them large.
    pub fn clear(&mut self) {
        let file = Arc::clone(&self.file);
        self.reset(&file, 0);
    }

    /// The bytes of all lines, each with its LF.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// How many lines there are; blank ones are left out.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there is no line.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The lines in order.
    pub fn lines(&self) -> impl ExactSizeIterator<Item = Line<'_>> {
        self.spans.iter().map(|span| self.at(span))
    }

    /// The line at `index`, from 0.
    pub fn line(&self, index: usize) -> Option<Line<'_>> {
        self.spans.get(index).map(|span| self.at(span))
    }

    /// All lines, each with one LF: what the digest is taken over and a writer takes as it is.
    pub fn block(&self) -> &[u8] {
        &self.bytes
    }

    /// The file the lines are from.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The position, among the documents of the whole archive from 0, of the line at `index`.
    pub fn position(&self, index: usize) -> u64 {
        self.first_document + self.spans.get(index).map_or(0, |span| u64::from(span.index))
    }

    /// Whether the last line is the last of its file and has no line end.
    ///
    /// A line that turns out not to be a whole document is then the end of a file that was cut off.
    pub fn last_line_unterminated(&self) -> bool {
        self.last_line_unterminated
    }

    fn next_index(&self) -> u32 {
        u32::try_from(self.spans.len()).unwrap_or(u32::MAX)
    }

    fn at(&self, span: &Span) -> Line<'_> {
        Line { number: span.number, bytes: self.bytes.get(span.start..span.end).unwrap_or_default() }
    }

    /// Forgets the lines and keeps the buffers, unless one long line has made them large.
    pub(super) fn reset(&mut self, file: &Arc<Path>, first_document: u64) {
        self.bytes.clear();
        if self.bytes.capacity() > KEPT_CAPACITY {
            self.bytes = Vec::new();
        }
        self.spans.clear();
        self.file = Arc::clone(file);
        self.first_document = first_document;
        self.last_line_unterminated = false;
    }

    /// Marks the last line, which was read without a line end and given one.
    pub(super) fn mark_unterminated(&mut self) {
        self.last_line_unterminated = true;
    }

    /// Cuts the bytes, which end with LF, into lines; `next` is the first line's number, then the one after
    /// the last. Tells the number of the first line longer than `max_line`, if there is one.
    pub(super) fn cut(&mut self, next: &mut u64, max_line: usize) -> Option<u64> {
        let (mut start, mut gaps, mut too_long) = (0, false, None);
        for line_end in memchr::memchr_iter(b'\n', &self.bytes) {
            let line = self.bytes.get(start..line_end).unwrap_or_default();
            let end = start + without_trailing_cr(line).len();
            if end - start > max_line {
                too_long = too_long.or(Some(*next));
            }
            let blank = is_blank(line);
            if !blank {
                self.spans.push(Span { start, end, number: *next, index: self.next_index() });
            }
            gaps |= blank || end < line_end;
            *next += 1;
            start = line_end + 1;
        }
        if gaps {
            self.close_gaps();
        }
        too_long
    }

    /// Leaves out the lines that `keeps` does not want; the others keep their numbers and positions.
    pub(super) fn retain(&mut self, mut keeps: impl FnMut(&[u8]) -> bool) {
        let (bytes, read, last) = (&self.bytes, self.spans.len(), self.spans.last().map(|span| span.index));
        self.spans.retain(|span| keeps(bytes.get(span.start..span.end).unwrap_or_default()));
        if self.spans.len() < read {
            self.last_line_unterminated &= self.spans.last().map(|span| span.index) == last;
            self.close_gaps();
        }
    }

    /// Moves the lines together where CRs, blank lines and lines left out stood between them.
    fn close_gaps(&mut self) {
        let mut kept = 0;
        for span in &mut self.spans {
            let len = span.end - span.start;
            self.bytes.copy_within(span.start..span.end, kept);
            (span.start, span.end) = (kept, kept + len);
            if let Some(line_end) = self.bytes.get_mut(kept + len) {
                *line_end = b'\n';
            }
            kept += len + 1;
        }
        self.bytes.truncate(kept);
    }
}

fn without_trailing_cr(mut line: &[u8]) -> &[u8] {
    while let [rest @ .., b'\r'] = line {
        line = rest;
    }
    line
}

/// Whether a line holds nothing but JSON's white space.
pub(super) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Chunk {
        let mut chunk = Chunk::new();
        chunk.bytes.extend_from_slice(text.as_bytes());
        assert_eq!(chunk.cut(&mut 1, usize::MAX), None);
        chunk
    }

    #[test]
    fn line_ends_and_blank_lines_are_normalized_and_numbers_kept() {
        let chunk = cut("{1}\r\n\n \t\r\n{2}\n\r\n{3}\r\r\n");
        let lines: Vec<_> = chunk.lines().map(|line| (line.number, line.bytes)).collect();
        assert_eq!(lines, [(1, &b"{1}"[..]), (4, b"{2}"), (6, b"{3}")]);
        assert_eq!(chunk.block(), b"{1}\n{2}\n{3}\n");
    }

    #[test]
    fn plain_lines_stay_where_they_are() {
        let chunk = cut("{1}\n{2}\n");
        assert_eq!(chunk.block(), b"{1}\n{2}\n");
        assert_eq!(chunk.line(1), Some(Line { number: 2, bytes: b"{2}" }));
        assert_eq!(chunk.line(2), None);
    }

    #[test]
    fn lines_are_left_out_and_the_others_keep_their_places() {
        let mut chunk = cut("{1}\n\n{2}\n{3}\n{4}\n");
        chunk.mark_unterminated();
        chunk.retain(|line| line != b"{1}" && line != b"{3}");
        assert_eq!(chunk.block(), b"{2}\n{4}\n");
        let places: Vec<_> =
            chunk.lines().enumerate().map(|(at, line)| (line.number, chunk.position(at))).collect();
        assert_eq!(places, [(3, 1), (5, 3)]);
        assert!(chunk.last_line_unterminated());
        chunk.retain(|line| line == b"{2}");
        assert!(!chunk.last_line_unterminated(), "the line it was said of is left out");
        chunk.retain(|_| false);
        assert!(chunk.is_empty() && chunk.block().is_empty());
    }

    #[test]
    fn a_long_line_is_named() {
        let mut chunk = Chunk::new();
        chunk.bytes.extend_from_slice(b"{}\n{123}\n{}\n");
        assert_eq!(chunk.cut(&mut 10, 4), Some(11));
    }
}
