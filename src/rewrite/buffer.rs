use crate::archive::ContentSum;
use crate::document::canonical::DocumentDigest;

/// What rewritten streams are written into.
#[derive(Default)]
pub struct Output {
    /// Rewritten lines, each with its LF.
    pub lines: Vec<u8>,
    /// Lines of the key map, each with its LF.
    pub key_lines: Vec<u8>,
    /// New order keys, one after the other.
    pub order_keys: Vec<u8>,
    /// Where the parts of each document end.
    pub documents: Vec<WrittenDocument>,
    /// What the documents of the open stream add to their tenant's content sum.
    pub content: ContentSum,
    pub(super) new_key: String,
}

/// One document of an [`Output`]; the ends are offsets in its buffers.
#[derive(Clone, Debug)]
pub struct WrittenDocument {
    /// Where its line ends.
    pub line_end: usize,
    /// Where its key map line ends.
    pub key_line_end: usize,
    /// Where its order key ends.
    pub order_key_end: usize,
    /// The length of the part of the order key that identifies the stream.
    pub stream_len: usize,
    /// The digest of what the rewrite does not touch.
    pub body: DocumentDigest,
    /// Whether it carried the tenant already.
    pub kept: bool,
}

/// Where the parts of a document begin in an [`Output`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Starts {
    /// Its line.
    pub line: usize,
    /// Its key map line.
    pub key_line: usize,
    /// Its order key.
    pub order_key: usize,
}

impl Output {
    /// Where document `index` begins; the ends of the buffers for the one after the last.
    pub fn starts(&self, index: usize) -> Starts {
        index.checked_sub(1).and_then(|before| self.documents.get(before)).map_or_else(
            Starts::default,
            |before| Starts {
                line: before.line_end,
                key_line: before.key_line_end,
                order_key: before.order_key_end,
            },
        )
    }

    pub(super) fn push_document(&mut self, stream_len: usize, body: DocumentDigest, kept: bool) {
        self.documents.push(WrittenDocument {
            line_end: self.lines.len(),
            key_line_end: self.key_lines.len(),
            order_key_end: self.order_keys.len(),
            stream_len,
            body,
            kept,
        });
    }

    /// The new key of the document written last, as a person sees it.
    pub fn new_key(&self) -> &str {
        &self.new_key
    }

    /// Forgets everything, keeping the buffers.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Forgets every document from `count` on.
    pub fn truncate(&mut self, count: usize) {
        let Starts { line, key_line, order_key } = self.starts(count);
        self.documents.truncate(count);
        self.lines.truncate(line);
        self.key_lines.truncate(key_line);
        self.order_keys.truncate(order_key);
        self.content = ContentSum::default();
    }
}
