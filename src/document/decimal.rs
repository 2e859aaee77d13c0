//! Decimal numbers by value, of any length and exponent, without floating point.

/// The largest number of exponent digits that is reckoned with; longer ones keep their text.
const EXPONENT_DIGITS: usize = 30;
/// Numbers are written without an exponent while they need at most this many digits, as DynamoDB's 38.
const PLAIN_DIGITS: usize = 40;

/// Whether a text is an integer in the form that [`Decimal::write`] gives it.
pub(super) fn is_plain_integer(text: &[u8]) -> bool {
    match text.strip_prefix(b"-").unwrap_or(text) {
        [b'0'] => text.len() == 1,
        digits @ [b'1'..=b'9', ..] => digits.len() <= PLAIN_DIGITS && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// A decimal number: `0.DIGITS × 10^point`, with neither leading nor trailing zeros among the digits.
///
/// Borrowed from its text, whatever the size of its exponent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decimal<'a> {
    negative: bool,
    /// The digits before and behind the decimal point of the text; empty for zero.
    head: &'a [u8],
    tail: &'a [u8],
    point: i128,
}

impl<'a> Decimal<'a> {
    /// Reads a decimal text: a sign, digits with or without a decimal point, an exponent.
    ///
    /// More is read than JSON allows (`007`, `+1`, `.5`, `1.`). `None` if the text is no such number or
    /// its exponent has more than 30 digits.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let (negative, rest) = sign(text.as_bytes());
        let (mantissa, exponent) = match rest.iter().position(|byte| matches!(byte, b'e' | b'E')) {
            Some(at) => (&rest[..at], exponent(&rest[at + 1..])?),
            None => (rest, 0),
        };
        let (head, tail) = match memchr::memchr(b'.', mantissa) {
            Some(at) => (&mantissa[..at], &mantissa[at + 1..]),
            None => (mantissa, &mantissa[..0]),
        };
        let digits = head.iter().chain(tail);
        if (head.is_empty() && tail.is_empty()) || !digits.clone().all(u8::is_ascii_digit) {
            return None;
        }
        Some(Self { negative, head, tail, point: exponent + length(head) }.trimmed())
    }

    /// Takes the zeros off both ends.
    fn trimmed(mut self) -> Self {
        let head = trim_start(self.head);
        self.point -= length(self.head) - length(head);
        self.head = head;
        if self.head.is_empty() {
            let tail = trim_start(self.tail);
            self.point -= length(self.tail) - length(tail);
            self.tail = tail;
        }
        self.tail = trim_end(self.tail);
        if self.tail.is_empty() {
            self.head = trim_end(self.head);
        }
        if self.is_zero() {
            self.point = 0;
        }
        self
    }

    /// Whether the number is zero, of either sign.
    pub(crate) fn is_zero(&self) -> bool {
        self.head.is_empty() && self.tail.is_empty()
    }

    /// The digits, without zeros at either end; none for zero.
    pub(crate) fn digits(&self) -> impl Iterator<Item = u8> {
        self.head.iter().chain(self.tail).copied()
    }

    /// How many digits the number has, without zeros at either end.
    pub(crate) fn significant_digits(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    /// The power of ten of the place before the first significant digit: 1 for 7, 0 for 0.7.
    pub(crate) fn point(&self) -> i128 {
        self.point
    }

    /// Whether the number has a minus sign.
    pub(crate) fn is_negative(&self) -> bool {
        self.negative
    }

    /// The number without its minus sign if it is zero.
    pub(crate) fn unsigned_zero(mut self) -> Self {
        self.negative &= !self.is_zero();
        self
    }

    /// The number as an integer, if it is one and fits.
    pub(crate) fn to_integer(self) -> Option<i64> {
        let zeros = self.point - length(self.head) - length(self.tail);
        if self.is_zero() {
            return Some(0);
        }
        if zeros < 0 || self.point > 19 {
            return None;
        }
        let zeros = std::iter::repeat_n(&b'0', usize::try_from(zeros).ok()?);
        let magnitude =
            self.head.iter().chain(self.tail).chain(zeros).try_fold(0_i128, |value, digit| {
                value.checked_mul(10)?.checked_add(i128::from(digit - b'0'))
            })?;
        i64::try_from(if self.negative { -magnitude } else { magnitude }).ok()
    }

    /// Appends the number in the one form that all texts of this value share.
    ///
    /// The form is itself a JSON number of exactly this value, so that two values never share one: `120`,
    /// `-0.5`, and with an integer mantissa where that would need more than 40 digits (`12e400`).
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        if self.negative {
            out.push(b'-');
        }
        let digits = length(self.head) + length(self.tail);
        let plain = i128::try_from(PLAIN_DIGITS).unwrap_or(i128::MAX);
        if self.is_zero() {
            out.push(b'0');
        } else if self.point > plain || digits - self.point > plain {
            self.write_digits(out);
            out.push(b'e');
            out.extend_from_slice((self.point - digits).to_string().as_bytes());
        } else if self.point >= digits {
            self.write_digits(out);
            push_zeros(self.point - digits, out);
        } else {
            self.write_fraction(out);
        }
    }

    fn write_fraction(&self, out: &mut Vec<u8>) {
        if self.point <= 0 {
            out.extend_from_slice(b"0.");
            push_zeros(-self.point, out);
            return self.write_digits(out);
        }
        let start = out.len();
        self.write_digits(out);
        let point = start + usize::try_from(self.point).unwrap_or_default();
        out.insert(point, b'.');
    }

    fn write_digits(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.head);
        out.extend_from_slice(self.tail);
    }
}

fn sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] | rest => (false, rest),
    }
}

fn exponent(text: &[u8]) -> Option<i128> {
    let (negative, digits) = sign(text);
    let significant = trim_start(digits);
    if digits.is_empty() || significant.len() > EXPONENT_DIGITS || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = significant.iter().fold(0, |value, digit| value * 10 + i128::from(digit - b'0'));
    Some(if negative { -value } else { value })
}

fn trim_start(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    &digits[zeros..]
}

fn trim_end(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().rev().take_while(|digit| **digit == b'0').count();
    &digits[..digits.len() - zeros]
}

fn push_zeros(count: i128, out: &mut Vec<u8>) {
    out.resize(out.len() + usize::try_from(count).unwrap_or_default(), b'0');
}

/// A slice's length, in the type that exponents are reckoned in.
fn length(digits: &[u8]) -> i128 {
    i128::try_from(digits.len()).unwrap_or(i128::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn normal(text: &str) -> String {
        let mut out = Vec::new();
        Decimal::parse(text).unwrap_or_else(|| panic!("{text}")).write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn texts_of_one_value_share_one_form() {
        for (form, texts) in [
            ("1.5", &["1.5", "1.50", "01.5", "15e-1", "0.15E+1", "+1.5"][..]),
            ("100", &["100", "1E+2", "1e2", "100.0", "1000e-1", "0.001e5"]),
            ("0", &["0", "0.0", "0e99", ".0", "0."]),
            ("-0", &["-0", "-0.0", "-0e-5"]),
            ("-0.05", &["-0.05", "-5e-2", "-.050"]),
            ("1e999999999", &["1e999999999", "10E999999998", "0.1e1000000000"]),
            ("1e-130", &["1E-130", "0.1e-129"]),
            ("9007199254740993", &["9007199254740993", "9007199254740993.0"]),
        ] {
            for text in texts {
                assert_eq!(normal(text), form, "{text}");
            }
        }
    }

    #[test]
    fn a_text_that_is_no_number_is_none() {
        for text in ["", "-", ".", "e1", "1e", "1e+", "1x", "0x1", "1.2.3", "NaN", " 1", "1_0"] {
            assert!(Decimal::parse(text).is_none(), "{text}");
        }
        assert!(Decimal::parse(&format!("1e{}", "9".repeat(31))).is_none());
    }

    #[test]
    fn integers_are_exact_to_the_limits() {
        let integer = |text| Decimal::parse(text).unwrap().to_integer();
        assert_eq!(integer("9223372036854775807"), Some(i64::MAX));
        assert_eq!(integer("-9.223372036854775808E18"), Some(i64::MIN));
        assert_eq!(integer("9223372036854775808"), None);
        assert_eq!(integer("1.5"), None);
        assert_eq!(integer("1e999999999"), None);
        assert_eq!(integer("-0"), Some(0));
    }

    proptest! {
        #[test]
        fn the_form_is_a_fixed_point_of_the_same_value(text in "-?[0-9]{1,20}(\\.[0-9]{1,20})?(e[+-]?[0-9]{1,3})?") {
            let form = normal(&text);
            prop_assert_eq!(normal(&form), form.clone());
            let integer = form.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
            prop_assert_eq!(is_plain_integer(form.as_bytes()), integer && form != "-0");
            prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), form.parse::<f64>().unwrap().to_bits());
        }
    }
}
