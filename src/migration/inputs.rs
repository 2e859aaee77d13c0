use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::State;
use crate::archive::{Companions, Manifest};
use crate::layout::Layout;
use crate::options::{
    Destination, OnRefused, ProbeStreams, RekeyOptions, StoreOptions, StoreRun, TenantRuleChoice,
};
use crate::rewrite::RULES_VERSION;
use crate::{Error, Result};

/// Names and values, or digests, that decide what a state comes to.
pub type Inputs = BTreeMap<String, String>;

/// The digests of a store's archives as their manifests say them; `None` where there is no whole archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Archives {
    /// Of the legacy archive's lines.
    pub legacy: Option<String>,
    /// Of the rekeyed archive's lines.
    pub rekeyed: Option<String>,
    /// Of the key map's lines.
    pub key_map: Option<String>,
}

impl Archives {
    /// Looks at the manifests of a store's archives.
    ///
    /// # Errors
    /// File: a manifest is there and cannot be read.
    pub fn of(store: &StoreRun) -> Result<Self> {
        let legacy = manifest(store.export.out.file())?;
        let rekeyed = manifest(store.rekey.out.as_ref().and_then(Destination::file))?;
        Ok(Self {
            legacy: legacy.map(|it| it.totals.sha256),
            key_map: rekeyed.as_ref().and_then(|it| it.rekey.as_ref()?.key_map_sha256.clone()),
            rekeyed: rekeyed.map(|it| it.totals.sha256),
        })
    }

    /// What the archive that a state leaves is recorded by.
    pub fn outputs(&self, state: State) -> Inputs {
        let digests: &[(&str, &Option<String>)] = match state {
            State::Exported => &[("legacy", &self.legacy)],
            State::Rekeyed => &[("rekeyed", &self.rekeyed), ("key-map", &self.key_map)],
            _ => &[],
        };
        digests.iter().filter_map(|(name, digest)| Some(((*name).to_owned(), (*digest).clone()?))).collect()
    }
}

/// The manifest of an archive that is whole.
fn manifest(archive: Option<&Path>) -> Result<Option<Manifest>> {
    let Some(archive) = archive else { return Ok(None) };
    let manifest = Companions::of(archive).manifest;
    if archive.is_file() && manifest.is_file() { Manifest::read(&manifest).map(Some) } else { Ok(None) }
}

/// What a state rests on.
///
/// # Errors
/// Usage: the layout cannot be used. File: a file that the tenant rule names cannot be read.
pub fn inputs_of(state: State, store: &StoreRun, archives: &Archives) -> Result<Inputs> {
    let mut inputs = Inputs::new();
    let mut put = |name: &str, value: String| drop(inputs.insert(name.to_owned(), value));
    let digest = |digest: &Option<String>| digest.clone().unwrap_or_else(|| "none".to_owned());
    match state {
        State::Exported => {
            put("source", place(&store.export.from));
            put("layout", layout(store)?);
            put("no-snapshot", store.export.no_snapshot.to_string());
        }
        State::Rekeyed => {
            put("legacy", digest(&archives.legacy));
            put("layout", layout(store)?);
            put("rules", RULES_VERSION.to_string());
            inputs.extend(rule(&store.rekey)?);
        }
        State::Imported => {
            put("rekeyed", digest(&archives.rekeyed));
            put("target", place(&store.import.to));
            put("in-place", store.import.in_place.to_string());
            put("move", store.import.moves.to_string());
            put("on-refused", refused(store.import.on_refused));
        }
        State::Verified => {
            put("legacy", digest(&archives.legacy));
            put("rekeyed", digest(&archives.rekeyed));
            put("target", place(&store.verify.against));
            put("only-tenants", store.verify.only_tenants.join(","));
            put("probe-streams", probed(store.verify.probe_streams));
        }
        State::Pruned => {
            put("legacy", digest(&archives.legacy));
            put("rekeyed", digest(&archives.rekeyed));
            put("source", place(&store.prune.from));
            put("target", place(store.prune.twins.as_ref().unwrap_or(&store.prune.from)));
        }
    }
    Ok(inputs)
}

fn probed(streams: ProbeStreams) -> String {
    match streams {
        ProbeStreams::All => "all".to_owned(),
        ProbeStreams::UpTo(number) => number.to_string(),
    }
}

fn refused(what: OnRefused) -> String {
    match what {
        OnRefused::Stop => "stop".to_owned(),
        OnRefused::SetAside => "set-aside".to_owned(),
    }
}

/// Everything that decides which key a document gets.
fn rule(options: &RekeyOptions) -> Result<Inputs> {
    let rule = match &options.tenant {
        TenantRuleChoice::SingleTenant => "single-tenant".to_owned(),
        TenantRuleChoice::Untenanted => "untenanted".to_owned(),
        TenantRuleChoice::Tenant(tenant) => format!("tenant {tenant}"),
        TenantRuleChoice::Map(_) => "tenant-map".to_owned(),
        TenantRuleChoice::Field(field) => format!("tenant-field {field}"),
    };
    let mut inputs: Inputs = [
        ("tenant-rule", rule),
        ("escaping", options.escaping.map_or("not stated", |it| it.name()).to_owned()),
        ("only-tenants", options.only_tenants.join(",")),
        ("allow-gaps", options.allow_gaps.to_string()),
        ("allow-prefix-tenants", options.allow_prefix_tenants.to_string()),
        ("stored-owner", format!("{:?}", options.stored_owner).to_lowercase()),
        ("already-rekeyed", format!("{:?}", options.already_rekeyed).to_lowercase()),
        ("on-refused", refused(options.on_refused)),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    if let TenantRuleChoice::Map(map) = &options.tenant {
        drop(inputs.insert("tenant-map".to_owned(), file_digest(map)?));
    }
    if let Some(known) = &options.known_tenants {
        drop(inputs.insert("known-tenants".to_owned(), file_digest(known)?));
    }
    Ok(inputs)
}

/// A place as evidence names it: equal for two spellings of one place, and free of secrets.
fn place(store: &StoreOptions) -> String {
    format!("{} {}", store.address.identity(), store.collection)
}

/// A layout by its full name and the digest of what it says.
fn layout(store: &StoreRun) -> Result<String> {
    let options = &store.export.layout;
    let name = options.layout.as_deref().unwrap_or_default();
    let layout = Layout::resolve(name, Some(store.export.from.address.kind()))?;
    let layout = layout.with_parameters(&options.parameters)?;
    Ok(format!("{} {}", layout.name, layout.digest()))
}

/// SHA-256 of a file's bytes, 64 hex digits.
///
/// # Errors
/// File: it cannot be read.
pub fn file_digest(path: &Path) -> Result<String> {
    let failed = |source| Error::io("read", path, source);
    let mut hash = Sha256::new();
    let _bytes = std::io::copy(&mut File::open(path).map_err(failed)?, &mut hash).map_err(failed)?;
    Ok(hex::encode(hash.finalize()))
}
