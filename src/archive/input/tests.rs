//! What opens, what does not, and what never passes for whole.

use std::fs;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::ErrorKind;
use crate::archive::{ArchiveWriter, Companions, Staged, WrittenArchive};

const EVENTS: &str = "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n";

/// Writes an archive with its manifest, as `export` does.
fn write_archive(path: &Path, lines: &[impl AsRef<[u8]>]) -> Totals {
    let mut writer = ArchiveWriter::create(path).unwrap();
    for line in lines {
        writer.write_line(line.as_ref()).unwrap();
    }
    let WrittenArchive { totals, output } = writer.finish().unwrap();
    let manifest = manifest(&path.file_name().unwrap().to_string_lossy(), &totals);
    let mut staged = Staged::new();
    staged.add(output);
    staged.add(manifest.stage(&Companions::of(path).manifest).unwrap());
    staged.commit().unwrap();
    totals
}

fn manifest(archive: &str, totals: &Totals) -> Manifest {
    let text = format!(
        r#"{{"format":1,"tool":"rekey","archive":{archive:?},"layout":{{"name":"mongodb-events","digest":"d"}},
        "store":"mongodb","started":"2026-11-30T10:00:00Z","ended":"2026-11-30T10:00:00Z","consistent":true,
        "documents":{},"bytes":{},"sha256":{:?},"streams":1,"sorted":true}}"#,
        totals.documents, totals.bytes, totals.sha256
    );
    serde_json::from_str(&text).unwrap()
}

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Opens with the layout and the number of documents given.
    fn open_expecting(&self, paths: &[PathBuf], documents: u64) -> Result<ArchiveInput> {
        let mut options = OpenOptions::new(self.0.path());
        (options.layout_given, options.expect_documents) = (true, Some(documents));
        ArchiveInput::open(paths, &options)
    }

    fn open(&self, paths: &[PathBuf]) -> Result<ArchiveInput> {
        ArchiveInput::open(paths, &OpenOptions::new(self.0.path()))
    }

    fn read(&self, path: &Path) -> Result<Totals> {
        self.open(&[path.to_owned()])?.line_reader().finish()
    }
}

fn lines(input: &ArchiveInput) -> Vec<String> {
    let mut reader = input.line_reader();
    let mut lines = Vec::new();
    while let Some(chunk) = reader.next_chunk().unwrap() {
        lines.extend(chunk.lines().map(|line| String::from_utf8(line.bytes.to_vec()).unwrap()));
    }
    lines
}

fn kind<T>(result: Result<T>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind())
}

#[test]
fn an_archive_with_its_manifest_needs_nothing_else_and_is_read_any_number_of_times() {
    let folder = Folder::new();
    for name in ["a b ü.ndjson", "a.ndjson.zst", "a.ndjson.gz"] {
        let totals = write_archive(&folder.path(name), &["{1}", "{2}"]);
        let input = folder.open(&[folder.path(name)]).unwrap();
        assert_eq!(input.manifest().unwrap().totals, totals);
        assert_eq!((input.expected_documents(), input.totals()), (Some(2), None));
        assert!(input.is_sorted());
        assert_eq!(lines(&input), ["{1}", "{2}"]);
        assert_eq!(input.line_reader().finish().unwrap(), totals);
        assert_eq!(input.totals(), Some(&totals));
    }
}

#[test]
fn a_file_without_a_manifest_needs_layout_and_count_and_the_error_says_which() {
    let folder = Folder::new();
    let path = folder.file("a.ndjson", EVENTS);
    for (layout_given, expect_documents, words) in [
        (false, None, ["--layout LAYOUT", "--expect-documents N"]),
        (true, None, ["--expect-documents N", "reported"]),
        (false, Some(3), ["--layout LAYOUT", "TOML"]),
    ] {
        let options = OpenOptions { layout_given, expect_documents, ..OpenOptions::new(folder.0.path()) };
        let error = ArchiveInput::open(std::slice::from_ref(&path), &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        let hint = &error.hints()[0];
        assert!(words.iter().all(|word| hint.contains(word)), "{error:?}");
        assert_eq!(hint.contains("LAYOUT"), !layout_given, "{error:?}");
        assert_eq!(hint.contains(" N,"), expect_documents.is_none(), "{error:?}");
        assert!(error.to_string().contains("a.ndjson.manifest.json"), "{error}");
    }
    assert_eq!(
        folder
            .open_expecting(std::slice::from_ref(&path), 3)
            .unwrap()
            .line_reader()
            .finish()
            .unwrap()
            .documents,
        3
    );
    let other = folder.open_expecting(&[path], 4).unwrap().line_reader().finish().unwrap_err();
    assert_eq!(other.kind(), ErrorKind::File);
    assert!(other.to_string().contains("3 documents, not 4 as --expect-documents says"), "{other}");
}

#[test]
fn a_manifest_that_does_not_fit_is_a_file_error() {
    let folder = Folder::new();
    let path = folder.path("a.ndjson");
    let beside = Companions::of(&path).manifest;
    let _ = write_archive(&path, &["{\"id\":1}", "{\"id\":2}"]);
    for text in ["{\"id\":1}\n", "{\"id\":1}\n{\"id\":3}\n", "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n", ""] {
        fs::write(&path, text).unwrap();
        assert_eq!(kind(folder.read(&path)), Some(ErrorKind::File), "{text:?}");
    }
    fs::write(&path, "{\"id\":1}\r\n\n{\"id\":2}").unwrap();
    assert_eq!(kind(folder.read(&path)), None, "line ends and blank lines change nothing");
    fs::rename(&path, folder.path("b.ndjson")).unwrap();
    fs::rename(&beside, folder.path("b.ndjson.manifest.json")).unwrap();
    let error = folder.read(&folder.path("b.ndjson")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::File);
    assert!(error.to_string().contains("\"a.ndjson\""), "{error}");
    fs::write(folder.path("b.ndjson.manifest.json"), "{").unwrap();
    assert_eq!(kind(folder.read(&folder.path("b.ndjson"))), Some(ErrorKind::File));
}

#[test]
fn a_manifest_named_by_the_operator_stands_for_whatever_is_read() {
    let folder = Folder::new();
    let totals = write_archive(&folder.path("a.ndjson"), &["{1}", "{2}"]);
    let manifest = folder.path("a.ndjson.manifest.json");
    let parts = [folder.file("x/1", "{1}\n"), folder.file("x/2", "{2}\n")];
    let options = OpenOptions { manifest: Some(&manifest), ..OpenOptions::new(folder.0.path()) };
    for paths in [vec![folder.path("x")], parts.to_vec()] {
        let input = ArchiveInput::open(&paths, &options).unwrap();
        assert_eq!(input.line_reader().finish().unwrap(), totals);
        assert!(input.manifest().is_some());
    }
    let reversed = ArchiveInput::open(&[parts[1].clone(), parts[0].clone()], &options).unwrap();
    assert_eq!(kind(reversed.line_reader().finish()), Some(ErrorKind::File));
}

#[test]
fn growing_files_are_refused_whatever_is_passed() {
    let folder = Folder::new();
    let part = folder.file("x/a.ndjson.part", EVENTS);
    let _ = folder.file("x/b.ndjson", EVENTS);
    for path in [part, folder.path("x"), folder.path("x/a.ndjson")] {
        assert_eq!(
            kind(folder.open_expecting(std::slice::from_ref(&path), 3)),
            Some(ErrorKind::File),
            "{path:?}"
        );
    }
}

#[test]
fn a_folder_is_read_in_the_byte_order_of_its_names_without_what_is_no_part() {
    let folder = Folder::new();
    for (name, text) in [
        ("x/part-10", "{10}\n"),
        ("x/part-9", "{9}"),
        ("x/Part-1", "\u{feff}{1}\n"),
        ("x/_SUCCESS", ""),
        ("x/.part-9.crc", "\0\0"),
        ("x/a.manifest.json", "{}"),
        ("x/a.keys.ndjson", "{}\n"),
        ("x/a.refused.ndjson", "{}\n"),
        ("x/a.import-123.journal", "{}\n"),
        ("x/a.import-123.undo.ndjson", "{}\n"),
    ] {
        let _ = folder.file(name, text);
    }
    let input = folder.open_expecting(&[folder.path("x")], 3).unwrap();
    assert_eq!(lines(&input), ["{1}", "{10}", "{9}"]);
    let _ = folder.file("x/more/part-1", EVENTS);
    assert_eq!(kind(folder.open_expecting(&[folder.path("x")], 3)), Some(ErrorKind::Usage));
    fs::create_dir(folder.path("empty")).unwrap();
    assert_eq!(kind(folder.open_expecting(&[folder.path("empty")], 0)), Some(ErrorKind::File));
}

#[test]
fn parts_with_manifests_of_their_own_are_each_checked() {
    let folder = Folder::new();
    fs::create_dir(folder.path("x")).unwrap();
    let (a, b) = (folder.path("x/a.ndjson"), folder.path("x/b.ndjson.gz"));
    let _ = (write_archive(&a, &["{1}"]), write_archive(&b, &["{2}", "{3}"]));
    for paths in [vec![folder.path("x")], vec![b.clone(), a.clone()]] {
        let input = folder.open(&paths).unwrap();
        assert_eq!(input.line_reader().finish().unwrap().documents, 3);
        assert_eq!((input.manifests().count(), input.manifest(), input.is_sorted()), (2, None, false));
        assert_eq!(input.expected_documents(), Some(3));
    }
    fs::write(&a, "{4}\n").unwrap();
    let error = folder.read(&folder.path("x")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::File);
    assert!(error.to_string().contains("a.ndjson"), "{error}");
    let _ = folder.file("x/c.ndjson", "{5}\n");
    assert_eq!(kind(folder.open(&[folder.path("x")])), Some(ErrorKind::Usage), "one part is unproven");
}

#[test]
fn archives_of_two_layouts_are_not_read_as_one() {
    let folder = Folder::new();
    let (a, b) = (folder.path("a.ndjson"), folder.path("b.ndjson"));
    let _ = (write_archive(&a, &["{1}"]), write_archive(&b, &["{2}"]));
    let path = Companions::of(&b).manifest;
    let sagas = fs::read_to_string(&path).unwrap().replace("mongodb-events", "mongodb-sagas");
    fs::write(path, sagas).unwrap();
    assert_eq!(kind(folder.open(&[a, b])), Some(ErrorKind::Usage));
}

#[test]
fn names_that_are_no_archives_are_refused_in_words() {
    let folder = Folder::new();
    let file = folder.file("a.ndjson", EVENTS);
    let usage = |paths: &[PathBuf]| {
        assert_eq!(kind(folder.open_expecting(paths, 3)), Some(ErrorKind::Usage), "{paths:?}");
    };
    usage(&[]);
    usage(&[file.clone(), "-".into()]);
    usage(&[file.clone(), folder.path("./a.ndjson")]);
    usage(&[folder.file("a.ndjson.manifest.json", "{}")]);
    usage(&[folder.file("a.ndjson.keys.ndjson", "{}")]);
    usage(&[folder.file("a.ndjson.refused.ndjson", "{}")]);
    assert_eq!(kind(folder.open_expecting(&[folder.path("missing")], 3)), Some(ErrorKind::File));
    let _ = folder.file("b.ndjson.part", EVENTS);
    let error = folder.open_expecting(&[folder.path("b.ndjson")], 3).unwrap_err();
    assert!(error.to_string().contains("b.ndjson.part"), "{error}");
}

fn open_stdin(folder: &Folder, text: &[u8], options: &OpenOptions<'_>) -> Result<ArchiveInput> {
    let input = ArchiveInput::open_with(&["-".into()], options, &mut &text[..]);
    assert!(fs::read_dir(folder.0.path()).unwrap().all(|entry| entry.unwrap().path().extension().is_some()));
    input
}

#[test]
fn standard_input_needs_the_layout_alone_and_is_read_any_number_of_times() {
    let folder = Folder::new();
    let mut options = OpenOptions::new(folder.0.path());
    let error = open_stdin(&folder, EVENTS.as_bytes(), &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(error.hints()[0].contains("--layout"), "{error:?}");
    options.layout_given = true;
    let input = open_stdin(&folder, EVENTS.as_bytes(), &options).unwrap();
    let (mut first, mut second) = (input.line_reader(), input.line_reader());
    assert_eq!(first.next_chunk().unwrap().unwrap().block(), EVENTS.as_bytes());
    assert_eq!(second.next_chunk().unwrap().unwrap().block(), EVENTS.as_bytes());
    assert_eq!(first.finish().unwrap(), second.finish().unwrap());
    assert_eq!(input.name(), "standard input");
}

#[test]
fn standard_input_is_checked_against_the_manifest_given_for_it() {
    let folder = Folder::new();
    let _ = write_archive(&folder.path("a.ndjson"), &["{1}", "{2}"]);
    let manifest = folder.path("a.ndjson.manifest.json");
    let options = OpenOptions { manifest: Some(&manifest), ..OpenOptions::new(folder.0.path()) };
    let read = |text: &[u8]| open_stdin(&folder, text, &options).unwrap().line_reader().finish();
    assert_eq!(kind(read(b"{1}\n{2}\n")), None);
    assert_eq!(kind(read(b"{1}\n")), Some(ErrorKind::File));
}

#[test]
fn compressed_standard_input_is_refused_in_words() {
    let folder = Folder::new();
    let options = OpenOptions { layout_given: true, ..OpenOptions::new(folder.0.path()) };
    let compressed = zstd::encode_all(EVENTS.as_bytes(), 1).unwrap();
    let error = open_stdin(&folder, &compressed, &options).unwrap().line_reader().finish().unwrap_err();
    assert!(error.to_string().contains("is zstd"), "{error}");
}

#[test]
fn a_pipe_with_a_name_is_spooled_but_must_be_proven_like_a_file() {
    let folder = Folder::new();
    let pipe = folder.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert_eq!(kind(folder.open(std::slice::from_ref(&pipe))), Some(ErrorKind::Usage));
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::write(pipe, EVENTS).unwrap()
    });
    let input = folder.open_expecting(&[pipe], 3).unwrap();
    writer.join().unwrap();
    assert_eq!((lines(&input).len(), lines(&input).len()), (3, 3));
}

#[test]
fn a_file_that_changes_between_two_passes_is_noticed() {
    let folder = Folder::new();
    let path = folder.file("a.ndjson", "{1}\n{2}\n");
    let input = folder.open_expecting(std::slice::from_ref(&path), 2).unwrap();
    let _ = input.line_reader().finish().unwrap();
    fs::write(&path, "{1}\n{3}\n").unwrap();
    let error = input.line_reader().finish().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::File);
    assert!(error.to_string().contains("earlier pass"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_the_writer_wrote_the_reader_reads(
        contents in prop::collection::vec("[^\n\r\0]{0,300}", 0..200),
        name in prop::sample::select(vec!["a.ndjson", "a.ndjson.zst", "a.ndjson.gz"]),
    ) {
        let folder = Folder::new();
        let written: Vec<_> = contents.into_iter().map(|content| format!("{{{content}}}")).collect();
        let totals = write_archive(&folder.path(name), &written);
        let input = folder.open(&[folder.path(name)]).unwrap();
        prop_assert_eq!(lines(&input), written);
        prop_assert_eq!(input.line_reader().finish().unwrap(), totals);
    }

    #[test]
    fn cut_or_flipped_archives_never_pass(
        name in prop::sample::select(vec!["a.ndjson", "a.ndjson.zst", "a.ndjson.gz"]),
        documents in 1usize..300,
        at in any::<prop::sample::Index>(),
        flip in prop::option::of(0u8..8),
    ) {
        let folder = Folder::new();
        let path = folder.path(name);
        let written: Vec<_> = (0..documents).map(|n| format!("{{\"n\":{n},\"text\":\"{}\"}}", n * 7919)).collect();
        let totals = write_archive(&path, &written);
        let mut bytes = fs::read(&path).unwrap();
        let at = at.index(bytes.len());
        match flip {
            Some(bit) => bytes[at] ^= 1 << bit,
            None => bytes.truncate(at),
        }
        fs::write(&path, bytes).unwrap();
        match folder.read(&path) {
            Err(error) => prop_assert_eq!(error.kind(), ErrorKind::File),
            // Only what says nothing about the lines may change: the last line end, or bytes that the
            // compressed form's header does not use.
            Ok(read) => prop_assert_eq!(read, totals),
        }
    }
}
