//! Which files an archive consists of.

use std::fs;
use std::path::{Path, PathBuf};

use super::folder::{is_ignored, names_in};
use super::names::{FINDINGS, KEY_MAP, MANIFEST, REFUSED, UNDO, ends_with, is_part, refuse_part};
use super::vendor::{VendorManifest, export_folder, read_export};
use crate::{Error, Result};

/// One file of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) path: PathBuf,
    /// How many documents the vendor's manifest says it holds.
    pub(super) documents: Option<u64>,
}

/// The files that one path stands for.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    pub(super) files: Vec<Part>,
    pub(super) vendor: Option<VendorManifest>,
}

/// Finds the files of the archive at `path`: the file itself, or a folder's in the byte order of their names.
///
/// In a folder manifests, key maps, lists of refused documents and of findings, undo lists, journals and names
/// that begin with `.` or `_` are no parts; a `.part` file or a folder in it is refused.
pub(super) fn find(path: &Path) -> Result<Parts> {
    refuse_part(path)?;
    if path.is_dir() {
        return match export_folder(path) {
            Some(export) => from_export(&export),
            None => from_folder(path),
        };
    }
    refuse_companion(path)?;
    refuse_missing(path)?;
    Ok(Parts { files: vec![Part { path: path.to_owned(), documents: None }], vendor: None })
}

fn from_export(folder: &Path) -> Result<Parts> {
    let (vendor, files) = read_export(folder)?;
    let part = |file: super::vendor::DataFile| Part { path: file.path, documents: Some(file.documents) };
    Ok(Parts { files: files.into_iter().map(part).collect(), vendor: Some(vendor) })
}

fn from_folder(folder: &Path) -> Result<Parts> {
    let mut files = Vec::new();
    for name in names_in(folder)? {
        let path = folder.join(&name);
        if is_part(&path) {
            refuse_part(&path)?;
        }
        if is_ignored(&name) {
            continue;
        }
        refuse_part(&path)?;
        if path.is_dir() {
            return Err(Error::usage(format!(
                "{folder:?} holds the folder {name:?}: an archive is one folder of files"
            ))
            .hint("Name the folder that holds the files."));
        }
        files.push(Part { path, documents: None });
    }
    if files.is_empty() {
        return Err(Error::file(format!("The folder {folder:?} holds no files with documents")));
    }
    Ok(Parts { files, vendor: None })
}

fn refuse_companion(path: &Path) -> Result<()> {
    let companions = [
        (MANIFEST, "a manifest"),
        (KEY_MAP, "a key map"),
        (REFUSED, "a list of refused documents"),
        (FINDINGS, "a list of findings"),
        (UNDO, "an undo list"),
    ];
    let what = companions.into_iter().find(|(suffix, _)| ends_with(path, suffix));
    match what {
        Some((suffix, what)) => Err(Error::usage(format!("{path:?} is {what}, not an archive"))
            .hint(format!("Name the archive itself, without {suffix}."))),
        None => Ok(()),
    }
}

/// Says where a missing file may be: its growing form tells of a run that did not end.
fn refuse_missing(path: &Path) -> Result<()> {
    let Err(source) = fs::metadata(path) else { return Ok(()) };
    let growing = super::names::part_of(path);
    if source.kind() == std::io::ErrorKind::NotFound && growing.exists() {
        return Err(Error::file(format!("{path:?} is not there, only its unfinished {growing:?}"))
            .hint("Run the command that writes it again; it leaves the whole file under its own name."));
    }
    Err(Error::io("open the archive", path, source).hint(format!(
        "Check the path; a relative one begins in {:?}.",
        std::env::current_dir().unwrap_or_default()
    )))
}
