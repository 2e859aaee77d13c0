use std::ops::Range;

use crate::Result;
use crate::archive::{Chunk, Line};

/// Lines that can be gone through again and again.
pub trait LineSource {
    /// Hands over every line in order; an error ends it.
    fn visit(&self, each: &mut dyn FnMut(Line<'_>) -> Result<()>) -> Result<()>;
}

/// Some lines of a block.
pub struct BlockLines<'a>(pub &'a Chunk, pub Range<usize>);

impl LineSource for BlockLines<'_> {
    fn visit(&self, each: &mut dyn FnMut(Line<'_>) -> Result<()>) -> Result<()> {
        self.1.clone().try_for_each(|index| each(line_at(self.0, index)))
    }
}

/// The line at `index`; an empty one beyond the end, which no caller asks for.
pub(super) fn line_at(block: &Chunk, index: usize) -> Line<'_> {
    block.line(index).unwrap_or(Line { number: 0, bytes: &[] })
}
