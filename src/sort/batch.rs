//! Rows in memory, sorted without moving them.

/// What one row costs besides its key and payload: its index entry and the payload's length.
pub(super) const ROW_OVERHEAD: usize = size_of::<Entry>() + LENGTH;
/// The bytes of the payload's length in front of each row.
const LENGTH: usize = size_of::<u32>();
/// The key bytes that one pass of the sort compares as one integer.
const DIGIT: usize = size_of::<u64>();
/// Groups this small are sorted by comparing whole keys.
const SMALL: usize = 24;
/// Keys that agree in so many bytes are sorted by comparing whole keys, which bounds the recursion.
const DEEPEST: usize = 64 * DIGIT;

/// Where a row stands in the arena, and the eight key bytes that the sort looks at.
#[derive(Clone, Copy, Debug)]
struct Entry {
    digit: u64,
    offset: u32,
    key_len: u32,
}

/// Rows in the order they came, then sorted. One buffer holds all bytes, so a row costs no allocation.
#[derive(Debug, Default)]
pub(super) struct Batch {
    arena: Vec<u8>,
    index: Vec<Entry>,
    unsorted: bool,
}

impl Batch {
    /// The bytes in use: keys, payloads and index.
    pub(super) fn bytes(&self) -> usize {
        self.arena.len() + self.index.len() * size_of::<Entry>()
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    /// Appends a row; `false` if the batch cannot address it any more and must be emptied first.
    pub(super) fn push(&mut self, key: &[u8], payload: &[u8]) -> bool {
        let (Ok(offset), Ok(key_len), Ok(payload_len)) =
            (u32::try_from(self.arena.len()), u32::try_from(key.len()), u32::try_from(payload.len()))
        else {
            return false;
        };
        if !self.unsorted {
            self.unsorted = self.index.last().is_some_and(|last| self.key(last) > key);
        }
        self.arena.extend_from_slice(&payload_len.to_le_bytes());
        self.arena.extend_from_slice(key);
        self.arena.extend_from_slice(payload);
        self.index.push(Entry { digit: 0, offset, key_len });
        true
    }

    /// Sorts the rows by key; rows with one key keep their order. Rows that came sorted are left alone.
    pub(super) fn sort(&mut self) {
        if std::mem::take(&mut self.unsorted) {
            sort_from(&self.arena, &mut self.index, 0);
        }
    }

    /// The key and payload of the row at `position`.
    pub(super) fn get(&self, position: usize) -> Option<(&[u8], &[u8])> {
        let entry = self.index.get(position)?;
        let start = entry.offset as usize;
        let (length, rest) = self.arena.get(start..)?.split_first_chunk::<LENGTH>()?;
        let (key, rest) = rest.split_at_checked(entry.key_len as usize)?;
        Some((key, rest.get(..u32::from_le_bytes(*length) as usize)?))
    }

    /// Forgets every row and keeps the buffers.
    pub(super) fn clear(&mut self) {
        self.arena.clear();
        self.index.clear();
        self.unsorted = false;
    }

    fn key(&self, entry: &Entry) -> &[u8] {
        key_from(&self.arena, entry, 0)
    }
}

/// Sorts entries whose keys agree in their first `depth` bytes.
///
/// Each pass sorts by the next eight key bytes held in the entry itself, so that it touches no row; what
/// those bytes leave undecided is sorted by the eight after them. Positions in the arena break ties, which
/// makes the unstable sort stable.
fn sort_from(arena: &[u8], entries: &mut [Entry], depth: usize) {
    if entries.len() <= SMALL || depth >= DEEPEST {
        entries.sort_unstable_by(|a, b| {
            key_from(arena, a, depth).cmp(key_from(arena, b, depth)).then(a.offset.cmp(&b.offset))
        });
        return;
    }
    for entry in &mut *entries {
        entry.digit = digit(key_from(arena, entry, depth));
    }
    entries.sort_unstable_by_key(|entry| (entry.digit, compared(entry, depth), entry.offset));
    let same = |a: &Entry, b: &Entry| a.digit == b.digit && compared(a, depth) == compared(b, depth);
    for group in entries.chunk_by_mut(same) {
        let undecided = group.first().is_some_and(|entry| compared(entry, depth) > DIGIT);
        if undecided && group.len() > 1 {
            sort_from(arena, group, depth + DIGIT);
        }
    }
}

/// The rest of a row's key after `depth` bytes.
fn key_from<'a>(arena: &'a [u8], entry: &Entry, depth: usize) -> &'a [u8] {
    let start = entry.offset as usize + LENGTH;
    arena.get(start + depth.min(entry.key_len as usize)..start + entry.key_len as usize).unwrap_or_default()
}

/// The first eight bytes as a number that has their order; missing bytes count as zero.
fn digit(key: &[u8]) -> u64 {
    match key.first_chunk() {
        Some(whole) => u64::from_be_bytes(*whole),
        None => key.iter().fold(0, |digit, byte| digit << 8 | u64::from(*byte)) << missing_bits(key.len()),
    }
}

/// How far a digit of `bytes` bytes is shifted; an empty one is zero however far.
fn missing_bits(bytes: usize) -> u32 {
    u32::try_from(8 * DIGIT.saturating_sub(bytes)).unwrap_or(0).min(u64::BITS - 1)
}

/// How many of the digit's bytes the key has; more than [`DIGIT`] when the key goes on. A key that ends
/// within the digit comes before one that goes on with zero bytes.
fn compared(entry: &Entry, depth: usize) -> usize {
    (entry.key_len as usize).saturating_sub(depth).min(DIGIT + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sorted(rows: &[(Vec<u8>, u32)]) -> Vec<(Vec<u8>, u32)> {
        let mut batch = Batch::default();
        for (key, number) in rows {
            assert!(batch.push(key, &number.to_le_bytes()));
        }
        batch.sort();
        let number = |payload: &[u8]| u32::from_le_bytes(payload.try_into().unwrap());
        (0..batch.len())
            .map(|at| batch.get(at).map(|(key, payload)| (key.to_vec(), number(payload))).unwrap())
            .collect()
    }

    proptest! {
        #[test]
        fn rows_sort_like_a_stable_sort_of_their_keys(
            keys in prop::collection::vec(prop::collection::vec(prop::sample::select(vec![0u8, 1, b'a', 255]), 0..40), 0..400)
        ) {
            let rows: Vec<_> = keys.into_iter().zip(0..).collect();
            let mut expected = rows.clone();
            expected.sort_by(|a, b| a.0.cmp(&b.0));
            prop_assert_eq!(sorted(&rows), expected);
        }
    }

    #[test]
    fn long_common_beginnings_do_not_recurse_without_bound() {
        let long = vec![b'x'; 100_000];
        let rows: Vec<_> = (0..100u8).map(|at| ([&long[..], &[200 - at]].concat(), u32::from(at))).collect();
        let keys: Vec<_> = sorted(&rows).into_iter().map(|row| row.1).collect();
        assert_eq!(keys, (0..100).rev().collect::<Vec<_>>());
    }

    #[test]
    fn the_cost_of_a_row_is_what_the_documentation_says() {
        let mut batch = Batch::default();
        assert!(batch.push(b"key", b"payload"));
        assert_eq!(batch.bytes(), 3 + 7 + ROW_OVERHEAD);
    }
}
