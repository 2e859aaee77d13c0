use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::finding::{create_beside, persist};
use super::{FIRST_FINDINGS, Finding, Notice, Outcome, Report};
use crate::error::{Error, Result};
use crate::exit::ExitStatus;
use crate::shard::Shards;

/// The JSON result: the members that every verb has around those of its own.
#[derive(Debug, Serialize)]
pub struct Envelope<'a> {
    command: &'a str,
    tool: String,
    exit_code: u8,
    #[serde(flatten)]
    report: Option<&'a Report>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<&'a Shards>,
    notices: &'a [Notice],
    findings: &'a [Finding],
    findings_total: u64,
    #[serde(serialize_with = "super::verb::path")]
    findings_file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorMember<'a>>,
}

/// Why a run was refused.
#[derive(Debug, Serialize)]
struct ErrorMember<'a> {
    message: String,
    causes: Vec<String>,
    hints: &'a [String],
}

impl<'a> Envelope<'a> {
    /// Puts the members together; without an outcome (refused at once) those of the verb are missing.
    pub fn new(
        command: &'a str,
        status: ExitStatus,
        outcome: Option<&'a Outcome>,
        error: Option<&'a Error>,
        notices: &'a [Notice],
    ) -> Self {
        let findings = outcome.map(|outcome| &outcome.findings);
        Self {
            command,
            tool: super::tool(),
            exit_code: status.code(),
            report: outcome.map(|outcome| &outcome.report),
            shard: outcome.and_then(|outcome| outcome.shard.as_ref()),
            notices: notices.get(..FIRST_FINDINGS).unwrap_or(notices),
            findings: findings.map_or(&[], |findings| &findings.first),
            findings_total: findings.map_or(0, |findings| findings.total),
            findings_file: findings.and_then(|findings| findings.file.clone()),
            error: error.map(ErrorMember::new),
        }
    }

    /// The one object, on one line.
    pub fn json(&self) -> Result<String> {
        serde_json::to_string(self)
            .map_err(|error| Error::bug(format!("The result has no JSON form: {error}.")))
    }
}

impl<'a> ErrorMember<'a> {
    fn new(error: &'a Error) -> Self {
        let mut messages = error.messages().into_iter();
        Self {
            message: messages.next().unwrap_or_default(),
            causes: messages.collect(),
            hints: error.hints(),
        }
    }
}

/// Writes the JSON result into a file (mode 0600) that appears whole or not at all.
pub fn save(json: &str, path: &Path) -> Result<()> {
    let mut file = BufWriter::new(create_beside(path)?);
    writeln!(file, "{json}").map_err(|source| Error::io("write the result to", path, source))?;
    persist(file, path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::report::{ExportReport, FindingCode, FindingsAccount, NoticeCode};

    fn outcome() -> Outcome {
        let report =
            ExportReport { layout: "mongodb-events".into(), documents: 3, ..ExportReport::default() };
        let finding = Finding::new(FindingCode::Missing, "It is not there.");
        Outcome::done(Report::Export(report)).with_findings(FindingsAccount {
            total: 7,
            first: vec![finding],
            ..FindingsAccount::default()
        })
    }

    #[test]
    fn the_members_of_the_verb_stand_between_the_common_ones() {
        let notices = [Notice { code: NoticeCode::EmptySource, message: "Nothing is there.".into() }];
        let outcome = outcome();
        let json =
            Envelope::new("export", ExitStatus::Finding, Some(&outcome), None, &notices).json().unwrap();
        let expected = format!(
            r#"{{"command":"export","tool":"rekey {}","exit_code":1,"layout":"mongodb-events","documents":3,"streams":0,"bytes":0,"sha256":"","consistent":false,"escape_records":0,"archive":null,"manifest":null,"notices":[{{"code":"empty-source","message":"Nothing is there."}}],"findings":[{{"code":"missing","message":"It is not there."}}],"findings_total":7,"findings_file":null}}"#,
            env!("CARGO_PKG_VERSION")
        );
        assert_eq!(json, expected);
    }

    #[test]
    fn a_refusal_without_an_outcome_says_why() {
        let error = Error::refused("The target has a subscriber.").hint("Pass --subscribers-handled.");
        let status = ExitStatus::Failed(ErrorKind::Refused);
        let json = Envelope::new("import", status, None, Some(&error), &[]).json().unwrap();
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["exit_code"], 5);
        assert_eq!(value["error"]["message"], "The target has a subscriber.");
        assert_eq!(value["error"]["hints"][0], "Pass --subscribers-handled.");
        assert_eq!(value["findings"], serde_json::json!([]));
    }

    #[cfg(unix)]
    #[test]
    fn the_result_file_is_replaced_and_readable_by_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.json");
        std::fs::write(&path, "old").unwrap();
        save("{}", &path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}\n");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
