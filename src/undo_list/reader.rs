use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use super::entry::read_header;
use super::{Entry, FORMAT, Header};
use crate::archive::UNDO_LIST;
use crate::{Error, Result};

/// Reads a list from its beginning. A last line without its end was being written when its run died: what it names
/// was not sent.
pub struct UndoListReader {
    path: PathBuf,
    header: Header,
    reader: BufReader<File>,
    line: Vec<u8>,
    number: u64,
}

impl UndoListReader {
    /// Opens a list and reads its header.
    ///
    /// # Errors
    /// File: it cannot be read, or is no undo list. Usage: it is of a newer format.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|source| Error::io("open the undo list", path, source))?;
        let mut reader = BufReader::with_capacity(256 * 1024, file);
        let mut line = Vec::new();
        let read = reader.read_until(b'\n', &mut line);
        let _ = read.map_err(|source| Error::io("read the undo list", path, source))?;
        let header = read_header(&line).ok().filter(|_| line.ends_with(b"\n"));
        let Some(header) = header else {
            return Err(Error::file(format!("{path:?} is no undo list of an import; nothing was changed"))
                .hint("Pass the file NAME.import-….undo.ndjson that import left beside its archive, or the archive."));
        };
        if header.format > FORMAT {
            return Err(Error::usage(format!(
                "The undo list {path:?} has format {}; this build reads formats up to {FORMAT}",
                header.format
            ))
            .hint("Use the version of rekey that wrote it, or a newer one."));
        }
        Ok(Self { path: path.to_owned(), header, reader, line, number: 1 })
    }

    /// What the list is of.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The next entry; `None` after the last one.
    ///
    /// # Errors
    /// File: the list cannot be read, or is damaged before its last line.
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend from itself")]
    pub fn next(&mut self) -> Result<Option<Entry<'_>>> {
        self.line.clear();
        let read = self.reader.read_until(b'\n', &mut self.line);
        let _ = read.map_err(|source| Error::io("read the undo list", &self.path, source))?;
        if !self.line.ends_with(b"\n") {
            return Ok(None);
        }
        self.number += 1;
        match Entry::parse(&self.line) {
            Some(entry) => Ok(Some(entry)),
            None => Err(Error::file(format!(
                "Line {} of the undo list {:?} is damaged; nothing was changed",
                self.number, self.path
            ))
            .hint("Fetch the list again from where it was written.")),
        }
    }

    /// The line of the entry read last, without its end.
    pub fn line(&self) -> &[u8] {
        self.line.strip_suffix(b"\n").unwrap_or(&self.line)
    }
}

/// The lists in `folder` that imports of the archive `name`, or of shards of it, left, in the order of their names.
pub fn lists_of(folder: &Path, name: &str) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, _>>());
    let mut paths = entries.map_err(|source| Error::io("list the folder", folder, source))?;
    paths.retain(|path| {
        let list = path.file_name().map(|list| list.to_string_lossy());
        let rest = list.as_ref().and_then(|list| list.strip_prefix(name)?.strip_suffix(UNDO_LIST));
        rest.is_some_and(|rest| {
            rest.starts_with(".import-") || (rest.starts_with(".shard-") && rest.contains(".import-"))
        })
    });
    paths.sort();
    Ok(paths)
}
