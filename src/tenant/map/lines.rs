//! Sets of line numbers, one bit a line: small even for millions of rows.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The lines on which a row begins.
#[derive(Clone, Debug, Default)]
pub(super) struct LineSet(Vec<u64>);

impl LineSet {
    /// Adds a line.
    pub fn insert(&mut self, line: u64) {
        let (word, bit) = place(line);
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= bit;
    }

    /// How many lines there are.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Makes a mark for each line, not set yet.
    pub fn marks(&self) -> LineMarks {
        LineMarks(self.0.iter().map(|_| AtomicU64::new(0)).collect())
    }

    /// The lines that are not marked, in order.
    pub fn unmarked<'l>(&'l self, marks: &'l LineMarks) -> impl Iterator<Item = u64> + 'l {
        (0u64..).zip(self.0.iter().zip(&marks.0)).flat_map(|(word, (lines, marks))| {
            let rest = lines & !marks.load(Relaxed);
            (0..64).filter(move |bit| rest >> bit & 1 == 1).map(move |bit| word * 64 + bit)
        })
    }
}

/// Marks on lines, set from any thread.
#[derive(Debug)]
pub(super) struct LineMarks(Box<[AtomicU64]>);

impl LineMarks {
    /// Marks a line; one beyond the set the marks were made for is ignored.
    pub fn set(&self, line: u64) {
        let (word, bit) = place(line);
        // Read first: most lines are marked once, and a write would take the cache line from other threads.
        if let Some(word) = self.0.get(word).filter(|word| word.load(Relaxed) & bit == 0) {
            let _ = word.fetch_or(bit, Relaxed);
        }
    }
}

fn place(line: u64) -> (usize, u64) {
    ((line / 64) as usize, 1 << (line % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unmarked_lines_come_in_order() {
        let mut lines = LineSet::default();
        for line in [2, 63, 64, 65, 1000, 2] {
            lines.insert(line);
        }
        let marks = lines.marks();
        for line in [64, 2, 2, 5000] {
            marks.set(line);
        }
        assert_eq!(lines.count(), 5);
        assert_eq!(lines.unmarked(&marks).collect::<Vec<_>>(), [63, 65, 1000]);
    }
}
