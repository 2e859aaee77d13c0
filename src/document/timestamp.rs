//! Times in RFC 3339, brought to UTC and to the precision that Firestore keeps.

/// The digits of a second's fraction that are kept.
const FRACTION_DIGITS: usize = 6;
const SECONDS_OF_DAY: i64 = 24 * 60 * 60;

/// The text of a time in UTC, its fraction cut to microseconds and without zeros at its end.
///
/// `None` if the text is no RFC 3339 time of the years 1 to 9999, which are those Firestore holds.
pub(crate) fn normalised(text: &str) -> Option<String> {
    let (seconds, fraction) = parts(text)?;
    let mut form = Vec::with_capacity(text.len() + 1);
    append_seconds(seconds, &mut form)?;
    if !fraction.is_empty() {
        form.push(b'.');
        form.extend_from_slice(fraction.as_bytes());
    }
    form.push(b'Z');
    String::from_utf8(form).ok()
}

/// The seconds since 1970 and the nanoseconds of a time, cut to microseconds.
///
/// `None` if the text is no RFC 3339 time of the years 1 to 9999.
pub fn parse(text: &str) -> Option<(i64, i32)> {
    let (seconds, fraction) = parts(text)?;
    let digits = fraction.bytes().chain(std::iter::repeat(b'0')).take(9);
    let nanos = digits.fold(0, |nanos, digit| nanos * 10 + i32::from(digit - b'0'));
    Some((seconds, nanos))
}

/// Appends a time in UTC with no, three, six or nine digits of a second's fraction, as protobuf's JSON has it.
///
/// `None` if it is none of the years 1 to 9999, or the nanoseconds are no part of a second.
pub fn append(seconds: i64, nanos: i32, out: &mut Vec<u8>) -> Option<()> {
    let nanos = u32::try_from(nanos).ok().filter(|nanos| *nanos < 1_000_000_000)?;
    append_seconds(seconds, out)?;
    let digits = match nanos {
        0 => 0,
        _ if nanos.is_multiple_of(1_000_000) => 3,
        _ if nanos.is_multiple_of(1_000) => 6,
        _ => 9,
    };
    if digits > 0 {
        let (high, low) = (nanos / 1_000_000, nanos % 1_000_000);
        let fraction =
            [high / 10, high % 10 * 10 + low / 100_000, low / 1_000 % 100, low / 10 % 100, low % 10 * 10];
        out.push(b'.');
        let fraction = fraction.map(|pair| two_digits(i64::from(pair)));
        out.extend_from_slice(fraction.as_flattened().get(..digits).unwrap_or_default());
    }
    out.push(b'Z');
    Some(())
}

/// Splits a time into the seconds since 1970 and the digits kept of the fraction.
fn parts(text: &str) -> Option<(i64, &str)> {
    let (date_time, rest) = text.split_at_checked(19)?;
    let (fraction, zone) = fraction(rest)?;
    let (days, minutes, seconds) = date_time_parts(date_time.as_bytes())?;
    let seconds = days * SECONDS_OF_DAY + (minutes - offset_minutes(zone)?) * 60 + seconds;
    let (year, ..) = civil(seconds.div_euclid(SECONDS_OF_DAY));
    (1..=9999).contains(&year).then_some((seconds, fraction))
}

/// Appends `YYYY-MM-DDThh:mm:ss`; `None` if the year does not have four digits.
fn append_seconds(seconds: i64, out: &mut Vec<u8>) -> Option<()> {
    let (days, of_day) = (seconds.div_euclid(SECONDS_OF_DAY), seconds.rem_euclid(SECONDS_OF_DAY));
    // Far beyond the year 9999, so that the calendar's arithmetic cannot overflow.
    let (year, month, day) = if days.abs() < 10_000_000 { civil(days) } else { return None };
    if !(1..=9999).contains(&year) {
        return None;
    }
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    let ([y1, y2], [y3, y4]) = (two_digits(year / 100), two_digits(year % 100));
    let ([m1, m2], [d1, d2]) = (two_digits(month), two_digits(day));
    let ([h1, h2], [n1, n2], [s1, s2]) = (two_digits(hour), two_digits(minute), two_digits(second));
    out.extend_from_slice(&[
        y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T', h1, h2, b':', n1, n2, b':', s1, s2,
    ]);
    Some(())
}

/// The digits of a number below 100.
fn two_digits(number: i64) -> [u8; 2] {
    [number / 10, number % 10].map(|digit| b'0' + u8::try_from(digit).unwrap_or_default())
}

/// Splits what follows the seconds into the digits kept of the fraction, and the zone.
fn fraction(rest: &str) -> Option<(&str, &str)> {
    let Some(rest) = rest.strip_prefix('.') else { return Some(("", rest)) };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let kept = rest.get(..digits.min(FRACTION_DIGITS))?.trim_end_matches('0');
    (digits > 0).then_some((kept, rest.get(digits..)?))
}

/// Reads `YYYY-MM-DDThh:mm:ss` into days since 1970, minutes of the day, and seconds.
fn date_time_parts(text: &[u8]) -> Option<(i64, i64, i64)> {
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T' | b't', h1, h2, b':', n1, n2, b':', s1, s2] = text
    else {
        return None;
    };
    let year = number(&[y1, y2, y3, y4])?;
    let (month, day) = (number(&[m1, m2])?, number(&[d1, d2])?);
    let (hour, minute, second) = (number(&[h1, h2])?, number(&[n1, n2])?, number(&[s1, s2])?);
    let days = days(year, month, day);
    let exists = (1..=12).contains(&month) && civil(days) == (year, month, day);
    (exists && hour < 24 && minute < 60 && second < 60).then_some((days, hour * 60 + minute, second))
}

/// Reads `Z`, `+hh:mm` or `-hh:mm`.
fn offset_minutes(zone: &str) -> Option<i64> {
    match zone.as_bytes() {
        b"Z" | b"z" => Some(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let (hours, minutes) = (number(&[*h1, *h2])?, number(&[*m1, *m2])?);
            let offset = hours * 60 + minutes;
            (hours < 24 && minutes < 60).then_some(if *sign == b'-' { -offset } else { offset })
        }
        _ => None,
    }
}

fn number(digits: &[u8]) -> Option<i64> {
    digits
        .iter()
        .try_fold(0, |value, digit| digit.is_ascii_digit().then(|| value * 10 + i64::from(digit - b'0')))
}

/// Days from 1970-01-01 in the proleptic Gregorian calendar, counted in years that begin in March.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The year, month and day of a number of days from 1970-01-01.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_time_share_one_text() {
        for (text, form) in [
            ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
            ("2026-01-02T03:04:05.000Z", "2026-01-02T03:04:05Z"),
            ("2026-01-02t03:04:05.6780z", "2026-01-02T03:04:05.678Z"),
            ("2026-01-02T12:00:00.123456789Z", "2026-01-02T12:00:00.123456Z"),
            ("2026-01-02T01:04:05.5+02:30", "2026-01-01T22:34:05.5Z"),
            ("2024-02-29T23:59:59-00:01", "2024-03-01T00:00:59Z"),
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
            ("9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999999Z"),
            ("1969-12-31T23:59:59Z", "1969-12-31T23:59:59Z"),
        ] {
            assert_eq!(normalised(text).as_deref(), Some(form), "{text}");
        }
    }

    #[test]
    fn seconds_and_nanoseconds_become_text_and_come_back() {
        for (text, seconds, nanos) in [
            ("0001-01-01T00:00:00Z", -62_135_596_800, 0),
            ("1969-12-31T23:59:59.500Z", -1, 500_000_000),
            ("1970-01-01T00:00:01.000005Z", 1, 5_000),
            ("2024-02-29T12:34:56.789Z", 1_709_210_096, 789_000_000),
            ("9999-12-31T23:59:59.999999Z", 253_402_300_799, 999_999_000),
        ] {
            let mut out = Vec::new();
            assert_eq!(append(seconds, nanos, &mut out), Some(()));
            assert_eq!(String::from_utf8(out).unwrap(), text);
            assert_eq!(parse(text), Some((seconds, nanos)));
        }
        let mut out = Vec::new();
        assert_eq!(append(0, 1, &mut out), Some(()));
        assert_eq!(out, b"1970-01-01T00:00:00.000000001Z");
        for (seconds, nanos) in [
            (253_402_300_800, 0),
            (-62_135_596_801, 0),
            (i64::MIN, 0),
            (i64::MAX, 0),
            (0, 1_000_000_000),
            (0, -1),
        ] {
            assert_eq!(append(seconds, nanos, &mut Vec::new()), None);
        }
    }

    #[test]
    fn what_is_no_time_has_no_text() {
        for text in [
            "",
            "2026-01-02",
            "2026-01-02T03:04:05",
            "2026-01-02T03:04:05.Z",
            "2026-01-02 03:04:05Z",
            "2026-13-02T03:04:05Z",
            "2026-02-29T03:04:05Z",
            "2026-00-01T00:00:00Z",
            "2026-01-02T24:00:00Z",
            "2026-01-02T03:04:60Z",
            "2026-01-02T03:04:05+2:00",
            "0000-01-01T00:00:00Z",
            "0001-01-01T00:00:00+01:00",
            "9999-12-31T23:59:59-01:00",
            "2026-01-02T03:04:05.1ZZ",
            "é026-01-02T03:04:05Z",
        ] {
            assert_eq!(normalised(text), None, "{text}");
        }
    }

    #[test]
    fn every_day_of_ten_thousand_years_is_reckoned_both_ways() {
        let mut expected = days(1, 1, 1);
        while expected < days(10_000, 1, 1) {
            let (year, month, day) = civil(expected);
            assert_eq!(days(year, month, day), expected);
            expected += 1;
        }
    }
}
