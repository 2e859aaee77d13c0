/// Many documents in one buffer: no allocation per document.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Lines {
    /// Makes an empty batch.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes room for so many more documents of so many bytes altogether.
    pub fn reserve(&mut self, documents: usize, bytes: usize) {
        self.ends.reserve(documents);
        self.bytes.reserve(bytes);
    }

    /// Appends one document, without its line end.
    pub fn push(&mut self, line: &[u8]) {
        self.bytes.extend_from_slice(line);
        self.ends.push(self.bytes.len());
    }

    /// Appends one document that `write` adds to the buffer.
    pub fn push_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    /// The document at `index`, if there is one.
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        let end = *self.ends.get(index)?;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        Some(&self.bytes[start..end])
    }

    /// The documents in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        self.ends.iter().zip(starts).map(|(end, start)| &self.bytes[start..*end])
    }

    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The bytes of all documents together.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Forgets every document, keeping the buffer.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}
