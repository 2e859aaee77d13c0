//! Doubles of the JSON forms that have a name for what is no number.

use std::io::Write as _;

use super::decimal::Decimal;

/// Reads a double: a decimal text, `NaN`, `Infinity` or `-Infinity`.
///
/// `None` for any other text, and for a decimal that no finite double is near.
pub(crate) fn parse(text: &str) -> Option<f64> {
    match text {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        _ => {
            let _ = Decimal::parse(text)?;
            text.parse().ok().filter(|value: &f64| value.is_finite())
        }
    }
}

/// The integer that a double is, if it is one that doubles count up to one by one.
#[allow(clippy::cast_possible_truncation)] // The range is checked.
pub(crate) fn whole(value: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    (value.fract() == 0.0 && value.abs() <= EXACT).then_some(value as i64)
}

/// Appends the shortest text that reads back to the same bits; always with a point or an exponent.
pub(crate) fn write(value: f64, out: &mut Vec<u8>) {
    if value.is_infinite() {
        let text: &[u8] = if value > 0.0 { b"Infinity" } else { b"-Infinity" };
        return out.extend_from_slice(text);
    }
    // A vector takes whatever is written to it.
    let _ = write!(out, "{value:?}");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn normal(text: &str) -> Option<String> {
        let mut out = Vec::new();
        write(parse(text)?, &mut out);
        Some(String::from_utf8(out).unwrap())
    }

    #[test]
    fn texts_of_one_double_share_one_form() {
        for (text, form) in [
            ("1", Some("1.0")),
            ("1e0", Some("1.0")),
            ("-0", Some("-0.0")),
            ("1E+21", Some("1e21")),
            ("NaN", Some("NaN")),
            ("-Infinity", Some("-Infinity")),
            ("2100.607537417505", Some("2100.607537417505")),
            ("1e999", None),
            ("inf", None),
            ("nan", None),
            ("-NaN", None),
            ("", None),
        ] {
            assert_eq!(normal(text).as_deref(), form, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_finite_double_keeps_its_bits(value in any::<f64>().prop_filter("finite", |value| value.is_finite())) {
            let mut out = Vec::new();
            write(value, &mut out);
            let text = String::from_utf8(out).unwrap();
            prop_assert_eq!(parse(&text).unwrap().to_bits(), value.to_bits());
            prop_assert!(serde_json::from_str::<f64>(&text).is_ok());
        }
    }
}
