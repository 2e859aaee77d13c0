use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use super::{Context, Replayed, Run, replay};
use crate::{Error, Result};

/// What a journal says without being worked with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalAccount {
    /// What it is bound to; `None` if its run died before it had written that.
    pub context: Option<Context>,
    /// Whether all is done.
    pub is_finished: bool,
    /// Whether a run is working with it now.
    pub is_running: bool,
    /// How many documents have their final outcome.
    pub done: u64,
    /// When the first of its runs began.
    pub since: Option<String>,
    /// The last of its runs.
    pub run: Option<Run>,
}

/// The journals in a folder, in the order of their names.
///
/// # Errors
/// File: the folder cannot be listed.
pub fn journals_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, _>>());
    let mut paths = entries.map_err(|source| Error::io("list the folder", folder, source))?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "journal"));
    paths.sort();
    Ok(paths)
}

/// Looks at a journal and leaves it as it is.
///
/// # Errors
/// File: it cannot be read, or is damaged before its last line.
pub fn inspect(path: &Path) -> Result<JournalAccount> {
    let file = File::open(path).map_err(|source| Error::io("open the journal", path, source))?;
    // Held for as long as the question takes; a run that begins just then tries again.
    let is_running = match file.try_lock_shared() {
        Ok(()) => {
            file.unlock().map_err(|source| Error::io("unlock the journal", path, source))?;
            false
        }
        Err(TryLockError::WouldBlock) => true,
        Err(TryLockError::Error(source)) => return Err(Error::io("ask for the lock of", path, source)),
    };
    let Replayed { header, finished, done, since, run, .. } = replay(&file, path)?;
    Ok(JournalAccount { context: header, is_finished: finished, is_running, done: done.count(), since, run })
}
