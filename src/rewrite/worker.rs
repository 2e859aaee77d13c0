use std::path::Path;
use std::sync::Arc;

use super::buffer::Output;
use super::document::Reading;
use super::lines::line_at;
use super::rules::Rules;
use super::stream::{Fragment, OpenStream, StreamRewriter};
use super::verdict::StreamResult;
use crate::archive::{Chunk, Line};
use crate::check::Reason;
use crate::tenant::TenantResolver;
use crate::{Error, Result};

/// What a worker made of one block.
#[derive(Default)]
pub struct WorkedBlock {
    /// The lines as they came.
    pub block: Chunk,
    /// The streams that begin and end inside the block.
    pub output: Output,
    /// What became of those streams, in order.
    pub results: Vec<StreamResult>,
    /// The first stream's lines, which may go on from the block before; they are only read.
    pub head: Fragment,
    /// The last stream's lines, which may go on in the block after; empty if the head is all there is.
    pub tail: Fragment,
    /// The order keys of the first and the last line.
    pub order: Option<(Vec<u8>, Vec<u8>)>,
}

impl WorkedBlock {
    /// Forgets everything, keeping the buffers.
    pub fn clear(&mut self) {
        self.output.clear();
        self.results.clear();
        (self.head, self.tail, self.order) = Default::default();
    }
}

/// Works on blocks, one after the other, on a thread of its own.
pub struct Worker {
    rewriter: StreamRewriter,
    last_key: Vec<u8>,
}

impl Worker {
    /// Makes a worker, with a clone of `tenants` of its own.
    pub fn new(rules: &Arc<Rules>, tenants: &TenantResolver) -> Self {
        Self { rewriter: StreamRewriter::new(rules, tenants), last_key: Vec::new() }
    }

    /// Rewrites the streams inside `worked.block` into the rest of `worked`.
    pub fn work(&mut self, worked: &mut WorkedBlock) -> Result<()> {
        let WorkedBlock { block, output, results, head, tail, order } = worked;
        self.last_key.clear();
        let mut first_key = None;
        let mut open: Option<OpenStream> = None;
        *head = Fragment::default();
        *tail = Fragment::default();
        for index in 0..block.len() {
            let Line { bytes: line, number } = line_at(block, index);
            let reading = self.rewriter.read(line);
            self.check_order(number)?;
            if first_key.is_none() {
                first_key = Some(self.last_key.clone());
            }
            if block.last_line_unterminated() && index + 1 == block.len() {
                refuse_cut_off(&reading, block.file(), number)?;
            }
            if let Reading::Unattributable(_) = reading {
                let mut alone = self.rewriter.begin(index, output);
                self.rewriter.add(&mut alone, reading, line_at(block, index), output)?;
                results.push(self.rewriter.close(alone, block, output)?);
            } else if head.lines.is_empty() {
                *head = Fragment { stream: self.rewriter.stream().to_vec(), lines: index..index + 1 };
            } else if open.is_none() && self.rewriter.stream() == head.stream {
                head.lines.end = index + 1;
            } else {
                if let Some(done) = open.take_if(|open| open.stream() != self.rewriter.stream()) {
                    results.push(self.rewriter.close(done, block, output)?);
                    // Closing may have read other lines of the stream.
                    let _ = self.rewriter.read(line);
                }
                let stream = open.get_or_insert_with(|| self.rewriter.begin(index, output));
                self.rewriter.add(stream, reading, line_at(block, index), output)?;
            }
        }
        if let Some(open) = open {
            *tail = open.abandon(output);
        }
        *order = first_key.map(|first| (first, self.last_key.clone()));
        Ok(())
    }

    fn check_order(&mut self, number: u64) -> Result<()> {
        if self.rewriter.order_key() < self.last_key.as_slice() {
            return Err(out_of_order(number));
        }
        self.last_key.clear();
        self.last_key.extend_from_slice(self.rewriter.order_key());
        Ok(())
    }
}

/// A last line that has no end and is no whole document is what is left of a file that was cut off.
pub fn refuse_cut_off(reading: &Reading, file: &Path, number: u64) -> Result<()> {
    match reading {
        Reading::Unattributable(refusal) if refusal.reason == Reason::Malformed => {
            Err(Error::file(format!("{file:?} is cut off: its last line, {number}, is not a whole document"))
                .hint("Copy or export the file again."))
        }
        _ => Ok(()),
    }
}

/// The error of an archive whose lines are not in the order that its manifest promises.
pub fn out_of_order(number: u64) -> Error {
    Error::file(format!("The archive is damaged: line {number} stands before a line that belongs before it"))
        .hint("Export the collection again, or pass the file with --layout and --expect-documents to have it sorted.")
}
