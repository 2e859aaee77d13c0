//! The rows of a tenant map as they stand in the CSV file, each with its line number.

use crate::{Error, Result};
use sha2::{Digest, Sha256};
use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

/// The longest physical line: keys and tenants are far shorter, so a longer one is no tenant map.
const MAX_LINE: u64 = 1 << 20;

/// How the key of a row is compared with a stream's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Match {
    Exact,
    Prefix,
    Regex,
}

/// One row of the map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row<'r> {
    pub line: u64,
    pub kind: Match,
    pub key: &'r str,
    /// The aggregate or saga type the row is confined to.
    pub type_name: Option<&'r str>,
    pub tenant: &'r str,
}

/// Reads a map file row by row.
pub(super) struct Rows {
    path: PathBuf,
    reader: MapReader,
    columns: Columns,
    record: csv::ByteRecord,
}

type MapReader = csv::Reader<PlainLines<BufReader<File>>>;

impl Rows {
    /// Opens the file and checks its header.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|e| Error::io("read the tenant map", path, e))?;
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .terminator(csv::Terminator::Any(b'\n'))
            .from_reader(PlainLines::new(BufReader::new(file)));
        let mut record = csv::ByteRecord::new();
        let columns = if read_record(&mut reader, path, &mut record)? {
            Columns::find(&record)
        } else {
            Err("the file is empty".into())
        };
        let columns = columns.map_err(|what| {
            Error::usage(format!("The tenant map {} has no usable header: {what}", path.display()))
                .hint("Begin the file with the line `key,tenant`; `type` and `match` may follow, separated by commas.")
        })?;
        Ok(Self { path: path.into(), reader, columns, record })
    }

    /// The next row, or nothing at the end of the file.
    pub fn next(&mut self) -> Result<Option<Row<'_>>> {
        if !read_record(&mut self.reader, &self.path, &mut self.record)? {
            return Ok(None);
        }
        let last = self.reader.get_ref();
        if last.quoted {
            return Err(usage(
                &self.path,
                last.quoted_since,
                "a quotation mark opens a field that never ends",
            )
            .hint("Put a field that holds a quotation mark in quotation marks and write the mark twice."));
        }
        let within: usize = self.record.iter().map(|field| memchr::memchr_iter(b'\n', field).count()).sum();
        let line = last.number.saturating_sub(within as u64);
        self.columns.row(&self.record, line).map(Some).map_err(|what| usage(&self.path, line, &what))
    }

    /// A usage error about the row on `line`.
    pub fn error(&self, line: u64, what: &str) -> Error {
        usage(&self.path, line, what)
    }

    /// The SHA-256 of the file in hex, once it was read to its end.
    pub fn sha256(&self) -> String {
        hex::encode(self.reader.get_ref().sha256.clone().finalize())
    }
}

fn read_record(reader: &mut MapReader, path: &Path, record: &mut csv::ByteRecord) -> Result<bool> {
    reader.read_byte_record(record).map_err(|error| match error.into_kind() {
        csv::ErrorKind::Io(error) => Error::io("read the tenant map", path, error),
        other => Error::usage(format!("The tenant map {} is not CSV: {other:?}", path.display())),
    })
}

fn usage(path: &Path, line: u64, what: &str) -> Error {
    Error::usage(format!("Line {line} of the tenant map {} cannot be used: {what}", path.display()))
}

/// Where the columns stand.
struct Columns {
    count: usize,
    key: usize,
    tenant: usize,
    type_name: Option<usize>,
    kind: Option<usize>,
}

impl Columns {
    const NAMES: [&str; 4] = ["key", "tenant", "type", "match"];

    fn find(header: &csv::ByteRecord) -> Result<Self, String> {
        if let Some(name) =
            header.iter().find(|name| Self::NAMES.iter().all(|known| known.as_bytes() != *name))
        {
            return Err(format!("the column {:?} is unknown", String::from_utf8_lossy(name)));
        }
        let place = |name: &str| {
            let mut places = header.iter().enumerate().filter(|(_, column)| *column == name.as_bytes());
            let first = places.next().map(|(at, _)| at);
            places.next().map_or(Ok(first), |_| Err(format!("the column {name:?} stands there twice")))
        };
        let required = |name: &str| place(name)?.ok_or_else(|| format!("the column {name:?} is missing"));
        let (key, tenant) = (required("key")?, required("tenant")?);
        Ok(Self { count: header.len(), key, tenant, type_name: place("type")?, kind: place("match")? })
    }

    fn row<'r>(&self, record: &'r csv::ByteRecord, line: u64) -> Result<Row<'r>, String> {
        if record.len() != self.count {
            return Err(format!(
                "it has {} fields and the header {}; a field that holds a comma stands in quotation marks",
                record.len(),
                self.count
            ));
        }
        let field = |at: Option<usize>| {
            let bytes = at.and_then(|at| record.get(at)).unwrap_or_default();
            std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
        };
        let kind = match field(self.kind)? {
            "" | "exact" => Match::Exact,
            "prefix" => Match::Prefix,
            "regex" => Match::Regex,
            other => return Err(format!("the match {other:?} is none of exact, prefix, regex")),
        };
        let (key, tenant) = (field(Some(self.key))?, field(Some(self.tenant))?);
        if key.is_empty() {
            return Err("the key is empty".into());
        }
        Ok(Row {
            line,
            kind,
            key,
            type_name: Some(field(self.type_name)?).filter(|name| !name.is_empty()),
            tenant,
        })
    }
}

/// A reader that hands out one physical line at a time, so that its state is that of the record just read.
///
/// It takes the CR from each CR LF outside quoted fields, ends the last line, and digests the file as it is.
/// (The `csv` crate takes CR LF and blank lines by itself, but its line numbers lag behind then.)
struct PlainLines<R> {
    input: R,
    line: Vec<u8>,
    read: usize,
    /// The number of the physical line in `line`.
    number: u64,
    /// Whether a quoted field goes on after `line`, and on which line it began.
    quoted: bool,
    quoted_since: u64,
    sha256: Sha256,
}

impl<R: BufRead> PlainLines<R> {
    fn new(input: R) -> Self {
        Self {
            input,
            line: Vec::new(),
            read: 0,
            number: 0,
            quoted: false,
            quoted_since: 0,
            sha256: Sha256::new(),
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        self.line.clear();
        self.read = 0;
        let length = self.input.by_ref().take(MAX_LINE).read_until(b'\n', &mut self.line)?;
        if length == 0 {
            return Ok(());
        }
        self.sha256.update(&self.line);
        self.number += 1;
        if !self.line.ends_with(b"\n") {
            if length as u64 == MAX_LINE {
                let what = format!("line {} is longer than 1 MiB", self.number);
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
            }
            self.line.push(b'\n');
        }
        if memchr::memchr_iter(b'"', &self.line).count() % 2 == 1 {
            self.quoted = !self.quoted;
            self.quoted_since = self.number;
        }
        if !self.quoted && self.line.ends_with(b"\r\n") {
            let _ = self.line.swap_remove(self.line.len() - 2);
        }
        Ok(())
    }
}

impl<R: BufRead> Read for PlainLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read == self.line.len() {
            self.fill()?;
        }
        let count = self.line.get(self.read..).unwrap_or_default().read(buffer)?;
        self.read += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Owned = (u64, Match, String, Option<String>, String);

    fn read(text: impl AsRef<[u8]>) -> Result<Vec<Owned>> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("map.csv");
        std::fs::write(&path, text).unwrap();
        let mut rows = Rows::open(&path)?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            all.push((row.line, row.kind, row.key.into(), row.type_name.map(Into::into), row.tenant.into()));
        }
        Ok(all)
    }

    fn exact(line: u64, key: &str, tenant: &str) -> Owned {
        (line, Match::Exact, key.into(), None, tenant.into())
    }

    #[test]
    fn columns_may_stand_in_any_order_and_optional_cells_may_be_empty() {
        let rows = read("match,tenant,type,key\nprefix,acme,Order,Order:\n,globex,,A-1\n").unwrap();
        let first = (2, Match::Prefix, "Order:".into(), Some("Order".into()), "acme".into());
        assert_eq!(rows, [first, exact(3, "A-1", "globex")]);
    }

    #[test]
    fn lines_are_counted_through_cr_lf_blank_lines_and_quoted_line_ends() {
        let text = "\u{feff}key,tenant\na,acme\n\n\"b,\"\"1\"\"\nx\",acme\nc,acme";
        let expected = [exact(2, "a", "acme"), exact(4, "b,\"1\"\nx", "acme"), exact(6, "c", "acme")];
        assert_eq!(read(text).unwrap(), expected);
        let expected = [exact(2, "a", "acme"), exact(4, "b,\"1\"\r\nx", "acme"), exact(6, "c", "acme")];
        assert_eq!(read(text.replace('\n', "\r\n")).unwrap(), expected);
    }

    #[test]
    fn what_cannot_be_used_is_a_usage_error_that_names_the_line() {
        let cases: [(&[u8], &str); 13] = [
            (b"", "is empty"),
            (b"key;tenant\na;acme\n", "\"key;tenant\" is unknown"),
            (b"key\na\n", "\"tenant\" is missing"),
            (b"key,tenant,key\n", "\"key\" stands there twice"),
            (b"key,tenant,note\n", "\"note\" is unknown"),
            (b"key,tenant\n\na,b,c\n", "Line 3"),
            (b"key,tenant\r\na\r\n", "Line 2"),
            (b"key,tenant\na,acme\n,acme\n", "Line 3"),
            (b"key,tenant,match\na,acme,glob\n", "\"glob\""),
            (b"key,tenant\na,\xff\n", "Line 2"),
            (b"key,tenant\na,acme\n\"b,acme\nc,acme\n", "Line 3"),
            (b"key,tenant\n5\" pipe,acme\nc,acme\n", "Line 2"),
            (b"key,tenant\na,\"acme\n", "Line 2"),
        ];
        for (text, named) in cases {
            let error = read(text).unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Usage, "{error}");
            assert!(error.to_string().contains(named), "{error} should name {named}");
        }
    }

    #[test]
    fn the_digest_is_that_of_the_file_as_it_is() {
        let text = "key,tenant\r\n\"a\r\n\",acme\r\n\r\nb,acme";
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("map.csv");
        std::fs::write(&path, text).unwrap();
        let mut rows = Rows::open(&path).unwrap();
        while rows.next().unwrap().is_some() {}
        assert_eq!(rows.sha256(), hex::encode(Sha256::digest(text)));
    }
}
