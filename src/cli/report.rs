use std::path::{Path, PathBuf};

use clap::Args;

use super::paths::check_output;
use crate::error::{Error, Result};
use crate::report::dossier::{ReportFormat, ReportTarget};

/// Which reports are written, and what they may show.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct ReportArgs {
    /// Write a report of the run; .html, .md, .json or .xml (JUnit) by the name. May be given more than once
    ///
    /// The HTML is one file without scripts that is read without a network; the XML has a test case for each tenant and
    /// check. Reports show keys, never the content of documents. They are written whatever the run comes to.
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    report: Vec<PathBuf>,

    /// Let reports show a few documents of each tenant, too
    #[arg(long, requires = "report", help_heading = "Report")]
    show_content: bool,
}

impl ReportArgs {
    /// The files, for a check that no two outputs are one.
    pub(super) fn paths(&self) -> impl Iterator<Item = (&'static str, Option<&Path>)> {
        self.report.iter().map(|path| ("--report", Some(path.as_path())))
    }

    pub(super) fn show_content(&self) -> bool {
        self.show_content
    }

    /// The files with their formats.
    pub(super) fn targets(&self) -> Result<Vec<ReportTarget>> {
        self.report.iter().map(|path| target(path)).collect()
    }
}

fn target(path: &Path) -> Result<ReportTarget> {
    check_output("--report", path)?;
    match ReportFormat::of(path) {
        Some(format) => Ok(ReportTarget { path: path.to_owned(), format }),
        None => Err(Error::usage(format!("--report {} has no ending that says its format.", path.display()))
            .hint("Name a file that ends in .html, .md, .json or .xml (JUnit).")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn another_ending_is_a_usage_error_that_lists_the_known_ones() {
        for (ending, format) in ReportFormat::ENDINGS {
            assert_eq!(target(Path::new(&format!("a.{ending}"))).unwrap().format, *format);
        }
        for path in ["a.pdf", "html", "a.html.part", "-", ""] {
            let error = target(Path::new(path)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{path}");
        }
        let error = target(Path::new("a.pdf")).unwrap_err();
        let listed =
            ReportFormat::ENDINGS.iter().all(|(ending, _)| error.hints()[0].contains(&format!(".{ending}")));
        assert!(listed, "{error:?}");
    }
}
