use std::path::Path;

use crate::error::{Error, Result};
use crate::exit::ExitStatus;
use crate::report::{Envelope, Outcome, save, show};
use crate::ui::{OutputFormat, Ui};

/// Prints what a command came to, writes it where `--result` says, and tells how the run ended.
pub(super) fn conclude(command: &str, result: Result<Outcome>, ui: &Ui, file: Option<&Path>) -> ExitStatus {
    let (mut status, outcome, error) = match result {
        Ok(mut outcome) => {
            let error = outcome.error.take();
            (outcome.exit, Some(outcome), error)
        }
        Err(error) => (ExitStatus::from(&error), None, Some(error)),
    };
    let printed = print(command, status, outcome.as_ref(), error.as_ref(), ui, file);
    if let Some(error) = &error {
        ui.error(error);
    }
    if let Err(error) = printed {
        ui.error(&error);
        status = status.worst(ExitStatus::from(&error));
    }
    status
}

fn print(
    command: &str,
    status: ExitStatus,
    outcome: Option<&Outcome>,
    error: Option<&Error>,
    ui: &Ui,
    file: Option<&Path>,
) -> Result<()> {
    if let (Some(outcome), OutputFormat::Text) = (outcome, ui.options().output) {
        show(outcome, ui)?;
    }
    if !status.has_result() {
        return Ok(());
    }
    let notices = ui.notices();
    let json = Envelope::new(command, status, outcome, error, &notices).json()?;
    if let Some(file) = file {
        save(&json, file)?;
    }
    match ui.options().output {
        OutputFormat::Text => Ok(()),
        OutputFormat::Json => ui.json(&json),
    }
}
