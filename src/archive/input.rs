//! Opening an archive: its files or standard input, and what must be true of them.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::evidence::Evidence;
use super::parts::{self, Parts};
use super::source::Source;
use super::spool::Spooler;
use super::stoppable::StoppableInput;
use super::{LineReader, MAX_LINE_BYTES, Manifest, Totals, VendorManifest};
use crate::shard::{ShardFilter, Shards};
use crate::signal::StopSignal;
use crate::{Error, Result};

const STDIN: &str = "standard input";

/// What is known about an archive besides its files.
#[derive(Clone, Debug)]
pub struct OpenOptions<'a> {
    /// Whether the operator names the layout, so that no manifest has to.
    pub layout_given: bool,
    /// The number of documents that the operator expects.
    pub expect_documents: Option<u64>,
    /// The manifest, where it does not stand beside the archive.
    pub manifest: Option<&'a Path>,
    /// The digest that the archive must have and who says so, where it has no manifest of its own.
    pub digest: Option<(&'a str, &'a str)>,
    /// Where standard input is spooled.
    pub state_dir: &'a Path,
    /// Asks to stop waiting for standard input or a pipe.
    pub stop: StopSignal,
    /// The longest line, usually [`MAX_LINE_BYTES`].
    pub max_line_bytes: usize,
}

impl<'a> OpenOptions<'a> {
    /// Knows nothing and spools into `state_dir`.
    pub fn new(state_dir: &'a Path) -> Self {
        let (layout_given, expect_documents, manifest, digest) = (false, None, None, None);
        let (stop, max_line_bytes) = (StopSignal::new(), MAX_LINE_BYTES);
        Self { layout_given, expect_documents, manifest, digest, state_dir, stop, max_line_bytes }
    }
}

/// An archive that can be read any number of times: a file, a folder of parts, several files, or standard
/// input (spooled to an unnamed file).
#[derive(Debug)]
pub struct ArchiveInput {
    name: String,
    files: Vec<PathBuf>,
    sources: Vec<Source>,
    evidence: Evidence,
    max_line: usize,
    filter: Option<ShardFilter>,
    earlier: Arc<OnceLock<Totals>>,
}

impl ArchiveInput {
    /// Opens the archive at `paths`; a single `-` is standard input.
    ///
    /// A cut-off file must never pass for a whole one. So a file needs its manifest, its vendor's manifest,
    /// or the number of documents to expect; without its own manifest it needs the layout, too. Standard
    /// input needs the layout alone, or a manifest.
    ///
    /// # Errors
    /// Usage: something of this is missing (the hint says what), a manifest is of a newer format, two
    /// manifests are of different layouts, a file is named twice, or `-` stands among files. File: a file is
    /// missing, unfinished (`.part`), or not the one its manifest was written for.
    pub fn open(paths: &[PathBuf], options: &OpenOptions<'_>) -> Result<Self> {
        let mut stdin = StoppableInput::new(&options.stop, || Ok(Box::new(io::stdin())));
        Self::open_with(paths, options, &mut stdin)
    }

    pub(super) fn open_with(
        paths: &[PathBuf],
        options: &OpenOptions<'_>,
        stdin: &mut dyn Read,
    ) -> Result<Self> {
        let (name, files, sources, evidence) = match paths {
            [path] if path.as_os_str() == "-" => {
                let evidence = Evidence::of_stdin(options)?;
                let path = Path::new(STDIN);
                let spool = Spooler::create(options.state_dir)?.take_all(stdin, path);
                let spool = spool.map_err(|error| stopped(&options.stop, error))?;
                (STDIN.to_owned(), Vec::new(), vec![Source::spooled(path, spool, None)], evidence)
            }
            paths => {
                let parts = find_all(paths)?;
                let evidence = Evidence::of_files(paths, &parts, options)?;
                let files: Vec<_> = parts.files.into_iter().map(|part| part.path).collect();
                let sources = files.iter().enumerate().map(|(at, file)| source(file, at, &evidence, options));
                (quoted(paths), files.clone(), sources.collect::<Result<_>>()?, evidence)
            }
        };
        let (max_line, earlier) = (options.max_line_bytes, Arc::default());
        Ok(Self { name, files, sources, evidence, max_line, filter: None, earlier })
    }

    /// Reads the documents of certain shards alone; every pass proves the whole archive to be whole all the same.
    #[must_use]
    pub fn of_shards(self, filter: ShardFilter) -> Self {
        Self { filter: Some(filter), ..self }
    }

    /// The shards that its files are of, as their manifests say; `None` where they are the whole.
    ///
    /// # Errors
    /// Usage: they are parts of different divisions.
    pub fn recorded_shards(&self) -> Result<Option<Shards>> {
        let manifests = self.manifests().count();
        if manifests == 0 || manifests < self.files.len() && self.manifest().is_none() {
            return Ok(None);
        }
        Shards::together(self.manifests().map(|(_, manifest)| manifest.shard.as_ref()))
    }

    /// The manifest, where one is for all the documents.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.evidence.manifest()
    }

    /// Every manifest found, with its path: several where each part has its own. They are of one layout.
    pub fn manifests(&self) -> impl Iterator<Item = &(PathBuf, Manifest)> {
        self.evidence.manifests()
    }

    /// The manifest of the tool that wrote the archive, if that was another one.
    pub fn vendor(&self) -> Option<&VendorManifest> {
        self.evidence.vendor.as_ref()
    }

    /// Whether all lines stand in an archive's order, as a manifest says.
    pub fn is_sorted(&self) -> bool {
        self.manifest().is_some_and(|manifest| manifest.sorted)
    }

    /// How many documents there must be, if somebody says; nobody can say it of a shard of them.
    pub fn expected_documents(&self) -> Option<u64> {
        self.evidence.documents().filter(|_| self.filter.is_none())
    }

    /// What the first complete pass found; `None` before its end.
    pub fn totals(&self) -> Option<&Totals> {
        self.earlier.get()
    }

    /// The files in the order they are read; none for standard input.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The archive as a message names it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Starts a pass over the lines. Every pass proves anew that the archive is whole and still the same.
    pub fn line_reader(&self) -> LineReader {
        let (expectations, earlier) = (self.evidence.of_all(), Arc::clone(&self.earlier));
        LineReader::new(self.name.clone(), self.sources.clone(), expectations, earlier, self.max_line)
            .of_shards(self.filter.as_ref())
    }
}

fn quoted(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| format!("{path:?}")).collect::<Vec<_>>().join(", ")
}

/// Finds the files of every path, in the order given.
fn find_all(paths: &[PathBuf]) -> Result<Parts> {
    let mut all = Parts::default();
    for path in paths {
        if path.as_os_str() == "-" {
            return Err(Error::usage("Standard input (-) cannot be read together with files")
                .hint("Name files only, or pipe everything in."));
        }
        let Parts { files, vendor } = parts::find(path)?;
        if paths.len() > 1 && vendor.is_some() {
            return Err(Error::usage(format!(
                "{path:?} is a whole export and cannot be read together with other files"
            ))
            .hint("Read one export at a time."));
        }
        all.files.extend(files);
        all.vendor = vendor;
    }
    if paths.is_empty() {
        return Err(
            Error::usage("No archive was named").hint("Name a file, a folder, or - for standard input.")
        );
    }
    let mut seen = BTreeSet::new();
    match all.files.iter().find(|part| !seen.insert(part.path.canonicalize().unwrap_or(part.path.clone()))) {
        Some(twice) => {
            Err(Error::usage(format!("{:?} is named twice", twice.path)).hint("Name every file once."))
        }
        None => Ok(all),
    }
}

/// The error of a wait for input that ended because the run was asked to stop, or the one there was.
fn stopped(stop: &StopSignal, error: Error) -> Error {
    match stop.check("Interrupted while waiting for input; nothing was done. Run the same command again.") {
        Err(interrupted) => interrupted,
        Ok(()) => error,
    }
}

/// Where a file is read from: itself, or a spool if it is a pipe that can be read only once.
fn source(file: &Path, position: usize, evidence: &Evidence, options: &OpenOptions<'_>) -> Result<Source> {
    let expectation = evidence.of_part(position);
    let metadata = fs::metadata(file).map_err(|source| Error::io("open the archive", file, source))?;
    if metadata.is_file() {
        return Ok(Source::file(file, expectation));
    }
    let path = file.to_owned();
    let mut pipe = StoppableInput::new(&options.stop, move || Ok(Box::new(File::open(path)?)));
    let spool = Spooler::create(options.state_dir)?.take_all(&mut pipe, file);
    let spool = spool.map_err(|error| stopped(&options.stop, error))?;
    Ok(Source::spooled(file, spool, expectation))
}

#[cfg(test)]
mod tests;
