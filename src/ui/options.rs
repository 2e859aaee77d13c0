/// How the terminal is used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UiOptions {
    /// What the result looks like on standard output.
    pub output: OutputFormat,
    /// How progress is shown on standard error.
    pub progress: ProgressMode,
    /// Whether there is colour.
    pub color: ColorMode,
    /// Whether progress, notices and status lines are left out.
    pub quiet: bool,
    /// Whether standard output carries the lines of an archive (`--out -`).
    pub stdout_taken: bool,
}

/// What the result looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputFormat {
    /// Sentences and tables.
    #[default]
    Text,
    /// One JSON object.
    Json,
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProgressMode {
    /// A bar on a terminal, plain lines elsewhere.
    #[default]
    Auto,
    /// A bar that is drawn over.
    Bar,
    /// A line every few seconds.
    Plain,
    /// JSON lines.
    Json,
    /// Nothing.
    None,
}

/// Whether there is colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorMode {
    /// On a terminal, unless `NO_COLOR` is set or the terminal is dumb.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl ColorMode {
    /// Decides for one stream.
    pub(super) fn decide(self, terminal: bool) -> bool {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                terminal && set("NO_COLOR").is_none() && set("TERM").is_none_or(|term| term != "dumb")
            }
        }
    }
}
