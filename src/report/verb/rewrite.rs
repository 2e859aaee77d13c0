use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use crate::check::Reason;

/// The result of `rekey`: what became of each document of the legacy archive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RekeyReport {
    /// Whether nothing was written: the members then say what would be.
    pub dry_run: bool,
    /// The layout's full name.
    pub layout: String,
    /// `raw`, `escaped`, `unneeded` where no term holds `:` or `%`, or `not stated` where one is refused for that.
    pub escaping: String,
    /// Documents of the archive. On the exits 0 and 3 the sum of `rekeyed`, `already_rekeyed`, `out_of_scope` and
    /// `set_aside`.
    pub documents: u64,
    /// Documents that got a new key.
    pub rekeyed: u64,
    /// Documents passed on as they were.
    pub already_rekeyed: u64,
    /// Documents of tenants that were not asked for.
    pub out_of_scope: u64,
    /// Documents refused.
    pub refused: u64,
    /// Documents put into the side file.
    pub set_aside: u64,
    /// Reason → documents refused for it.
    pub reasons: BTreeMap<Reason, u64>,
    /// Tenant → documents.
    pub tenants: BTreeMap<String, u64>,
    /// Old and new keys, a few of each tenant.
    pub samples: Vec<KeySample>,
    /// SHA-256 of the rekeyed lines, 64 hex digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The rekeyed archive; `None` on standard output and in a dry run.
    #[serde(serialize_with = "super::path")]
    pub archive: Option<PathBuf>,
    /// Its manifest.
    #[serde(serialize_with = "super::path")]
    pub manifest: Option<PathBuf>,
    /// The side file with the documents set aside.
    #[serde(serialize_with = "super::path")]
    pub set_aside_file: Option<PathBuf>,
    /// The preview of a dry run.
    #[serde(serialize_with = "super::path", skip_serializing_if = "Option::is_none")]
    pub preview: Option<PathBuf>,
}

/// One old key with its new one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeySample {
    /// The tenant.
    pub tenant: String,
    /// The key as it was.
    pub old_key: String,
    /// The key as it becomes.
    pub new_key: String,
}
