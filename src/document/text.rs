//! JSON strings: from their quoted form to their text and back.

use std::borrow::Cow;

use super::json::scan::ordinary_run;

/// Decodes a JSON string given with its quotes; it must already be validated, as every string of a tape is.
pub fn unescape(quoted: &[u8]) -> Cow<'_, str> {
    let inner = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
    let Some(first) = memchr::memchr(b'\\', inner) else { return as_text(inner) };
    let mut text = Vec::with_capacity(inner.len());
    let mut at = first;
    text.extend_from_slice(&inner[..first]);
    while let Some(byte) = inner.get(at) {
        if *byte == b'\\' {
            at += decode_escape(&inner[at..], &mut text);
        } else {
            let run = memchr::memchr(b'\\', &inner[at..]).unwrap_or(inner.len() - at);
            text.extend_from_slice(&inner[at..at + run]);
            at += run;
        }
    }
    match String::from_utf8(text) {
        Ok(text) => Cow::Owned(text),
        Err(error) => Cow::Owned(String::from_utf8_lossy(error.as_bytes()).into_owned()),
    }
}

/// The text of bytes that are UTF-8, as those of a tape's line are; checked all the same, at full speed.
fn as_text(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// Appends the character that the escape at the beginning of `from` stands for; tells the escape's length.
fn decode_escape(from: &[u8], text: &mut Vec<u8>) -> usize {
    let simple = match from.get(1) {
        Some(b'b') => 0x08,
        Some(b'f') => 0x0c,
        Some(b'n') => b'\n',
        Some(b'r') => b'\r',
        Some(b't') => b'\t',
        Some(b'u') => return decode_unicode_escape(from, text),
        Some(other) => *other,
        None => return 1,
    };
    text.push(simple);
    2
}

fn decode_unicode_escape(from: &[u8], text: &mut Vec<u8>) -> usize {
    let unit = code_unit(from);
    let (character, length) = if (0xd800..0xdc00).contains(&unit) {
        let low = code_unit(from.get(6..).unwrap_or_default());
        (char::from_u32(0x1_0000 + ((unit - 0xd800) << 10) + (low.wrapping_sub(0xdc00) & 0x3ff)), 12)
    } else {
        (char::from_u32(unit), 6)
    };
    let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
    text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    length
}

/// The UTF-16 unit of the `\uXXXX` at the beginning of `from`.
fn code_unit(from: &[u8]) -> u32 {
    let digits = from.get(2..6).unwrap_or_default();
    digits.iter().fold(0, |unit, digit| unit << 4 | char::from(*digit).to_digit(16).unwrap_or(0))
}

/// Appends `text` as a JSON string in its canonical form.
///
/// `\"`, `\\`, `\b`, `\f`, `\n`, `\r` and `\t` have their short escapes, other control characters are
/// `\u00xx` with lower-case digits, and everything else stands as it is.
pub fn write_quoted(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    out.push(b'"');
    let mut at = 0;
    loop {
        let end = ordinary_run(bytes, at);
        out.extend_from_slice(&bytes[at..end]);
        let Some(byte) = bytes.get(end) else { break };
        write_escape(*byte, out);
        at = end + 1;
    }
    out.push(b'"');
}

/// Appends the canonical escape of a quote, backslash or control character.
fn write_escape(byte: u8, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        0x0c => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        _ => {
            out.extend_from_slice(b"\\u00");
            out.extend([HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
            return;
        }
    };
    out.extend([b'\\', short]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn quoted(text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        write_quoted(text, &mut out);
        out
    }

    #[test]
    fn every_escape_is_decoded() {
        assert_eq!(
            unescape(br#""a\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00z""#),
            "a\"\\/\u{8}\u{c}\n\r\tAé😀z"
        );
        assert_eq!(unescape(b"\"\""), "");
    }

    #[test]
    fn a_string_without_escapes_is_borrowed() {
        assert!(matches!(unescape("\"Zażółć\"".as_bytes()), Cow::Borrowed("Zażółć")));
    }

    #[test]
    fn text_is_quoted_in_its_canonical_form() {
        assert_eq!(quoted("\u{0}\u{1f}\u{7f}/é\"\\\n"), "\"\\u0000\\u001f\u{7f}/é\\\"\\\\\\n\"".as_bytes());
    }

    proptest! {
        #[test]
        fn quoting_agrees_with_serde_json(text in ".*") {
            prop_assert_eq!(quoted(&text), serde_json::to_vec(&text).unwrap());
        }

        #[test]
        fn what_is_quoted_is_decoded_to_itself(text in any::<String>()) {
            let quoted = quoted(&text);
            prop_assert_eq!(unescape(&quoted), text);
        }
    }
}
