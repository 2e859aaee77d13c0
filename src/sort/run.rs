//! Sorted runs in a temporary file.

use std::io::{self, BufReader, BufWriter, Write};
use std::ops::Range;

use zstd::stream::raw::CParameter;
use zstd::{Decoder, Encoder};

use super::{Section, TempFile};
use crate::{Error, Result};

/// Fast compression with a small window: 64 runs are read at once.
const LEVEL: i32 = -1;
const WINDOW_LOG: u32 = 17;
const BUFFER: usize = 64 * 1024;

/// One sorted run: a section of a temporary file.
#[derive(Clone, Debug)]
pub(super) struct Run {
    file: TempFile,
    range: Range<u64>,
}

/// Writes one run at the end of a temporary file.
pub(super) struct RunWriter<'a> {
    out: BufWriter<Encoder<'static, &'a mut TempFile>>,
    from: u64,
}

impl<'a> RunWriter<'a> {
    /// Begins a run.
    pub(super) fn new(file: &'a mut TempFile) -> Result<Self> {
        let from = file.len();
        let template = file.clone();
        let encoder = Encoder::new(file, LEVEL).and_then(|mut encoder| {
            encoder.set_parameter(CParameter::WindowLog(WINDOW_LOG))?;
            Ok(encoder)
        });
        let encoder = encoder.map_err(|source| template.write_error(source))?;
        Ok(Self { out: BufWriter::with_capacity(BUFFER, encoder), from })
    }

    /// Appends a row; rows come in order.
    pub(super) fn push(&mut self, key: &[u8], payload: &[u8]) -> Result<()> {
        write_row(&mut self.out, key, payload)
            .map_err(|source| self.out.get_ref().get_ref().write_error(source))
    }

    /// Ends the run.
    pub(super) fn finish(self) -> Result<Run> {
        let Self { mut out, from } = self;
        let flushed = out.flush();
        let (encoder, _) = out.into_parts();
        let template = TempFile::clone(encoder.get_ref());
        let file = flushed.and_then(|()| encoder.finish()).map_err(|source| template.write_error(source))?;
        Ok(Run { range: from..file.len(), file: file.clone() })
    }
}

/// Reads one run from its beginning, a row at a time.
pub(super) struct RunReader {
    input: BufReader<Decoder<'static, BufReader<Section>>>,
    file: TempFile,
    row: Vec<u8>,
    key_len: usize,
}

impl RunReader {
    /// Opens a run before its first row.
    pub(super) fn new(run: &Run) -> Result<Self> {
        let section = BufReader::with_capacity(BUFFER, run.file.section(run.range.clone()));
        let decoder = Decoder::with_buffer(section).map_err(|source| run.file.read_error(source))?;
        let input = BufReader::with_capacity(BUFFER, decoder);
        Ok(Self { input, file: run.file.clone(), row: Vec::new(), key_len: 0 })
    }

    /// Goes to the next row; `false` after the last one.
    pub(super) fn advance(&mut self) -> Result<bool> {
        let read = read_row(&mut self.input, &mut self.row).map_err(|source| self.file.read_error(source))?;
        self.key_len = read.unwrap_or(0);
        Ok(read.is_some())
    }

    /// The current row's key and payload.
    pub(super) fn row(&self) -> (&[u8], &[u8]) {
        self.row.split_at_checked(self.key_len).unwrap_or_default()
    }
}

/// Writes a row: both lengths as little-endian `u32`, key, payload.
pub(super) fn write_row(out: &mut impl Write, key: &[u8], payload: &[u8]) -> io::Result<()> {
    out.write_all(&length(key)?)?;
    out.write_all(&length(payload)?)?;
    out.write_all(key)?;
    out.write_all(payload)
}

/// Reads a row into `row` and tells the length of its key; `None` at the end.
fn read_row(input: &mut impl io::BufRead, row: &mut Vec<u8>) -> io::Result<Option<usize>> {
    if input.fill_buf()?.is_empty() {
        return Ok(None);
    }
    let mut lengths = [[0; 4]; 2];
    for length in &mut lengths {
        input.read_exact(length)?;
    }
    let [key, payload] = lengths.map(|length| u32::from_le_bytes(length) as usize);
    row.resize(key + payload, 0);
    input.read_exact(row)?;
    Ok(Some(key))
}

fn length(bytes: &[u8]) -> io::Result<[u8; 4]> {
    let length = u32::try_from(bytes.len());
    Ok(length
        .map_err(|_| io::Error::new(io::ErrorKind::FileTooLarge, "a row of 4 GiB or more"))?
        .to_le_bytes())
}

/// The error for a row that no run can hold.
pub(super) fn row_too_long() -> Error {
    Error::file("Cannot sort a row of 4 GiB or more")
}
