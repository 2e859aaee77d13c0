//! `rekey sagas`: which sagas are running, so that an operator sees whether they can be waited for.

mod census;

use std::time::{Duration, Instant};

use super::source::find_layout;
use super::store::{describe, reader_concurrency, refuse_other_key};
use super::{OpenedArchive, open_archive, state_folder};
use crate::archive::Chunk;
use crate::exit::ExitStatus;
use crate::layout::{DocumentKind, Layout};
use crate::options::{ArchiveOptions, LayoutOptions, SagasOptions, SagasSource, StoreOptions, Wait};
use crate::report::{Finding, FindingCode, Findings, Outcome, Report, SagaGroup, SagasReport};
use crate::scan::scan;
use crate::signal::StopSignal;
use crate::stores::{CollectionReader, connect};
use crate::ui::Ui;
use crate::ui::format::{count, duration, subject};
use crate::{Error, Result};
use census::Census;

/// What an interruption leaves behind.
const INTERRUPTED: &str = "Interrupted; nothing was changed. Run the same command again.";

/// Counts the sagas of a store or an archive.
pub async fn run(options: SagasOptions, ui: &Ui, stop: &StopSignal) -> Result<Outcome> {
    let report = match &options.source {
        SagasSource::Store(store, layout) => in_store(store, layout, options.wait, ui, stop).await?,
        SagasSource::Archive(archive) => tokio::task::block_in_place(|| in_archive(archive, ui, stop))?,
    };
    let fails = options.fail_if_running || options.wait.is_some();
    let mut findings = Findings::new(None);
    for group in report.groups.iter().filter(|group| fails && group.running > 0) {
        findings.push(finding(group))?;
    }
    let exit = if findings.is_empty() { ExitStatus::Done } else { ExitStatus::Finding };
    Ok(Outcome::done(Report::Sagas(report)).with_findings(findings.finish()?).and(exit))
}

async fn in_store(
    store: &StoreOptions,
    layout: &LayoutOptions,
    wait: Option<Wait>,
    ui: &Ui,
    stop: &StopSignal,
) -> Result<SagasReport> {
    let reader = connect::open_reader(store, stop).await?;
    let layout = find_layout(layout, Some(store.address.kind()), None)?;
    refuse_other_kind(&layout)?;
    let description = describe(reader.as_ref(), "source", ui).await?;
    refuse_other_key(&description, &layout, "nothing was counted")?;
    let (begun, mut looks) = (Instant::now(), 0);
    loop {
        looks += 1;
        let report = look(reader.as_ref(), store, &layout, ui, stop).await?;
        let left = wait.and_then(|wait| wait.most.checked_sub(begun.elapsed()));
        match (wait, left) {
            (Some(wait), Some(left)) if report.running > 0 && !left.is_zero() => {
                let pause = wait.every.min(left);
                ui.status(&format!(
                    "{}; the next look is in {}.",
                    subject(report.running, "saga", ["is running", "are running"]),
                    duration(pause)
                ));
                sleep(pause, stop).await?;
            }
            _ => return Ok(SagasReport { looks, ..report }),
        }
    }
}

/// Counts the sagas of a collection once.
async fn look(
    reader: &dyn CollectionReader,
    store: &StoreOptions,
    layout: &Layout,
    ui: &Ui,
    stop: &StopSignal,
) -> Result<SagasReport> {
    let task = ui.progress().start("reading", None);
    let census = Census::new(layout, now(), Box::new(move |documents, bytes| task.add(documents, bytes)));
    let stopped = || stop.check(INTERRUPTED);
    let census = scan(reader, None, reader_concurrency(&store.rates), census, stopped).await?;
    Ok(census.into_report(layout, reader.location().to_owned()))
}

fn in_archive(archive: &ArchiveOptions, ui: &Ui, stop: &StopSignal) -> Result<SagasReport> {
    let first = archive.paths.first().filter(|_| !archive.is_stdin()).map(std::path::PathBuf::as_path);
    let folder = state_folder(None, first)?;
    let OpenedArchive { input, layout, .. } = open_archive(archive, None, &folder, stop)?;
    refuse_other_kind(&layout)?;
    let task = ui.progress().start("reading", input.expected_documents());
    let mut census =
        Census::new(&layout, now(), Box::new(move |documents, bytes| task.add(documents, bytes)));
    let (mut reader, mut chunk) = (input.line_reader(), Chunk::new());
    while reader.fill(&mut chunk)? {
        stop.check(INTERRUPTED)?;
        census.add(chunk.lines().map(|line| line.bytes));
    }
    let _totals = reader.finish()?;
    Ok(SagasReport { looks: 1, ..census.into_report(&layout, input.name().to_owned()) })
}

fn refuse_other_kind(layout: &Layout) -> Result<()> {
    if layout.kind == DocumentKind::Sagas {
        return Ok(());
    }
    Err(Error::usage(format!(
        "The documents of the layout {} are no sagas; nothing was counted",
        layout.name
    ))
    .hint("Name the collection or archive that holds the sagas, and their layout with --layout."))
}

async fn sleep(pause: Duration, stop: &StopSignal) -> Result<()> {
    tokio::select! {
        () = tokio::time::sleep(pause) => Ok(()),
        () = stop.wait() => Err(stop.error(INTERRUPTED)),
    }
}

fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

fn finding(group: &SagaGroup) -> Finding {
    let since = group.oldest_running.as_ref().map(|since| format!(", the oldest since {since}"));
    let message = format!(
        "{} of the type {:?}: not completed{}.",
        count(group.running, "saga"),
        group.type_name,
        since.unwrap_or_default()
    );
    Finding { tenant: group.tenant.clone(), ..Finding::new(FindingCode::SagasRunning, message) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_names_the_type_and_the_age() {
        let group = SagaGroup {
            type_name: "Order".into(),
            running: 1_200,
            oldest_running: Some("2026-01-01T00:00:00Z".into()),
            ..SagaGroup::default()
        };
        assert_eq!(
            finding(&group).message,
            "1,200 sagas of the type \"Order\": not completed, the oldest since 2026-01-01T00:00:00Z."
        );
    }
}
