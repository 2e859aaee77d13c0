use std::collections::BTreeMap;

/// A set of document positions as disjoint half-open ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Adds `[from, to)`, joining what touches it.
    pub fn insert(&mut self, mut from: u64, mut to: u64) {
        if from >= to {
            return;
        }
        while let Some((&start, &end)) = self.0.range(..=to).next_back() {
            if end < from {
                break;
            }
            from = from.min(start);
            to = to.max(end);
            let _ = self.0.remove(&start);
        }
        let _ = self.0.insert(from, to);
    }

    /// How many positions are in the set.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|(from, to)| to - from).sum()
    }

    /// Whether all of `[from, to)` is in the set.
    pub fn contains(&self, from: u64, to: u64) -> bool {
        from >= to || self.0.range(..=from).next_back().is_some_and(|(_, &end)| end >= to)
    }

    /// Whether any of `[from, to)` is in the set.
    pub fn overlaps(&self, from: u64, to: u64) -> bool {
        self.0.range(..to).next_back().is_some_and(|(_, &end)| end > from && from < to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranges_answer_like_a_set_of_positions(
            ranges in prop::collection::vec((0_u64..60, 0_u64..20), 0..20),
            probe in (0_u64..60, 0_u64..20),
        ) {
            let mut set = Ranges::default();
            let mut model = std::collections::BTreeSet::new();
            for (from, length) in ranges {
                set.insert(from, from + length);
                model.extend(from..from + length);
            }
            prop_assert_eq!(set.count(), model.len() as u64);
            let (from, to) = (probe.0, probe.0 + probe.1);
            prop_assert_eq!(set.contains(from, to), (from..to).all(|p| model.contains(&p)));
            prop_assert_eq!(set.overlaps(from, to), (from..to).any(|p| model.contains(&p)));
        }
    }
}
