use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use crate::{Error, Result};

/// The file that a run holds while it works in a store's folder.
const NAME: &str = "run.lock";

/// Whether a run works in a store's folder now.
pub(in crate::commands) fn is_held(folder: &Path) -> bool {
    let file = File::open(folder.join(NAME));
    file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Holds a store's folder for one run.
pub(super) struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Takes the folder; it is free again when the process is gone.
    ///
    /// # Errors
    /// Usage: another run has it.
    pub fn take(folder: &Path) -> Result<Self> {
        let path = folder.join(NAME);
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(|source| Error::io("open", &path, source))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(Error::usage(format!("Another run works in {folder:?}"))
                .hint("Wait for it; `rekey status` shows how far it is.")),
            Err(TryLockError::Error(source)) => Err(Error::io("lock", &path, source)),
        }
    }
}
