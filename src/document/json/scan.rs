//! Finds the bytes of a string that need attention, eight at a time.

const ONES: u64 = u64::MAX / 0xff;
const HIGHS: u64 = ONES * 0x80;

/// How far a run of ordinary string bytes goes.
#[derive(Clone, Copy, Debug)]
pub(in crate::document) struct Run {
    /// Where the next quote, backslash or control character stands; the end of the bytes if there is none.
    pub end: usize,
    /// Whether a byte above 0x7f was seen on the way or close behind.
    pub beyond_ascii: bool,
}

/// Measures the run of bytes from `from` that need no escape and end no string.
#[inline]
pub(in crate::document) fn ordinary_run(bytes: &[u8], from: usize) -> Run {
    let mut at = from;
    let mut seen = 0;
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        let stops = stops(word);
        seen |= word;
        if stops != 0 {
            let end = at + stops.trailing_zeros() as usize / 8;
            return Run { end, beyond_ascii: seen & HIGHS != 0 };
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    let length = rest.iter().position(|byte| is_special(*byte)).unwrap_or(rest.len());
    let tail = rest.get(..length).unwrap_or_default();
    Run { end: at + length, beyond_ascii: seen & HIGHS != 0 || !tail.is_ascii() }
}

/// Marks, with the high bit of its byte, every quote, backslash and control character of a word.
///
/// The lowest mark is exact; marks above it may be carries of the subtraction, which only ever run upwards.
#[inline]
fn stops(word: u64) -> u64 {
    let quote = word ^ (ONES * b'"' as u64);
    let backslash = word ^ (ONES * b'\\' as u64);
    let zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    (zero(quote) | zero(backslash) | control) & HIGHS
}

fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
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
            let run = ordinary_run(&bytes, from);
            let expected = bytes[from..].iter().position(|byte| is_special(*byte)).map_or(bytes.len(), |n| from + n);
            prop_assert_eq!(run.end, expected);
            prop_assert!(run.beyond_ascii || bytes[from..run.end].is_ascii());
        }
    }
}
