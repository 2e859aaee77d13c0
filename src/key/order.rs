//! Byte strings that sort as (stream fields, version, store key).
//!
//! ```text
//! text 00 00 | text 00 00 | 01 version (8 bytes, big-endian, sign flipped) | store key
//! ```
//!
//! A zero byte inside a text is `00 FF`, so that a text ends before it goes on and no two different tuples
//! give the same bytes. No version is `00` and sorts before every version.

const END: [u8; 2] = [0, 0];
const ZERO: [u8; 2] = [0, 0xFF];

/// Appends a text of the stream key.
pub(crate) fn write_text(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = memchr::memchr(0, rest) {
        let (plain, zero) = rest.split_at(at);
        out.extend_from_slice(plain);
        out.extend_from_slice(&ZERO);
        rest = zero.get(1..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out.extend_from_slice(&END);
}

/// Appends a version.
pub(crate) fn write_version(version: Option<i64>, out: &mut Vec<u8>) {
    match version {
        None => out.push(0),
        Some(version) => {
            out.push(1);
            out.extend_from_slice(&(version ^ i64::MIN).to_be_bytes());
        }
    }
}

/// The version in what follows the stream in an order key.
pub fn version_of(after_stream: &[u8]) -> Option<i64> {
    match after_stream.split_first()? {
        (1, rest) => Some(i64::from_be_bytes(*rest.first_chunk()?) ^ i64::MIN),
        _ => None,
    }
}

/// The length of the first `texts` texts of an order key: the part that identifies the stream.
pub(crate) fn stream_len(key: &[u8], texts: usize) -> usize {
    let mut len = 0;
    for _ in 0..texts {
        loop {
            let rest = key.get(len..).unwrap_or_default();
            let Some(at) = memchr::memchr(0, rest) else { return key.len() };
            len = (len + at + 2).min(key.len());
            if rest.get(at + 1) != Some(&ZERO[1]) {
                break;
            }
        }
    }
    len
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    type Tuple = (Vec<Vec<u8>>, Option<i64>, Vec<u8>);

    fn encode((texts, version, store_key): &Tuple) -> Vec<u8> {
        let mut out = Vec::new();
        for text in texts {
            write_text(text, &mut out);
        }
        write_version(*version, &mut out);
        out.extend_from_slice(store_key);
        out
    }

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        vec(prop_oneof![Just(0), Just(1), Just(0xFF), Just(b'a'), any::<u8>()], 0..5)
    }

    fn tuple() -> impl Strategy<Value = Tuple> {
        let version = prop_oneof![Just(None), (-2..12_i64).prop_map(Some), any::<i64>().prop_map(Some)];
        (vec(bytes(), 2..=2), version, bytes())
    }

    #[test]
    fn ten_comes_after_nine_and_no_version_before_all() {
        let key = |version| encode(&(vec![b"s".to_vec()], version, vec![]));
        let versions = [None, Some(i64::MIN), Some(-1), Some(0), Some(9), Some(10), Some(i64::MAX)];
        assert!(versions.map(key).is_sorted_by(|a, b| a < b));
    }

    proptest! {
        #[test]
        fn order_keys_compare_as_the_tuples_do(a in tuple(), b in tuple()) {
            prop_assert_eq!(encode(&a).cmp(&encode(&b)), a.cmp(&b));
        }

        #[test]
        fn the_stream_part_is_found_again(tuple in tuple()) {
            let mut stream = Vec::new();
            for text in &tuple.0 {
                write_text(text, &mut stream);
            }
            prop_assert_eq!(stream_len(&encode(&tuple), 2), stream.len());
        }
    }
}
