use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::buffer::Output;
use super::document::DocumentRewriter;
use super::lines::LineSource;
use super::rules::Rules;
use super::verdict::{RefusedDocument, Verdict};
use crate::{Error, ErrorKind, Result};

const HEADER: [&str; 8] = ["layout", "tenant", "old_key", "new_key", "stream", "version", "status", "reason"];

/// Writes the preview of a dry run: CSV, one row a document.
pub struct Preview {
    path: PathBuf,
    layout: String,
    document: DocumentRewriter,
    scratch: Output,
    rows: csv::Writer<std::io::BufWriter<tempfile::NamedTempFile>>,
}

impl Preview {
    /// Begins the preview at `path`; it gets its name in [`Preview::finish`].
    pub fn create(path: &Path, rules: &Arc<Rules>) -> Result<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file =
            tempfile::NamedTempFile::new_in(folder).map_err(|e| Error::io("create a file in", folder, e))?;
        let mut preview = Self {
            path: path.to_owned(),
            layout: rules.layout.name.clone(),
            document: DocumentRewriter::new(rules),
            scratch: Output::default(),
            rows: csv::Writer::from_writer(std::io::BufWriter::new(file)),
        };
        preview.write(&HEADER)?;
        Ok(preview)
    }

    /// Writes the rows of one stream.
    pub fn stream(&mut self, verdict: &Verdict, lines: &dyn LineSource) -> Result<()> {
        lines.visit(&mut |line| {
            let _ = self.document.read(line.bytes);
            let (old, stream) = (self.document.shown_key(line.bytes), self.document.map_key().to_owned());
            let version =
                self.document.identity().version.map(|version| version.to_string()).unwrap_or_default();
            let (tenant, new, status, reason) = match verdict {
                Verdict::OutOfScope => ("", String::new(), "out-of-scope", ""),
                Verdict::Refused(refused) => ("", String::new(), "refused", reason(refused, line.number)),
                Verdict::Moved(moved) => {
                    let kept = self.document.identity().tenant().is_some();
                    self.scratch.clear();
                    let _ = self.document.write(line.bytes, &moved.tenant, &mut self.scratch);
                    let status = if kept { "already-rekeyed" } else { "rekey" };
                    (moved.tenant.as_str(), self.scratch.new_key().to_owned(), status, "")
                }
            };
            let layout = self.layout.clone();
            self.write(&[&layout, tenant, &old, &new, &stream, &version, status, reason])
        })
    }

    /// Puts the file in its place.
    pub fn finish(self) -> Result<PathBuf> {
        let path = self.path;
        let buffered = self.rows.into_inner().map_err(|e| Error::io("write", &path, e.into_error()))?;
        let file = buffered.into_inner().map_err(|e| Error::io("write", &path, e.into_error()))?;
        file.as_file().sync_all().map_err(|e| Error::io("write", &path, e))?;
        let _file = file.persist(&path).map_err(|e| Error::io("write", &path, e.error))?;
        Ok(path)
    }

    fn write(&mut self, row: &[&str; 8]) -> Result<()> {
        let written = self.rows.write_record(row);
        written.map_err(|e| {
            Error::caused(ErrorKind::File, format!("Cannot write the preview {:?}", self.path), e)
        })
    }
}

/// The reason of the document on line `number`, or that of its stream.
fn reason(refused: &[RefusedDocument], number: u64) -> &'static str {
    let own = refused.iter().find(|refused| refused.line == number);
    own.map_or(crate::check::Reason::StreamRefused, |refused| refused.refusal.reason).code()
}
