use std::path::Path;

use jiff::Timestamp;

use crate::error::{Error, Result};
use crate::exit::ExitStatus;
use crate::report::dossier::{Circumstances, Dossier, ReportTarget, Sheet};
use crate::report::{Envelope, Outcome, save, show};
use crate::ui::{OutputFormat, Ui};

/// What to do with the result of a command.
pub(super) struct Conclusion<'a> {
    /// The verb's name.
    pub command: &'a str,
    /// When it began.
    pub started: Timestamp,
    /// Where `--result` says that the JSON result goes.
    pub file: Option<&'a Path>,
    /// The reports to be written.
    pub reports: Vec<ReportTarget>,
}

impl Conclusion<'_> {
    /// Writes the reports, prints what the command came to, writes it where `--result` says, and tells how the run
    /// ended.
    pub(super) fn conclude(self, result: Result<Outcome>, ui: &Ui) -> ExitStatus {
        let (mut status, mut outcome, error) = match result {
            Ok(mut outcome) => {
                let error = outcome.error.take();
                (outcome.exit, Some(outcome), error)
            }
            Err(error) => (ExitStatus::from(&error), None, Some(error)),
        };
        let dossier = outcome.as_mut().and_then(|outcome| outcome.dossier.take());
        let failed = self.write_reports(dossier.map(|it| *it), status, error.as_ref(), ui);
        status = failed.iter().fold(status, |status, error| status.worst(ExitStatus::from(error)));
        let printed = self.print(status, outcome.as_ref(), error.as_ref(), ui);
        error.iter().chain(&failed).chain(printed.as_ref().err()).for_each(|error| ui.error(error));
        match &printed {
            Ok(()) => status,
            Err(error) => status.worst(ExitStatus::from(error)),
        }
    }

    /// Writes every report that can be written; what is wrong with the others.
    fn write_reports(
        &self,
        dossier: Option<Dossier>,
        status: ExitStatus,
        error: Option<&Error>,
        ui: &Ui,
    ) -> Vec<Error> {
        if self.reports.is_empty() {
            return Vec::new();
        }
        let run = Circumstances::of(self.command, self.started, status.code());
        let sheet = Sheet::new(dossier, run, &ui.notices(), error);
        self.reports.iter().filter_map(|target| sheet.write(target).err()).collect()
    }

    fn print(
        &self,
        status: ExitStatus,
        outcome: Option<&Outcome>,
        error: Option<&Error>,
        ui: &Ui,
    ) -> Result<()> {
        if let (Some(outcome), OutputFormat::Text) = (outcome, ui.options().output) {
            show(outcome, ui)?;
        }
        // Where one store could not be reached, the others may have come to a result.
        let of_several = outcome.is_some_and(|outcome| outcome.report.is_of_several_stores());
        if !status.has_result() && !of_several {
            return Ok(());
        }
        let notices = ui.notices();
        let json = Envelope::new(self.command, status, outcome, error, &notices).json()?;
        if let Some(file) = self.file {
            save(&json, file)?;
        }
        match ui.options().output {
            OutputFormat::Text => Ok(()),
            OutputFormat::Json => ui.json(&json),
        }
    }
}
