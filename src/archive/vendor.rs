//! Manifests of other tools: DynamoDB's table exports.
//!
//! An export is a folder with `manifest-summary.json` (what was exported), `manifest-files.json` (one JSON
//! line a data file) and the data files, which the service puts in `data/`. A copy may hold them beside the
//! manifests, and unpacked.

use crate::ui::format::count;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest as _, Md5};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::folder::{FILES, SUMMARY, is_ignored, names_in};
use crate::{Error, Result};

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
    /// Base64 of the MD5 digest of the data file as it was exported.
    #[serde(default)]
    md5_checksum: Option<String>,
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
            "The manifests in {folder:?} contradict each other: {SUMMARY} says {}, {FILES} {documents}",
            count(summary.item_count, "document")
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
        let FileEntry { item_count, data_file_s3_key: key, md5_checksum } = parse(line, &list)?;
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
        // The digest is of the file as the service named it; an unpacked one is checked by its count alone.
        if let Some(expected) = md5_checksum.filter(|_| path.ends_with(name)) {
            check_digest(&path, &expected)?;
        }
        files.push(DataFile { path, documents: item_count });
    }
    files.sort_by(|a, b| a.path.file_name().cmp(&b.path.file_name()));
    if let Some([file, _]) = files.array_windows().find(|[a, b]| a.path == b.path) {
        return Err(Error::file(format!("{list:?} is damaged: it names {:?} twice", file.path)));
    }
    Ok(files)
}

fn check_digest(path: &Path, expected: &str) -> Result<()> {
    let unreadable = |source| Error::io("read the data file", path, source);
    let mut file = BufReader::with_capacity(1 << 16, fs::File::open(path).map_err(unreadable)?);
    let mut digest = Md5::new();
    loop {
        let bytes = file.fill_buf().map_err(unreadable)?;
        if bytes.is_empty() {
            break;
        }
        digest.update(bytes);
        let read = bytes.len();
        file.consume(read);
    }
    if STANDARD.encode(digest.finalize()) == expected {
        return Ok(());
    }
    Err(Error::file(format!("{path:?} is damaged: its digest is another than {FILES} says"))
        .hint("Copy the export again."))
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
    let unnamed = |name: &OsString| !is_ignored(name) && !named.contains(&Some(name.as_os_str()));
    match names_in(&data)?.into_iter().find(unnamed) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::archive::{ArchiveInput, OpenOptions};
    use serde_json::json;
    use tempfile::TempDir;

    const SUMMARY_TEXT: &str = r#"{"version":"2020-06-30","exportArn":"arn:e","tableArn":"arn:aws:dynamodb:eu-west-1:1:table/Events",
        "exportTime":"2026-11-30T10:00:00.000Z","s3Bucket":"b","itemCount":3,"outputFormat":"DYNAMODB_JSON"}"#;

    /// An export of two data files with three items, and one without any.
    fn export(prefix: &str) -> TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("data")).unwrap();
        fs::write(dir.path().join(SUMMARY), SUMMARY_TEXT).unwrap();
        fs::write(dir.path().join("manifest-summary.md5"), "x").unwrap();
        let mut list = Vec::new();
        for (name, items) in [("b.json", 2), ("a.json", 1), ("c.json", 0)] {
            let key = format!("AWSDynamoDB/1/data/{name}");
            let lines = "{\"Item\":{}}\n".repeat(items);
            let digest = STANDARD.encode(Md5::digest(&lines));
            let line = json!({"itemCount": items, "md5Checksum": digest, "etag": "y", "dataFileS3Key": key});
            list.push(line.to_string());
            fs::write(dir.path().join(prefix).join(name), lines).unwrap();
        }
        fs::write(dir.path().join(FILES), list.join("\n")).unwrap();
        dir
    }

    fn open(path: &Path, state: &Path) -> Result<ArchiveInput> {
        let mut options = OpenOptions::new(state);
        options.layout_given = true;
        ArchiveInput::open(&[path.to_owned()], &options)
    }

    fn kind_after(change: impl FnOnce(&Path)) -> ErrorKind {
        let dir = export("data");
        change(dir.path());
        let state = tempfile::tempdir().unwrap();
        open(dir.path(), state.path()).and_then(|input| input.line_reader().finish()).unwrap_err().kind()
    }

    fn edit(path: PathBuf, from: &str, to: &str) {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from));
        fs::write(path, text.replacen(from, to, 1)).unwrap();
    }

    #[test]
    fn an_export_needs_the_layout_alone_wherever_its_data_files_are() {
        for (prefix, asked) in [("data", ""), ("data", "data"), ("", "")] {
            let dir = export(prefix);
            let input = open(&dir.path().join(asked), dir.path()).unwrap();
            assert_eq!(input.line_reader().finish().unwrap().documents, 3, "{prefix:?} {asked:?}");
            assert_eq!(input.vendor().unwrap().documents, 3);
            assert_eq!(input.vendor().unwrap().table, "arn:aws:dynamodb:eu-west-1:1:table/Events");
            assert!(input.manifest().is_none());
            let names: Vec<_> =
                input.files().iter().map(|file| file.file_name().unwrap().to_owned()).collect();
            assert_eq!(names, ["a.json", "b.json", "c.json"]);
        }
    }

    #[test]
    fn an_export_without_the_layout_is_a_usage_error_that_asks_for_nothing_else() {
        let dir = export("data");
        let error = ArchiveInput::open(&[dir.path().to_owned()], &OpenOptions::new(dir.path())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        let hint = &error.hints()[0];
        assert!(hint.starts_with("Pass --layout LAYOUT (") && !hint.contains("--expect"), "{error:?}");
    }

    #[test]
    fn an_item_moved_from_one_file_to_another_is_noticed() {
        let kind = kind_after(|dir| {
            fs::write(dir.join("data/a.json"), "").unwrap();
            fs::write(dir.join("data/c.json"), "{\"Item\":{}}\n").unwrap();
        });
        assert_eq!(kind, ErrorKind::File);
    }

    #[test]
    fn a_data_file_with_other_bytes_is_a_file_error_unless_it_was_unpacked() {
        let other = "{\"Item\":{\"a\":{\"S\":\"x\"}}}\n";
        assert_eq!(kind_after(|dir| fs::write(dir.join("data/a.json"), other).unwrap()), ErrorKind::File);
        let dir = export("data");
        edit(dir.path().join(FILES), "1/data/a.json", "1/data/a.json.gz");
        fs::write(dir.path().join("data/a.json"), other).unwrap();
        assert_eq!(open(dir.path(), dir.path()).unwrap().line_reader().finish().unwrap().documents, 3);
    }

    #[test]
    fn a_data_file_missing_or_too_many_is_a_file_error() {
        assert_eq!(kind_after(|dir| fs::remove_file(dir.join("data/b.json")).unwrap()), ErrorKind::File);
        assert_eq!(kind_after(|dir| fs::write(dir.join("data/d.json"), "{}\n").unwrap()), ErrorKind::File);
        assert_eq!(kind_after(|dir| fs::remove_file(dir.join(FILES)).unwrap()), ErrorKind::File);
        assert_eq!(kind_after(|dir| fs::remove_file(dir.join(SUMMARY)).unwrap()), ErrorKind::File);
    }

    #[test]
    fn manifests_that_contradict_each_other_or_lead_elsewhere_are_file_errors() {
        assert_eq!(
            kind_after(|dir| edit(dir.join(SUMMARY), "\"itemCount\":3", "\"itemCount\":4")),
            ErrorKind::File
        );
        assert_eq!(
            kind_after(|dir| edit(dir.join(FILES), "1/data/a.json", "1/data/b.json")),
            ErrorKind::File
        );
        assert_eq!(kind_after(|dir| edit(dir.join(FILES), "1/data/a.json", "1/data/..")), ErrorKind::File);
        assert_eq!(kind_after(|dir| edit(dir.join(FILES), "itemCount", "count")), ErrorKind::File);
    }

    #[test]
    fn exports_of_changes_or_in_another_format_are_usage_errors() {
        assert_eq!(kind_after(|dir| edit(dir.join(SUMMARY), "DYNAMODB_JSON", "ION")), ErrorKind::Usage);
        let incremental = "\"exportType\":\"INCREMENTAL_EXPORT\",\"itemCount\"";
        assert_eq!(kind_after(|dir| edit(dir.join(SUMMARY), "\"itemCount\"", incremental)), ErrorKind::Usage);
    }
}
