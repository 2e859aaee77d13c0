//! `Decimal128` as text and back, exactly
//! ([BSON Decimal128](https://github.com/mongodb/specifications/blob/master/source/bson-decimal128/decimal128.md)).

use std::io::Write as _;

/// The greatest coefficient: 34 digits.
const GREATEST: u128 = 10_u128.pow(34) - 1;
const SIGN: u128 = 1 << 127;
const INFINITY: u128 = 0x7800 << 112;
const NAN: u128 = 0x7c00 << 112;
const COEFFICIENT_BITS: u32 = 113;
const BIAS: i32 = 6176;
const LEAST_EXPONENT: i32 = -6176;
const GREATEST_EXPONENT: i32 = 6111;

/// Appends the text of a value; `false` for one that no text stands for: a NaN with a sign or a payload, and
/// every form that is not the canonical one of its value.
pub(super) fn write(value: [u8; 16], out: &mut Vec<u8>) -> bool {
    let bits = u128::from_le_bytes(value);
    let (sign, magnitude) = (bits & SIGN != 0, bits & !SIGN);
    if bits == NAN {
        out.extend_from_slice(b"NaN");
        return true;
    }
    if sign {
        out.push(b'-');
    }
    if magnitude == INFINITY {
        out.extend_from_slice(b"Infinity");
        return true;
    }
    let coefficient = magnitude & ((1 << COEFFICIENT_BITS) - 1);
    // The two highest bits together mark infinities, NaNs and coefficients that are too large.
    if magnitude >> 125 == 3 || coefficient > GREATEST {
        return false;
    }
    let Ok(exponent) = i32::try_from(magnitude >> COEFFICIENT_BITS) else { return false };
    write_finite(coefficient, exponent - BIAS, out);
    true
}

/// Appends digits and exponent, as an ordinary number where the specification asks for that.
fn write_finite(coefficient: u128, exponent: i32, out: &mut Vec<u8>) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(coefficient).as_bytes();
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let adjusted = exponent + count - 1;
    if exponent > 0 || adjusted < -6 {
        let (first, rest) = digits.split_at_checked(1).unwrap_or((digits, &[]));
        out.extend_from_slice(first);
        if !rest.is_empty() {
            out.push(b'.');
            out.extend_from_slice(rest);
        }
        // A vector takes whatever is written to it.
        let _ = write!(out, "E{adjusted:+}");
        return;
    }
    let point = usize::try_from(count + exponent).unwrap_or(0);
    match digits.split_at_checked(point) {
        Some((whole, [])) => out.extend_from_slice(whole),
        Some((whole, part)) => {
            out.extend_from_slice(if whole.is_empty() { b"0" } else { whole });
            out.push(b'.');
            out.extend(std::iter::repeat_n(b'0', usize::try_from(-exponent).unwrap_or(0) - part.len()));
            out.extend_from_slice(part);
        }
        None => out.extend_from_slice(digits),
    }
}

/// Reads a text; `None` if it is no decimal, or one that has more digits or another exponent than fits.
pub(super) fn parse(text: &str) -> Option<[u8; 16]> {
    let (sign, magnitude) = match text.strip_prefix('-') {
        Some(magnitude) => (SIGN, magnitude),
        None => (0, text.strip_prefix('+').unwrap_or(text)),
    };
    let bits = match magnitude {
        "Infinity" => sign | INFINITY,
        "NaN" if sign == 0 => NAN,
        _ => sign | parse_finite(magnitude)?,
    };
    Some(bits.to_le_bytes())
}

fn parse_finite(text: &str) -> Option<u128> {
    let (digits, exponent) = match text.split_once(['E', 'e']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let all = || whole.bytes().chain(part.bytes());
    if all().next().is_none() || !all().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let mut coefficient = 0_u128;
    for digit in all() {
        coefficient = coefficient.checked_mul(10)?.checked_add(u128::from(digit - b'0'))?;
        if coefficient > GREATEST {
            return None;
        }
    }
    fit(coefficient, exponent.checked_sub(i32::try_from(part.len()).ok()?)?)
}

/// Brings the exponent into its range where that loses no digit.
fn fit(mut coefficient: u128, mut exponent: i32) -> Option<u128> {
    if coefficient == 0 {
        exponent = exponent.clamp(LEAST_EXPONENT, GREATEST_EXPONENT);
    }
    while exponent > GREATEST_EXPONENT {
        coefficient = coefficient.checked_mul(10).filter(|it| *it <= GREATEST)?;
        exponent -= 1;
    }
    while exponent < LEAST_EXPONENT {
        if !coefficient.is_multiple_of(10) {
            return None;
        }
        coefficient /= 10;
        exponent += 1;
    }
    let biased = u128::try_from(exponent + BIAS).ok()?;
    Some(biased << COEFFICIENT_BITS | coefficient)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(value: [u8; 16]) -> Option<String> {
        let mut out = Vec::new();
        write(value, &mut out).then(|| String::from_utf8(out).unwrap())
    }

    #[test]
    fn texts_are_those_of_the_specification() {
        for expected in [
            "0",
            "-0",
            "1",
            "-1",
            "12345678901234567",
            "0.001234",
            "1.000000000000000000000000000000000",
            "9.999999999999999999999999999999999E+6144",
            "1E-6176",
            "0E-10",
            "-0E+3",
            "1E+6111",
            "1E-7",
            "0.000001",
            "10",
            "0.00",
            "Infinity",
            "-Infinity",
            "NaN",
            "1.23E+5",
            "0E-6176",
            "0E+6111",
        ] {
            let value = parse(expected).unwrap();
            assert_eq!(text(value).as_deref(), Some(expected));
        }
    }

    #[test]
    fn other_spellings_are_read_and_what_does_not_fit_is_not() {
        for (other, same) in
            [("+1", "1"), ("1e+1", "1E+1"), (".5", "0.5"), ("1E6112", "1.0E+6112"), ("10E-6177", "1E-6176")]
        {
            assert_eq!(parse(other), parse(same), "{other}");
        }
        for wrong in [
            "",
            "-",
            "E1",
            ".",
            "1E",
            "1E6145",
            "1E-6177",
            "-NaN",
            "x",
            "1 ",
            "12345678901234567890123456789012345",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_has_no_text_of_its_own_is_told() {
        for bits in [NAN | SIGN, NAN | 1, INFINITY | 1, 0x7e00 << 112, 3 << 125, GREATEST + 1] {
            assert_eq!(text(bits.to_le_bytes()), None, "{bits:x}");
        }
    }

    proptest! {
        #[test]
        fn every_value_that_has_a_text_comes_back(bits in any::<u128>()) {
            if let Some(text) = text(bits.to_le_bytes()) {
                prop_assert_eq!(parse(&text), Some(bits.to_le_bytes()));
            }
        }

        #[test]
        fn every_canonical_value_has_a_text(coefficient in 0..=GREATEST, exponent in 0..12288_u128, sign: bool) {
            let bits = u128::from(sign) << 127 | exponent << COEFFICIENT_BITS | coefficient;
            let text = text(bits.to_le_bytes()).unwrap();
            prop_assert_eq!(parse(&text), Some(bits.to_le_bytes()), "{}", text);
        }
    }
}
