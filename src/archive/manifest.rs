//! The manifest: what makes an archive whole, where it is from, and what the rewrite did.

mod encoding;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::names::refuse_part;
use super::part_file::PartFile;
use super::staged::{Kind, Output};
use super::{ContentSum, Expectation, Totals};
use crate::document::StoreKind;
use crate::key::Escaping;
use crate::report::NoticeCode;
use crate::shard::Shards;
use crate::stores::{Description, Snapshot};
use crate::tenant::RuleDescription;
use crate::{Error, Result};

/// The version of the format that this build writes, and the newest that it reads.
pub const FORMAT: u32 = 1;

/// An archive's manifest, `NAME.manifest.json`.
///
/// Members stand in this order and maps are sorted, so equal manifests are equal bytes. Members that this
/// build does not know are ignored; a newer format is refused. No member ever holds a secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The format's version, [`FORMAT`].
    pub format: u32,
    /// The tool that wrote the archive, with its version.
    pub tool: String,
    /// The archive's file name without its folder; `-` for standard output.
    pub archive: String,
    /// The layout of the documents.
    pub layout: LayoutAccount,
    /// The database kind.
    pub store: StoreKind,
    /// The collection the documents were exported from; absent where another tool did that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Description>,
    /// The shards that the archive is; absent where it is the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shards>,
    /// When the run that wrote the archive began (RFC 3339, UTC).
    #[serde(with = "encoding::rfc3339")]
    pub started: Timestamp,
    /// When it ended.
    #[serde(with = "encoding::rfc3339")]
    pub ended: Timestamp,
    /// Whether all documents are of one moment.
    pub consistent: bool,
    /// That moment, in the store's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Snapshot>,
    /// The counter of the global sequence beside the source, where the layout names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counter: Option<CounterAccount>,
    /// How many documents, bytes and which digest.
    #[serde(flatten)]
    pub totals: Totals,
    /// How many streams, or sagas.
    pub streams: u64,
    /// Whether the lines stand in the order of their stored stream keys, versions and store keys.
    pub sorted: bool,
    /// How many documents stand as escape records that the store's own tools cannot read.
    #[serde(default)]
    pub escape_records: u64,
    /// What the run said that is worth knowing: stable code → how often.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notices: BTreeMap<String, u64>,
    /// What the rewrite did; absent in legacy archives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rekey: Option<RekeyAccount>,
}

/// Which layout, in which form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayoutAccount {
    /// The layout's full name.
    pub name: String,
    /// SHA-256 of its normal form, parameters included.
    pub digest: String,
    /// The parameters that were set.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
}

/// A counter as it stood when the documents were exported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterAccount {
    /// Its collection.
    pub collection: String,
    /// What stays the same while it is the same collection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
    /// What it held.
    pub value: i64,
}

/// What the rewrite did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RekeyAccount {
    /// The digest of the legacy archive's lines.
    pub input_sha256: String,
    /// The tenant rule.
    pub rule: RuleDescription,
    /// How terms were joined.
    pub escaping: RecordedEscaping,
    /// The flags that allowed what would have been refused, as typed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowances: Vec<String>,
    /// The digest of the key map's lines; absent where none was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_map_sha256: Option<String>,
    /// Documents that were rekeyed already and passed on as they are.
    #[serde(default)]
    pub already_rekeyed: u64,
    /// Documents that stood in the legacy archive twice, legacy and rekeyed, and are written once.
    #[serde(default)]
    pub merged: u64,
    /// Documents left out because their tenant was not asked for.
    #[serde(default)]
    pub out_of_scope: u64,
    /// Documents set aside because they were refused.
    #[serde(default)]
    pub set_aside: u64,
    /// The account of each tenant; they sum to the archive.
    pub tenants: BTreeMap<String, TenantAccount>,
}

/// How the terms of the new keys were joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordedEscaping {
    /// As they are.
    Raw,
    /// With `%25` and `%3A`.
    Escaped,
    /// No term holds `:` or `%`: both give the same keys.
    Unneeded,
}

impl RecordedEscaping {
    /// The name in manifests and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Escaped => "escaped",
            Self::Unneeded => "unneeded",
        }
    }

    /// The one escaping of several archives; those of which it made no difference go with either.
    ///
    /// # Errors
    /// Usage: some keys are raw and some escaped, so that nobody could read all of them in one way.
    pub fn together(archives: impl IntoIterator<Item = Self>) -> Result<Self> {
        let mut decided = archives.into_iter().filter(|escaping| *escaping != Self::Unneeded);
        let first = decided.next().unwrap_or(Self::Unneeded);
        if decided.all(|escaping| escaping == first) {
            return Ok(first);
        }
        Err(Error::usage("Some of the archives have raw keys and some escaped ones; nothing was done")
            .hint("Rewrite all of them with the same --escaping."))
    }

    /// The escaping to read the keys with; `None` where it makes no difference.
    pub fn escaping(self) -> Option<Escaping> {
        match self {
            Self::Raw => Some(Escaping::Raw),
            Self::Escaped => Some(Escaping::Escaped),
            Self::Unneeded => None,
        }
    }
}

/// What one tenant owns in a rekeyed archive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TenantAccount {
    /// How many streams, or sagas.
    pub streams: u64,
    /// How many documents.
    pub documents: u64,
    /// The sum over streams of the last version. A JSON string, since it may exceed what a JSON number
    /// carries everywhere.
    #[serde(with = "encoding::decimal_text")]
    pub last_versions_sum: i128,
    /// The sum of the digests of the documents' canonical forms.
    pub content: ContentSum,
}

impl TenantAccount {
    /// Adds the account of other streams of the tenant.
    pub fn merge(&mut self, other: &Self) {
        self.streams += other.streams;
        self.documents += other.documents;
        self.last_versions_sum += other.last_versions_sum;
        self.content.merge(&other.content);
    }
}

/// Now, in whole milliseconds, for a manifest's time stamps.
pub fn now() -> Timestamp {
    let now = Timestamp::now();
    now.round(jiff::Unit::Millisecond).unwrap_or(now)
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// Usage: it is of a newer format. File: it cannot be read, is damaged, or contradicts itself.
    pub fn read(path: &Path) -> Result<Self> {
        refuse_part(path)?;
        let bytes = fs::read(path).map_err(|source| Error::io("read the manifest", path, source))?;
        check_format(&bytes, path)?;
        let manifest: Self = serde_json::from_slice(&bytes).map_err(|source| damaged(path, source))?;
        manifest.check_sums(path)?;
        Ok(manifest)
    }

    /// Writes the manifest beside what it describes, not visible before it is committed.
    pub fn stage(&self, path: &Path) -> Result<Output> {
        let mut text = serde_json::to_vec_pretty(self).map_err(|source| {
            Error::caused(crate::ErrorKind::Bug, "Cannot write the manifest as JSON", source)
        })?;
        text.push(b'\n');
        let mut file = PartFile::create(path)?;
        file.write_all(&text).map_err(|source| file.write_error(source))?;
        file.sync()?;
        Ok(Output(Kind::File(file)))
    }

    /// What the manifest at `path` says of its archive.
    pub fn expectation(&self, path: &Path) -> Expectation {
        Expectation::totals(format!("its manifest {path:?}"), &self.totals)
    }

    /// Counts a notice.
    pub fn count_notice(&mut self, code: NoticeCode, times: u64) {
        *self.notices.entry(code.code().to_owned()).or_default() += times;
    }

    /// Refuses a manifest whose tenants are not the whole archive, which a damaged digit makes.
    fn check_sums(&self, path: &Path) -> Result<()> {
        let Some(rekey) = &self.rekey else { return Ok(()) };
        let sum =
            |of: fn(&TenantAccount) -> u64| rekey.tenants.values().map(|tenant| u128::from(of(tenant))).sum();
        let (documents, streams): (u128, u128) =
            (sum(|tenant| tenant.documents), sum(|tenant| tenant.streams));
        if (documents, streams) == (self.totals.documents.into(), self.streams.into()) {
            return Ok(());
        }
        Err(Error::file(format!(
            "The manifest {path:?} is damaged: its tenants have {documents} documents in {streams} streams, the archive {} in {}",
            self.totals.documents, self.streams
        )))
    }
}

/// Refuses a newer format before anything else of it is looked at.
fn check_format(bytes: &[u8], path: &Path) -> Result<()> {
    #[derive(Deserialize)]
    struct Format {
        format: u64,
    }
    let Format { format } = serde_json::from_slice(bytes).map_err(|source| damaged(path, source))?;
    match format {
        0 => Err(Error::file(format!("The manifest {path:?} is damaged: there is no format 0"))),
        format if format > FORMAT.into() => Err(Error::usage(format!(
            "The manifest {path:?} has format {format}; this build reads formats up to {FORMAT}"
        ))
        .hint("Use the version of rekey that wrote the archive, or a newer one.")),
        _ => Ok(()),
    }
}

fn damaged(path: &Path, source: serde_json::Error) -> Error {
    Error::caused(crate::ErrorKind::File, format!("The manifest {path:?} is damaged or no manifest"), source)
        .hint("Fetch it again from where it was written, together with its archive.")
}

#[cfg(test)]
mod tests;
