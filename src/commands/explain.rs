//! `rekey explain`: what a code means and what to do about it.

use std::ops::ControlFlow;

use crate::options::ExplainOptions;
use crate::report::{ExplainReport, Explanation, Outcome, Report};
use crate::{Error, Result};

/// Explains one code, or lists all.
pub fn run(options: ExplainOptions) -> Result<Outcome> {
    let explanations = match &options.code {
        None => Explanation::all(),
        Some(code) => match Explanation::find(code) {
            ControlFlow::Continue(found) => found,
            ControlFlow::Break(closest) => return Err(unknown(code, closest)),
        },
    };
    Ok(Outcome::done(Report::Explain(ExplainReport { code: options.code, explanations })))
}

fn unknown(code: &str, closest: Option<String>) -> Error {
    let error = Error::usage(format!("There is no code {code:?}"));
    let error = match closest {
        Some(closest) => error.hint(format!("Try `rekey explain {closest}`.")),
        None => error,
    };
    error.hint("Run `rekey explain` for the list of all.")
}
