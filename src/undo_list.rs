//! What an import is about to write, noted before it does, so that `undo` can take back exactly that.
//!
//! One list for each (archive digest, target), beside the journal of its import. It is JSON lines: a header
//! that says of what and whose the list is, then an entry for each document. The entries of a batch are on the disk
//! before the batch is sent, so that a list names every document that an import wrote, wherever it was killed; one that
//! it names and that is not there was not written. A key may stand more than once. What the target held beforehand
//! is not in it. A torn last line is the mark of a crash and is left out.

mod entry;
mod reader;

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

pub use entry::{Entry, Header, Place, Wrote};
pub use reader::{UndoListReader, lists_of};

use crate::archive::{UNDO_LIST, sync_folder_of};
use crate::document::StoreKey;
use crate::failpoint::{self, Point};
use crate::{Error, Result};

/// The version of the format that this build writes, and the newest that it reads.
pub const FORMAT: u32 = 1;

/// How many bytes are looked at at one time for the end of the last whole line.
const STEP: u64 = 64 * 1024;

/// A list that grows. Whoever writes one holds the journal beside it.
#[derive(Debug)]
pub struct UndoList {
    path: PathBuf,
    file: File,
    block: Vec<u8>,
    /// Whether a block could not be written whole.
    is_broken: bool,
}

/// The journal of the import that a list is of: it stands beside the list.
pub fn journal_of(list: &Path) -> PathBuf {
    let name = list.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = name.strip_suffix(UNDO_LIST).unwrap_or(&name);
    list.with_file_name(format!("{stem}.journal"))
}

impl UndoList {
    /// Opens the list of the import that `journal` belongs to, or begins it.
    ///
    /// # Errors
    /// File: it cannot be read or written.
    pub fn open(journal: &Path, header: &Header) -> Result<Self> {
        let path = journal.with_extension(UNDO_LIST.trim_start_matches('.'));
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.open(&path).map_err(|source| {
            Error::io("open the undo list", &path, source)
                .hint("Pass --state-dir DIR where it can be written.")
        })?;
        let cut = cut_torn_end(&mut file);
        let end = cut.map_err(|source| Error::io("cut the torn end off the undo list", &path, source))?;
        let mut list = Self { path, file, block: Vec::new(), is_broken: false };
        if end == 0 {
            entry::write_header(header, &mut list.block)?;
            list.sync()?;
            sync_folder_of(&list.path)?;
        }
        Ok(list)
    }

    /// Adds a document that is about to be created; `digest` is that of its canonical form.
    pub fn created(&mut self, key: &StoreKey, digest: &[u8; 32]) {
        entry::write_created(key, digest, &mut self.block);
    }

    /// Adds a document whose key is about to change from `old` to `new` where it is.
    pub fn changed(&mut self, key: &StoreKey, old: &str, new: &str, version: Option<i64>) {
        entry::write_changed(key, (old, new), version, &mut self.block);
    }

    /// Puts on the disk what was added.
    pub fn sync(&mut self) -> Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        if self.is_broken {
            let message = format!("The undo list {:?} could not be written before", self.path);
            return Err(Error::file(message));
        }
        let written = self.write();
        // Half an entry may stand at its end, which is cut off only as long as nothing follows it.
        self.is_broken = written.is_err();
        self.block.clear();
        written
    }

    fn write(&mut self) -> Result<()> {
        failpoint::pass(Point::UndoListWrite)?;
        let failed = |source| Error::io("write the undo list", &self.path, source);
        if let Some(stop) = failpoint::stop_at(Point::UndoListTorn) {
            self.file
                .write_all(self.block.get(..self.block.len() / 2).unwrap_or_default())
                .map_err(failed)?;
            stop.now(Point::UndoListTorn)?;
        }
        self.file.write_all(&self.block).and_then(|()| self.file.sync_data()).map_err(failed)
    }
}

/// Cuts off what follows the last line end; the file is then at its end, which is returned.
fn cut_torn_end(file: &mut File) -> std::io::Result<u64> {
    let length = file.seek(SeekFrom::End(0))?;
    let mut before = length;
    let mut block = Vec::new();
    while before > 0 {
        let from = before.saturating_sub(STEP);
        let _ = file.seek(SeekFrom::Start(from))?;
        block.clear();
        let _ = (&*file).take(before - from).read_to_end(&mut block)?;
        if let Some(at) = memchr::memrchr(b'\n', &block) {
            before = from + at as u64 + 1;
            break;
        }
        before = from;
    }
    if before < length {
        file.set_len(before)?;
    }
    file.seek(SeekFrom::Start(before))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    fn header() -> Header {
        let target = Place { location: "x, collection moved".into(), identity: None };
        serde_json::from_value(serde_json::json!({
            "format": 1, "tool": "rekey", "archive": "a.ndjson", "archive_sha256": "aa",
            "target": target, "source": null,
            "layout": { "name": "mongodb-events", "digest": "dd" }, "escaping": "escaped", "in_place": false,
        }))
        .unwrap()
    }

    fn key(number: u32) -> StoreKey {
        StoreKey(format!("[\"{number}\"]").into())
    }

    fn entries(path: &Path) -> Vec<(String, Wrote<'static>)> {
        let mut reader = UndoListReader::open(path).unwrap();
        assert_eq!(*reader.header(), header());
        let mut entries = Vec::new();
        while let Some(entry) = reader.next().unwrap() {
            entries.push((entry.key.to_owned(), entry.wrote.into_owned()));
        }
        entries
    }

    #[test]
    fn entries_are_read_as_they_were_written_and_a_torn_one_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("a.ndjson.import-0123.journal");
        let mut list = UndoList::open(&journal, &header()).unwrap();
        assert_eq!(journal_of(&list.path), journal);
        list.created(&key(1), &[7; 32]);
        list.changed(&key(2), "A \"1\"", "t:acme:A", Some(3));
        list.sync().unwrap();
        list.created(&key(3), &[9; 32]);
        drop(list); // What was not synced is not there.
        let path = folder.path().join("a.ndjson.import-0123.undo.ndjson");
        let changed = Wrote::Changed { old: "A \"1\"".into(), new: "t:acme:A".into(), version: Some(3) };
        let expected =
            vec![("[\"1\"]".to_owned(), Wrote::Created { digest: [7; 32] }), ("[\"2\"]".to_owned(), changed)];
        assert_eq!(entries(&path), expected);

        let mut text = std::fs::read(&path).unwrap();
        text.extend_from_slice(b"{\"key\":[\"3\"],\"dig");
        std::fs::write(&path, &text).unwrap();
        assert_eq!(entries(&path), expected);
        let mut list = UndoList::open(&journal, &header()).unwrap();
        list.created(&key(4), &[1; 32]);
        list.sync().unwrap();
        assert_eq!(entries(&path).len(), 3);
        assert_eq!(lists_of(folder.path(), "a.ndjson").unwrap(), [path]);
        assert!(lists_of(folder.path(), "b.ndjson").unwrap().is_empty());
    }

    #[test]
    fn a_torn_header_is_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.undo.ndjson");
        std::fs::write(&path, b"{\"begin\":{").unwrap();
        assert_eq!(UndoListReader::open(&path).err().unwrap().kind(), ErrorKind::File);
        drop(UndoList::open(&folder.path().join("a.journal"), &header()).unwrap());
        assert!(entries(&path).is_empty());
    }

    #[test]
    fn damage_and_a_newer_format_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.undo.ndjson");
        let mut list = UndoList::open(&folder.path().join("a.journal"), &header()).unwrap();
        list.created(&key(1), &[1; 32]);
        list.sync().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{text}rubbish\n")).unwrap();
        let mut reader = UndoListReader::open(&path).unwrap();
        assert!(reader.next().unwrap().is_some());
        assert!(reader.next().unwrap_err().to_string().contains("Line 3"));
        std::fs::write(&path, text.replace("\"format\":1", "\"format\":9")).unwrap();
        assert_eq!(UndoListReader::open(&path).err().unwrap().kind(), ErrorKind::Usage);
        std::fs::write(&path, "{}\n").unwrap();
        assert_eq!(UndoListReader::open(&path).err().unwrap().kind(), ErrorKind::File);
    }
}
