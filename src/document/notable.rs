//! What a document holds that a store keeps as it is and somebody should know of.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::json::{Kind, Member, Tape};

/// Beyond this a double, and so JavaScript and Cosmos DB, no longer holds every integer.
const LARGEST_EXACT: u128 = 1 << 53;

/// Whether a plain JSON document holds an integer beyond ±2^53.
pub fn has_large_integer(tape: &Tape, line: &[u8]) -> bool {
    has_large_integer_in(tape, line, None)
}

fn has_large_integer_in(tape: &Tape, line: &[u8], of: Option<&Member>) -> bool {
    tape.members(of).any(|member| match member.kind {
        Kind::Number => is_large(member.raw(line)),
        Kind::Object | Kind::Array => has_large_integer_in(tape, line, Some(member)),
        _ => false,
    })
}

fn is_large(number: &[u8]) -> bool {
    let digits = number.strip_prefix(b"-").unwrap_or(number);
    // Sixteen digits are the fewest that it takes; with a point or an exponent it is no integer as it stands.
    if digits.len() < 16 || !digits.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let value = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<u128>().ok());
    value.is_none_or(|value| value > LARGEST_EXACT)
}

/// Whether a Firestore document refers to another one. Within a string the quotes would be escaped.
pub fn has_reference(line: &[u8]) -> bool {
    static NAME: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"referenceValue\""));
    NAME.find_iter(line).any(|at| {
        let after = line.get(at + NAME.needle().len()..).unwrap_or_default();
        after.trim_ascii_start().starts_with(b":")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn large(line: &str) -> bool {
        let mut tape = Tape::new();
        tape.read(line.as_bytes()).unwrap();
        has_large_integer(&tape, line.as_bytes())
    }

    #[test]
    fn integers_that_a_double_does_not_hold_are_found_wherever_they_stand() {
        assert!(large(r#"{"a":9007199254740993}"#));
        assert!(large(r#"{"a":[{"b":-9007199254740993}]}"#));
        assert!(large(r#"{"a":99999999999999999999999999999999999999999999}"#));
        for exact in [
            "9007199254740992",
            "-9007199254740992",
            "1e300",
            "0.12345678901234567890",
            "\"9007199254740993\"",
        ] {
            assert!(!large(&format!("{{\"a\":{exact}}}")), "{exact}");
        }
    }

    #[test]
    fn a_reference_is_told_from_a_text_about_one() {
        assert!(has_reference(
            br#"{"fields":{"a":{"referenceValue" : "projects/p/databases/d/documents/c/x"}}}"#
        ));
        assert!(!has_reference(br#"{"fields":{"a":{"stringValue":"{\"referenceValue\":\"x\"}"}}}"#));
        assert!(!has_reference(br#"{"fields":{"a":{"stringValue":"referenceValue"}}}"#));
    }
}
