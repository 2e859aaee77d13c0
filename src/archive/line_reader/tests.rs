//! The rules of reading, one by one.

use std::fs;
use std::io::Write;

use proptest::prelude::*;

use super::*;
use crate::{Error, ErrorKind};

/// Lines with their numbers, whether the last one is unterminated, and the totals.
type Read = (Vec<(u64, String)>, bool, Totals);

/// Reads `bytes` as a file called `name`.
fn read_named(name: &str, bytes: &[u8], max_line: usize) -> Result<Read> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    fs::write(&path, bytes).unwrap();
    let sources = vec![Source::file(&path, None)];
    let mut reader = LineReader::new(format!("{path:?}"), sources, Vec::new(), Arc::default(), max_line);
    let (mut lines, mut unterminated) = (Vec::new(), false);
    while let Some(chunk) = reader.next_chunk()? {
        assert_eq!(chunk.position(0), lines.len() as u64);
        assert_eq!(chunk.file(), path);
        unterminated = chunk.last_line_unterminated();
        lines
            .extend(chunk.lines().map(|line| (line.number, String::from_utf8(line.bytes.to_vec()).unwrap())));
    }
    Ok((lines, unterminated, reader.finish()?))
}

/// Reads `bytes` as a file called `name`, whatever its lines hold.
fn read_bytes(name: &str, bytes: &[u8]) -> Result<Totals> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    fs::write(&path, bytes).unwrap();
    LineReader::open_file(&path, None).finish()
}

fn read(bytes: &[u8]) -> Read {
    read_named("a.ndjson", bytes, MAX_LINE_BYTES).unwrap()
}

fn lines(bytes: &[u8]) -> Vec<(u64, String)> {
    read(bytes).0
}

fn error_named(name: &str, bytes: &[u8]) -> Error {
    let error = read_named(name, bytes, MAX_LINE_BYTES).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::File, "{error}");
    assert!(error.to_string().contains(name), "{error}");
    error
}

fn assert_says(error: &Error, words: &str) {
    assert!(error.to_string().contains(words), "{error}");
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    hex::encode(sha2::Sha256::digest(bytes))
}

fn line(number: u64, text: &str) -> (u64, String) {
    (number, text.to_owned())
}

#[test]
fn digest_and_bytes_are_those_of_the_plain_file() {
    let text = b"{\"a\":1}\n{\"b\":2}\n";
    let (lines, unterminated, totals) = read(text);
    assert_eq!(lines, [line(1, "{\"a\":1}"), line(2, "{\"b\":2}")]);
    assert!(!unterminated);
    assert_eq!(totals, Totals { documents: 2, bytes: text.len() as u64, sha256: sha256(text) });
}

#[test]
fn crlf_and_a_byte_order_mark_are_no_part_of_the_digest() {
    let (lines, _, totals) = read(b"\xef\xbb\xbf{1}\r\n{2}\r\n");
    assert_eq!(lines, [line(1, "{1}"), line(2, "{2}")]);
    assert_eq!(totals.sha256, sha256(b"{1}\n{2}\n"));
}

#[test]
fn a_byte_order_mark_within_the_file_is_left_for_the_tokenizer_to_refuse() {
    assert_eq!(lines("{1}\n\u{feff}{2}\n".as_bytes()), [line(1, "{1}"), line(2, "\u{feff}{2}")]);
}

#[test]
fn a_last_line_without_its_line_end_is_read_and_marked() {
    for (text, marked) in
        [("{1}\n{2}", true), ("{1}\n{2} \r", true), ("{1}\n{2}\n", false), ("{1}\n{2}\n \t", false)]
    {
        let (lines, unterminated, totals) = read(text.as_bytes());
        assert_eq!(lines.len(), 2, "{text:?}");
        assert_eq!(unterminated, marked, "{text:?}");
        assert_eq!(totals.documents, 2);
    }
    assert_eq!(read(b"{1}\n{2}").2.sha256, sha256(b"{1}\n{2}\n"));
}

#[test]
fn a_last_line_that_does_not_end_like_a_document_is_cut_off() {
    let error = error_named("a.ndjson", b"{\"a\":1}\n\n{\"b\":\"x");
    assert_says(&error, "cut off in line 3");
}

#[test]
fn blank_lines_are_skipped_and_counted_in_line_numbers_only() {
    let (lines, _, totals) = read(b"\n{1}\n  \t\n\r\n{2}\n\n");
    assert_eq!(lines, [line(2, "{1}"), line(5, "{2}")]);
    assert_eq!(totals, Totals { documents: 2, bytes: 8, sha256: sha256(b"{1}\n{2}\n") });
}

#[test]
fn a_file_without_lines_holds_no_documents() {
    for text in ["", "\n\n", " ", "\u{feff}"] {
        let (lines, unterminated, totals) = read(text.as_bytes());
        assert!(lines.is_empty() && !unterminated);
        assert_eq!(totals, Totals { documents: 0, bytes: 0, sha256: sha256(b"") });
    }
}

#[test]
fn nul_is_refused_with_its_line() {
    assert_says(&error_named("a.ndjson", b"{1}\n{2}\n{\0}\n"), "Line 3");
    let mut binary = vec![b'x'; 3 * CHUNK_BYTES];
    binary.extend_from_slice(b"\n{1}\n\0");
    assert_says(&error_named("a.ndjson", &binary), "Line 3");
    assert_says(&error_named("a.ndjson", &[b'\n', 0, 255]), "Line 2");
}

#[test]
fn a_line_beyond_the_bound_is_refused_with_its_number_wherever_it_ends() {
    let long = format!("{{}}\n{{{}}}\n{{}}\n", "x".repeat(3 * CHUNK_BYTES));
    for text in [long.clone(), long.trim_end().to_owned(), format!("{{}}\n{{{}}}", "x".repeat(2000))] {
        let error = read_named("a.ndjson", text.as_bytes(), 1000).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::File);
        assert_says(&error, "Line 2");
        assert_says(&error, "1000 bytes");
    }
    assert_eq!(lines(long.as_bytes()).len(), 3);
}

#[test]
fn an_endless_line_is_refused_without_reading_it_all() {
    let sources = vec![Source::file(Path::new("/dev/zero"), None)];
    let mut reader = LineReader::new("zero".into(), sources, Vec::new(), Arc::default(), MAX_LINE_BYTES);
    assert_says(&reader.next_chunk().unwrap_err(), "Line 1");
}

#[test]
fn chunks_hold_about_a_megabyte_of_whole_lines() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.ndjson");
    let text = [r#"{"a":1}"#, r#"{"b":[1,2,3]}"#, "{}"].join("\n") + "\n";
    let text = text.repeat(200_000);
    fs::write(&path, &text).unwrap();
    let mut reader = LineReader::open_file(&path, None);
    let (mut chunk, mut joined) = (Chunk::new(), Vec::new());
    while reader.fill(&mut chunk).unwrap() {
        assert!(chunk.block().len() <= CHUNK_BYTES);
        joined.extend_from_slice(chunk.block());
    }
    assert_eq!(joined, text.as_bytes());
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

#[test]
fn compressed_files_are_read_by_name_with_all_their_members() {
    let plain = b"{1}\n{2}\n";
    for (name, bytes) in [
        ("a.ndjson.gz", gzip(plain)),
        ("a.json.GZ", [gzip(b"{1}\n{"), gzip(b"2}\n")].concat()),
        ("a.ndjson.zst", zstd(plain)),
        ("a.zst", [zstd(b"{1}\n{"), zstd(b"2}\n")].concat()),
    ] {
        let (lines, _, totals) = read_named(name, &bytes, MAX_LINE_BYTES).unwrap();
        assert_eq!(lines.len(), 2, "{name}");
        assert_eq!(totals.sha256, sha256(plain), "{name}");
    }
}

#[test]
fn a_file_that_is_not_what_its_name_says_is_refused_in_words() {
    for (name, bytes, words) in [
        ("a.ndjson.zst", gzip(b"{}\n"), "named as zstd but is gzip"),
        ("a.ndjson.gz", zstd(b"{}\n"), "named as gzip but is zstd"),
        ("a.ndjson.gz", b"{}\n".to_vec(), "named as gzip but does not begin like it"),
        ("a.ndjson.zst", Vec::new(), "named as zstd but is empty"),
        ("a.ndjson", gzip(b"{}\n"), "named as plain text but is gzip"),
        ("a.ndjson", zstd(b"{}\n"), "named as plain text but is zstd"),
        ("a.ndjson", b"\xff\xfe{\0}\0".to_vec(), "UTF-16"),
        ("a.ndjson", b"PK\x03\x04....".to_vec(), "a zip archive"),
    ] {
        assert_says(&error_named(name, &bytes), words);
    }
}

#[test]
fn a_compressed_stream_that_is_cut_off_is_refused_wherever_it_is_cut() {
    let plain: Vec<_> = (0..2_000).map(|n| format!("{{\"n\":{n}}}\n")).collect();
    let plain = plain.concat();
    for (name, whole) in [("a.gz", gzip(plain.as_bytes())), ("a.zst", zstd(plain.as_bytes()))] {
        for cut in [whole.len() - 1, whole.len() - 4, whole.len() / 2, 20, 5] {
            let _ = error_named(name, &whole[..cut]);
        }
        assert_says(&error_named(name, &whole[..whole.len() / 2]), "is cut off");
        assert_says(&error_named(name, &[whole.as_slice(), b"garbage"].concat()), "stream");
    }
}

#[test]
fn what_is_expected_is_checked_at_the_end_and_nothing_before_it_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.ndjson");
    fs::write(&path, "{1}\n").unwrap();
    let mut reader = LineReader::open_file(&path, Some(Expectation::documents("a test", 2)));
    assert_eq!(reader.next_chunk().unwrap().unwrap().len(), 1);
    assert_eq!(reader.next_chunk().unwrap_err().kind(), ErrorKind::File);
    assert!(LineReader::open_file(&path, Some(Expectation::documents("a test", 2))).finish().is_err());
    assert!(LineReader::open_file(&path, Some(Expectation::documents("a test", 1))).finish().is_ok());
}

#[test]
fn a_missing_file_is_a_file_error() {
    let error = LineReader::open_file(Path::new("/no/such.ndjson"), None).next_chunk().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::File);
    assert_says(&error, "/no/such.ndjson");
}

#[test]
fn a_reader_can_go_to_another_thread() {
    fn assert_send<T: Send>() {}
    assert_send::<LineReader>();
    assert_send::<Chunk>();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_the_bytes_are_reading_ends_in_lines_or_a_file_error(
        bytes in prop::collection::vec(any::<u8>(), 0..4_000),
        name in prop::sample::select(vec!["a.ndjson", "a.ndjson.gz", "a.ndjson.zst"]),
        header in any::<bool>(),
    ) {
        let magic: &[u8] = match name {
            "a.ndjson.gz" => &[0x1f, 0x8b, 8, 0],
            "a.ndjson.zst" => &[0x28, 0xb5, 0x2f, 0xfd],
            _ => b"{",
        };
        let bytes = if header { [magic, &bytes].concat() } else { bytes };
        if let Err(error) = read_bytes(name, &bytes) {
            prop_assert_eq!(error.kind(), ErrorKind::File);
        }
    }

    #[test]
    fn lines_are_cut_the_same_wherever_chunks_end(
        lengths in prop::collection::vec(prop::sample::select(vec![0usize, 1, 5, 70_000, CHUNK_BYTES - 3, CHUNK_BYTES]), 1..12),
        crlf in any::<bool>(),
    ) {
        let expected: Vec<_> = lengths.iter().map(|length| format!("{{{}}}", "x".repeat(*length))).collect();
        let text = expected.join(if crlf { "\r\n" } else { "\n" });
        let found: Vec<_> = lines(text.as_bytes()).into_iter().map(|line| line.1).collect();
        prop_assert!(found == expected, "{lengths:?}");
    }
}
