use std::collections::BTreeMap;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use tempfile::NamedTempFile;

use super::FindingCode;
use crate::check::Refusal;
use crate::error::{Error, Result};
use crate::failpoint::{self, Point};

/// How many findings the JSON result lists; all of them are in the findings file.
pub const FIRST_FINDINGS: usize = 100;

/// One thing found, about one document, stream, tenant or collection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The stable code.
    pub code: FindingCode,
    /// One sentence; no document content besides keys.
    pub message: String,
    /// The document's key as it is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The other key under which the same event or saga stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_key: Option<String>,
    /// The tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The stream, as `type:id` or the bare id where the store knows no type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
    /// The version of the event or saga.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    /// The archive's line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The top-level fields that differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
}

impl Finding {
    /// Makes a finding that names nothing yet.
    pub fn new(code: FindingCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            key: None,
            other_key: None,
            tenant: None,
            stream: None,
            version: None,
            line: None,
            fields: Vec::new(),
        }
    }

    /// Makes the finding of a refused document.
    pub fn refused(refusal: &Refusal) -> Self {
        Self::new(FindingCode::Refused(refusal.reason), refusal.detail.clone())
    }
}

/// Takes findings as they come: counts them, keeps the first ones, and writes all of them to a file.
///
/// The file is NDJSON, begun with the first finding, and gets its name in [`Findings::finish`]; dropped before, it is
/// gone. Memory does not grow with the number of findings.
#[derive(Debug)]
pub struct Findings {
    path: Option<PathBuf>,
    file: Option<BufWriter<NamedTempFile>>,
    account: FindingsAccount,
    /// The first ones that only follow from others; they give way to these.
    followers: Vec<Finding>,
}

impl Findings {
    /// Collects findings; all of them go to `path`, or only the first are kept if it is `None` (dry runs).
    pub fn new(path: Option<PathBuf>) -> Self {
        Self { path, file: None, account: FindingsAccount::default(), followers: Vec::new() }
    }

    /// Adds one.
    pub fn push(&mut self, finding: Finding) -> Result<()> {
        if let Some(path) = &self.path {
            let file = match &mut self.file {
                Some(file) => file,
                none => {
                    let file = create_beside(path);
                    let file =
                        file.map_err(|error| error.hint("Pass --findings FILE where they can be written."))?;
                    none.insert(BufWriter::new(file))
                }
            };
            serde_json::to_writer(&mut *file, &finding)
                .map_err(std::io::Error::from)
                .and_then(|()| file.write_all(b"\n"))
                .map_err(|source| Error::io("write the findings to", path, source))?;
        }
        self.account.total += 1;
        *self.account.by_code.entry(finding.code).or_default() += 1;
        if let Some(tenant) = &finding.tenant {
            let counts = self.account.by_tenant.entry(tenant.clone()).or_default();
            *counts.entry(finding.code).or_default() += 1;
        }
        let list = if finding.code.follows() { &mut self.followers } else { &mut self.account.first };
        if list.len() < FIRST_FINDINGS {
            list.push(finding);
        }
        Ok(())
    }

    /// The number so far.
    pub fn total(&self) -> u64 {
        self.account.total
    }

    /// Tells whether nothing was found so far.
    pub fn is_empty(&self) -> bool {
        self.account.total == 0
    }

    /// Puts the file in its place. Without a finding there is none, and one of an earlier run is removed.
    pub fn finish(self) -> Result<FindingsAccount> {
        let Self { path, file, mut account, followers } = self;
        let room = FIRST_FINDINGS.saturating_sub(account.first.len());
        account.first.extend(followers.into_iter().take(room));
        let Some(path) = path else { return Ok(account) };
        match file {
            Some(file) => {
                persist(file, &path)?;
                account.file = Some(path);
            }
            None => match std::fs::remove_file(&path) {
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::io("remove the findings of an earlier run", &path, source));
                }
                _ => {}
            },
        }
        Ok(account)
    }
}

/// What was found in all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindingsAccount {
    /// The number.
    pub total: u64,
    /// The number per code.
    pub by_code: BTreeMap<FindingCode, u64>,
    /// The same for each tenant, of those that name one.
    pub by_tenant: BTreeMap<String, BTreeMap<FindingCode, u64>>,
    /// The first [`FIRST_FINDINGS`], in the order they were found, those that only follow from others last.
    pub first: Vec<Finding>,
    /// The file with all of them.
    pub file: Option<PathBuf>,
}

/// How the name of a file begins and ends that has no name of its own yet.
const GROWING: (&str, &str) = (".rekey-", ".part");

/// Creates a file in the folder of `path` that has no name of its own yet (mode 0600). Those that runs left behind when
/// they died are removed; one that a live run has is locked.
pub(super) fn create_beside(path: &Path) -> Result<NamedTempFile> {
    let folder = folder_of(path);
    clear_left_behind(folder)?;
    let (prefix, suffix) = GROWING;
    let file = tempfile::Builder::new().prefix(prefix).suffix(suffix).tempfile_in(folder);
    let file = file.map_err(|source| Error::io("create a file in", folder, source))?;
    file.as_file().lock().map_err(|source| Error::io("lock", file.path(), source))?;
    Ok(file)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Removes what runs that died left in a folder.
fn clear_left_behind(folder: &Path) -> Result<()> {
    let failed = |source| Error::io("list the folder", folder, source);
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !(name.starts_with(GROWING.0) && name.ends_with(GROWING.1)) {
            continue;
        }
        // One that is gone meanwhile, or that is another user's, is nobody's concern here.
        let is_left = std::fs::File::open(&path).is_ok_and(|file| file.try_lock().is_ok());
        if is_left && std::fs::remove_file(&path).is_ok() {
            tracing::debug!("removed {path:?}, which a run left behind when it died");
        }
    }
    Ok(())
}

/// Flushes, syncs and renames a temporary file to `path`.
pub(super) fn persist(file: BufWriter<NamedTempFile>, path: &Path) -> Result<()> {
    let file = file.into_inner().map_err(|error| Error::io("write", path, error.into_error()))?;
    file.as_file().sync_all().map_err(|source| Error::io("write", path, source))?;
    failpoint::pass(Point::FindingsRename)?;
    let _file = file.persist(path).map_err(|error| Error::io("write", path, error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Reason;

    fn missing(number: u64) -> Finding {
        Finding { line: Some(number), ..Finding::new(FindingCode::Missing, "It is not there.") }
    }

    #[test]
    fn all_findings_are_in_the_file_and_the_first_hundred_in_the_account() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.findings.ndjson");
        let mut findings = Findings::new(Some(path.clone()));
        for number in 0..250 {
            findings.push(missing(number)).unwrap();
        }
        assert!(!path.exists(), "the file must not have its name before it is whole");
        let account = findings.finish().unwrap();
        assert_eq!((account.total, account.first.len()), (250, FIRST_FINDINGS));
        assert_eq!(account.by_code, [(FindingCode::Missing, 250)].into());
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 250);
        assert_eq!(
            text.lines().last(),
            Some(r#"{"code":"missing","message":"It is not there.","line":249}"#)
        );
    }

    #[test]
    fn causes_come_before_what_follows_from_them() {
        let refused = |reason, line| Finding {
            line: Some(line),
            ..Finding::refused(&Refusal::new(reason, "It is refused."))
        };
        let mut findings = Findings::new(None);
        for line in 0..150 {
            findings.push(refused(Reason::StreamRefused, line)).unwrap();
        }
        findings.push(refused(Reason::Malformed, 150)).unwrap();
        let account = findings.finish().unwrap();
        assert_eq!((account.total, account.first.len()), (151, FIRST_FINDINGS));
        assert_eq!((account.first[0].line, account.first[1].line), (Some(150), Some(0)));
    }

    #[test]
    fn without_a_finding_the_file_of_an_earlier_run_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.findings.ndjson");
        std::fs::write(&path, "old").unwrap();
        let account = Findings::new(Some(path.clone())).finish().unwrap();
        assert_eq!(account, FindingsAccount::default());
        assert!(!path.exists());
    }

    #[cfg(unix)]
    #[test]
    fn the_findings_are_readable_by_their_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.findings.ndjson");
        let mut findings = Findings::new(Some(path.clone()));
        findings.push(missing(1)).unwrap();
        let _ = findings.finish().unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn findings_dropped_unfinished_leave_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let mut findings = Findings::new(Some(folder.path().join("a.findings.ndjson")));
        findings.push(missing(1)).unwrap();
        drop(findings);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
