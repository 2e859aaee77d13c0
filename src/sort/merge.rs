//! Merging sorted runs: few at a time, so that memory stays bounded however many there are.

use std::cmp::Ordering;
use std::path::Path;

use super::TempFile;
use super::run::{Run, RunReader, RunWriter};
use crate::Result;

/// The most runs that are read at once.
pub const MERGE_WIDTH: usize = 64;

/// Merges runs until at most [`MERGE_WIDTH`] are left.
///
/// Only neighbours are merged and the result takes their place, so rows with one key keep their order. No
/// pass merges more than it must, and none touches a run twice.
pub(super) fn reduce(mut runs: Vec<Run>, dir: &Path) -> Result<Vec<Run>> {
    while runs.len() > MERGE_WIDTH {
        let mut file = TempFile::create(dir)?;
        let mut left = runs.as_slice();
        let mut fewer = Vec::with_capacity(MERGE_WIDTH);
        while !left.is_empty() {
            let excess = (fewer.len() + left.len()).saturating_sub(MERGE_WIDTH);
            let (group, rest) = left.split_at((excess + 1).min(MERGE_WIDTH).min(left.len()));
            match group {
                [alone] => fewer.push(alone.clone()),
                group => fewer.push(merge(group, &mut file)?),
            }
            left = rest;
        }
        runs = fewer;
    }
    Ok(runs)
}

fn merge(runs: &[Run], into: &mut TempFile) -> Result<Run> {
    let mut merged = Merge::new(runs)?;
    let mut out = RunWriter::new(into)?;
    while let Some((key, payload)) = merged.next()? {
        out.push(key, payload)?;
    }
    out.finish()
}

/// Gives the rows of several runs in order; of equal keys the earlier run's first.
pub(super) struct Merge {
    readers: Vec<RunReader>,
    /// Positions in `readers`, a binary heap with the smallest row first.
    heap: Vec<usize>,
    given: bool,
}

impl Merge {
    /// Opens at most [`MERGE_WIDTH`] runs, in the order their rows came.
    pub(super) fn new(runs: &[Run]) -> Result<Self> {
        let mut readers = runs.iter().map(RunReader::new).collect::<Result<Vec<_>>>()?;
        let mut heap = Vec::with_capacity(readers.len());
        for (position, reader) in readers.iter_mut().enumerate() {
            if reader.advance()? {
                heap.push(position);
            }
        }
        let mut merge = Self { readers, heap, given: false };
        for at in (0..merge.heap.len() / 2).rev() {
            merge.sift_down(at);
        }
        Ok(merge)
    }

    /// The next row; `None` after the last one.
    pub(super) fn next(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        if self.given {
            self.replace_first()?;
        }
        self.given = true;
        let first = self.heap.first().and_then(|reader| self.readers.get(*reader));
        Ok(first.map(RunReader::row))
    }

    /// Advances the run whose row was given and puts the run where its new row belongs.
    fn replace_first(&mut self) -> Result<()> {
        let Some(reader) = self.heap.first().and_then(|reader| self.readers.get_mut(*reader)) else {
            return Ok(());
        };
        if !reader.advance()? {
            let _ = self.heap.swap_remove(0);
        }
        self.sift_down(0);
        Ok(())
    }

    fn sift_down(&mut self, mut at: usize) {
        loop {
            let child = 2 * at + 1;
            let right = child + 1;
            let smaller = if self.compare(right, child) == Some(Ordering::Less) { right } else { child };
            if self.compare(smaller, at) != Some(Ordering::Less) {
                return;
            }
            self.heap.swap(smaller, at);
            at = smaller;
        }
    }

    /// Compares two places of the heap; `None` if one is beyond its end.
    fn compare(&self, a: usize, b: usize) -> Option<Ordering> {
        let (a, b) = (*self.heap.get(a)?, *self.heap.get(b)?);
        let (first, second) = (self.readers.get(a)?.row().0, self.readers.get(b)?.row().0);
        Some(first.cmp(second).then(a.cmp(&b)))
    }
}
