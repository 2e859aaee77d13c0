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
        self.hasher.update(block);
        self.count(block, documents);
    }

    /// Takes a block's counts without its digest.
    pub(super) fn count(&mut self, block: &[u8], documents: u64) {
        self.documents += documents;
        self.bytes += block.len() as u64;
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
