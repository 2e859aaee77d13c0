//! Input that may stall, such as standard input: read by a thread of its own, so that nobody has to wait for
//! it to move before a run ends.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use crate::signal::StopSignal;

const CHUNK: usize = 256 * 1024;
/// How many chunks are read ahead.
const AHEAD: usize = 4;
/// How long a wait for input lasts before the signal is looked at.
const PATIENCE: Duration = Duration::from_millis(50);

type Open = Box<dyn FnOnce() -> io::Result<Box<dyn Read>> + Send>;

/// Fails when the run is asked to stop while it waits.
pub(super) struct StoppableInput {
    open: Option<Open>,
    chunks: Option<Receiver<io::Result<Vec<u8>>>>,
    chunk: Vec<u8>,
    at: usize,
    stop: StopSignal,
}

impl StoppableInput {
    /// Makes an input that is opened with the first read; opening a named pipe may stall, too.
    pub(super) fn new(
        stop: &StopSignal,
        open: impl FnOnce() -> io::Result<Box<dyn Read>> + Send + 'static,
    ) -> Self {
        Self { open: Some(Box::new(open)), chunks: None, chunk: Vec::new(), at: 0, stop: stop.clone() }
    }

    /// Waits for the next chunk; an empty one is the end.
    fn next(&mut self) -> io::Result<Vec<u8>> {
        if let Some(open) = self.open.take() {
            let (sender, chunks) = sync_channel(AHEAD);
            let _reader =
                thread::Builder::new().name("input".to_owned()).spawn(move || read(open, &sender))?;
            self.chunks = Some(chunks);
        }
        let ended = || io::Error::other("the thread that reads it has ended early");
        let chunks = self.chunks.as_ref().ok_or_else(ended)?;
        loop {
            match chunks.recv_timeout(PATIENCE) {
                Ok(chunk) => return chunk,
                Err(RecvTimeoutError::Timeout) if self.stop.is_set() => {
                    return Err(io::Error::other("the run was asked to stop"));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(ended()),
            }
        }
    }
}

impl Read for StoppableInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.chunk.len() {
            self.chunk = self.next()?;
            self.at = 0;
        }
        let mut rest = self.chunk.get(self.at..).unwrap_or_default();
        let read = rest.read(buffer)?;
        self.at += read;
        Ok(read)
    }
}

/// Reads until the end, an error, or until nobody listens any more.
fn read(open: Open, chunks: &SyncSender<io::Result<Vec<u8>>>) {
    let mut input = match open() {
        Ok(input) => input,
        Err(error) => {
            let _ = chunks.send(Err(error));
            return;
        }
    };
    loop {
        let mut chunk = vec![0; CHUNK];
        let read = match input.read(&mut chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read,
        };
        let goes_on = read.as_ref().is_ok_and(|read| *read > 0);
        let read = read.map(|read| {
            chunk.truncate(read);
            chunk
        });
        if chunks.send(read).is_err() || !goes_on {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn everything_comes_through_in_order() {
        let bytes: Vec<u8> = (0..3_000_000_u32).map(|number| number.to_le_bytes()[0]).collect();
        let source = bytes.clone();
        let mut input =
            StoppableInput::new(&StopSignal::new(), move || Ok(Box::new(io::Cursor::new(source))));
        let mut read = Vec::new();
        let _ = input.read_to_end(&mut read).unwrap();
        assert!(read == bytes);
    }

    #[test]
    fn a_wait_for_input_ends_when_the_run_is_asked_to_stop() {
        let (silent, _writer) = io::pipe().unwrap();
        let stop = StopSignal::new();
        let mut input = StoppableInput::new(&stop, move || Ok(Box::new(silent)));
        let _ = stop.set(ErrorKind::Interrupted);
        assert!(input.read(&mut [0; 8]).is_err());
    }

    #[test]
    fn what_cannot_be_opened_is_an_error() {
        let mut input = StoppableInput::new(&StopSignal::new(), || Err(io::ErrorKind::NotFound.into()));
        assert_eq!(input.read(&mut [0; 8]).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
