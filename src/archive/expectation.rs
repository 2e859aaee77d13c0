//! What somebody says an archive holds, and the comparison with what it does hold.

use crate::ui::format::count;
use crate::{Error, Result};

use super::Totals;

/// What a manifest or an operator says of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// Who says so, as it stands in a message: `its manifest "a.manifest.json"`.
    pub source: String,
    /// How many documents.
    pub documents: Option<u64>,
    /// How many bytes.
    pub bytes: Option<u64>,
    /// Which digest.
    pub sha256: Option<String>,
}

impl Expectation {
    /// Expects a number of documents and nothing else.
    pub fn documents(source: impl Into<String>, documents: u64) -> Self {
        Self { source: source.into(), documents: Some(documents), bytes: None, sha256: None }
    }

    /// Expects a digest and nothing else.
    pub fn digest(source: impl Into<String>, sha256: impl Into<String>) -> Self {
        Self { source: source.into(), documents: None, bytes: None, sha256: Some(sha256.into()) }
    }

    /// Expects exactly these totals.
    pub fn totals(source: impl Into<String>, totals: &Totals) -> Self {
        Self {
            source: source.into(),
            documents: Some(totals.documents),
            bytes: Some(totals.bytes),
            sha256: Some(totals.sha256.clone()),
        }
    }

    /// Compares with what was read; the error (exit 74) says everything that differs.
    pub fn check(&self, archive: &str, found: &Totals) -> Result<()> {
        let mut differences = Vec::new();
        if let Some(documents) = self.documents.filter(|documents| *documents != found.documents) {
            differences.push(format!("{}, not {documents}", count(found.documents, "document")));
        }
        if let Some(bytes) = self.bytes.filter(|bytes| *bytes != found.bytes) {
            differences.push(format!("{}, not {bytes}", count(found.bytes, "byte")));
        }
        if let Some(sha256) = self.sha256.as_deref().filter(|sha256| *sha256 != found.sha256) {
            differences.push(format!("SHA-256 {}, not {sha256}", found.sha256));
        }
        if differences.is_empty() {
            return Ok(());
        }
        let differences = differences.join("; ");
        Err(Error::file(format!(
            "{archive} is damaged or unfinished: it holds {differences} as {} says",
            self.source
        ))
        .hint("Fetch the file again from where it was written, or export again."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_names_everything_that_differs_and_who_says_so() {
        let found = Totals { documents: 2, bytes: 20, sha256: "ab".repeat(32) };
        let said = Totals { documents: 3, bytes: 30, sha256: "cd".repeat(32) };
        let expectation = Expectation::totals("its manifest", &said);
        assert!(Expectation::totals("its manifest", &found).check("\"a\"", &found).is_ok());
        let error = expectation.check("\"a\"", &found).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::File);
        for part in ["2 documents, not 3", "20 bytes, not 30", "SHA-256 abab", "its manifest", "\"a\""] {
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
