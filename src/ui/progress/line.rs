use std::io::Write as _;
use std::time::Duration;

use serde::Serialize;

use super::task::{Display, State, Task};
use super::{Progress, ProgressTask};
use crate::ui::format::{duration, visible};

/// A plain line every few seconds, for logs.
pub(super) struct PlainLines;

/// A JSON line every second, for programs.
pub(super) struct JsonLines;

impl Progress for PlainLines {
    fn start(&self, what: &str, total: Option<u64>) -> Box<dyn ProgressTask> {
        Box::new(Task::start(what, total, Plain))
    }
}

impl Progress for JsonLines {
    fn start(&self, what: &str, total: Option<u64>) -> Box<dyn ProgressTask> {
        Box::new(Task::start(what, total, Json))
    }
}

struct Plain;

impl Display for Plain {
    fn delay(&self) -> Duration {
        Duration::from_secs(3)
    }

    fn interval(&self) -> Duration {
        Duration::from_secs(5)
    }

    fn show(&mut self, state: &State) {
        write_line(&format!("{}: {}", visible(&state.what), state.phrase()));
    }

    fn end(&mut self, state: &State, shown: bool) {
        if shown {
            let (phrase, elapsed) = (state.phrase(), duration(state.elapsed));
            write_line(&format!("{}: {phrase}, ended after {elapsed}", visible(&state.what)));
        }
    }
}

struct Json;

impl Display for Json {
    fn delay(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn interval(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn show(&mut self, state: &State) {
        write_line(&json(state, false));
    }

    fn end(&mut self, state: &State, _shown: bool) {
        write_line(&json(state, true));
    }
}

/// One line of `--progress json`.
#[derive(Serialize)]
struct ProgressLine<'a> {
    progress: &'a str,
    documents: u64,
    total: Option<u64>,
    bytes: u64,
    elapsed_ms: u64,
    ended: bool,
}

fn json(state: &State, ended: bool) -> String {
    let line = ProgressLine {
        progress: &state.what,
        documents: state.documents,
        total: state.total,
        bytes: state.bytes,
        elapsed_ms: u64::try_from(state.elapsed.as_millis()).unwrap_or(u64::MAX),
        ended,
    };
    // A struct of texts and numbers always has a JSON form.
    serde_json::to_string(&line).unwrap_or_default()
}

/// Progress that nobody can read is no reason to stop the work.
fn write_line(line: &str) {
    let _unread = writeln!(std::io::stderr().lock(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_json_line_has_stable_members() {
        let state = State {
            what: "writing".into(),
            total: None,
            documents: 1_200,
            bytes: 34,
            elapsed: Duration::from_millis(2_500),
        };
        assert_eq!(
            json(&state, false),
            r#"{"progress":"writing","documents":1200,"total":null,"bytes":34,"elapsed_ms":2500,"ended":false}"#
        );
    }
}
