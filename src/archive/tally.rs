//! What makes an archive whole: how many documents, how many bytes, which digest.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Counts and digest of an archive's lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// How many lines, each one document.
    pub documents: u64,
    /// The bytes of the lines, uncompressed, with one LF each.
    pub bytes: u64,
    /// SHA-256 of those bytes, 64 lower-case hex digits.
    pub sha256: String,
}

/// Totals in the making.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    hasher: Sha256,
    documents: u64,
    bytes: u64,
}

impl Tally {
    /// Takes a block of whole lines, each with its LF.
    pub(super) fn add(&mut self, block: &[u8], documents: u64) {
        self.digest(block);
        self.count(documents);
    }

    /// Takes the next bytes, wherever they begin and end.
    pub(super) fn digest(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
    }

    /// Takes a block's counts without its digest.
    pub(super) fn add_undigested(&mut self, block: &[u8], documents: u64) {
        self.bytes += block.len() as u64;
        self.count(documents);
    }

    /// Counts documents.
    pub(super) fn count(&mut self, documents: u64) {
        self.documents += documents;
    }

    /// How many documents were taken so far.
    pub(super) fn documents(&self) -> u64 {
        self.documents
    }

    /// The totals so far.
    pub(super) fn totals(&self) -> Totals {
        let sha256 = hex::encode(self.hasher.clone().finalize());
        Totals { documents: self.documents, bytes: self.bytes, sha256 }
    }
}
