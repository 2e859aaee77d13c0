//! The sorter: rows in, sorted rows out.

use std::path::{Path, PathBuf};

use super::batch::{Batch, ROW_OVERHEAD};
use super::merge::{Merge, reduce};
use super::run::{Run, RunWriter, row_too_long};
use super::{SortedTable, TempFile};
use crate::Result;

/// Sorts any number of rows within a budget of memory.
///
/// Rows that fit into the budget never touch the disk. What does not fit is written as sorted runs to one
/// unnamed file (mode 0600) in the folder given.
pub struct Sorter {
    dir: PathBuf,
    budget: usize,
    batch: Batch,
    runs: Vec<Run>,
    spill: Option<TempFile>,
    rows: u64,
}

impl Sorter {
    /// Makes a sorter that spills into `dir` and holds at most `budget_bytes` of keys, payloads and index
    /// (20 bytes a row), or one row if that is larger.
    pub fn new(dir: &Path, budget_bytes: usize) -> Self {
        let batch = Batch::default();
        Self { dir: dir.to_owned(), budget: budget_bytes, batch, runs: Vec::new(), spill: None, rows: 0 }
    }

    /// Takes one row. Fails when the disk is full or cannot be written; the error names the folder.
    pub fn push(&mut self, key: &[u8], payload: &[u8]) -> Result<()> {
        let row = key.len().saturating_add(payload.len()).saturating_add(ROW_OVERHEAD);
        if self.batch.len() > 0 && self.batch.bytes().saturating_add(row) > self.budget {
            self.spill()?;
        }
        if !self.batch.push(key, payload) {
            self.spill()?;
            if !self.batch.push(key, payload) {
                return Err(row_too_long());
            }
        }
        self.rows += 1;
        Ok(())
    }

    /// How many rows were taken.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Whether rows had to go to the disk.
    pub fn spilled(&self) -> bool {
        !self.runs.is_empty()
    }

    /// Sorts what is left and gives the rows in order.
    pub fn finish(mut self) -> Result<Sorted> {
        let rows = self.rows;
        if self.runs.is_empty() {
            self.batch.sort();
            return Ok(Sorted { rows, source: Source::Memory { batch: self.batch, next: 0 } });
        }
        self.spill()?;
        let Self { dir, batch, runs, spill, .. } = self;
        drop((batch, spill));
        let runs = reduce(runs, &dir)?;
        Ok(Sorted { rows, source: Source::Runs(Merge::new(&runs)?) })
    }

    /// Sorts everything into a table that answers by key.
    pub fn into_table(self) -> Result<SortedTable> {
        let dir = self.dir.clone();
        SortedTable::build(self.finish()?, &dir)
    }

    fn spill(&mut self) -> Result<()> {
        if self.batch.len() == 0 {
            return Ok(());
        }
        self.batch.sort();
        let file = match &mut self.spill {
            Some(file) => file,
            none => none.insert(TempFile::create(&self.dir)?),
        };
        let mut run = RunWriter::new(file)?;
        for (key, payload) in (0..self.batch.len()).filter_map(|at| self.batch.get(at)) {
            run.push(key, payload)?;
        }
        self.runs.push(run.finish()?);
        self.batch.clear();
        Ok(())
    }
}

/// Rows in the order of their keys; rows with one key in the order they came.
pub struct Sorted {
    rows: u64,
    source: Source,
}

enum Source {
    Memory { batch: Batch, next: usize },
    Runs(Merge),
}

impl Sorted {
    /// The next row's key and payload; `None` after the last one. The slices live until the next call.
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend from itself")]
    pub fn next(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        match &mut self.source {
            Source::Memory { batch, next } => {
                let at = *next;
                *next += 1;
                Ok(batch.get(at))
            }
            Source::Runs(merge) => merge.next(),
        }
    }

    /// How many rows there are altogether.
    pub fn rows(&self) -> u64 {
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn drain(mut sorted: Sorted) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut rows = Vec::new();
        while let Some((key, payload)) = sorted.next().unwrap() {
            rows.push((key.to_vec(), payload.to_vec()));
        }
        assert_eq!(rows.len() as u64, sorted.rows());
        rows
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn rows_sort_like_a_stable_sort_under_any_budget(
            keys in prop::collection::vec("[ab:]{0,12}", 0..600),
            budget in prop::sample::select(vec![0usize, 60, 500, 5_000, 1_000_000]),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let mut sorter = Sorter::new(dir.path(), budget);
            let rows: Vec<_> = keys.into_iter().zip(0u32..)
                .map(|(key, number)| (key.into_bytes(), number.to_le_bytes().to_vec())).collect();
            for (key, payload) in &rows {
                sorter.push(key, payload).unwrap();
            }
            let mut expected = rows.clone();
            expected.sort_by(|a, b| a.0.cmp(&b.0));
            prop_assert_eq!(drain(sorter.finish().unwrap()), expected);
        }
    }

    #[test]
    fn more_runs_than_one_merge_takes_are_merged_in_passes() {
        let dir = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::new(dir.path(), 0);
        let runs = super::super::MERGE_WIDTH * super::super::MERGE_WIDTH + 7;
        for number in 0..u32::try_from(runs).unwrap() {
            sorter
                .push(&(number.wrapping_mul(2_654_435_761) % 1_000).to_be_bytes(), &number.to_be_bytes())
                .unwrap();
        }
        assert_eq!(sorter.runs.len(), runs - 1);
        let rows = drain(sorter.finish().unwrap());
        assert_eq!(rows.len(), runs);
        assert!(rows.is_sorted(), "equal keys keep the order of their ascending payloads");
    }

    #[test]
    fn rows_that_fit_touch_no_disk() {
        let mut sorter = Sorter::new(Path::new("/no/such/folder"), 1 << 20);
        sorter.push(b"b", b"2").unwrap();
        sorter.push(b"a", b"1").unwrap();
        assert!(!sorter.spilled());
        assert_eq!(drain(sorter.finish().unwrap())[0], (b"a".to_vec(), b"1".to_vec()));
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_named() {
        let mut sorter = Sorter::new(Path::new("/no/such/folder"), 0);
        sorter.push(b"a", b"1").unwrap();
        let error = sorter.push(b"b", b"2").unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::File);
        assert!(error.to_string().contains("/no/such/folder"));
    }

    #[test]
    fn a_row_larger_than_the_budget_is_sorted_all_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::new(dir.path(), 100);
        let large = vec![b'z'; 300_000];
        sorter.push(&large, &large).unwrap();
        sorter.push(b"a", b"").unwrap();
        let rows = drain(sorter.finish().unwrap());
        assert_eq!(rows, [(b"a".to_vec(), Vec::new()), (large.clone(), large)]);
    }
}
