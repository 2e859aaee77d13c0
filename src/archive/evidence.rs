//! Who says when an archive is whole, and what its documents are.

use std::path::{Path, PathBuf};

use super::names::{Companions, file_name};
use super::parts::Parts;
use super::{Expectation, Manifest, OpenOptions, VendorManifest};
use crate::{Error, Result};

/// The manifests that were found, and what the operator said.
#[derive(Clone, Debug, Default)]
pub(super) struct Evidence {
    /// The manifest of the whole archive, with its path.
    whole: Option<(PathBuf, Manifest)>,
    /// The parts' own manifests, in the parts' order; `None` for parts without one.
    own: Vec<Option<(PathBuf, Manifest)>>,
    /// What the vendor's manifest says of each part.
    counts: Vec<Option<u64>>,
    pub(super) vendor: Option<VendorManifest>,
    expected: Option<u64>,
    /// What the digest must be where nobody else says when the archive is whole.
    digest: Option<Expectation>,
    layout_given: bool,
}

impl Evidence {
    /// Finds what is said of standard input. Its writer's exit code says whether it is whole, so only the
    /// layout must be known.
    pub(super) fn of_stdin(options: &OpenOptions<'_>) -> Result<Self> {
        let mut evidence = Self::stated(options);
        if let Some(path) = options.manifest {
            evidence.whole = Some((path.to_owned(), Manifest::read(path)?));
        } else if !options.layout_given {
            return Err(Error::usage("Standard input has no manifest that says what its documents are")
                .hint("Pass --layout LAYOUT (events, sagas, a full name or a TOML file)."));
        }
        Ok(evidence)
    }

    /// Finds what is said of the files at `paths`, which are `parts`.
    pub(super) fn of_files(paths: &[PathBuf], parts: &Parts, options: &OpenOptions<'_>) -> Result<Self> {
        let mut evidence = Self::stated(options);
        evidence.vendor.clone_from(&parts.vendor);
        evidence.counts = parts.files.iter().map(|part| part.documents).collect();
        evidence.own = vec![None; parts.files.len()];
        evidence.whole = match (options.manifest, paths) {
            (Some(path), _) => Some((path.to_owned(), Manifest::read(path)?)),
            (None, [path]) => beside(path)?,
            (None, _) => None,
        };
        if evidence.whole.is_none() {
            for (own, part) in evidence.own.iter_mut().zip(&parts.files) {
                *own = beside(&part.path)?;
            }
        }
        if evidence.vendor.is_none() && evidence.manifests().next().is_none() {
            evidence.digest = options.digest.map(|(source, sha256)| Expectation::digest(source, sha256));
        }
        evidence.refuse_unproven(parts)?;
        evidence.refuse_layouts_that_differ()?;
        Ok(evidence)
    }

    fn stated(options: &OpenOptions<'_>) -> Self {
        let (expected, layout_given) = (options.expect_documents, options.layout_given);
        Self { expected, layout_given, ..Self::default() }
    }

    /// The one manifest that is for all the documents.
    pub(super) fn manifest(&self) -> Option<&Manifest> {
        let whole = self.whole.as_ref();
        let only = || match self.own.as_slice() {
            [only] => only.as_ref(),
            _ => None,
        };
        whole.or_else(only).map(|(_, manifest)| manifest)
    }

    /// Every manifest.
    pub(super) fn manifests(&self) -> impl Iterator<Item = &(PathBuf, Manifest)> {
        self.whole.iter().chain(self.own.iter().flatten())
    }

    /// What is said of all parts together.
    pub(super) fn of_all(&self) -> Vec<Expectation> {
        let manifest = self.whole.iter().map(|(path, manifest)| manifest.expectation(path));
        let vendor = self
            .vendor
            .iter()
            .map(|vendor| Expectation::documents("its export's manifest", vendor.documents));
        let stated = self.expected.map(|documents| Expectation::documents("--expect-documents", documents));
        manifest.chain(vendor).chain(stated).chain(self.digest.clone()).collect()
    }

    /// What is said of the part at `position` alone.
    pub(super) fn of_part(&self, position: usize) -> Option<Expectation> {
        let own = self.own.get(position).and_then(Option::as_ref);
        own.map(|(path, manifest)| manifest.expectation(path)).or_else(|| {
            let count = self.counts.get(position).copied().flatten();
            count.map(|documents| Expectation::documents("its export's manifest", documents))
        })
    }

    /// How many documents there must be, if somebody says so of every part.
    pub(super) fn documents(&self) -> Option<u64> {
        let stated = self.of_all().into_iter().find_map(|expectation| expectation.documents);
        stated.or_else(|| self.own.iter().map(|own| own.as_ref().map(|(_, own)| own.totals.documents)).sum())
    }

    /// Refuses files of which nobody says when they are whole, or what they hold.
    fn refuse_unproven(&self, parts: &Parts) -> Result<()> {
        let whole = self.whole.is_some() || self.vendor.is_some() || self.expected.is_some();
        let whole = whole || self.digest.is_some();
        let unproven = parts.files.iter().zip(&self.own).find(|(_, own)| !whole && own.is_none());
        let layout = self.layout_given || self.manifests().next().is_some();
        let count = "--expect-documents N, the number of documents that the exporting tool reported";
        let name = "--layout LAYOUT (events, sagas, a full name or a TOML file)";
        let (path, missing) = match (unproven, parts.files.first()) {
            (Some((part, _)), _) if layout => (&part.path, count.to_owned()),
            (Some((part, _)), _) => (&part.path, format!("{name} and {count}")),
            (None, Some(part)) if !layout => (&part.path, name.to_owned()),
            _ => return Ok(()),
        };
        let manifest = Companions::of(path).manifest;
        let without = match layout {
            true => "when it is whole",
            false if unproven.is_none() => "what it holds",
            false => "what it holds and when it is whole",
        };
        let error =
            Error::usage(format!("{path:?} has no manifest {:?} that says {without}", file_name(&manifest)));
        let error = error.hint(format!("Pass {missing}."));
        if self.vendor.is_some() {
            return Err(error);
        }
        Err(error.hint("Put the manifest beside it if rekey wrote it, or name it with --manifest: archive, manifest and key map belong together."))
    }

    fn refuse_layouts_that_differ(&self) -> Result<()> {
        let mut manifests = self.manifests();
        let Some((first_path, first)) = manifests.next() else { return Ok(()) };
        let same = |other: &Manifest| (other.store, &other.layout) == (first.store, &first.layout);
        match manifests.find(|(_, other)| !same(other)) {
            Some((path, other)) => Err(Error::usage(format!(
                "{first_path:?} and {path:?} are of different layouts: {} and {}",
                first.layout.name, other.layout.name
            ))
            .hint("Read archives of one layout at a time.")),
            None => Ok(()),
        }
    }
}

/// The manifest beside an archive, if there is one; it must have been written for that archive.
fn beside(archive: &Path) -> Result<Option<(PathBuf, Manifest)>> {
    let path = Companions::of(archive).manifest;
    if !path.try_exists().map_err(|source| Error::io("look for the manifest", &path, source))? {
        return Ok(None);
    }
    let manifest = Manifest::read(&path)?;
    let written_for = manifest.archive.as_str();
    if written_for != "-" && !archive.is_dir() && written_for != file_name(archive) {
        return Err(Error::file(format!(
            "The manifest {path:?} was written for an archive named {written_for:?}, not for {archive:?}"
        ))
        .hint("Give archive and manifest the names they were written with."));
    }
    Ok(Some((path, manifest)))
}
