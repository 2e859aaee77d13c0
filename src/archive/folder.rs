//! What lies in a folder beside the parts of an archive.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;

use super::names::{FINDINGS, KEY_MAP, MANIFEST, REFUSED, UNDO, ends_with};
use crate::{Error, Result};

/// The manifests of a DynamoDB table export.
pub(super) const SUMMARY: &str = "manifest-summary.json";
pub(super) const FILES: &str = "manifest-files.json";

/// The names in a folder, in byte order.
pub(super) fn names_in(folder: &Path) -> Result<Vec<OsString>> {
    let entries = fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect::<Result<Vec<_>, _>>());
    let mut names = entries.map_err(|source| Error::io("list the folder", folder, source))?;
    names.sort();
    Ok(names)
}

/// Whether a file in a folder of parts is no part.
pub(super) fn is_ignored(name: &OsStr) -> bool {
    let hidden = name.as_encoded_bytes().first().is_none_or(|first| matches!(first, b'.' | b'_'));
    let path = Path::new(name);
    let ours =
        [MANIFEST, KEY_MAP, REFUSED, FINDINGS, UNDO, ".journal"].iter().any(|suffix| ends_with(path, suffix));
    let vendors =
        [SUMMARY, FILES, "manifest-summary.md5", "manifest-files.md5"].iter().any(|vendor| name == *vendor);
    hidden || ours || vendors
}
