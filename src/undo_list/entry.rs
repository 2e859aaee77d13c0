use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::archive::{LayoutAccount, RecordedEscaping};
use crate::document::StoreKey;
use crate::document::text::write_quoted;
use crate::stores::Description;
use crate::{Error, ErrorKind, Result};

/// A collection that a list speaks of; never a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Where it is, as in [`Description::location`](crate::stores::Description::location).
    pub location: String,
    /// What stays the same while it is the same collection, if the store tells.
    pub identity: Option<String>,
}

impl Place {
    /// The place of a collection.
    pub fn of(collection: &Description) -> Self {
        Self { location: collection.location.clone(), identity: collection.identity.clone() }
    }

    /// Whether two places are one collection: by what stays the same, or else by where they are.
    pub fn is(&self, other: &Self) -> bool {
        match (&self.identity, &other.identity) {
            (Some(one), Some(other)) => one == other,
            _ => self.location == other.location,
        }
    }
}

/// What a list is of: the first line, `{"begin":{…}}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The format's version, [`FORMAT`](super::FORMAT).
    pub format: u32,
    /// The tool that wrote the list, with its version.
    pub tool: String,
    /// The archive's file name.
    pub archive: String,
    /// The SHA-256 of the archive's lines.
    pub archive_sha256: String,
    /// The collection that was written.
    pub target: Place,
    /// The collection that the legacy documents were exported from, where the archive says it.
    pub source: Option<Place>,
    /// The layout of the documents.
    pub layout: LayoutAccount,
    /// How the terms of the new keys were joined.
    pub escaping: RecordedEscaping,
    /// Whether documents were changed where they were.
    pub in_place: bool,
}

/// One document of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The text of its [`StoreKey`].
    pub key: &'a str,
    /// What was done to it.
    pub wrote: Wrote<'a>,
}

/// What was done to a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrote<'a> {
    /// It was created: `{"key":[…],"digest":"…"}`.
    Created {
        /// The digest of its canonical form.
        digest: [u8; 32],
    },
    /// Its key was changed where it is: `{"key":[…],"old":"…","new":"…","version":…}`.
    Changed {
        /// Its key before.
        old: Cow<'a, str>,
        /// Its key after.
        new: Cow<'a, str>,
        /// Its version, before and after.
        version: Option<i64>,
    },
}

impl Wrote<'_> {
    /// The same, that outlives its line.
    pub fn into_owned(self) -> Wrote<'static> {
        match self {
            Self::Created { digest } => Wrote::Created { digest },
            Self::Changed { old, new, version } => Wrote::Changed {
                old: Cow::Owned(old.into_owned()),
                new: Cow::Owned(new.into_owned()),
                version,
            },
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Begin<H> {
    begin: H,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    key: &'a RawValue,
    #[serde(borrow)]
    digest: Option<Cow<'a, str>>,
    #[serde(borrow)]
    old: Option<Cow<'a, str>>,
    #[serde(borrow)]
    new: Option<Cow<'a, str>>,
    version: Option<i64>,
}

impl<'a> Entry<'a> {
    /// Reads one line; `None` if it is no entry.
    pub fn parse(line: &'a [u8]) -> Option<Self> {
        let Line { key, digest, old, new, version } = serde_json::from_slice(line).ok()?;
        let wrote = match (digest, old, new) {
            (Some(digits), None, None) => {
                let mut digest = [0; 32];
                hex::decode_to_slice(digits.as_bytes(), &mut digest).ok()?;
                Wrote::Created { digest }
            }
            (None, Some(old), Some(new)) => Wrote::Changed { old, new, version },
            _ => return None,
        };
        Some(Self { key: key.get(), wrote })
    }
}

/// Reads the first line.
pub(super) fn read_header(line: &[u8]) -> serde_json::Result<Header> {
    serde_json::from_slice(line).map(|Begin { begin }| begin)
}

pub(super) fn write_header(header: &Header, out: &mut Vec<u8>) -> Result<()> {
    serde_json::to_writer(&mut *out, &Begin { begin: header }).map_err(|source| {
        Error::caused(ErrorKind::Bug, "Cannot write the header of an undo list as JSON", source)
    })?;
    out.push(b'\n');
    Ok(())
}

pub(super) fn write_created(key: &StoreKey, digest: &[u8; 32], out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"key\":");
    out.extend_from_slice(key.0.as_bytes());
    out.extend_from_slice(b",\"digest\":\"");
    let at = out.len();
    out.resize(at + 2 * digest.len(), b'0');
    if let Some(digits) = out.get_mut(at..) {
        // It can only fail for a buffer of another length.
        let written = hex::encode_to_slice(digest, digits);
        debug_assert!(written.is_ok(), "{written:?}");
    }
    out.extend_from_slice(b"\"}\n");
}

pub(super) fn write_changed(key: &StoreKey, keys: (&str, &str), version: Option<i64>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"key\":");
    out.extend_from_slice(key.0.as_bytes());
    for (name, text) in [("old", keys.0), ("new", keys.1)] {
        out.extend_from_slice(b",\"");
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\":");
        write_quoted(text, out);
    }
    if let Some(version) = version {
        out.extend_from_slice(b",\"version\":");
        out.extend_from_slice(itoa::Buffer::new().format(version).as_bytes());
    }
    out.extend_from_slice(b"}\n");
}
