//! Bytes on their way to the disk while more of them are being made.

use std::fs::File;
use std::io;
use std::thread::{self, JoinHandle};

/// How much is written before the disk is set to work; a smaller file waits for it once, at its end.
const INTERVAL: usize = 64 * 1024 * 1024;

/// Syncs a growing file from time to time on a thread of its own, so that its end is not a long wait.
#[derive(Debug, Default)]
pub(super) struct WriteBehind {
    /// Bytes written since the last sync began.
    waiting: usize,
    sync: Option<JoinHandle<io::Result<()>>>,
}

impl WriteBehind {
    /// Takes note of a write, and begins a sync when it is time and none is under way.
    ///
    /// # Errors
    /// What an earlier sync met: the system tells it only once.
    pub(super) fn wrote(&mut self, bytes: usize, file: &File) -> io::Result<()> {
        self.waiting += bytes;
        if self.waiting < INTERVAL || self.sync.as_ref().is_some_and(|sync| !sync.is_finished()) {
            return Ok(());
        }
        self.finish()?;
        self.waiting = 0;
        let file = file.try_clone()?;
        self.sync = Some(thread::Builder::new().name("sync".to_owned()).spawn(move || file.sync_data())?);
        Ok(())
    }

    /// Waits for the sync under way.
    ///
    /// # Errors
    /// What it met.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        let Some(sync) = self.sync.take() else { return Ok(()) };
        sync.join().unwrap_or_else(|_| Err(io::Error::other("the thread that syncs the file ended early")))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use super::*;

    #[test]
    fn a_sync_begins_when_enough_was_written_and_its_error_is_told() {
        let file = tempfile::tempfile().unwrap();
        let mut behind = WriteBehind::default();
        behind.wrote(INTERVAL - 1, &file).unwrap();
        assert!(behind.sync.is_none());
        behind.wrote(1, &file).unwrap();
        assert!(behind.sync.is_some());
        behind.finish().unwrap();
        // A device that cannot be synced.
        let device = OpenOptions::new().write(true).open("/dev/full").unwrap();
        behind.wrote(INTERVAL, &device).unwrap();
        assert!(behind.finish().is_err());
    }
}
