use std::path::{Path, PathBuf};

use crate::archive::{ArchiveInput, LayoutAccount, OpenOptions};
use crate::document::StoreKind;
use crate::layout::Layout;
use crate::options::{ArchiveOptions, LayoutOptions};
use crate::shard::{ShardFilter, Shards};
use crate::signal::StopSignal;
use crate::{Error, Result};

/// An archive with the layout of its documents.
pub(crate) struct OpenedArchive {
    /// The archive.
    pub input: ArchiveInput,
    /// The layout, with its parameters.
    pub layout: Layout,
    /// The shards that are looked at; `None` is everything.
    pub shards: Option<Shards>,
}

/// Opens an archive and finds its layout: the one given, or the one its manifest names.
pub(crate) fn open_archive(
    options: &ArchiveOptions,
    store: Option<StoreKind>,
    state: &Path,
    stop: &StopSignal,
) -> Result<OpenedArchive> {
    let open = OpenOptions {
        layout_given: options.layout.layout.is_some(),
        expect_documents: options.expect_documents,
        manifest: options.manifest.as_deref(),
        stop: stop.clone(),
        ..OpenOptions::new(state)
    };
    let input = ArchiveInput::open(&options.paths, &open)?;
    let account = input.manifests().next().map(|(_, manifest)| (&manifest.layout, manifest.store));
    let layout = find_layout(&options.layout, store, account)?;
    let recorded = input.recorded_shards()?;
    let (shards, filtered) = shards_of(options.shard.as_ref(), recorded, &input)?;
    let filter = shards.as_ref().filter(|_| filtered).map(|shards| ShardFilter::new(shards.clone(), &layout));
    let input = match filter {
        Some(filter) => input.of_shards(filter),
        None => input,
    };
    Ok(OpenedArchive { input, layout, shards })
}

/// The shards that are looked at, and whether the archive holds others, too.
fn shards_of(
    asked: Option<&Shards>,
    recorded: Option<Shards>,
    input: &ArchiveInput,
) -> Result<(Option<Shards>, bool)> {
    match (asked, recorded) {
        (None, recorded) => Ok((recorded, false)),
        (Some(asked), None) => Ok((Some(asked.clone()), true)),
        (Some(asked), Some(recorded)) if asked.are_among(&recorded) => {
            let others = *asked != recorded;
            Ok((Some(asked.clone()), others))
        }
        (Some(asked), Some(recorded)) => Err(Error::usage(format!(
            "{} is the shard {recorded}, and --shard asks for {asked}; nothing was done",
            input.name()
        ))
        .hint("Leave --shard out: the manifest says which shard it is.")),
    }
}

/// Finds the layout that is given, or that a manifest names.
///
/// # Errors
/// Usage: neither says it, it is not known here, it is another store's, or the manifest was written with
/// another definition of it.
pub(crate) fn find_layout(
    given: &LayoutOptions,
    store: Option<StoreKind>,
    recorded: Option<(&LayoutAccount, StoreKind)>,
) -> Result<Layout> {
    let layout = match (&given.layout, recorded) {
        (Some(name), recorded) => {
            let store = store.or(recorded.map(|(_, store)| store));
            let layout = Layout::resolve(name, store)?.with_parameters(&given.parameters)?;
            refuse_another(&layout, recorded.map(|(account, _)| account))?;
            layout
        }
        (None, Some((account, _))) => recorded_layout(account, given)?,
        (None, None) => {
            return Err(Error::usage("The archive has no manifest that says its layout; nothing was done")
                .hint("Pass --layout with one of the built-in layouts (rekey rekey --help lists them) or a TOML file."));
        }
    };
    match store {
        Some(store) if store != layout.store => Err(Error::usage(format!(
            "The layout {} is for {}, the store is {}; nothing was done",
            layout.name,
            layout.store.title(),
            store.title()
        ))
        .hint(format!("Choose a layout of {}.", store.title()))),
        _ => Ok(layout),
    }
}

fn refuse_another(layout: &Layout, recorded: Option<&LayoutAccount>) -> Result<()> {
    match recorded.filter(|recorded| recorded.name != layout.name) {
        Some(recorded) => Err(Error::usage(format!(
            "The archive's manifest says that its layout is {}, not {}; nothing was done",
            recorded.name, layout.name
        ))
        .hint("Leave --layout out.")),
        None => Ok(()),
    }
}

fn recorded_layout(account: &LayoutAccount, given: &LayoutOptions) -> Result<Layout> {
    let Some(layout) = Layout::builtin(&account.name) else {
        return Err(Error::usage(format!(
            "The archive's layout {:?} is not built in; nothing was done",
            account.name
        ))
        .hint("Pass the layout's TOML file with --layout."));
    };
    let mut parameters: Vec<_> = account.parameters.clone().into_iter().collect();
    parameters.retain(|(name, _)| given.parameters.iter().all(|(given, _)| given != name));
    parameters.extend(given.parameters.iter().cloned());
    let layout = layout.with_parameters(&parameters)?;
    if given.parameters.is_empty() && layout.digest() != account.digest {
        return Err(Error::usage(format!(
            "The archive was written with another definition of the layout {:?}; nothing was done",
            account.name
        ))
        .hint("Use the version of the tool that wrote the archive, or pass the layout's TOML file with --layout."));
    }
    Ok(layout)
}

/// Where spill files and journals go: as asked for, else beside `file`, else the folder for temporary files.
pub(crate) fn state_folder(asked: Option<&Path>, file: Option<&Path>) -> Result<PathBuf> {
    if let Some(folder) = asked {
        std::fs::create_dir_all(folder).map_err(|e| Error::io("create the folder", folder, e))?;
        return Ok(folder.to_owned());
    }
    let Some(file) = file else { return Ok(std::env::temp_dir()) };
    if file.is_dir() {
        return Ok(file.to_owned());
    }
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    Ok(parent.unwrap_or(Path::new(".")).to_owned())
}

/// The file of a command that belongs to an archive: `NAME.suffix` beside it, or `suffix` in a folder of parts. Runs for
/// `shards` of it may go side by side, so each has its own.
pub(crate) fn companion(archive: &Path, shards: Option<&Shards>, suffix: &str) -> PathBuf {
    let suffix = &match shards {
        Some(shards) => format!("{}.{suffix}", shards.file_word()),
        None => suffix.to_owned(),
    };
    if archive.is_dir() {
        return archive.join(suffix);
    }
    let mut name = archive.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    name.into()
}

/// What the journal of an archive, or of shards of it, is called after: its first file, or standard input.
pub(crate) fn journal_stem(input: &ArchiveInput, shards: Option<&Shards>) -> String {
    let name = input.files().first().and_then(|file| file.file_name());
    let name = name.map_or_else(|| "stdin".to_owned(), |name| name.to_string_lossy().into_owned());
    match shards {
        Some(shards) => format!("{name}.{}", shards.file_word()),
        None => name,
    }
}
