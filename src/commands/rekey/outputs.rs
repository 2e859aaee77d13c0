use std::path::{Path, PathBuf};

use crate::Result;
use crate::archive::{ArchiveWriter, Companions, KeyMapWriter};
use crate::options::{Destination, RekeyOptions};
use crate::rewrite::Lines;

/// The files of a rewrite; none at all in a dry run.
pub(super) struct Outputs {
    /// Where the lines go.
    pub out: Option<Destination>,
    /// The files that stand beside the lines.
    pub companions: Option<Companions>,
    /// The list of refused documents.
    pub refused: Option<PathBuf>,
}

impl Outputs {
    pub(super) fn of(options: &RekeyOptions) -> Self {
        if options.dry_run {
            return Self { out: None, companions: None, refused: None };
        }
        let companions = match &options.out {
            Some(Destination::File(path)) => Some(Companions::of(path)),
            _ => options.manifest.as_deref().map(Companions::beside_manifest),
        };
        let beside = || companions.as_ref().map(|files| files.refused.clone());
        let refused = options.findings.clone().or_else(beside);
        Self { out: options.out.clone(), companions, refused }
    }

    /// Begins the archive and its key map.
    pub(super) fn lines(&self, spool_folder: &Path) -> Result<Lines> {
        let archive = match &self.out {
            Some(Destination::File(path)) => Some(ArchiveWriter::create(path)?),
            Some(Destination::Stdout) => Some(ArchiveWriter::spooled(spool_folder)?),
            None => None,
        };
        let key_map =
            self.companions.as_ref().map(|files| KeyMapWriter::create(&files.key_map)).transpose()?;
        Ok(Lines { archive, key_map })
    }

    /// Begins the list of refused documents.
    pub(super) fn refused(&self) -> Result<Option<ArchiveWriter>> {
        self.refused.as_deref().map(ArchiveWriter::create).transpose()
    }

    /// The file that the lines go to, if it is one.
    pub(super) fn file(&self) -> Option<PathBuf> {
        self.out.as_ref().and_then(Destination::file).map(Path::to_owned)
    }
}
