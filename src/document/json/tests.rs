use proptest::prelude::*;

use super::*;

fn read(line: &[u8]) -> Result<Tape, JsonError> {
    let mut tape = Tape::new();
    tape.read(line).map(|()| tape)
}

/// Wraps a value into the smallest line.
fn line(value: &str) -> Vec<u8> {
    format!("{{\"a\":{value}}}").into_bytes()
}

#[test]
fn members_are_recorded_with_spans_and_kinds() {
    let line = br#"{"Item":{"pk":{"S":"a"},"n":{"L":[{"S":"deep"}]}},"x":[1,true,null]}"#;
    let tape = read(line).unwrap();
    let item = tape.find(line, None, "Item").unwrap();
    let pk = tape.find(line, Some(item), "pk").unwrap();
    assert_eq!(tape.find(line, Some(pk), "S").unwrap().raw(line), b"\"a\"");
    let list = tape.only_child(tape.find(line, Some(item), "n").unwrap()).unwrap();
    assert_eq!((list.kind, list.depth, tape.members(Some(list)).count()), (Kind::Array, 3, 0));
    let x = tape.find(line, None, "x").unwrap();
    let kinds: Vec<_> = tape.members(Some(x)).map(|member| member.kind).collect();
    assert_eq!(kinds, [Kind::Number, Kind::Bool, Kind::Null]);
    assert_eq!(tape.members(None).map(|member| member.name(line)).collect::<Vec<_>>(), ["Item", "x"]);
}

#[test]
fn names_are_matched_decoded() {
    let line = br#"{"\u0061b":1,"a\\b":2,"\ud83d\ude00":3}"#;
    let tape = read(line).unwrap();
    for (name, value) in [("ab", b"1"), ("a\\b", b"2"), ("😀", b"3")] {
        assert_eq!(tape.find(line, None, name).unwrap().raw(line), value, "{name}");
    }
    assert!(tape.find(line, None, r"\u0061b").is_none());
}

#[test]
fn hard_values_are_accepted() {
    for value in [
        "0",
        "-0",
        "0.0",
        "-0.0e-0",
        "1E+2",
        "1e999999999",
        "123456789012345678901234567890",
        "\"\"",
        r#""\u0000\uFFFF\ud800\udc00\/""#,
        "\"\u{7f}\u{80}\u{10ffff}\"",
        "{}",
        "[]",
        "[[],{}]",
        " [ 1 , 2 ] ",
        "\t\r\n null",
    ] {
        assert!(read(&line(value)).is_ok(), "{value}");
    }
}

#[test]
fn malformed_values_are_refused() {
    for value in [
        "",
        "01",
        "-01",
        "+1",
        ".5",
        "1.",
        "-",
        "1e",
        "1e+",
        "1.e1",
        "0x1",
        "NaN",
        "Infinity",
        "-Infinity",
        "1 2",
        "nul",
        "nulL",
        "True",
        "truee",
        "undefined",
        "'a'",
        "a",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{\"a\":1,}",
        "{,}",
        "{a:1}",
        "{\"a\"}",
        "{\"a\":}",
        "{1:1}",
        "{\"a\" 1}",
        "[1}",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\ud800\\u0041\"",
        "\"\\ud800x\"",
        "\"\\ud800\\n\"",
        "\"\t\"",
        "\"\n\"",
        "\"\u{1}\"",
        "\u{b}1",
        "\u{a0}1",
        "1/**/",
        "\u{feff}1",
    ] {
        let error = read(&line(value)).unwrap_err();
        assert!(!error.truncated && !error.duplicate, "{value}: {error:?}");
    }
}

#[test]
fn the_line_is_one_object() {
    for text in ["[]", "1", "null", "\"a\"", "{}{}", "{} x", "{},", "\u{feff}{}"] {
        assert!(!read(text.as_bytes()).unwrap_err().truncated, "{text}");
    }
    assert!(read(b" \t{} \r\n").is_ok());
}

#[test]
fn invalid_utf8_is_refused_where_it_stands() {
    for bytes in [&b"\xff"[..], b"\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xe2\x28\xa1"] {
        let line = [b"{\"a\":\"", bytes, b"\"}"].concat();
        assert_eq!(read(&line).unwrap_err().at, 6, "{bytes:?}");
    }
    assert!(read(b"{\"\xff\":1}").is_err());
}

#[test]
fn every_cut_off_line_is_told_as_truncated() {
    let whole = r#"{"a":[1.5e+3,true,null,false,-0,{"b\n\u00e9\ud83d\ude00":"é\\"}]}"#.as_bytes();
    for length in 0..whole.len() {
        let error = read(&whole[..length]).expect_err("cut off");
        assert!(error.truncated, "{:?}: {error:?}", String::from_utf8_lossy(&whole[..length]));
    }
    assert!(read(whole).is_ok());
}

#[test]
fn repeated_names_are_refused_down_to_the_recorded_depth() {
    for text in [
        r#"{"a":1,"a":2}"#,
        r#"{"a":1,"\u0061":2}"#,
        r#"{"x":{"":1,"":2}}"#,
        r#"{"x":{"y":{"longer than eight":1,"longer than e\u0069ght":2}}}"#,
        r#"{"x":[{"a":1,"a":2}]}"#,
    ] {
        assert!(read(text.as_bytes()).unwrap_err().duplicate, "{text}");
    }
    for text in [
        r#"{"x":{"y":{"z":{"a":1,"a":2}}}}"#,
        r#"{"a":{"a":{"a":1}},"A":1,"aa":1,"a ":1}"#,
        r#"{"longer than eight":1,"longer than nine!":2}"#,
    ] {
        assert!(read(text.as_bytes()).is_ok(), "{text}");
    }
    let error = read(br#"{"ab":1,"c":2,"a\u0062":3}"#).unwrap_err();
    assert_eq!((error.at, &*error.what), (14, "the member \"ab\" twice"));
}

#[test]
fn a_wide_object_is_checked_in_little_time() {
    let names: Vec<_> = (0..200_000).map(|n| format!("\"same beginning {n}\":0")).collect();
    let mut text = format!("{{{}", names.join(","));
    let start = std::time::Instant::now();
    assert!(read(format!("{text}}}").as_bytes()).is_ok());
    text.push_str(",\"same beginning 77\":1}");
    assert!(read(text.as_bytes()).unwrap_err().duplicate);
    assert!(start.elapsed() < std::time::Duration::from_secs(10));
}

#[test]
fn nesting_is_bounded() {
    let nested = |levels: usize| line(&format!("{}{}", "[".repeat(levels), "]".repeat(levels)));
    assert!(read(&nested(usize::from(MAX_DEPTH) - 1)).is_ok());
    assert!(!read(&nested(usize::from(MAX_DEPTH))).unwrap_err().truncated);
    assert!(read(&"{\"a\":".repeat(1_000_000).into_bytes()).is_err());
}

#[test]
fn compact_lines_are_told_from_loose_ones() {
    for text in ["{}", r#"{"a":[1,{"b":"\"\\\b\f\n\r\t\u0000\u001f"}]}"#, "{\"é\":\"/\u{7f}\"}"] {
        assert!(read(text.as_bytes()).unwrap().is_compact(), "{text}");
    }
    for text in [
        "{ }",
        " {}",
        "{}\n",
        r#"{"a": 1}"#,
        r#"{"a":[1, 2]}"#,
        r#"{"\/":1}"#,
        r#"{"a":"\u0041"}"#,
        r#"{"a":"\u000a"}"#,
        r#"{"a":"\u001F"}"#,
        r#"{"a":"\u007f"}"#,
        r#"{"a":"\ud83d\ude00"}"#,
    ] {
        assert!(!read(text.as_bytes()).unwrap().is_compact(), "{text}");
    }
}

#[test]
fn a_tape_is_reusable_after_an_error() {
    let mut tape = Tape::new();
    assert!(tape.read(b"{\"a\":{\"b\":1,\"c\":x}}").is_err());
    assert_eq!(tape.members(None).count(), 0);
    tape.read(b"{\"a\":{\"b\":1}}").unwrap();
    assert_eq!(tape.members(None).count(), 1);
}

/// Text that is JSON, nearly JSON or not at all.
fn nearly_json() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        4 => Just(String::from("{\"")), 4 => Just(String::from("}")), 3 => Just(String::from("\":")),
        2 => Just(String::from("[")), 2 => Just(String::from("]")), 4 => Just(String::from(",")),
        3 => Just(String::from("\"")), 1 => Just(String::from("\\")), 1 => Just(String::from("\\u00")),
        1 => Just(String::from(" ")), 1 => Just(String::from("\u{1f}")), 3 => "[0-9.eE+-]{1,4}",
        2 => "(true|false|null|nul)", 2 => "[a-zA-Zé😀]{0,9}", 1 => any::<String>(),
    ];
    prop::collection::vec(token, 0..24).prop_map(|tokens| format!("{{{}", tokens.concat()))
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        any::<String>().prop_map(Into::into),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

/// What `serde_json` says; numbers beyond its range, which it refuses and this tokenizer does not, are told apart.
fn serde_accepts(text: &[u8]) -> Option<bool> {
    match serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(text) {
        Ok(_) => Some(true),
        Err(error) if error.to_string().contains("number out of range") => None,
        Err(_) => Some(false),
    }
}

/// Checks that a deep tape holds exactly this value.
fn check(tape: &Tape, text: &[u8], of: Option<&Member>, value: &serde_json::Value) {
    match value {
        serde_json::Value::Object(map) => {
            assert_eq!(tape.members(of).count(), map.len());
            for (name, value) in map {
                check(tape, text, tape.find(text, of, name), value);
            }
        }
        serde_json::Value::Array(list) => {
            assert_eq!(tape.members(of).count(), list.len());
            for (member, value) in tape.members(of).zip(list) {
                check(tape, text, Some(member), value);
            }
        }
        leaf => {
            let raw = of.unwrap().raw(text);
            assert_eq!(&serde_json::from_slice::<serde_json::Value>(raw).unwrap(), leaf);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn nearly_json_is_accepted_exactly_when_serde_json_accepts_it(text in nearly_json()) {
        if let Some(expected) = serde_accepts(text.as_bytes()) {
            let accepted = match read(text.as_bytes()) {
                Ok(_) => true,
                Err(error) => error.duplicate,
            };
            prop_assert_eq!(accepted, expected, "{}", text);
        }
    }

    #[test]
    fn damaged_json_is_accepted_exactly_when_serde_json_accepts_it(
        value in any_json(), at in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        let mut text = serde_json::to_vec(&serde_json::json!({"a": value})).unwrap();
        prop_assert!(read(&text).unwrap().is_compact());
        let at = at.index(text.len());
        text[at] = byte;
        if let Some(expected) = serde_accepts(&text) {
            let accepted = match read(&text) {
                Ok(_) => true,
                Err(error) => error.duplicate,
            };
            prop_assert_eq!(accepted, expected, "{}", String::from_utf8_lossy(&text));
        }
    }

    #[test]
    fn a_deep_tape_gives_back_every_value(value in any_json()) {
        let text = serde_json::to_vec_pretty(&serde_json::json!({"a": value})).unwrap();
        let mut tape = Tape::deep();
        tape.read(&text).unwrap();
        check(&tape, &text, None, &serde_json::json!({"a": value}));
    }
}
