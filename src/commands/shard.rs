//! `rekey shard`: the lines of an archive, each behind the number of the shard that its stream belongs to.
//!
//! For engines that move lines between machines themselves: what has one number is rewritten by one `rekey rekey`.

use std::io::Write;
use std::path::Path;

use super::{OpenedArchive, open_archive, state_folder};
use crate::archive::{Chunk, Line};
use crate::check::Refusal;
use crate::exit::ExitStatus;
use crate::options::ShardOptions;
use crate::report::{Finding, Findings, Outcome, Report, ShardReport};
use crate::shard::ShardReader;
use crate::signal::StopSignal;
use crate::ui::Ui;
use crate::{Error, Result};

/// What an interruption leaves behind.
const INTERRUPTED: &str = "Interrupted; discard the output. Run the same command again.";
const STDOUT: &str = "standard output";

/// Numbers the lines of an archive on standard output.
pub fn run(options: &ShardOptions, ui: &Ui, stop: &StopSignal) -> Result<Outcome> {
    tokio::task::block_in_place(|| {
        let out = &mut std::io::stdout().lock();
        let (report, findings) = number_lines(options, out, ui, stop)?;
        let exit = if report.unplaced.is_empty() { ExitStatus::Done } else { ExitStatus::Partial };
        Ok(Outcome::done(Report::Shard(report)).with_findings(findings.finish()?).and(exit))
    })
}

fn number_lines(
    options: &ShardOptions,
    out: &mut dyn Write,
    ui: &Ui,
    stop: &StopSignal,
) -> Result<(ShardReport, Findings)> {
    let first = options.archive.paths.first().filter(|_| !options.archive.is_stdin());
    let folder = state_folder(None, first.map(std::path::PathBuf::as_path))?;
    let OpenedArchive { input, layout, .. } = open_archive(&options.archive, None, &folder, stop)?;
    let task = ui.progress().start("numbering", input.expected_documents());
    let mut numbered = Numbered {
        shards: ShardReader::new(&layout, options.of),
        report: ShardReport { layout: layout.name.clone(), of: options.of.get(), ..ShardReport::default() },
        findings: Findings::new(options.findings.clone()),
        text: Vec::new(),
    };
    let (mut reader, mut chunk) = (input.line_reader(), Chunk::new());
    while reader.fill(&mut chunk)? {
        stop.check(INTERRUPTED)?;
        numbered.text.clear();
        chunk.lines().try_for_each(|line| numbered.add(line))?;
        out.write_all(&numbered.text).map_err(cannot_write)?;
        task.add(chunk.len() as u64, chunk.bytes() as u64);
    }
    let _totals = reader.finish()?;
    out.flush().map_err(cannot_write)?;
    Ok((numbered.report, numbered.findings))
}

fn cannot_write(source: std::io::Error) -> Error {
    Error::io("write", Path::new(STDOUT), source)
}

/// Lines with their numbers, and what was counted of them.
struct Numbered {
    shards: ShardReader,
    report: ShardReport,
    findings: Findings,
    text: Vec<u8>,
}

impl Numbered {
    fn add(&mut self, line: Line<'_>) -> Result<()> {
        self.report.documents += 1;
        let shard = match self.shards.shard(line.bytes) {
            Ok(shard) => {
                *self.report.shards.entry(shard).or_default() += 1;
                shard
            }
            Err(refusal) => {
                self.unplaced(&refusal, line.number)?;
                0
            }
        };
        self.text.extend_from_slice(itoa::Buffer::new().format(shard).as_bytes());
        self.text.push(b'\t');
        self.text.extend_from_slice(line.bytes);
        self.text.push(b'\n');
        Ok(())
    }

    fn unplaced(&mut self, refusal: &Refusal, number: u64) -> Result<()> {
        *self.report.unplaced.entry(refusal.reason).or_default() += 1;
        self.findings.push(Finding { line: Some(number), ..Finding::refused(refusal) })
    }
}
