use super::channel::{Channel, Style};
use crate::error::Error;

/// Writes an error: its sentence, its causes one a line, its hints.
pub(super) fn error(channel: &Channel, label: &str, error: &Error) {
    let mut messages = error.messages().into_iter();
    channel.message(Style::Error, label, &messages.next().unwrap_or_default());
    for cause in messages {
        channel.line(&format!("  caused by: {cause}"));
    }
    for hint in error.hints() {
        channel.message(Style::Hint, "hint", hint);
    }
}
