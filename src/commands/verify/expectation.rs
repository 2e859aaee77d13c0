use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::archive::{ArchiveInput, Companions, KeyMapReader, Manifest, RecordedEscaping, TenantAccount};
use crate::commands::legacy_blocks::SORT_BUDGET;
use crate::commands::manifest::prefix_conflicts;
use crate::commands::source::find_layout;
use crate::commands::{OpenedArchive, open_archive};
use crate::key::Escaping;
use crate::layout::Layout;
use crate::options::VerifyOptions;
use crate::report::Level;
use crate::shard::Shards;
use crate::signal::StopSignal;
use crate::stores::Description;
use crate::tenant::PrefixConflict;
use crate::verify::{Expected, KeyMaps, TenantNames, collect_expected};
use crate::{Error, Result};

/// What must be in the store, as archives or their manifests say.
pub(super) struct Expectation {
    pub layout: Layout,
    pub escaping: Option<Escaping>,
    pub folder: PathBuf,
    /// The shards that are looked at; `None` is everything.
    pub shards: Option<Shards>,
    input: Option<ArchiveInput>,
    manifests: Vec<(PathBuf, Manifest)>,
    /// Whether only the key maps tell the tenants: keys can be read in more than one way.
    by_key_map: bool,
}

impl Expectation {
    /// Opens archives, or manifests alone.
    pub fn open(options: &VerifyOptions, folder: &Path, stop: &StopSignal) -> Result<Self> {
        let kind = options.against.address.kind();
        let are_manifests = options.archive.paths.iter().filter(|path| is_manifest(path)).count();
        if are_manifests > 0 && are_manifests < options.archive.paths.len() {
            return Err(Error::usage("Archives and manifests cannot be mixed")
                .hint("Pass either archives or manifests."));
        }
        let (input, manifests, layout, shards) = if are_manifests > 0 {
            let read = |path: &PathBuf| Ok((path.clone(), Manifest::read(path)?));
            let manifests: Vec<_> = options.archive.paths.iter().map(read).collect::<Result<_>>()?;
            let recorded = manifests.first().map(|(_, manifest)| (&manifest.layout, manifest.store));
            let layout = find_layout(&options.archive.layout, Some(kind), recorded)?;
            let shards = Shards::together(manifests.iter().map(|(_, manifest)| manifest.shard.as_ref()))?;
            (None, manifests, layout, shards)
        } else {
            let OpenedArchive { input, layout, shards } =
                open_archive(&options.archive, Some(kind), folder, stop)?;
            let manifests = input.manifests().cloned().collect();
            (Some(input), manifests, layout, shards)
        };
        let mut escaping = Vec::new();
        for (path, manifest) in &manifests {
            let Some(rekey) = &manifest.rekey else {
                return Err(Error::usage(format!("{path:?} is not the manifest of a rekeyed archive"))
                    .hint("Pass what rekey wrote; a legacy archive goes with --legacy."));
            };
            if manifest.layout.name != layout.name {
                return Err(Error::usage(format!(
                    "{path:?} is of the layout {}, the others of {}",
                    manifest.layout.name, layout.name
                )));
            }
            escaping.push(rekey.escaping);
        }
        let escaping = RecordedEscaping::together(escaping)?.escaping();
        let input = if options.counts_only && !manifests.is_empty() { None } else { input };
        refuse_counts_of_shards(options, input.as_ref(), &manifests)?;
        let overlap = overlapping_tenants(&layout, escaping, &manifests);
        if let (Some(overlap), None) = (&overlap, &input) {
            return Err(Error::usage(format!("Only a key map tells whose these keys are, since {overlap}"))
                .hint("Pass the archives instead of their manifests, without --counts-only, each with its key map beside it."));
        }
        let by_key_map = overlap.is_some();
        Ok(Self { layout, escaping, folder: folder.to_owned(), shards, input, manifests, by_key_map })
    }

    /// Refuses to look for tenants that the manifests do not have: nothing would be compared, and match.
    ///
    /// # Errors
    /// Usage: one of `only` is in none of the manifests.
    pub fn refuse_unknown_tenants(&self, only: &[String]) -> Result<()> {
        let rekeys = || self.manifests.iter().filter_map(|(_, manifest)| manifest.rekey.as_ref());
        let unknown: Vec<_> =
            only.iter().filter(|tenant| rekeys().all(|rekey| !rekey.tenants.contains_key(*tenant))).collect();
        if unknown.is_empty() || self.manifests.is_empty() {
            return Ok(());
        }
        let known: BTreeSet<_> = rekeys().flat_map(|rekey| rekey.tenants.keys()).collect();
        Err(Error::usage(format!(
            "The archive has no document of the tenants {unknown:?}; nothing was compared"
        ))
        .hint(format!("It has those of {}.", list(known))))
    }

    /// How closely the store is compared.
    pub fn level(&self) -> Level {
        if self.input.is_some() { Level::Content } else { Level::Counts }
    }

    /// `raw`, `escaped` or `unneeded`.
    pub fn escaping_name(&self) -> &'static str {
        self.escaping.map_or("unneeded", Escaping::name)
    }

    /// The rekeyed archives, where they are there.
    pub fn input(&self) -> Option<&ArchiveInput> {
        self.input.as_ref()
    }

    /// The manifests of the rekeyed archives.
    pub fn manifests(&self) -> &[(PathBuf, Manifest)] {
        &self.manifests
    }

    /// The collections the documents were exported from, as far as it is known.
    pub fn sources(&self) -> impl Iterator<Item = &Description> {
        self.manifests.iter().filter_map(|(_, manifest)| manifest.source.as_ref())
    }

    /// The number of documents, if it is known.
    pub fn documents(&self) -> Option<u64> {
        self.input.as_ref().and_then(ArchiveInput::expected_documents)
    }

    /// The number of streams, as far as the manifests say.
    pub fn streams(&self) -> u64 {
        self.manifests.iter().map(|(_, manifest)| manifest.streams).sum()
    }

    /// The tenants that the manifests know.
    pub fn tenant_names(&self) -> TenantNames {
        let rekeys = self.manifests.iter().filter_map(|(_, manifest)| manifest.rekey.as_ref());
        let tenants = rekeys.flat_map(|rekey| rekey.tenants.keys().map(String::as_str));
        TenantNames::new(tenants, &self.layout, self.escaping.unwrap_or(Escaping::Raw))
    }

    /// The documents of the archives, to be sorted.
    pub fn collect(
        &self,
        names: &mut TenantNames,
        watch: &dyn Fn(u64, u64) -> Result<()>,
    ) -> Result<Expected> {
        let input = self.input.as_ref().ok_or_else(|| Error::bug("There is no archive to be read"))?;
        let key_maps = if self.by_key_map { Some(self.key_maps("overlapping tenants need")?) } else { None };
        let (layout, folder) = (&self.layout, &self.folder);
        collect_expected(input, key_maps, layout, self.escaping, names, folder, SORT_BUDGET, watch)
    }

    /// The accounts of the manifests, tenant by tenant.
    pub fn accounts(&self, names: &mut TenantNames) -> BTreeMap<u32, TenantAccount> {
        let mut accounts: BTreeMap<u32, TenantAccount> = BTreeMap::new();
        for (_, manifest) in &self.manifests {
            for (tenant, account) in manifest.rekey.iter().flat_map(|rekey| &rekey.tenants) {
                accounts.entry(names.number(tenant)).or_default().merge(account);
            }
        }
        accounts
    }

    /// The key maps of the archives, in their order; `needed_by` says what for.
    pub fn key_maps(&self, needed_by: &str) -> Result<KeyMaps> {
        let open = |(path, manifest): &(PathBuf, Manifest)| {
            let sha256 = manifest.rekey.as_ref().and_then(|rekey| rekey.key_map_sha256.as_deref());
            let sha256 = sha256.ok_or_else(|| {
                Error::usage(format!("{path:?} names no key map, which {needed_by}"))
                    .hint("Rewrite the legacy archive into a file: the key map stands beside it.")
            })?;
            let key_map = Companions::beside_manifest(path).key_map;
            Ok(KeyMapReader::open(&key_map, Some(manifest.totals.documents), Some(sha256)))
        };
        Ok(KeyMaps::new(self.manifests.iter().map(open).collect::<Result<_>>()?))
    }
}

/// Refuses to compare counts of shards with manifests that count the whole.
fn refuse_counts_of_shards(
    options: &VerifyOptions,
    input: Option<&ArchiveInput>,
    manifests: &[(PathBuf, Manifest)],
) -> Result<()> {
    let Some(asked) = options.archive.shard.as_ref().filter(|_| input.is_none()) else { return Ok(()) };
    match manifests.iter().find(|(_, manifest)| manifest.shard.as_ref() != Some(asked)) {
        Some((path, _)) => Err(Error::usage(format!(
            "{path:?} does not count the documents of the shard {asked} alone; nothing was compared"
        ))
        .hint("Pass the archive, without --counts-only: its documents of the shard are then compared.")),
        None => Ok(()),
    }
}

/// The first two tenants whose keys can be taken for each other's.
fn overlapping_tenants(
    layout: &Layout,
    escaping: Option<Escaping>,
    manifests: &[(PathBuf, Manifest)],
) -> Option<PrefixConflict> {
    if !layout.has_tenant_in_key_alone() {
        return None;
    }
    let rekeys = manifests.iter().filter_map(|(_, manifest)| manifest.rekey.as_ref());
    prefix_conflicts(layout, escaping, rekeys.flat_map(|rekey| rekey.tenants.keys())).into_iter().next()
}

/// The first few tenants, and how many more there are.
fn list(tenants: BTreeSet<&String>) -> String {
    const SHOWN: usize = 10;
    let more = tenants.len().saturating_sub(SHOWN);
    let names = tenants.into_iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{names} and {more} more") } else { names }
}

/// Whether a file is a manifest, whatever it is called: an archive's lines do not begin so.
fn is_manifest(path: &Path) -> bool {
    if path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(".manifest.json")) {
        return true;
    }
    let mut beginning = [0; 64];
    // A pipe must not lose what is read here; what cannot be opened is no manifest, and an error later.
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
    let read = is_file.then(|| File::open(path).and_then(|mut file| file.read(&mut beginning)));
    let Some(Ok(read)) = read else { return false };
    begins_like_manifest(beginning.get(..read).unwrap_or_default())
}

/// Whether these are the first two members of a manifest of any format.
fn begins_like_manifest(beginning: &[u8]) -> bool {
    let compact: Vec<u8> = beginning.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let Some(rest) = compact.strip_prefix(b"{\"format\":") else { return false };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    rest.get(digits..).is_some_and(|rest| rest.starts_with(b",\"tool\":\"rekey"))
}

#[cfg(test)]
mod tests {
    use super::begins_like_manifest;

    #[test]
    fn a_manifest_is_told_from_a_document_with_a_format() {
        assert!(begins_like_manifest(b"{\n  \"format\": 12,\n  \"tool\": \"rekey 9.1.0\",\n  \"arch"));
        for document in [r#"{"format":1,"id":"Order:a:0"}"#, r#"{"format":"rekey"}"#, "", "{"] {
            assert!(!begins_like_manifest(document.as_bytes()), "{document}");
        }
    }
}
