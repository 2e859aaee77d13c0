//! Files that have their own name only once they are whole.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::names::{is_part, part_of};
use super::write_behind::WriteBehind;
use crate::{Error, Result};

/// A file that grows as `NAME.part`; dropped before it is put in place, it is removed.
#[derive(Debug)]
pub(super) struct PartFile {
    path: PathBuf,
    part: PathBuf,
    /// Locked while it is open, so that a second run does not take it for one left behind.
    file: File,
    write_behind: WriteBehind,
    in_place: bool,
}

impl PartFile {
    /// Creates `NAME.part` with mode 0600 in the folder of `path`.
    ///
    /// A `.part` that a run left behind when it died is removed first; one that a live run holds is an
    /// error. What stands under `NAME` stays until [`Self::put_in_place`].
    pub(super) fn create(path: &Path) -> Result<Self> {
        if is_part(path) {
            return Err(Error::usage(format!(
                "Cannot write {path:?}: the ending .part marks unfinished files"
            ))
            .hint("Choose another name; .part is added while the file grows."));
        }
        if path.is_dir() {
            return Err(
                Error::usage(format!("Cannot write {path:?}: it is a folder")).hint("Name a file in it.")
            );
        }
        let part = part_of(path);
        let file = match create_new(&part) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                remove_left_behind(&part)?;
                create_new(&part)
            }
            created => created,
        };
        let file = file.map_err(|source| Error::io("create", &part, source))?;
        lock(&file, &part)?;
        Ok(Self { path: path.to_owned(), part, file, write_behind: WriteBehind::default(), in_place: false })
    }

    /// Takes any file for a growing one, so that tests can reach a full disk.
    #[cfg(test)]
    pub(super) fn over(path: &Path) -> Self {
        let file = OpenOptions::new().write(true).open(path).unwrap();
        let write_behind = WriteBehind::default();
        Self { path: path.to_owned(), part: path.to_owned(), file, write_behind, in_place: true }
    }

    /// The name the file will have.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Waits until the bytes are on the disk. Errors that a close would tell are told here.
    pub(super) fn sync(&mut self) -> Result<()> {
        // What failed behind the writer's back is told to nobody else.
        self.write_behind
            .finish()
            .and_then(|()| self.file.sync_all())
            .map_err(|source| self.write_error(source))
    }

    /// Gives the file its name, replacing what stood there.
    pub(super) fn put_in_place(&mut self) -> Result<()> {
        fs::rename(&self.part, &self.path)
            .map_err(|source| Error::io("rename the finished file to", &self.path, source))?;
        self.in_place = true;
        Ok(())
    }

    /// The error for a write that failed.
    pub(super) fn write_error(&self, source: io::Error) -> Error {
        Error::io("write", &self.part, source)
    }
}

impl Write for PartFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.write_behind.wrote(written, &self.file)?;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        if !self.in_place {
            // Nothing reads a .part, so one that cannot be removed does no harm.
            let _ = fs::remove_file(&self.part);
        }
    }
}

/// Waits until renames in the folder of `path` are on the disk.
pub(crate) fn sync_folder_of(path: &Path) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|source| Error::io("sync the folder", folder, source))
}

fn create_new(part: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(part)
}

fn remove_left_behind(part: &Path) -> Result<()> {
    let metadata = fs::symlink_metadata(part).map_err(|source| Error::io("look at", part, source))?;
    if metadata.is_file() {
        let file =
            OpenOptions::new().write(true).open(part).map_err(|source| Error::io("open", part, source))?;
        lock(&file, part)?;
    }
    fs::remove_file(part).map_err(|source| Error::io("remove the unfinished file", part, source))
}

/// Locks the file for this process; file systems without locks are taken as they are.
fn lock(file: &File, part: &Path) -> Result<()> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(Error::usage(format!("Another run is writing {part:?}"))
            .hint("Wait for it, or choose another name.")),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_file_left_behind_is_taken_over_and_a_live_one_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.ndjson");
        fs::write(part_of(&path), "left behind").unwrap();
        let mut file = PartFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        assert_eq!(PartFile::create(&path).unwrap_err().kind(), ErrorKind::Usage);
        file.sync().unwrap();
        file.put_in_place().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_link_in_place_of_the_part_is_removed_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (path, other) = (dir.path().join("a.ndjson"), dir.path().join("other"));
        fs::write(&other, "precious").unwrap();
        std::os::unix::fs::symlink(&other, part_of(&path)).unwrap();
        PartFile::create(&path).unwrap().write_all(b"new").unwrap();
        assert_eq!(fs::read(&other).unwrap(), b"precious");
    }

    #[test]
    fn a_dropped_file_leaves_nothing_and_touches_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.ndjson");
        fs::write(&path, "old").unwrap();
        drop(PartFile::create(&path).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert!(!part_of(&path).exists());
    }

    #[test]
    fn names_that_cannot_be_outputs_are_usage_errors() {
        let dir = tempfile::tempdir().unwrap();
        for path in [dir.path().to_owned(), dir.path().join("a.ndjson.part")] {
            assert_eq!(PartFile::create(&path).unwrap_err().kind(), ErrorKind::Usage);
        }
        let missing = dir.path().join("missing/a.ndjson");
        assert_eq!(PartFile::create(&missing).unwrap_err().kind(), ErrorKind::File);
    }
}
