//! Numbers, sizes and texts as a person reads them.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::time::Duration;

/// Writes a number with a comma between groups of three digits: `1,234,567`.
pub fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Writes a number with its noun, in the plural unless it is one: `1 document`, `2 documents`.
pub fn count(value: u64, noun: &str) -> String {
    let plural = match noun.strip_suffix('y') {
        Some(stem) if value != 1 && !stem.ends_with(['a', 'e', 'o', 'u']) => {
            return format!("{} {stem}ies", number(value));
        }
        _ if value == 1 => "",
        _ => "s",
    };
    format!("{} {noun}{plural}", number(value))
}

/// Writes a number with its noun and the verb that goes with it: `1 document is`, `2 documents are`.
pub fn subject(value: u64, noun: &str, [one, several]: [&str; 2]) -> String {
    format!("{} {}", count(value, noun), if value == 1 { one } else { several })
}

/// Writes a part of a whole with the verb that goes with it: `1 of 5 documents is`, `2 of 5 documents are`.
pub fn part(value: u64, whole: u64, noun: &str, [one, several]: [&str; 2]) -> String {
    format!("{} of {} {}", number(value), count(whole, noun), if value == 1 { one } else { several })
}

/// Leaves the middle of a text out that is longer than so many characters; the end of a key says as much as its
/// beginning.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    let length = text.chars().count();
    if length <= most {
        return Cow::Borrowed(text);
    }
    let kept = most.saturating_sub(1);
    let (before, after) = (kept - kept / 3, kept / 3);
    let begins = text.chars().take(before).chain(['…']);
    Cow::Owned(begins.chain(text.chars().skip(length - after)).collect())
}

/// Writes a number of bytes with three significant digits in decimal units: `512 B`, `1.23 MB`.
pub fn bytes(value: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if value < 1_000 {
        return format!("{value} B");
    }
    // What is shown has three digits; f64 has fifteen.
    #[allow(clippy::cast_precision_loss)]
    let mut scaled = value as f64 / 1_000.0;
    let mut unit = UNITS[0];
    for next in &UNITS[1..] {
        if scaled < 999.5 {
            break;
        }
        scaled /= 1_000.0;
        unit = next;
    }
    let decimals = if scaled < 9.995 { 2 } else { usize::from(scaled < 99.95) };
    format!("{scaled:.decimals$} {unit}")
}

/// Writes a duration with its two largest units: `0.4 s`, `42 s`, `3 min 5 s`, `2 h 10 min`.
pub fn duration(value: Duration) -> String {
    let seconds = value.as_secs();
    match seconds {
        0..10 => format!("{:.1} s", value.as_secs_f64()),
        10..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// Makes text from a store safe to show: control characters and those that turn the direction of text are spelled
/// out, so that a key can neither move the cursor nor pass for another one. Line feeds stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_invisible) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_invisible(character) {
            // Writing to a string cannot fail.
            let _infallible = write!(shown, "\\u{{{:x}}}", u32::from(character));
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

fn is_invisible(character: char) -> bool {
    (character.is_control() && character != '\n')
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_three() {
        for (value, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(number(value), text);
        }
        assert_eq!(number(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn nouns_follow_their_number() {
        assert_eq!(count(1, "document"), "1 document");
        assert_eq!(count(0, "document"), "0 documents");
        assert_eq!(count(1_000, "stream"), "1,000 streams");
        assert_eq!(count(2, "query"), "2 queries");
        assert_eq!(count(1, "query"), "1 query");
        assert_eq!(count(2, "key"), "2 keys");
    }

    #[test]
    fn verbs_follow_their_number() {
        let are = |value| subject(value, "document", ["is", "are"]);
        assert_eq!([are(0), are(1), are(1_000)], ["0 documents are", "1 document is", "1,000 documents are"]);
        let are = |value| part(value, 2, "document", ["is", "are"]);
        assert_eq!([are(1), are(2)], ["1 of 2 documents is", "2 of 2 documents are"]);
    }

    #[test]
    fn the_middle_of_a_long_text_is_left_out() {
        assert_eq!(shortened("t:acme:Zoë", 10), "t:acme:Zoë");
        assert_eq!(shortened("t:acme:Ordér:0123456789:7", 13), "t:acme:O…89:7");
        assert_eq!(shortened("abc", 1), "…");
    }

    #[test]
    fn sizes_have_three_digits_and_never_round_up_to_a_thousand() {
        for (value, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.00 kB"),
            (9_995, "10.0 kB"),
            (99_950, "100 kB"),
            (999_499, "999 kB"),
            (999_500, "1.00 MB"),
            (1_234_567, "1.23 MB"),
            (5_000_000_000, "5.00 GB"),
            (u64::MAX, "18.4 EB"),
        ] {
            assert_eq!(bytes(value), text, "{value}");
        }
    }

    #[test]
    fn durations_have_two_units() {
        for (milliseconds, text) in
            [(400, "0.4 s"), (42_000, "42 s"), (185_000, "3 min 5 s"), (7_800_000, "2 h 10 min")]
        {
            assert_eq!(duration(Duration::from_millis(milliseconds)), text);
        }
    }

    #[test]
    fn a_key_cannot_move_the_cursor_or_turn_the_text_round() {
        assert_eq!(visible("t:acme:Order:Ä-1 😀"), "t:acme:Order:Ä-1 😀");
        assert_eq!(visible("a\x1b[2Jb\r\tc"), "a\\u{1b}[2Jb\\u{d}\\u{9}c");
        assert_eq!(visible("a\u{202e}b\u{200b}"), "a\\u{202e}b\\u{200b}");
        assert_eq!(visible("two\nlines"), "two\nlines");
    }
}
