//! `rekey doctor`: what would stand in the way of a migration, found before it begins. Nothing is changed.

mod machine;
mod rights;
mod store;

use crate::exit::ExitStatus;
use crate::options::DoctorOptions;
use crate::report::{DoctorReport, Finding, FindingCode, Findings, NoticeCode, Outcome, Report, StoreHealth};
use crate::signal::StopSignal;
use crate::ui::Ui;
use crate::{Error, Result};

/// Looks at every store and at this machine.
pub async fn run(options: DoctorOptions, ui: &Ui, stop: &StopSignal) -> Result<Outcome> {
    if let Some(folder) = options.state_dir.as_ref().filter(|folder| !folder.is_dir()) {
        return Err(Error::usage(format!(
            "--state-dir {} is no folder; nothing was looked at",
            folder.display()
        ))
        .hint("Make the folder, or name another one."));
    }
    let mut practice = Practice { ui, findings: Findings::new(None) };
    let mut stores = Vec::new();
    for examined in &options.stores {
        stop.check("Interrupted; nothing was changed. Run the same command again.")?;
        stores.push(store::examine(examined, &options.purposes, &mut practice, stop).await?);
    }
    let needed = needed_bytes(&options, &stores);
    let machine = machine::examine(&options, needed, &mut practice)?;
    let account = practice.findings.finish()?;
    let healthy = account.total == 0;
    let report = DoctorReport { healthy, stores, machine };
    let exit = if healthy { ExitStatus::Done } else { ExitStatus::Finding };
    Ok(Outcome::done(Report::Doctor(report)).with_findings(account).and(exit))
}

/// Archives, rekeyed archives with their key maps, and spill files together take about three times what the documents do.
const COPIES: u64 = 3;

/// How many bytes the documents of all sources will need on the disk.
fn needed_bytes(options: &DoctorOptions, stores: &[StoreHealth]) -> Option<u64> {
    let sources =
        options.stores.iter().zip(stores).filter(|(it, _)| it.role == crate::options::StoreRole::Source);
    let known: Vec<u64> = sources.filter_map(|(_, health)| health.bytes).collect();
    (!known.is_empty())
        .then(|| known.iter().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes)).saturating_mul(COPIES))
}

/// Where what was found is told.
struct Practice<'a> {
    ui: &'a Ui,
    findings: Findings,
}

impl Practice<'_> {
    /// Tells what stands in the way, and what to do.
    fn blocking(&mut self, code: FindingCode, what: &str, remedy: &str) -> Result<()> {
        self.findings.push(Finding::new(code, format!("{what} {remedy}")))
    }

    /// Tells what may stand in the way later, and what to do.
    fn notice(&self, code: NoticeCode, what: &str, remedy: &str) {
        self.ui.notice(code, format!("{what} {remedy}"));
    }
}

/// An error as one text: its sentence, its causes, and what to do.
fn told(error: &Error) -> (String, String) {
    let what = error.messages().join(": ");
    let what = if what.ends_with('.') { what } else { format!("{what}.") };
    let remedy = error.hints().join(" ");
    (what, if remedy.is_empty() { "Check the address and the credentials.".to_owned() } else { remedy })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_told_with_its_causes_and_a_remedy() {
        let error = Error::store("The store does not answer").context("Cannot look at the store");
        assert_eq!(
            told(&error),
            (
                "Cannot look at the store: The store does not answer.".into(),
                "Check the address and the credentials.".into()
            )
        );
        assert_eq!(told(&Error::usage("It is wrong.").hint("Correct it.")).1, "Correct it.");
    }
}
