//! A set of line numbers, one bit a line: small even for millions of rows.

#[derive(Clone, Debug, Default)]
pub(super) struct LineSet(Vec<u64>);

impl LineSet {
    /// Adds a line.
    pub fn insert(&mut self, line: u64) {
        let (word, bit) = Self::place(line);
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= bit;
    }

    /// How many lines there are.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// The lines that are not in `other`, in order.
    pub fn without<'l>(&'l self, other: &'l Self) -> impl Iterator<Item = u64> + 'l {
        (0u64..).zip(&self.0).flat_map(move |(word, bits)| {
            let taken = usize::try_from(word).ok().and_then(|word| other.0.get(word)).unwrap_or(&0);
            let rest = bits & !taken;
            (0..64).filter(move |bit| rest >> bit & 1 == 1).map(move |bit| word * 64 + bit)
        })
    }

    fn place(line: u64) -> (usize, u64) {
        ((line / 64) as usize, 1 << (line % 64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(lines: &[u64]) -> LineSet {
        let mut set = LineSet::default();
        for line in lines {
            set.insert(*line);
        }
        set
    }

    #[test]
    fn the_difference_is_in_order_whatever_the_sizes() {
        let (all, some) = (set(&[2, 63, 64, 65, 1000, 2]), set(&[64, 2]));
        assert_eq!(all.count(), 5);
        assert_eq!(all.without(&some).collect::<Vec<_>>(), [63, 65, 1000]);
        assert_eq!(some.without(&all).count(), 0);
    }
}
