//! Finds the bytes of strings that need attention, many at a time.

const ONES: u64 = u64::MAX / 0xff;
const QUOTES: u64 = u64::from_ne_bytes([b'"'; 8]);
const BACKSLASHES: u64 = u64::from_ne_bytes([b'\\'; 8]);
const HIGHS: u64 = ONES * 0x80;

/// One bit for every byte of a line: set where it is a quote, a backslash, a control character or not ASCII.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks(Vec<u64>);

impl Marks {
    /// Marks the bytes of a line.
    pub(super) fn set(&mut self, line: &[u8]) {
        let (blocks, rest) = line.as_chunks::<64>();
        self.0.clear();
        self.0.extend(blocks.iter().map(marks));
        let mut last = [b' '; 64];
        last[..rest.len()].copy_from_slice(rest);
        self.0.push(marks(&last));
    }

    /// Where the first marked byte from `from` on stands; `end` if there is none.
    #[inline]
    pub(super) fn next(&self, from: usize, end: usize) -> usize {
        let index = from / 64;
        let word = self.0.get(index).map_or(0, |word| word >> (from % 64));
        if word != 0 {
            return from + word.trailing_zeros() as usize;
        }
        let later = self.0.get(index + 1..).unwrap_or_default();
        match later.iter().position(|word| *word != 0) {
            Some(words) => (index + 1 + words) * 64 + later[words].trailing_zeros() as usize,
            None => end,
        }
    }
}

/// Marks the bytes of a block: bit n for byte n.
///
/// Written so that compilers make it 16 comparisons at a time: every byte of a comparison's outcome keeps
/// one bit, another one in each run of eight bytes; what is left is to transpose those eight bytes as a
/// matrix of bits.
#[allow(clippy::needless_bitwise_bool, reason = "a branch would keep it from comparing many at a time")]
#[inline]
fn marks(block: &[u8; 64]) -> u64 {
    const KEPT: u128 = 0x0202_0202_0202_0202_0101_0101_0101_0101;
    let outcome = block.map(|byte| {
        let marked = (byte == b'"') | (byte == b'\\') | (byte.cast_signed() < 0x20);
        if marked { 0xff } else { 0 }
    });
    let mut columns = 0;
    for (run, bytes) in outcome.as_chunks::<16>().0.iter().enumerate() {
        columns |= u128::from_le_bytes(*bytes) & (KEPT << (2 * run));
    }
    #[allow(clippy::cast_possible_truncation, reason = "the halves are taken apart")]
    transposed(columns as u64 | (columns >> 64) as u64)
}

/// Transposes a matrix of eight by eight bits ([Hacker's Delight](https://en.wikipedia.org/wiki/Hacker%27s_Delight), 7-3).
#[inline]
fn transposed(mut matrix: u64) -> u64 {
    for (distance, half) in [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0xf0f0_f0f0)] {
        let swapped = (matrix ^ (matrix >> distance)) & half;
        matrix ^= swapped ^ (swapped << distance);
    }
    matrix
}

/// Where the next quote, backslash or control character from `from` on stands; the end if there is none.
#[inline]
pub(in crate::document) fn ordinary_run(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    // Most runs are long: whether 32 bytes hold any is asked of all of them in one step.
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<32>())
        && !holds_special(chunk)
    {
        at += chunk.len();
    }
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let stops = stops(u64::from_le_bytes(*chunk));
        if stops != 0 {
            return at + stops.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| is_special(*byte)).unwrap_or(rest.len())
}

/// Marks, with the high bit of its byte, every quote, backslash and control character of a word.
///
/// The lowest mark is exact; marks above it may be carries of the subtraction, which only ever run upwards.
#[inline]
fn stops(word: u64) -> u64 {
    let quote = word ^ QUOTES;
    let backslash = word ^ BACKSLASHES;
    let zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    (zero(quote) | zero(backslash) | control) & HIGHS
}

/// Whether a chunk holds a quote, backslash or control character.
#[inline]
fn holds_special(chunk: &[u8; 32]) -> bool {
    chunk.iter().fold(false, |found, byte| found | is_special(*byte))
}

#[allow(clippy::needless_bitwise_bool, reason = "a branch would keep it from comparing many at a time")]
#[inline]
fn is_special(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_run_ends_where_a_bytewise_search_says(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'"'), Just(b'a'), Just(0x1f), Just(0x20), Just(0xa2)], 0..40),
            from in 0usize..8,
        ) {
            let from = from.min(bytes.len());
            let expected = bytes[from..].iter().position(|byte| is_special(*byte)).map_or(bytes.len(), |n| from + n);
            prop_assert_eq!(ordinary_run(&bytes, from), expected);
        }

        #[test]
        fn exactly_the_bytes_that_need_attention_are_marked(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut line = Marks::default();
            line.set(&bytes);
            let is_marked = |byte: u8| is_special(byte) || !byte.is_ascii();
            for from in 0..bytes.len() {
                let expected = bytes[from..].iter().position(|byte| is_marked(*byte)).map_or(bytes.len(), |n| from + n);
                prop_assert_eq!(line.next(from, bytes.len()), expected);
            }
        }
    }
}
