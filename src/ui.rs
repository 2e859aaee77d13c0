//! The only door to the terminal: results go to standard output, everything about the run to standard error.
//!
//! Everything else reports data. Whether there is colour, a bar, or silence is decided here, once.

mod channel;
pub mod format;
mod log_writer;
mod message;
mod options;
pub mod progress;
mod question;
#[cfg(test)]
mod screen;
mod table;

use std::borrow::Cow;
use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

pub use log_writer::LogWriter;
pub use options::{ColorMode, OutputFormat, ProgressMode, UiOptions};
pub use progress::{Progress, ProgressTask};
#[cfg(test)]
pub(crate) use screen::Screen;
pub use table::{Align, Table};

use crate::error::{Error, Result};
use crate::report::dossier::Throughput;
use crate::report::{Notice, NoticeCode};
use channel::{Channel, Style};

/// The terminal, or whatever stands in its place.
pub struct Ui {
    options: UiOptions,
    /// Results.
    out: Arc<Channel>,
    /// Messages and progress.
    err: Arc<Channel>,
    progress: Arc<progress::Recorder>,
    notices: Mutex<Vec<Notice>>,
    /// What the messages of a part of the work begin with.
    label: Option<String>,
}

impl Ui {
    /// Opens standard output and standard error as `options` say.
    pub fn new(options: UiOptions) -> Self {
        let bars = progress::Bars::default();
        let err = Channel::stderr(options.color, bars.clone());
        // Lines of an archive must stand alone, so a result for a person moves out of their way.
        let out = if options.stdout_taken {
            Channel::stderr(options.color, bars.clone())
        } else {
            Channel::stdout(options.color, bars.clone())
        };
        let progress = recorded(progress::choose(&options, err.is_terminal(), bars));
        Self {
            options,
            out: Arc::new(out),
            err: Arc::new(err),
            progress,
            notices: Mutex::default(),
            label: None,
        }
    }

    /// The same terminal for one part of the work: its messages and its progress begin with `label`; its notices, and
    /// how fast its work goes, are its own.
    #[must_use]
    pub fn part(&self, label: &str) -> Self {
        Self {
            progress: recorded(Arc::new(progress::Labelled::new(label, self.progress.shown()))),
            label: Some(label.to_owned()),
            ..self.with_own_notices()
        }
    }

    /// A terminal that keeps what is written, both streams in one, for tests.
    #[cfg(test)]
    pub(crate) fn recording() -> (Self, Screen) {
        let screen = Screen::default();
        let channel = || {
            let writer = Box::new(screen.clone());
            Channel::over(writer, false, ColorMode::Never, progress::Bars::default())
        };
        let ui = Self {
            options: UiOptions::default(),
            out: Arc::new(channel()),
            err: Arc::new(channel()),
            progress: recorded(Arc::new(progress::Hidden)),
            notices: Mutex::default(),
            label: None,
        };
        (ui, screen)
    }

    /// The same as on a terminal of so many columns, for tests.
    #[cfg(test)]
    pub(crate) fn recording_on(columns: u16) -> (Self, Screen) {
        let screen = Screen::default();
        let bars = progress::Bars::default();
        let out = Channel::over(Box::new(screen.clone()), false, ColorMode::Never, bars).of_width(columns);
        (Self { out: Arc::new(out), ..Self::silent() }, screen)
    }

    /// Says nothing to anybody; for work whose outcome alone matters.
    pub fn silent() -> Self {
        let bars = progress::Bars::default();
        let nowhere = || Channel::over(Box::new(std::io::sink()), false, ColorMode::Never, bars.clone());
        Self {
            options: UiOptions { progress: ProgressMode::None, quiet: true, ..UiOptions::default() },
            out: Arc::new(nowhere()),
            err: Arc::new(nowhere()),
            progress: recorded(Arc::new(progress::Hidden)),
            notices: Mutex::default(),
            label: None,
        }
    }

    /// The same terminal with notices of its own.
    #[must_use]
    pub fn with_own_notices(&self) -> Self {
        Self {
            options: self.options.clone(),
            out: Arc::clone(&self.out),
            err: Arc::clone(&self.err),
            progress: Arc::clone(&self.progress),
            notices: Mutex::default(),
            label: self.label.clone(),
        }
    }

    /// The same terminal without notices and status lines; progress stays.
    #[must_use]
    pub fn quietly(mut self) -> Self {
        self.options.quiet = true;
        self
    }

    /// How the terminal is used.
    pub fn options(&self) -> &UiOptions {
        &self.options
    }

    /// Whether there is colour on standard error.
    pub fn colored(&self) -> bool {
        self.err.is_colored()
    }

    /// Where the log is written.
    pub fn log_writer(&self) -> LogWriter {
        LogWriter(self.err.bars())
    }

    /// Says at once that a signal was heard: what is under way may take some seconds more.
    pub fn stopping(&self) -> impl Fn() + Clone + Send + Sync + use<> {
        let mut line = self.err.paint(Style::Strong, "stopping:");
        line.push_str(" finishing what is under way; again to end at once\n");
        let writer = self.log_writer();
        move || {
            // A message that nobody can read is no reason to fail.
            let _unread = writer.clone().write_all(line.as_bytes());
        }
    }

    /// Where long work reports its progress.
    pub fn progress(&self) -> Arc<dyn Progress> {
        Arc::<progress::Recorder>::clone(&self.progress)
    }

    /// How fast the long work went that ended since this was asked last, for a report.
    pub fn take_throughput(&self) -> Vec<Throughput> {
        self.progress.take()
    }

    /// Says which store is about to be used, before anything happens to it: `role` is `source`, `target`, `twins`.
    ///
    /// `place` names host, database and collection and never holds a secret. Not silenced by `--quiet`.
    pub fn target(&self, role: &str, place: &str) {
        self.err.message(Style::Strong, &self.labelled(role), place);
    }

    /// Tells something worth knowing that does not change the exit code; it is part of the JSON result, too.
    pub fn notice(&self, code: NoticeCode, message: impl Into<String>) {
        let notice = Notice { code, message: message.into() };
        if !self.options.quiet {
            self.err.message(Style::Notice, &self.labelled("notice"), &notice.message);
        }
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).push(notice);
    }

    /// The notices so far, in order.
    pub fn notices(&self) -> Vec<Notice> {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Says what is being done now; silenced by `--quiet`.
    pub fn status(&self, message: &str) {
        if !self.options.quiet {
            self.err.line(&self.labelled(message));
        }
    }

    /// Warns of something that is about to happen.
    pub fn warning(&self, message: &str) {
        self.err.message(Style::Warning, &self.labelled("warning"), message);
    }

    /// Says what to do next; the sentence starts with a verb.
    pub fn hint(&self, hint: &str) {
        self.err.message(Style::Hint, "hint", hint);
    }

    /// Prints an error: one sentence, its causes, its hints. A closed pipe is not worth a word.
    pub fn error(&self, error: &Error) {
        if error.kind() != crate::error::ErrorKind::ClosedPipe {
            message::error(&self.err, &self.labelled("error"), error);
        }
    }

    /// A message, or its label, with what it is about in front.
    fn labelled<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match &self.label {
            Some(label) => Cow::Owned(format!("{label}: {text}")),
            None => Cow::Borrowed(text),
        }
    }

    /// Prints a line of the result for a person; nothing with `--output json`.
    pub fn line(&self, text: &str) -> Result<()> {
        self.result(|out| out.result_line(text))
    }

    /// Prints a heading of the result for a person; nothing with `--output json`.
    pub fn heading(&self, text: &str) -> Result<()> {
        self.result(|out| out.result_heading(text))
    }

    /// Prints a table of the result for a person; nothing with `--output json`.
    pub fn table(&self, table: &Table) -> Result<()> {
        self.result(|out| out.result_block(&table.render(out)))
    }

    /// Prints labels and values of the result for a person; nothing with `--output json`.
    pub fn facts(&self, facts: &[(&str, String)]) -> Result<()> {
        let width = facts.iter().map(|(label, _)| label.chars().count()).max().unwrap_or_default();
        facts.iter().try_for_each(|(label, value)| self.line(&format!("  {label:width$}  {value}")))
    }

    /// Prints the one JSON object of `--output json`.
    pub fn json(&self, object: &str) -> Result<()> {
        self.out.result_block(object)
    }

    fn result(&self, print: impl FnOnce(&Channel) -> Result<()>) -> Result<()> {
        match self.options.output {
            OutputFormat::Text => print(&self.out),
            OutputFormat::Json => Ok(()),
        }
    }
}

/// Progress whose speed is kept, for reports.
fn recorded(shown: Arc<dyn Progress>) -> Arc<progress::Recorder> {
    Arc::new(progress::Recorder::new(shown))
}
