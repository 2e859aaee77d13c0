//! Unnamed temporary files: nobody else can open them, and nothing is left behind when the process dies.

use std::fs::{File, Permissions};
use std::io::{self, Read, Write};
use std::ops::Range;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;

use crate::{Error, Result};

/// A file without a name (mode 0600) that is appended to and read back by position.
///
/// Sections that were written can be read any number of times and at once, also while more is appended.
#[derive(Clone, Debug)]
pub(crate) struct TempFile {
    file: Arc<File>,
    dir: Arc<Path>,
    len: u64,
}

impl TempFile {
    /// Makes an empty file in `dir`, which must exist.
    pub(crate) fn create(dir: &Path) -> Result<Self> {
        let file = tempfile::tempfile_in(dir)
            .and_then(owner_only)
            .map_err(|source| Error::io("create a temporary file in", dir, source))?;
        Ok(Self { file: Arc::new(file), dir: dir.into(), len: 0 })
    }

    /// How many bytes were appended.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// A reader of the bytes at `range`.
    pub(crate) fn section(&self, range: Range<u64>) -> Section {
        Section { file: Arc::clone(&self.file), at: range.start, end: range.end }
    }

    /// The error for a write that failed; it names the folder, since the file has no name.
    pub(crate) fn write_error(&self, source: io::Error) -> Error {
        let full = matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
        let error = Error::io("write a temporary file in", &self.dir, source);
        if full { error.hint("Free space there, or name another folder with --state-dir.") } else { error }
    }

    /// The error for a read that failed.
    pub(crate) fn read_error(&self, source: io::Error) -> Error {
        Error::io("read a temporary file in", &self.dir, source)
    }
}

impl Write for TempFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = (&*self.file).write(bytes)?;
        self.len += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads one section of a [`TempFile`], independently of every other reader.
#[derive(Debug)]
pub(crate) struct Section {
    file: Arc<File>,
    at: u64,
    end: u64,
}

impl Read for Section {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let wanted = into.len().min(left);
        let Some(into) = into.get_mut(..wanted) else { return Ok(0) };
        let read = self.file.read_at(into, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Takes away everybody else's rights, whatever the umask says.
fn owner_only(file: File) -> io::Result<File> {
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_read_independently_while_more_is_appended() {
        let dir = tempfile::tempdir().unwrap();
        let mut file = TempFile::create(dir.path()).unwrap();
        file.write_all(b"first,").unwrap();
        let mut first = file.section(0..file.len());
        file.write_all(b"second").unwrap();
        let mut second = file.section(6..file.len());
        let (mut a, mut b) = (String::new(), String::new());
        let _ = second.read_to_string(&mut b).unwrap();
        let _ = first.read_to_string(&mut a).unwrap();
        assert_eq!((a.as_str(), b.as_str()), ("first,", "second"));
    }

    #[test]
    fn the_file_has_no_name_and_is_for_its_owner_alone() {
        use std::os::unix::fs::MetadataExt;
        let dir = tempfile::tempdir().unwrap();
        let file = TempFile::create(dir.path()).unwrap();
        assert_eq!(file.file.metadata().unwrap().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_full_disk_names_the_folder_and_says_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let file = TempFile::create(dir.path()).unwrap();
        let error = file.write_error(io::ErrorKind::StorageFull.into());
        assert_eq!(error.kind(), crate::ErrorKind::File);
        assert!(error.to_string().contains(dir.path().to_str().unwrap()), "{error}");
        assert!(error.hints()[0].contains("--state-dir"));
    }

    #[test]
    fn a_missing_folder_is_a_file_error_that_names_it() {
        let error = TempFile::create(Path::new("/no/such/folder")).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::File);
        assert!(error.to_string().contains("/no/such/folder"));
    }
}
