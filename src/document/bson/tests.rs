use bson_cases::CASES;
use proptest::prelude::*;

use super::*;
use crate::check::Reason;
use crate::document::StoreKind;
use crate::document::json::Tape;

mod bson_cases {
    /// Lines that canonical Extended JSON carries exactly.
    pub const CASES: &[&str] = &[
        "{}",
        r#"{"_id":{"$oid":"65a0f1c2d3e4f5a6b7c8d9e0"},"s":"é\"\u0000","n":null,"b":true,"c":false}"#,
        r#"{"i":{"$numberInt":"-1"},"l":{"$numberLong":"1"},"m":{"$numberLong":"-9223372036854775808"}}"#,
        r#"{"d":{"$numberDouble":"-0.0"},"e":{"$numberDouble":"NaN"},"f":{"$numberDouble":"-Infinity"}}"#,
        r#"{"d":{"$numberDouble":"5e-324"},"e":{"$numberDecimal":"0E-10"},"f":{"$numberDecimal":"NaN"}}"#,
        r#"{"t":{"$date":{"$numberLong":"-9223372036854775808"}},"u":{"$timestamp":{"t":4294967295,"i":0}}}"#,
        r#"{"b":{"$binary":{"base64":"AAE=","subType":"00"}},"c":{"$binary":{"base64":"","subType":"80"}}}"#,
        r#"{"b":{"$binary":{"base64":"AAE=","subType":"02"}},"u":{"$undefined":true}}"#,
        r#"{"r":{"$regularExpression":{"pattern":"a\"b","options":"imx"}},"y":{"$symbol":"s"}}"#,
        r#"{"p":{"$dbPointer":{"$ref":"a.b","$id":{"$oid":"65a0f1c2d3e4f5a6b7c8d9e0"}}},"k":{"$minKey":1}}"#,
        r#"{"c":{"$code":"f()"},"d":{"$code":"f()","$scope":{"a":{"$numberInt":"1"}}},"k":{"$maxKey":1}}"#,
        r#"{"a":[],"b":[[{"$numberInt":"1"}],{"c":[null]}],"":{"":{}},"x.y":{"$set":{"a":true}}}"#,
        r#"{"d":{"$ref":"c","$id":{"$numberInt":"1"}},"q":{"$regex":"a","$options":"i"},"$oid":"top"}"#,
    ];
}

fn bson(line: &str) -> Vec<u8> {
    let mut out = Vec::new();
    Parser::default().document(line.as_bytes(), &mut out).unwrap_or_else(|error| panic!("{line}: {error}"));
    out
}

fn line(bson: &[u8]) -> String {
    let mut out = Vec::new();
    write_line(bson, &mut out);
    String::from_utf8(out).unwrap()
}

/// A document of elements given as bytes.
fn document(elements: &[&[u8]]) -> Vec<u8> {
    let body = elements.concat();
    let length = u32::try_from(body.len() + 5).unwrap();
    [&length.to_le_bytes()[..], &body, &[0]].concat()
}

/// Documents that Extended JSON does not carry exactly.
fn uncarried() -> Vec<Vec<u8>> {
    let nan = f64::from_bits(0x7ff8_0000_0000_0001).to_le_bytes();
    let nested = |inner: &[u8]| document(&[b"\x03d\0", inner]);
    vec![
        document(&[b"\x10a\0\x01\0\0\0", b"\x10a\0\x02\0\0\0"]),
        nested(&document(&[b"\x10a\0\x01\0\0\0", b"\x10a\0\x02\0\0\0"])),
        document(&[b"\x01a\0", &nan]),
        document(&[b"\x01a\0", &(-f64::NAN).to_le_bytes()]),
        document(&[b"\x02a\0\x02\0\0\0\xff\0"]),
        document(&[b"\x0a\xff\0"]),
        document(&[b"\x08a\0\x02"]),
        document(&[b"\x0ba\0x\0xi\0"]),
        document(&[b"\x0ba\0x\0ii\0"]),
        document(&[b"\x04a\0", &document(&[b"\x0a1\0"])]),
        document(&[b"\x05a\0\x05\0\0\0\x02\x09\0\0\0x"]),
        document(&[b"\x13a\0", &[0xff; 16]]),
        document(&[b"\x0a$rawBson\0"]),
        nested(&document(&[b"\x02$oid\0\x19\0\0\x0065a0f1c2d3e4f5a6b7c8d9e0\0"])),
        nested(&document(&[b"\x0aa\0", b"\x0a$date\0"])),
        (0..250).fold(document(&[]), |inner, _| nested(&inner)),
    ]
}

#[test]
fn what_extended_json_carries_comes_back_with_every_byte() {
    for case in CASES {
        assert_eq!(line(&bson(case)), **case);
    }
}

#[test]
fn what_it_does_not_carry_is_an_escape_record_and_comes_back_all_the_same() {
    for document in uncarried() {
        let record = line(&document);
        assert!(record.starts_with("{\"$rawBson\":"), "{record}");
        assert_eq!(bson(&record), document);
    }
}

#[test]
fn what_is_no_canonical_extended_json_is_refused_with_the_fields_name() {
    for (text, reason) in [
        (r#"{"a":1}"#, Reason::NotLossless),
        (r#"{"a":{"$oid":"xyz"}}"#, Reason::NotLossless),
        // Other spellings of a value than the one that MongoDB gives back: what came back would differ.
        (r#"{"a":{"$oid":"00000000000000000000000A"}}"#, Reason::NotLossless),
        (r#"{"a":{"$uuid":"6f9619ff-8b86-d011-b42d-00c04fc964ff"}}"#, Reason::NotLossless),
        (r#"{"a":{"$binary":{"subType":"00","base64":"AA=="}}}"#, Reason::NotLossless),
        (r#"{"a":{"$binary":{"base64":"AA==","subType":"0"}}}"#, Reason::NotLossless),
        (r#"{"a":{"$binary":{"base64":"AA==","subType":"0A"}}}"#, Reason::NotLossless),
        (r#"{"a":{"$binary":{"base64":"AA","subType":"00"}}}"#, Reason::NotLossless),
        (r#"{"a":{"$binary":{"base64":"__8=","subType":"00"}}}"#, Reason::NotLossless),
        (r#"{"a":{"$timestamp":{"i":1,"t":2}}}"#, Reason::NotLossless),
        (r#"{"a":{"$regularExpression":{"options":"","pattern":"x"}}}"#, Reason::NotLossless),
        (r#"{"a":{"$regularExpression":{"pattern":"x","options":"mi"}}}"#, Reason::NotLossless),
        (r#"{"a":{"$numberDecimal":"+1E2"}}"#, Reason::NotLossless),
        (r#"{"a":{"$numberInt":"2147483648"}}"#, Reason::NotLossless),
        (r#"{"a":[{"$date":"2026-01-02T03:04:05Z"}]}"#, Reason::NotLossless),
        (r#"{"a":{"x":null,"$numberLong":"1"}}"#, Reason::NotLossless),
        (r#"{"a":{"$numberLong":"1","x":null}}"#, Reason::NotLossless),
        (r#"{"a":{"b\u0000":null}}"#, Reason::NotLossless),
        (r#"{"$rawBson":"AAAA"}"#, Reason::EscapeRecord),
        (r#"{"$rawBson":"BQAAAAA=","a":null}"#, Reason::EscapeRecord),
        (r#"{"a":null,"a":null}"#, Reason::DuplicateName),
        ("{", Reason::Malformed),
    ] {
        let mut out = vec![7];
        let refusal = Parser::default().document(text.as_bytes(), &mut out).unwrap_err();
        assert_eq!(refusal.reason, reason, "{text}");
        assert_eq!(out, [7]);
    }
}

#[test]
fn an_outline_shows_the_fields_that_can_be_shown() {
    let document_of_x = document(&[b"\x02x\0\x02\0\0\0\xff\0"]);
    let document = document(&[
        b"\x02s\0\x02\0\0\0A\0",
        b"\x12v\0\x03\0\0\0\0\0\0\0",
        b"\x0ad\0",
        b"\x0ad\0",
        b"\x02x\0\x02\0\0\0\xff\0",
    ]);
    let record = line(&document);
    let mut tape = Tape::new();
    tape.read(record.as_bytes()).unwrap();
    let outline = Outline::of(StoreKind::MongoDb, &tape, record.as_bytes()).unwrap().unwrap();
    let text = String::from_utf8(outline.line.clone()).unwrap();
    assert!(text.starts_with(r#"{"s":"A","v":{"$numberLong":"3"},"d":{"$rawBson":"#), "{text}");
    assert_eq!((&outline.bson, &outline.repeated), (&document, &vec!["d".to_owned()]));
    // A value that stands raw is read back as it was.
    let x = text.split("\"x\":").nth(1).unwrap();
    let back = bson(&format!("{{\"x\":{x}"));
    assert_eq!(back, document_of_x);
    assert!(Outline::of(StoreKind::CosmosDb, &tape, record.as_bytes()).unwrap().is_none());
}

/// Elements whose bytes are right, of most types, with values that may not be carried.
fn any_element() -> impl Strategy<Value = Vec<u8>> {
    let value = prop_oneof![
        any::<[u8; 8]>().prop_map(|bytes| (0x01, bytes.to_vec())),
        any::<[u8; 8]>().prop_map(|bytes| (0x09, bytes.to_vec())),
        any::<[u8; 8]>().prop_map(|bytes| (0x11, bytes.to_vec())),
        any::<[u8; 8]>().prop_map(|bytes| (0x12, bytes.to_vec())),
        any::<[u8; 4]>().prop_map(|bytes| (0x10, bytes.to_vec())),
        any::<[u8; 12]>().prop_map(|bytes| (0x07, bytes.to_vec())),
        any::<[u8; 16]>().prop_map(|bytes| (0x13, bytes.to_vec())),
        any::<u8>().prop_map(|byte| (0x08, vec![byte % 3])),
        prop::sample::select(&[0x06, 0x0a, 0x7f, 0xff][..]).prop_map(|kind| (kind, Vec::new())),
        (prop::collection::vec(any::<u8>(), 0..8), prop::sample::select(&[0x02, 0x0d, 0x0e][..])).prop_map(
            |(text, kind)| {
                let length = u32::try_from(text.len() + 1).unwrap().to_le_bytes();
                (kind, [&length[..], &text, &[0]].concat())
            }
        ),
        (prop::collection::vec(any::<u8>(), 0..8), any::<u8>()).prop_map(|(bytes, subtype)| {
            let length = u32::try_from(bytes.len()).unwrap().to_le_bytes();
            (0x05, [&length[..], &[subtype % 8], &bytes].concat())
        }),
    ];
    let name = prop::sample::select(&["a", "b", "0", "1", "$oid", "$a", "é", "", "$numberLong"][..]);
    let leaf = (value, name).prop_map(|((kind, value), name)| element(kind, name, &value));
    leaf.prop_recursive(4, 24, 4, |inner| {
        (prop::collection::vec(inner, 0..4), any::<bool>()).prop_map(|(elements, array)| {
            let parts: Vec<&[u8]> = elements.iter().map(Vec::as_slice).collect();
            element(if array { 0x04 } else { 0x03 }, "n", &document(&parts))
        })
    })
}

fn element(kind: u8, name: &str, value: &[u8]) -> Vec<u8> {
    [&[kind][..], name.as_bytes(), &[0], value].concat()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_document_comes_back_with_every_byte(elements in prop::collection::vec(any_element(), 0..5)) {
        let parts: Vec<&[u8]> = elements.iter().map(Vec::as_slice).collect();
        let document = document(&parts);
        let line = line(&document);
        Tape::new().read(line.as_bytes()).unwrap();
        prop_assert_eq!(bson(&line), document, "{}", line);
    }

    #[test]
    fn any_bytes_are_written_as_a_line(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let line = line(&bytes);
        let mut tape = Tape::new();
        tape.read(line.as_bytes()).unwrap();
        let _ = Outline::of(StoreKind::MongoDb, &tape, line.as_bytes());
    }
}
