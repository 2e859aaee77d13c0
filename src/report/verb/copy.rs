use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use crate::check::Reason;

/// The result of `export`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ExportReport {
    /// The layout's full name.
    pub layout: String,
    /// Documents in the archive.
    pub documents: u64,
    /// Streams in the archive (sagas, where the layout is of sagas).
    pub streams: u64,
    /// Bytes of the lines, uncompressed, each with its LF.
    pub bytes: u64,
    /// SHA-256 of the lines, 64 hex digits.
    pub sha256: String,
    /// Whether all of it was read at one moment.
    pub consistent: bool,
    /// Documents that stand as escape records.
    pub escape_records: u64,
    /// The archive; `None` on standard output.
    #[serde(serialize_with = "super::path")]
    pub archive: Option<PathBuf>,
    /// Its manifest.
    #[serde(serialize_with = "super::path")]
    pub manifest: Option<PathBuf>,
}

/// The result of `import` and of `restore`: what became of each document of the archive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ImportReport {
    /// Whether nothing was written: the members then say what would be.
    pub dry_run: bool,
    /// The layout's full name.
    pub layout: String,
    /// Documents of the archive; the sum of the seven members that follow.
    pub documents: u64,
    /// Written by this archive, now or in the run that this one resumed.
    pub written: u64,
    /// The same document was there.
    pub identical: u64,
    /// A different document was there.
    pub conflict: u64,
    /// Their own time to live has passed.
    pub expired: u64,
    /// A newer version of the saga was there.
    pub stale: u64,
    /// Refused by the target and put into the side file.
    pub set_aside: u64,
    /// Not sent: some document is refused, so nothing was written at all. Zero otherwise.
    pub not_sent: u64,
    /// Documents refused for a reason of their own; their streams are set aside, or nothing is written.
    pub refused: u64,
    /// Reason → number of those documents.
    pub reasons: BTreeMap<Reason, u64>,
    /// The side file.
    #[serde(serialize_with = "super::path")]
    pub set_aside_file: Option<PathBuf>,
}

impl ImportReport {
    /// Tells whether every document has exactly one outcome.
    pub fn adds_up(&self) -> bool {
        let sent = self.written + self.identical + self.conflict + self.expired + self.stale;
        sent + self.set_aside + self.not_sent == self.documents
    }
}

/// The result of `prune`: what became of each document of the legacy archive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PruneReport {
    /// Whether nothing was deleted: the members then say what would be.
    pub dry_run: bool,
    /// The layout's full name.
    pub layout: String,
    /// Documents of the archive; the sum of the three members that follow.
    pub documents: u64,
    /// Deleted by this run.
    pub deleted: u64,
    /// Gone before, as a rule by an earlier run.
    pub gone: u64,
    /// Kept, since their stream is not proven to be moved.
    pub kept: u64,
    /// Reason → number of documents kept for it.
    pub reasons: BTreeMap<String, u64>,
}

/// The result of `undo`: what became of each document that the import had written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UndoReport {
    /// Whether nothing was changed: the members then say what would be.
    pub dry_run: bool,
    /// The layout's full name.
    pub layout: String,
    /// Documents of the undo list; the sum of the four members that follow.
    pub documents: u64,
    /// Created by the import and removed, now or in the run that this one resumed.
    pub removed: u64,
    /// Changed where they were and given their old key again.
    pub put_back: u64,
    /// Not there any more, or never written.
    pub gone: u64,
    /// Left, since their stream is not as the import left it.
    pub left: u64,
    /// Reason → number of documents left for it.
    pub reasons: BTreeMap<String, u64>,
}

impl UndoReport {
    /// Tells whether every document has exactly one outcome.
    pub fn adds_up(&self) -> bool {
        self.removed + self.put_back + self.gone + self.left == self.documents
    }
}

impl PruneReport {
    /// Tells whether every document has exactly one outcome.
    pub fn adds_up(&self) -> bool {
        self.deleted + self.gone + self.kept == self.documents
    }
}
