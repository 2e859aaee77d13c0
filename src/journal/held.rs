use std::fs::OpenOptions;
use std::io::{ErrorKind, Seek as _, SeekFrom};
use std::path::Path;

use super::record::Record;
use super::{Journal, Ranges, Replayed, Tally, lock, replay};
use crate::{Error, Result};

/// The journal of a run whose writes another command is about to take back. Nobody can go on with it meanwhile.
pub struct HeldJournal(Journal);

impl HeldJournal {
    /// Locks the journal at `path`; `None` if there is none.
    ///
    /// # Errors
    /// Usage: a run is working with it. File: it cannot be opened, read or locked, or is damaged before its last line.
    pub fn hold(path: &Path) -> Result<Option<Self>> {
        let file = match OpenOptions::new().read(true).write(true).open(path) {
            Err(source) if source.kind() == ErrorKind::NotFound => return Ok(None),
            file => file.map_err(|source| Error::io("open the journal", path, source))?,
        };
        lock(&file, path)?;
        let Replayed { finished, end, .. } = replay(&file, path)?;
        let mut journal = Journal {
            path: path.to_owned(),
            file,
            done: Ranges::default(),
            intended: Ranges::default(),
            tally: Tally::default(),
            conflicts: Vec::new(),
            resumed: !finished,
            is_broken: false,
        };
        let seek = journal.file.seek(SeekFrom::Start(end));
        let _ = seek.map_err(|source| Error::io("read the journal", path, source))?;
        Ok(Some(Self(journal)))
    }

    /// Notes that what its runs have written does not stand any more: the next run reads everything back instead of
    /// passing over what they had done. On the disk when it returns.
    pub fn take_back(&mut self) -> Result<()> {
        if !self.0.resumed {
            return Ok(());
        }
        let end = self
            .0
            .file
            .stream_position()
            .map_err(|source| Error::io("read the journal", &self.0.path, source))?;
        self.0.cut_to(end)?;
        self.0.resumed = false;
        self.0.append(&Record::TakenBack)
    }
}
