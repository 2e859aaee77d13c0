use std::io::{IsTerminal as _, Write};
use std::sync::{Mutex, PoisonError};

use super::ColorMode;
use super::format::visible;
use super::progress::Bars;
use crate::error::{Error, Result, without_secrets};

/// One output stream with what is known about it.
pub(super) struct Channel {
    writer: Mutex<Box<dyn Write + Send>>,
    terminal: bool,
    /// The terminal's width, where it is not to be asked.
    width: Option<u16>,
    color: bool,
    bars: Bars,
}

/// How a label looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Bold.
    Strong,
    /// Bold red.
    Error,
    /// Bold yellow.
    Warning,
    /// Bold cyan.
    Notice,
    /// Bold green.
    Hint,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Self::Strong => "\x1b[1m",
            Self::Error => "\x1b[1;31m",
            Self::Warning => "\x1b[1;33m",
            Self::Notice => "\x1b[1;36m",
            Self::Hint => "\x1b[1;32m",
        }
    }
}

impl Channel {
    pub(super) fn stdout(color: ColorMode, bars: Bars) -> Self {
        let terminal = std::io::stdout().is_terminal();
        Self::over(Box::new(std::io::stdout()), terminal, color, bars)
    }

    pub(super) fn stderr(color: ColorMode, bars: Bars) -> Self {
        let terminal = std::io::stderr().is_terminal();
        Self::over(Box::new(std::io::stderr()), terminal, color, bars)
    }

    pub(super) fn over(writer: Box<dyn Write + Send>, terminal: bool, color: ColorMode, bars: Bars) -> Self {
        Self { writer: Mutex::new(writer), terminal, width: None, color: color.decide(terminal), bars }
    }

    /// The same channel as a terminal of so many columns.
    #[cfg(test)]
    pub(super) fn of_width(self, columns: u16) -> Self {
        Self { terminal: true, width: Some(columns), ..self }
    }

    /// The terminal's width, where it is not to be asked.
    pub(super) fn width(&self) -> Option<u16> {
        self.width
    }

    pub(super) fn is_terminal(&self) -> bool {
        self.terminal
    }

    pub(super) fn bars(&self) -> Bars {
        self.bars.clone()
    }

    pub(super) fn is_colored(&self) -> bool {
        self.color
    }

    /// Writes `label: text`. Like [`Channel::line`], a message that nobody can read is no reason to fail.
    pub(super) fn message(&self, style: Style, label: &str, text: &str) {
        let label = self.paint(style, &format!("{label}:"));
        let _unread = self.write(&format!("{label} {}\n", visible(&without_secrets(text))));
    }

    /// Writes one line about the run.
    pub(super) fn line(&self, text: &str) {
        let _unread = self.write(&format!("{}\n", visible(text)));
    }

    /// Writes a question, behind which the answer is typed.
    pub(super) fn prompt(&self, question: &str) {
        let _unread = self.write(&self.paint(Style::Strong, &format!("{} ", visible(question))));
    }

    /// Writes one line of the result.
    pub(super) fn result_line(&self, text: &str) -> Result<()> {
        self.result_block(&visible(text))
    }

    /// Writes a heading of the result.
    pub(super) fn result_heading(&self, text: &str) -> Result<()> {
        self.result_block(&self.paint(Style::Strong, &visible(text)))
    }

    /// Writes text that is safe to show already, and a line feed.
    pub(super) fn result_block(&self, text: &str) -> Result<()> {
        self.write(&format!("{text}\n"))
            .map_err(|source| Error::io("write the result to", "standard output", source))
    }

    pub(super) fn paint(&self, style: Style, text: &str) -> String {
        if self.color { format!("{}{text}\x1b[0m", style.code()) } else { text.to_owned() }
    }

    fn write(&self, text: &str) -> std::io::Result<()> {
        self.bars.suspend(|| {
            let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
            writer.write_all(text.as_bytes())?;
            writer.flush()
        })
    }
}
