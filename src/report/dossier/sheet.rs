use std::io::{BufWriter, Write as _};
use std::path::Path;

use serde::Serialize;

use super::{
    Circumstances, Conclusion, Dossier, ReportFormat, ReportTarget, Standing, html, junit, markdown,
};
use crate::error::{Error, Result};
use crate::report::finding::{create_beside, persist};
use crate::report::{FIRST_FINDINGS, Notice};
use crate::ui::format::visible;

/// The format of a report's JSON form.
const FORMAT: u32 = 1;

/// A whole report: what the command says, and what is the same for every command.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sheet {
    format: u32,
    /// What the command says, or that it came to nothing.
    #[serde(flatten)]
    pub dossier: Dossier,
    /// Who ran it, when and where.
    pub run: Circumstances,
    /// What was worth knowing on the way; the first hundred.
    pub notices: Vec<Notice>,
    /// Why the run was refused, failed or was interrupted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<Trouble>,
}

/// Why a run did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Trouble {
    /// One sentence.
    pub message: String,
    /// Its causes, the root last.
    pub causes: Vec<String>,
    /// What to do next.
    pub hints: Vec<String>,
}

impl Sheet {
    /// Puts a report together; without a dossier it says that the command came to nothing, and why.
    pub fn new(
        dossier: Option<Dossier>,
        run: Circumstances,
        notices: &[Notice],
        error: Option<&Error>,
    ) -> Self {
        let trouble = error.map(Trouble::of);
        let dossier = dossier.unwrap_or_else(|| came_to_nothing(&run, trouble.as_ref()));
        let notices = notices.get(..FIRST_FINDINGS).unwrap_or(notices).to_vec();
        Self { format: FORMAT, dossier, run, notices, trouble }
    }

    /// The report in one format.
    pub fn render(&self, format: ReportFormat) -> Result<String> {
        match format {
            ReportFormat::Html => html::render(self),
            ReportFormat::Markdown => Ok(visible(&markdown::render(self)).into_owned()),
            ReportFormat::Json => match serde_json::to_string_pretty(self) {
                Ok(json) => Ok(json + "\n"),
                Err(error) => Err(Error::bug(format!("The report has no JSON form: {error}."))),
            },
            ReportFormat::Junit => junit::render(self),
        }
    }

    /// Writes the report into a file (mode 0600) that appears whole or not at all.
    ///
    /// # Errors
    /// File: it cannot be written; the message names the path.
    pub fn write(&self, target: &ReportTarget) -> Result<()> {
        let text = self.render(target.format)?;
        save(&text, &target.path)
            .map_err(|error| error.context(format!("The report {:?} was not written", target.path)))
    }
}

fn save(text: &str, path: &Path) -> Result<()> {
    let mut file = BufWriter::new(create_beside(path)?);
    file.write_all(text.as_bytes()).map_err(|source| Error::io("write", path, source))?;
    persist(file, path)
}

impl Trouble {
    fn of(error: &Error) -> Self {
        let mut messages = error.messages().into_iter();
        Self {
            message: messages.next().unwrap_or_default(),
            causes: messages.collect(),
            hints: error.hints().to_vec(),
        }
    }
}

fn came_to_nothing(run: &Circumstances, trouble: Option<&Trouble>) -> Dossier {
    let sentence = trouble.map_or("It came to no result.", |trouble| &trouble.message);
    Dossier {
        title: format!("rekey {}", run.command),
        conclusion: Conclusion {
            standing: Standing::Failed,
            word: "no result".to_owned(),
            sentence: sentence.to_owned(),
        },
        sections: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::sheet;
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_report_is_readable_by_its_owner_alone_and_replaces_an_earlier_one() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        for (ending, format) in ReportFormat::ENDINGS {
            let path = folder.path().join(format!("a.{ending}"));
            std::fs::write(&path, "old").unwrap();
            sheet().write(&ReportTarget { path: path.clone(), format: *format }).unwrap();
            assert!(std::fs::read_to_string(&path).unwrap().contains("acme"), "{ending}");
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), ReportFormat::ENDINGS.len());
    }

    #[test]
    fn a_report_that_cannot_be_written_is_a_file_error_that_names_it() {
        let path = Path::new("/nonexistent/a.html").to_owned();
        let error = sheet().write(&ReportTarget { path, format: ReportFormat::Html }).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::File);
        assert!(error.to_string().contains("/nonexistent/a.html"), "{error}");
    }

    #[test]
    fn a_run_that_came_to_nothing_says_why_in_every_format() {
        let error = Error::store("The store does not answer").hint("Look at the network.");
        let sheet = Sheet::new(None, sheet().run, &[], Some(&error));
        for (ending, format) in ReportFormat::ENDINGS {
            let text = sheet.render(*format).unwrap();
            assert!(text.contains("The store does not answer"), "{ending}: {text}");
            assert!(text.contains("Look at the network."), "{ending}: {text}");
        }
    }
}
