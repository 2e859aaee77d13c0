//! The key map: which document got which key, in the archive's order.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{ArchiveWriter, Chunk, Expectation, LineReader, Totals, WrittenArchive};
use crate::document::text::write_quoted;
use crate::{Error, Result};

/// One document of the key map.
///
/// As a line: `{"old":…,"new":…,"tenant":…,"version":…,"key":[…],"digest":"…"}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyMapRow<'a> {
    /// The legacy key as a person sees it.
    pub old: Cow<'a, str>,
    /// The new key as a person sees it.
    pub new: Cow<'a, str>,
    /// The tenant.
    pub tenant: Cow<'a, str>,
    /// The event's or saga's version, where the layout has one.
    pub version: Option<i64>,
    /// The text of the legacy [`StoreKey`](crate::document::StoreKey): a JSON array.
    pub key: Cow<'a, str>,
    /// The digest of the legacy document.
    pub digest: [u8; 32],
}

impl<'a> KeyMapRow<'a> {
    /// Reads one line, without or with its LF; `None` if it is no row.
    pub fn parse(line: &'a [u8]) -> Option<Self> {
        parse(line).ok()
    }
}

impl KeyMapRow<'_> {
    /// Appends the row as a line with its LF, so that many can be written as one block.
    pub fn append_to(&self, block: &mut Vec<u8>) {
        block.extend_from_slice(b"{\"old\":");
        write_quoted(&self.old, block);
        block.extend_from_slice(b",\"new\":");
        write_quoted(&self.new, block);
        block.extend_from_slice(b",\"tenant\":");
        write_quoted(&self.tenant, block);
        block.extend_from_slice(b",\"version\":");
        match self.version {
            Some(version) => block.extend_from_slice(itoa::Buffer::new().format(version).as_bytes()),
            None => block.extend_from_slice(b"null"),
        }
        block.extend_from_slice(b",\"key\":");
        block.extend_from_slice(self.key.as_bytes());
        block.extend_from_slice(b",\"digest\":\"");
        let digits = block.len();
        block.resize(digits + 2 * self.digest.len(), b'0');
        if let Some(digits) = block.get_mut(digits..) {
            // Cannot fail: the slice has exactly two digits for each byte.
            let _ = hex::encode_to_slice(self.digest, digits);
        }
        block.extend_from_slice(b"\"}\n");
    }
}

/// Writes a key map.
pub struct KeyMapWriter {
    out: ArchiveWriter,
    line: Vec<u8>,
}

impl KeyMapWriter {
    /// Writes `path`, which is not visible before it is committed.
    pub fn create(path: &Path) -> Result<Self> {
        Ok(Self { out: ArchiveWriter::create(path)?, line: Vec::new() })
    }

    /// Writes one row.
    pub fn write(&mut self, row: &KeyMapRow<'_>) -> Result<()> {
        self.line.clear();
        row.append_to(&mut self.line);
        self.out.write_line(self.line.strip_suffix(b"\n").unwrap_or(&self.line))
    }

    /// Writes many rows at once, as [`KeyMapRow::append_to`] left them.
    pub fn write_block(&mut self, rows: &[u8], count: u64) -> Result<()> {
        self.out.write_block(rows, count)
    }

    /// Ends the key map.
    pub fn finish(self) -> Result<WrittenArchive> {
        self.out.finish()
    }
}

/// Reads a key map and proves at its end that it is the one its archive's manifest names.
pub struct KeyMapReader {
    path: PathBuf,
    lines: LineReader,
    chunk: Chunk,
    next: usize,
    read: u64,
}

/// A row as serde reads it.
#[derive(Deserialize)]
struct Row<'a> {
    #[serde(borrow)]
    old: Cow<'a, str>,
    #[serde(borrow)]
    new: Cow<'a, str>,
    #[serde(borrow)]
    tenant: Cow<'a, str>,
    version: Option<i64>,
    #[serde(borrow)]
    key: &'a RawValue,
    #[serde(borrow)]
    digest: Cow<'a, str>,
}

impl KeyMapReader {
    /// Opens a key map. `documents` and `sha256` are the archive's and its manifest's.
    pub fn open(path: &Path, documents: Option<u64>, sha256: Option<&str>) -> Self {
        let expectation = Expectation {
            source: "the manifest of its archive".to_owned(),
            documents,
            bytes: None,
            sha256: sha256.map(str::to_owned),
        };
        let lines = LineReader::open_file(path, Some(expectation));
        Self { path: path.to_owned(), lines, chunk: Chunk::new(), next: 0, read: 0 }
    }

    /// The next row; `None` at the end, where the key map was proven to be whole.
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend from itself")]
    pub fn next(&mut self) -> Result<Option<KeyMapRow<'_>>> {
        if self.next >= self.chunk.len() {
            self.next = 0;
            if !self.lines.fill(&mut self.chunk).map_err(|error| missing(&self.path, error))? {
                return Ok(None);
            }
        }
        let line = self.chunk.line(self.next);
        self.next += 1;
        self.read += 1;
        let chunk = &self.chunk;
        line.map(|line| parse(line.bytes).map_err(|error| error.at(line.number, chunk.file()))).transpose()
    }

    /// How many rows have been read.
    pub fn rows_read(&self) -> u64 {
        self.read
    }

    /// Reads what is left and checks that the key map is whole.
    pub fn finish(self) -> Result<Totals> {
        self.lines.finish()
    }
}

/// Says what to do about a key map that is not there.
fn missing(path: &Path, error: Error) -> Error {
    if path.exists() {
        return error;
    }
    error.hint(format!(
        "Put the key map beside the archive's manifest as {:?}: rekey wrote it with the archive. If it is lost, rewrite the legacy archive by the same command again, which gives the same files.",
        path.file_name().unwrap_or_default()
    ))
}

/// Why a line is no row.
struct NotARow(String);

impl NotARow {
    fn at(self, number: u64, file: &Path) -> Error {
        Error::file(format!("Line {number} of {file:?} is no row of a key map: {}", self.0))
            .hint("Fetch the key map again from where it was written, together with its archive.")
    }
}

fn parse(line: &[u8]) -> Result<KeyMapRow<'_>, NotARow> {
    let Row { old, new, tenant, version, key, digest } =
        serde_json::from_slice(line).map_err(|error| NotARow(error.to_string()))?;
    let mut bytes = [0; 32];
    hex::decode_to_slice(digest.as_bytes(), &mut bytes)
        .map_err(|error| NotARow(format!("its digest is not 64 hex digits ({error})")))?;
    Ok(KeyMapRow { old, new, tenant, version, key: Cow::Borrowed(key.get()), digest: bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::Staged;
    use proptest::prelude::*;

    fn row(old: &str, version: Option<i64>) -> KeyMapRow<'_> {
        KeyMapRow {
            old: old.into(),
            new: format!("t:acme:{old}").into(),
            tenant: "acme".into(),
            version,
            key: r#"[{"S":"Order:1"},{"N":"0"}]"#.into(),
            digest: [7; 32],
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn rows_are_read_back_as_they_were_written(rows in prop::collection::vec((".*", any::<Option<i64>>()), 0..40)) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("a.keys.ndjson");
            let mut writer = KeyMapWriter::create(&path).unwrap();
            for (old, version) in &rows {
                writer.write(&row(old, *version)).unwrap();
            }
            let WrittenArchive { totals, output } = writer.finish().unwrap();
            let mut staged = Staged::new();
            staged.add(output);
            staged.commit().unwrap();
            let mut reader = KeyMapReader::open(&path, Some(rows.len() as u64), Some(&totals.sha256));
            for (old, version) in &rows {
                prop_assert_eq!(reader.next().unwrap(), Some(row(old, *version)));
            }
            prop_assert_eq!(reader.next().unwrap(), None);
        }
    }

    #[test]
    fn a_line_that_is_no_row_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.keys.ndjson");
        let mut block = Vec::new();
        row("a", None).append_to(&mut block);
        block.extend_from_slice(b"{\"old\":\"b\"}\n");
        std::fs::write(&path, block).unwrap();
        let mut reader = KeyMapReader::open(&path, None, None);
        assert!(reader.next().unwrap().is_some());
        let error = reader.next().unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::File);
        assert!(error.to_string().contains("Line 2"), "{error}");
    }

    #[test]
    fn a_key_map_with_a_row_missing_does_not_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.keys.ndjson");
        let mut block = Vec::new();
        row("a", Some(1)).append_to(&mut block);
        std::fs::write(&path, block).unwrap();
        assert!(KeyMapReader::open(&path, Some(2), None).finish().is_err());
        assert!(KeyMapReader::open(&path, Some(1), Some(&"0".repeat(64))).finish().is_err());
        assert!(KeyMapReader::open(&path, Some(1), None).finish().is_ok());
    }
}
