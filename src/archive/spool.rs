//! Bytes kept in an unnamed file: standard input that is read more than once, output that must not be
//! seen before it is whole.

use std::io::{self, Read, Write};
use std::path::Path;

use super::compression::{Compression, Encoder, decoder, read_error};
use crate::sort::TempFile;
use crate::{Error, Result};

const LEVEL: i32 = 1;
const BUFFER: usize = 256 * 1024;

/// Takes bytes, compressed fast, into an unnamed file (mode 0600) in the state folder.
pub(super) struct Spooler {
    out: Encoder<TempFile>,
    /// Names the folder in errors.
    file: TempFile,
}

impl Spooler {
    pub(super) fn create(dir: &Path) -> Result<Self> {
        let file = TempFile::create(dir)?;
        let out = Encoder::zstd(file.clone(), LEVEL).map_err(|source| file.write_error(source))?;
        Ok(Self { out, file })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes).map_err(|source| self.file.write_error(source))
    }

    /// Takes everything from `input`, which is called `name` in errors.
    pub(super) fn take_all(mut self, input: &mut dyn Read, name: &Path) -> Result<Spool> {
        let mut buffer = vec![0; BUFFER];
        loop {
            match input.read(&mut buffer) {
                Ok(0) => return self.finish(),
                Ok(read) => self.write(buffer.get(..read).unwrap_or_default())?,
                Err(source) if source.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(Error::io("read", name, source)),
            }
        }
    }

    pub(super) fn finish(self) -> Result<Spool> {
        let file = self.out.finish().map_err(|source| self.file.write_error(source))?;
        Ok(Spool { file })
    }
}

/// Bytes that can be read any number of times.
#[derive(Clone, Debug)]
pub(super) struct Spool {
    file: TempFile,
}

impl Spool {
    /// Reads from the beginning; `name` stands in errors.
    pub(super) fn reader(&self, name: &Path) -> Result<Box<dyn Read + Send>> {
        decoder(self.file.section(0..self.file.len()), Compression::Zstd, name)
    }

    /// Copies everything to `out`; a closed pipe becomes [`crate::ErrorKind::ClosedPipe`].
    pub(super) fn copy_to(&self, out: &mut dyn Write, name: &Path) -> Result<()> {
        let mut input = self.reader(name)?;
        let mut buffer = vec![0; BUFFER];
        loop {
            let read =
                input.read(&mut buffer).map_err(|source| read_error(name, Compression::Zstd, source))?;
            if read == 0 {
                return out.flush().map_err(|source| Error::io("write", name, source));
            }
            let bytes = buffer.get(..read).unwrap_or_default();
            out.write_all(bytes).map_err(|source| Error::io("write", name, source))?;
        }
    }
}
