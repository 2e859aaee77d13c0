//! Compression by name: what a file is called says what it must hold.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use super::names::ends_with;
use crate::{Error, Result};

const READ_BUFFER: usize = 256 * 1024;
const ZSTD_LEVEL: i32 = 3;

/// How a file's bytes are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Gzip,
    Zstd,
}

impl Compression {
    /// The compression that a file's name stands for.
    pub(super) fn by_name(path: &Path) -> Self {
        if ends_with(path, ".zst") {
            Self::Zstd
        } else if ends_with(path, ".gz") {
            Self::Gzip
        } else {
            Self::None
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "plain text",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        })
    }
}

/// Formats that are told by their first bytes. No JSON document begins with any of them.
const MAGIC: &[(&[u8], &str)] = &[
    (&[0x1f, 0x8b], "gzip"),
    (&[0x28, 0xb5, 0x2f, 0xfd], "zstd"),
    (b"PK\x03\x04", "a zip archive"),
    (&[0xfd, b'7', b'z', b'X', b'Z'], "xz"),
    (b"BZh", "bzip2"),
    (b"PAR1", "a Parquet file"),
    (b"Obj\x01", "an Avro file"),
    (b"SQLite format 3", "an SQLite database"),
    (&[0xff, 0xfe], "UTF-16 text"),
    (&[0xfe, 0xff], "UTF-16 text"),
];

/// What the first bytes of a file say it is, if they say it.
fn recognize(head: &[u8]) -> Option<&'static str> {
    MAGIC.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, name)| *name)
}

/// Checks that the file is what its name says, and decompresses it.
pub(super) fn decoder(
    file: impl Read + Send + 'static,
    compression: Compression,
    path: &Path,
) -> Result<Box<dyn Read + Send>> {
    let mut file = BufReader::with_capacity(READ_BUFFER, file);
    let head = file.fill_buf().map_err(|source| Error::io("read", path, source))?;
    let found = recognize(head);
    let decoder: Box<dyn Read + Send> = match compression {
        Compression::None if found.is_none() => Box::new(file),
        Compression::Gzip if found == Some("gzip") => Box::new(MultiGzDecoder::new(file)),
        Compression::Zstd if found == Some("zstd") => {
            let decoder = zstd::Decoder::with_buffer(file);
            Box::new(decoder.map_err(|source| Error::io("decompress", path, source))?)
        }
        expected => return Err(not_as_named(path, expected, head, found)),
    };
    Ok(decoder)
}

fn not_as_named(path: &Path, expected: Compression, head: &[u8], found: Option<&str>) -> Error {
    let found = match found {
        Some(found) => format!("is {found}"),
        None if head.is_empty() => "is empty: not even its header was written".to_owned(),
        None => "does not begin like it".to_owned(),
    };
    let error = Error::file(match expected {
        Compression::None => format!("{path:?} is named as plain text but {found}"),
        expected => format!("{path:?} is named as {expected} but {found}"),
    });
    error.hint("Give the file the name of what it holds (.gz, .zst), or unpack it first.")
}

/// The error for a file that cannot be read any further.
pub(super) fn read_error(path: &Path, compression: Compression, source: io::Error) -> Error {
    if compression == Compression::None || source.raw_os_error().is_some() {
        return Error::io("read", path, source);
    }
    let what = if source.kind() == io::ErrorKind::UnexpectedEof { "is cut off" } else { "is damaged" };
    let message = format!("Cannot read {path:?} to its end: the {compression} stream {what}");
    Error::caused(crate::ErrorKind::File, message, source)
        .hint("Fetch the file again from where it was written, or export again.")
}

/// Compresses what is written.
pub(super) enum Encoder<W: Write> {
    Plain(W),
    Gzip(GzEncoder<W>),
    Zstd(zstd::Encoder<'static, W>),
}

impl<W: Write> Encoder<W> {
    /// Begins a stream with the usual level (zstd 3, gzip's default).
    pub(super) fn new(out: W, compression: Compression) -> io::Result<Self> {
        Ok(match compression {
            Compression::None => Self::Plain(out),
            Compression::Gzip => Self::Gzip(GzEncoder::new(out, flate2::Compression::default())),
            Compression::Zstd => Self::zstd(out, ZSTD_LEVEL)?,
        })
    }

    /// Begins a zstd stream with a level of its own and a checksum of its contents.
    pub(super) fn zstd(out: W, level: i32) -> io::Result<Self> {
        let mut encoder = zstd::Encoder::new(out, level)?;
        encoder.include_checksum(true)?;
        Ok(Self::Zstd(encoder))
    }

    /// Where the compressed bytes go.
    pub(super) fn get_ref(&self) -> &W {
        match self {
            Self::Plain(out) => out,
            Self::Gzip(encoder) => encoder.get_ref(),
            Self::Zstd(encoder) => encoder.get_ref(),
        }
    }

    /// Ends the stream.
    pub(super) fn finish(self) -> io::Result<W> {
        match self {
            Self::Plain(out) => Ok(out),
            Self::Gzip(encoder) => encoder.finish(),
            Self::Zstd(encoder) => encoder.finish(),
        }
    }
}

impl<W: Write> Write for Encoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::Gzip(encoder) => encoder.write(bytes),
            Self::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            Self::Gzip(encoder) => encoder.flush(),
            Self::Zstd(encoder) => encoder.flush(),
        }
    }
}
