use tracing_subscriber::EnvFilter;

use super::words::Word;
use crate::error::{Error, Result};
use crate::ui::Ui;

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogLevel {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

impl LogLevel {
    pub(super) const WORDS: &'static [Word<Self>] = &[
        ("off", "Nothing", Self::Off),
        ("error", "What failed", Self::Error),
        ("warn", "What was tried again", Self::Warn),
        ("info", "Each step", Self::Info),
        ("debug", "Each request", Self::Debug),
        ("trace", "Everything", Self::Trace),
    ];

    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, _, level)| *level == self).map_or("off", |(word, _, _)| word)
    }
}

/// Starts the log. Only this tool's own events are let through: those of the database SDKs may hold documents.
pub(super) fn start(level: LogLevel, ui: &Ui) -> Result<()> {
    let writer = ui.log_writer();
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(format!("off,rekey={}", level.word())))
        .with_writer(move || writer.clone())
        .with_ansi(ui.colored())
        .try_init()
        .map_err(|error| Error::bug(format!("The log cannot be started: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_has_a_word_that_the_filter_understands() {
        for (word, _, level) in LogLevel::WORDS {
            assert_eq!(level.word(), *word);
            assert!(EnvFilter::try_new(format!("off,rekey={word}")).is_ok(), "{word}");
        }
    }
}
