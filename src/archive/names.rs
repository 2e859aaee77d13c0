//! The names that belong to an archive. Nothing derived from a document is ever a file name.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// What a file's name ends in while it grows.
const PART: &str = ".part";
pub(super) const MANIFEST: &str = ".manifest.json";
pub(super) const KEY_MAP: &str = ".keys.ndjson";
pub(super) const REFUSED: &str = ".refused.ndjson";
/// Of the undo list of an import.
pub(crate) const UNDO: &str = ".undo.ndjson";
pub(super) const FINDINGS: &str = ".findings.ndjson";

/// The files that stand beside an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Companions {
    /// `NAME.manifest.json`.
    pub manifest: PathBuf,
    /// `NAME.keys.ndjson`: the key map that the rewrite leaves.
    pub key_map: PathBuf,
    /// `NAME.refused.ndjson`: what was refused or set aside.
    pub refused: PathBuf,
}

impl Companions {
    /// The companions of the archive `NAME`, extensions included.
    pub fn of(archive: &Path) -> Self {
        Self {
            manifest: with_suffix(archive, MANIFEST),
            key_map: with_suffix(archive, KEY_MAP),
            refused: with_suffix(archive, REFUSED),
        }
    }

    /// The companions of an archive that went to standard output and has only a manifest.
    ///
    /// `a.manifest.json` has `a.keys.ndjson` beside it, any other `FILE` has `FILE.keys.ndjson`.
    pub fn beside_manifest(manifest: &Path) -> Self {
        let name = manifest.file_name().and_then(|name| name.to_str());
        let stem = name.and_then(|name| name.strip_suffix(MANIFEST)).filter(|stem| !stem.is_empty());
        let base = stem.map_or_else(|| manifest.to_owned(), |stem| manifest.with_file_name(stem));
        Self { manifest: manifest.to_owned(), ..Self::of(&base) }
    }
}

/// The name a file has while it grows.
pub(super) fn part_of(path: &Path) -> PathBuf {
    with_suffix(path, PART)
}

/// Whether a name says that the file is still growing.
pub(super) fn is_part(path: &Path) -> bool {
    ends_with(path, PART)
}

/// Whether a file's name ends in `suffix`, in any case.
pub(super) fn ends_with(path: &Path, suffix: &str) -> bool {
    let name = path.file_name().map(std::ffi::OsStr::as_encoded_bytes).unwrap_or_default();
    let start = name.len().checked_sub(suffix.len());
    start.and_then(|start| name.get(start..)).is_some_and(|end| end.eq_ignore_ascii_case(suffix.as_bytes()))
}

/// Refuses to read a growing file, also through a link to one.
pub(super) fn refuse_part(path: &Path) -> Result<()> {
    let target = path.canonicalize();
    if is_part(path) || target.is_ok_and(|target| is_part(&target)) {
        return Err(Error::file(format!("{path:?} is unfinished: a file named .part is still being written, or was left by a run that died"))
            .hint("Run the command that writes it again; it leaves the whole file under its own name."));
    }
    Ok(())
}

/// The file's own name for a message or a manifest.
pub(super) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path.as_os_str());
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn companions_keep_the_whole_name() {
        let companions = Companions::of(Path::new("out/a.ndjson.zst"));
        assert_eq!(companions.manifest, Path::new("out/a.ndjson.zst.manifest.json"));
        assert_eq!(companions.key_map, Path::new("out/a.ndjson.zst.keys.ndjson"));
        assert_eq!(companions.refused, Path::new("out/a.ndjson.zst.refused.ndjson"));
    }

    #[test]
    fn companions_of_standard_output_stand_beside_the_manifest() {
        let companions = Companions::beside_manifest(Path::new("out/a.manifest.json"));
        assert_eq!(companions.manifest, Path::new("out/a.manifest.json"));
        assert_eq!(companions.key_map, Path::new("out/a.keys.ndjson"));
        let companions = Companions::beside_manifest(Path::new("m.json"));
        assert_eq!(companions.key_map, Path::new("m.json.keys.ndjson"));
    }

    #[test]
    fn growing_files_are_refused_also_through_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let part = dir.path().join("a.ndjson.part");
        let link = dir.path().join("a.ndjson");
        std::fs::write(&part, "").unwrap();
        std::os::unix::fs::symlink(&part, &link).unwrap();
        for path in [part, link] {
            assert_eq!(refuse_part(&path).unwrap_err().kind(), crate::ErrorKind::File);
        }
    }
}
