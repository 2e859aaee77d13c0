use std::path::PathBuf;

use clap::Args;

use super::archive::ArchiveArgs;
use super::import::check_findings;
use super::store::{RateArgs, check_rates, store};
use super::{GlobalArgs, help};
use crate::error::Result;
use crate::options::RestoreOptions;

pub(super) const ABOUT: &str = "Put the documents of a legacy archive back";

pub(super) const LONG_ABOUT: &str = "\
Put the documents of a legacy archive back, for the day the decision is reversed.

Works like import, with the legacy archive that export wrote: documents are only created, the fields that the store \
itself sets are dropped, and every document is written, identical, in conflict or expired. Run again, it goes on where \
it stopped. The rekeyed documents stay; on MongoDB, whose events keep their _id, restore into another collection.";

const EXAMPLES: &str = "\
Examples:
  rekey restore legacy.ndjson.zst --to mongodb://localhost:27017/excalibur \\
      --collection events-old --create-target
  rekey restore legacy.ndjson --container events --dry-run \\
      --to cosmosdb://shop.documents.azure.com/excalibur

Exit codes: 0 all there, 1 conflicts, 4 the store failed (run again to go on), 5 refused before the first write, 130 interrupted (run again to go on).
";

/// The arguments of `restore`.
#[derive(Args, Debug)]
#[command(about = ABOUT, long_about = LONG_ABOUT, after_long_help = format!("{EXAMPLES}{}", help::MORE))]
pub(super) struct RestoreArgs {
    #[command(flatten)]
    archive: ArchiveArgs,

    /// The archive's manifest, for standard input or where it does not stand beside the archive
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,

    /// The store to write
    #[arg(long, value_name = "STORE")]
    to: String,

    /// The collection, table or container to write
    #[arg(long, visible_aliases = ["table", "container"], value_name = "NAME")]
    collection: String,

    /// Create the target if it is missing, with the keys and indexes that the framework needs
    #[arg(long)]
    create_target: bool,

    /// Whoever reads the target's changes is paused or ready to see every document as new
    #[arg(long)]
    subscribers_handled: bool,

    /// Write nothing; read the target and say what would be written, is there, or conflicts
    #[arg(long)]
    dry_run: bool,

    /// Where the conflicts go, one JSON line each; beside the archive if left out
    #[arg(long, value_name = "FILE")]
    findings: Option<PathBuf>,

    /// Where the journal goes; beside the archive if left out
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,

    #[command(flatten)]
    rates: RateArgs,
}

impl RestoreArgs {
    pub(super) fn into_options(self, global: &GlobalArgs) -> Result<RestoreOptions> {
        let to = store("--to", &self.to, self.collection, self.rates.into_rates())?;
        check_rates(to.rates, &[&to])?;
        check_findings(self.findings.as_ref(), global, self.archive.paths())?;
        Ok(RestoreOptions {
            archive: self.archive.into_options(self.manifest)?,
            to,
            create_target: self.create_target,
            subscribers_handled: self.subscribers_handled,
            dry_run: self.dry_run,
            findings: self.findings,
            state_dir: self.state_dir,
        })
    }
}
