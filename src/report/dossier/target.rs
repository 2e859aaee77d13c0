use std::path::{Path, PathBuf};

/// How a report is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportFormat {
    /// For people, in a browser or on paper.
    Html,
    /// For people, in a terminal or a pull request.
    Markdown,
    /// For scripts.
    Json,
    /// For CI: JUnit.
    Junit,
}

/// A file that a report is to be written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportTarget {
    /// Where.
    pub path: PathBuf,
    /// How, by the ending of its name.
    pub format: ReportFormat,
}

impl ReportFormat {
    /// Every format with the ending of its files.
    pub const ENDINGS: &'static [(&'static str, Self)] =
        &[("html", Self::Html), ("md", Self::Markdown), ("json", Self::Json), ("xml", Self::Junit)];

    /// The format of a file by the ending of its name, however it is capitalized.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?;
        let mut known = Self::ENDINGS.iter();
        known.find(|(known, _)| ending.eq_ignore_ascii_case(known)).map(|(_, format)| *format)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_says_the_format() {
        let of = |path: &str| ReportFormat::of(Path::new(path));
        assert_eq!(of("a/b.html"), Some(ReportFormat::Html));
        assert_eq!(of("a.ndjson.MD"), Some(ReportFormat::Markdown));
        assert_eq!(of("a.json"), Some(ReportFormat::Json));
        assert_eq!(of("a.xml"), Some(ReportFormat::Junit));
        assert_eq!((of("html"), of("a.pdf"), of("-")), (None, None, None));
    }
}
