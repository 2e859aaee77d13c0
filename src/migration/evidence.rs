use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Inputs, State};
use crate::archive::now;
use crate::report::{save, tool};
use crate::{Error, ErrorKind, Result};

/// The version of the format that this build writes and reads.
const FORMAT: u32 = 1;

/// What is known of one state of one store: the file `STATE.json` in its folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    format: u32,
    /// The tool that wrote it.
    pub tool: String,
    /// The store's name in the project.
    pub store: String,
    /// The state.
    pub state: State,
    /// How the run that was to lead there ended, if it did.
    pub status: Status,
    /// When it began (RFC 3339, UTC).
    pub started: String,
    /// When it ended.
    pub ended: Option<String>,
    /// What the state rests on: the name of an input and its value or digest.
    pub inputs: Inputs,
    /// What came of it, by digest; and marks of the source as it was.
    pub outputs: Inputs,
    /// The command's exit code.
    pub exit_code: Option<u8>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The command's JSON result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
}

/// How a run that was to lead to a state ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It began; if nothing works on it now, it was interrupted or killed.
    Begun,
    /// The state is reached.
    Done,
    /// The stop condition held: the state is not reached.
    Stopped,
}

impl Evidence {
    /// The evidence of a state that is about to be gone through.
    pub fn begin(store: &str, state: State, inputs: Inputs) -> Self {
        Self {
            format: FORMAT,
            tool: tool(),
            store: store.to_owned(),
            state,
            status: Status::Begun,
            started: now().to_string(),
            ended: None,
            inputs,
            outputs: Inputs::new(),
            exit_code: None,
            error: None,
            result: None,
        }
    }

    /// Where the evidence of a state stands.
    pub fn path(folder: &Path, state: State) -> PathBuf {
        folder.join(format!("{}.json", state.name()))
    }

    /// Reads the evidence of a state; `None` if there is none.
    ///
    /// # Errors
    /// File: it cannot be read or is damaged. Usage: it is of a newer format.
    pub fn read(folder: &Path, state: State) -> Result<Option<Self>> {
        let path = Self::path(folder, state);
        let bytes = match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            bytes => bytes.map_err(|source| Error::io("read the evidence", &path, source))?,
        };
        let evidence: Self = serde_json::from_slice(&bytes).map_err(|source| {
            Error::caused(ErrorKind::File, format!("{path:?} is damaged or no evidence"), source)
                .hint("Move it away to go through that state again.")
        })?;
        if evidence.format != FORMAT {
            return Err(Error::usage(format!(
                "{path:?} has format {}; this build reads format {FORMAT}",
                evidence.format
            ))
            .hint("Use the version of rekey that wrote it."));
        }
        Ok(Some(evidence))
    }

    /// Writes it; the file appears whole or not at all.
    ///
    /// # Errors
    /// File: it cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| Error::bug(format!("The evidence has no JSON form: {error}")))?;
        save(&text, &Self::path(folder, self.state))
    }

    /// Notes how it ended.
    pub fn end(&mut self, status: Status, exit_code: u8) {
        self.status = status;
        self.exit_code = Some(exit_code);
        self.ended = Some(now().to_string());
    }

    /// Whether the state is reached and rests on exactly these inputs.
    pub fn holds(&self, inputs: &Inputs) -> bool {
        self.status == Status::Done && self.inputs == *inputs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Evidence::read(folder.path(), State::Rekeyed).unwrap(), None);
        let inputs: Inputs = [("layout".to_owned(), "events".to_owned())].into();
        let mut evidence = Evidence::begin("orders", State::Rekeyed, inputs.clone());
        assert!(!evidence.holds(&inputs));
        evidence.end(Status::Done, 0);
        evidence.write(folder.path()).unwrap();
        let read = Evidence::read(folder.path(), State::Rekeyed).unwrap().unwrap();
        assert_eq!(read, evidence);
        assert!(read.holds(&inputs) && !read.holds(&Inputs::new()));
    }

    #[test]
    fn damaged_evidence_is_a_file_error_and_a_newer_format_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = Evidence::path(folder.path(), State::Pruned);
        std::fs::write(&path, "{").unwrap();
        assert_eq!(Evidence::read(folder.path(), State::Pruned).unwrap_err().kind(), ErrorKind::File);
        let newer = Evidence { format: 2, ..Evidence::begin("a", State::Pruned, Inputs::new()) };
        newer.write(folder.path()).unwrap();
        assert_eq!(Evidence::read(folder.path(), State::Pruned).unwrap_err().kind(), ErrorKind::Usage);
    }
}
