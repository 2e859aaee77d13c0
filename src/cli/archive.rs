use std::path::{Path, PathBuf};

use clap::Args;

use super::layout::LayoutArgs;
use crate::error::{Error, Result};
use crate::options::{ArchiveOptions, is_dash};

/// One archive and what to know about it.
#[derive(Args, Debug)]
pub(super) struct ArchiveArgs {
    /// The archive: a file, a folder of parts, several files in order, or `-` for standard input
    ///
    /// NDJSON in the store's lossless form, plain or compressed (.zst, .gz).
    #[arg(value_name = "ARCHIVE", required = true)]
    paths: Vec<PathBuf>,

    /// The number of documents that must be there, for an archive that another tool wrote
    ///
    /// Such an archive needs its vendor's manifest or this number: a cut-off file must never pass for a whole one.
    #[arg(long, value_name = "N")]
    expect_documents: Option<u64>,

    #[command(flatten)]
    layout: LayoutArgs,
}

impl ArchiveArgs {
    pub(super) fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Checks the paths; `manifest` is the flag of verbs whose manifest is the input's.
    pub(super) fn into_options(self, manifest: Option<PathBuf>) -> Result<ArchiveOptions> {
        check_inputs(&self.paths)?;
        if let Some(manifest) = manifest.as_deref().filter(|path| is_dash(path)) {
            return Err(needs_file("--manifest", manifest));
        }
        Ok(ArchiveOptions {
            paths: self.paths,
            expect_documents: self.expect_documents,
            manifest,
            layout: self.layout.into_options()?,
            shard: None,
        })
    }
}

/// Checks that standard input stands alone and no path is empty.
pub(super) fn check_inputs(paths: &[PathBuf]) -> Result<()> {
    if paths.iter().any(|path| path.as_os_str().is_empty()) {
        return Err(Error::usage("The name of an archive is empty.").hint("Name a file, a folder or -."));
    }
    if paths.len() > 1 && paths.iter().any(|path| is_dash(path)) {
        return Err(Error::usage("Standard input (-) cannot be joined with files.")
            .hint("Name the files alone, or pipe all of them into one -."));
    }
    Ok(())
}

fn needs_file(flag: &str, path: &Path) -> Error {
    Error::usage(format!("{flag} {} does not name a file.", path.display())).hint("Name a file.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_input_stands_alone() {
        assert!(check_inputs(&["-".into()]).is_ok());
        assert!(check_inputs(&["a".into(), "b".into()]).is_ok());
        for paths in [vec!["a".into(), "-".into()], vec!["-".into(), "-".into()], vec![PathBuf::new()]] {
            assert_eq!(check_inputs(&paths).unwrap_err().kind(), crate::ErrorKind::Usage, "{paths:?}");
        }
    }
}
