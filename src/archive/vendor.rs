//! Manifests of other tools: DynamoDB's table exports.
//!
//! An export is a folder with `manifest-summary.json` (what was exported), `manifest-files.json` (one JSON
//! line a data file) and the data files, which the service puts in `data/`. A copy may hold them beside the
//! manifests, and unpacked.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::{Error, Result};

pub(super) const SUMMARY: &str = "manifest-summary.json";
pub(super) const FILES: &str = "manifest-files.json";
/// The only form that carries the items as the service imports them.
const FORMAT: &str = "DYNAMODB_JSON";

/// What the vendor's manifest says of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VendorManifest {
    /// The table that was exported, as the manifest names it.
    pub table: String,
    /// The moment the export shows, as the manifest writes it.
    pub export_time: Option<String>,
    /// How many documents there are altogether.
    pub documents: u64,
}

/// A data file and how many documents the manifest says it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DataFile {
    pub(super) path: PathBuf,
    pub(super) documents: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    #[serde(default)]
    table_arn: Option<String>,
    #[serde(default)]
    export_time: Option<String>,
    #[serde(default)]
    output_format: Option<String>,
    #[serde(default)]
    export_type: Option<String>,
    item_count: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FileEntry {
    item_count: u64,
    data_file_s3_key: String,
}

/// The folder with the manifests, if `folder` is an export or the `data` folder of one.
pub(super) fn export_folder(folder: &Path) -> Option<PathBuf> {
    let parent = || folder.canonicalize().ok()?.parent().map(Path::to_owned);
    let above = if folder.ends_with("data") { parent() } else { None };
    [Some(folder.to_owned()), above]
        .into_iter()
        .flatten()
        .find(|folder| folder.join(SUMMARY).is_file() || folder.join(FILES).is_file())
}

/// Reads an export's manifests and finds its data files, in the order of their names.
///
/// # Errors
/// Usage: the export is not of a whole table, or not in DynamoDB JSON. File: a manifest is missing or
/// damaged, the two contradict each other, a data file is missing, or one is there that they do not name.
pub(super) fn read_export(folder: &Path) -> Result<(VendorManifest, Vec<DataFile>)> {
    let summary_path = folder.join(SUMMARY);
    let summary: Summary = parse(&read(&summary_path)?, &summary_path)?;
    refuse_other_exports(&summary, &summary_path)?;
    let files = data_files(folder)?;
    let documents: u64 = files.iter().map(|file| file.documents).fold(0, u64::saturating_add);
    if documents != summary.item_count {
        return Err(Error::file(format!(
            "The manifests in {folder:?} contradict each other: {SUMMARY} says {} documents, {FILES} {documents}",
            summary.item_count
        )));
    }
    refuse_unnamed(folder, &files)?;
    let Summary { table_arn, export_time, .. } = summary;
    Ok((VendorManifest { table: table_arn.unwrap_or_default(), export_time, documents }, files))
}

fn refuse_other_exports(summary: &Summary, path: &Path) -> Result<()> {
    let problem = match (summary.output_format.as_deref(), summary.export_type.as_deref()) {
        (Some(format), _) if format != FORMAT => format!("in the format {format}"),
        (_, Some(kind)) if kind != "FULL_EXPORT" => format!("of the type {kind}"),
        _ => return Ok(()),
    };
    Err(Error::usage(format!(
        "{path:?} describes an export {problem}, which is not a whole table as documents"
    ))
    .hint("Export the whole table again in the format DynamoDB JSON."))
}

/// Finds the file of each line of `manifest-files.json`.
fn data_files(folder: &Path) -> Result<Vec<DataFile>> {
    let list = folder.join(FILES);
    let text = read(&list)?;
    let mut files = Vec::new();
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
        let FileEntry { item_count, data_file_s3_key: key } = parse(line, &list)?;
        let name = key.rsplit('/').next().unwrap_or_default();
        if matches!(name, "" | "." | "..") || name.contains('\\') {
            return Err(Error::file(format!("{list:?} is damaged: {key:?} names no file")));
        }
        let path = find(folder, name).ok_or_else(|| {
            Error::file(format!(
                "{list:?} names the data file {name:?}, which is neither in {folder:?} nor in its folder data"
            ))
            .hint("Copy the whole export, with every data file.")
        })?;
        files.push(DataFile { path, documents: item_count });
    }
    files.sort_by(|a, b| a.path.file_name().cmp(&b.path.file_name()));
    if let Some([file, _]) = files.array_windows().find(|[a, b]| a.path == b.path) {
        return Err(Error::file(format!("{list:?} is damaged: it names {:?} twice", file.path)));
    }
    Ok(files)
}

/// The data file as the service named it, or unpacked.
fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    let folders = [folder.join("data"), folder.to_owned()];
    let names = [Some(name), name.strip_suffix(".gz")];
    let candidates = folders.iter().flat_map(|folder| names.iter().flatten().map(|name| folder.join(name)));
    candidates.into_iter().find(|path| path.is_file())
}

/// Refuses data files that no manifest names: they would be left out in silence.
fn refuse_unnamed(folder: &Path, files: &[DataFile]) -> Result<()> {
    let named: BTreeSet<Option<&std::ffi::OsStr>> = files.iter().map(|file| file.path.file_name()).collect();
    let data = folder.join("data");
    if !data.is_dir() {
        return Ok(());
    }
    let unnamed =
        |name: &OsString| !super::parts::is_ignored(name) && !named.contains(&Some(name.as_os_str()));
    match super::parts::names_in(&data)?.into_iter().find(unnamed) {
        Some(name) => {
            Err(Error::file(format!("{:?} is not named in {FILES}: the export is damaged", data.join(name)))
                .hint("Copy the export again into an empty folder."))
        }
        None => Ok(()),
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|source| Error::io("read the export's manifest", path, source))
}

fn parse<T: DeserializeOwned>(text: &[u8], path: &Path) -> Result<T> {
    serde_json::from_slice(text).map_err(|source| {
        Error::caused(
            crate::ErrorKind::File,
            format!("{path:?} is damaged or no manifest of an export"),
            source,
        )
    })
}
