//! The one rich error of the program, and how it becomes an exit code.
//!
//! Policy: public functions return [`Error`]; a module may keep a narrow enum of its own for what it
//! decides on, and turns it into an [`Error`] once, where the kind is known. An error is never
//! flattened again, only given more context. A message is one sentence that names the document, file or
//! store and says what was not done; a hint starts with a verb. No message holds a secret or a
//! document's content.

mod secrets;

use std::fmt;

pub(crate) use secrets::without_secrets;

/// The result of everything that can fail for an operator to see.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a run ended, which decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Usage or configuration: exit 2.
    Usage,
    /// A store could not be reached, refused the credentials, kept throttling or lost its snapshot: exit 4.
    Store,
    /// Refused before any write: exit 5.
    Refused,
    /// A disk or file: full, unreadable, damaged or unfinished: exit 74.
    File,
    /// A bug in the tool: exit 70.
    Bug,
    /// Interrupted by SIGINT: exit 130.
    Interrupted,
    /// Ended by SIGTERM: exit 143.
    Terminated,
    /// The reader of standard output went away: exit 141.
    ClosedPipe,
}

impl ErrorKind {
    /// The process exit code of this kind.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Usage => 2,
            Self::Store => 4,
            Self::Refused => 5,
            Self::Bug => 70,
            Self::File => 74,
            Self::Interrupted => 130,
            Self::ClosedPipe => 141,
            Self::Terminated => 143,
        }
    }
}

/// An error with its kind, its chain of causes and what to do next.
pub struct Error {
    kind: ErrorKind,
    chain: anyhow::Error,
    hints: Vec<String>,
}

impl Error {
    /// Makes an error of `kind` from a one-sentence message.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, chain: anyhow::Error::msg(message.into()), hints: Vec::new() }
    }

    /// Makes a usage error (exit 2).
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Makes a store error (exit 4).
    pub fn store(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Store, message)
    }

    /// Makes a refusal (exit 5).
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Refused, message)
    }

    /// Makes a file error (exit 74).
    pub fn file(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::File, message)
    }

    /// Makes a bug report (exit 70).
    pub fn bug(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Bug, message)
    }

    /// Makes an error of `kind` whose cause is `source`.
    pub fn caused(
        kind: ErrorKind,
        message: impl Into<String>,
        source: impl std::error::Error + Send + Sync + 'static,
    ) -> Self {
        Self { kind, chain: anyhow::Error::new(source).context(message.into()), hints: Vec::new() }
    }

    /// Makes an error of `kind` that says what `source` and its causes say.
    pub fn wrapping(kind: ErrorKind, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self { kind, chain: anyhow::Error::new(source), hints: Vec::new() }
    }

    /// Makes a file error for `path` from an I/O error; a closed pipe becomes [`ErrorKind::ClosedPipe`].
    pub fn io(what: &str, path: impl AsRef<std::path::Path>, source: std::io::Error) -> Self {
        let kind = if source.kind() == std::io::ErrorKind::BrokenPipe {
            ErrorKind::ClosedPipe
        } else {
            ErrorKind::File
        };
        Self::caused(kind, format!("Cannot {what} {:?}", path.as_ref()), source)
    }

    /// Adds what was being done when the error arose.
    #[must_use]
    pub fn context(mut self, message: impl Into<String>) -> Self {
        self.chain = self.chain.context(message.into());
        self
    }

    /// Adds a hint: what to do next, starting with a verb.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(without_secrets(&hint.into()));
        self
    }

    /// Tells the kind.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The messages from the outermost to the root cause.
    pub fn messages(&self) -> Vec<String> {
        self.chain.chain().map(|cause| without_secrets(&cause.to_string())).collect()
    }

    /// The cause of this type, if there is one among the causes.
    pub fn cause<T: std::error::Error + Send + Sync + 'static>(&self) -> Option<&T> {
        self.chain.chain().find_map(|cause| cause.downcast_ref())
    }

    /// What to do next, in order.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&without_secrets(&format!("{:#}", self.chain)))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.kind)?;
        self.hints.iter().try_for_each(|hint| write!(f, "\n  hint: {hint}"))
    }
}
