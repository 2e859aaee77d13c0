//! What is asked on a terminal.

use std::io::IsTerminal as _;

use super::Ui;
use crate::error::{Error, Result};
use crate::signal::StopSignal;

impl Ui {
    /// Whether somebody is there to be asked: both standard input and standard error are a terminal.
    pub fn can_ask(&self) -> bool {
        std::io::stdin().is_terminal() && self.err.is_terminal()
    }

    /// Asks on standard error and takes a line from standard input, without the blanks around it.
    ///
    /// # Errors
    /// Interrupted: a signal came first. Usage: the input ended. File: it cannot be read.
    pub async fn ask(&self, question: &str, stop: &StopSignal) -> Result<String> {
        self.err.prompt(question);
        // On a thread of its own: nothing ends a read of the terminal but a line.
        let line = tokio::task::spawn_blocking(|| {
            let mut line = String::new();
            std::io::stdin().read_line(&mut line).map(|bytes| (bytes > 0).then_some(line))
        });
        let line = tokio::select! {
            line = line => line,
            () = stop.wait() => return Err(stop.error("Interrupted; nothing was answered.")),
        };
        match line {
            Ok(Ok(Some(line))) => Ok(line.trim().to_owned()),
            Ok(Ok(None)) => Err(Error::usage("The input ended without an answer")),
            Ok(Err(source)) => Err(Error::io("read the answer from", "standard input", source)),
            Err(source) => Err(Error::bug(format!("The answer was not read: {source}"))),
        }
    }

    /// Asks for a yes; anything but `y` and `yes` is none.
    ///
    /// # Errors
    /// As [`Ui::ask`].
    pub async fn confirm(&self, question: &str, stop: &StopSignal) -> Result<bool> {
        let answer = self.ask(&format!("{question} [y/N]"), stop).await?;
        Ok(matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes"))
    }
}
