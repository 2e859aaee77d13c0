//! Base64 as the stores' JSON forms spell it.

use base64::Engine as _;
use base64::alphabet::{Alphabet, STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

const STANDARD_TEXT: GeneralPurpose = engine(&STANDARD);
const URL_SAFE_TEXT: GeneralPurpose = engine(&URL_SAFE);

const fn engine(alphabet: &Alphabet) -> GeneralPurpose {
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    GeneralPurpose::new(alphabet, config)
}

/// Decodes base64 text of either alphabet, with or without its padding.
///
/// `None` if it is no such text, or one whose last character holds bits that no byte takes up.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let url_safe = text.bytes().any(|byte| matches!(byte, b'-' | b'_'));
    if url_safe { &URL_SAFE_TEXT } else { &STANDARD_TEXT }.decode(text).ok()
}

/// Encodes bytes in the standard alphabet, with padding.
pub(crate) fn encode(bytes: &[u8]) -> String {
    STANDARD_TEXT.encode(bytes)
}

/// Appends bytes in the standard alphabet, with padding.
pub(crate) fn append(bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    let length = bytes.len().div_ceil(3) * 4;
    out.resize(start + length, 0);
    // It is as long as it has to be.
    let _written = STANDARD_TEXT.encode_slice(bytes, out.get_mut(start..).unwrap_or_default());
}

/// How many bytes base64 text stands for.
pub(super) fn decoded_len(text: &str) -> usize {
    text.trim_end_matches('=').len() * 3 / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_alphabets_are_read_with_and_without_padding() {
        for text in ["+/8=", "+/8", "-_8=", "-_8"] {
            assert_eq!(decode(text).as_deref(), Some(&[0xfb, 0xff][..]), "{text}");
            assert_eq!(decoded_len(text), 2);
        }
        assert_eq!(encode(&[0xfb, 0xff]), "+/8=");
        let mut out = b"x".to_vec();
        append(&[0xfb, 0xff], &mut out);
        assert_eq!(out, b"x+/8=");
        assert_eq!(decode(""), Some(Vec::new()));
    }

    #[test]
    fn text_that_is_not_base64_is_refused() {
        for text in ["+_8=", "A", "AB==\n", "AB==", "{}", "A=A="] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
