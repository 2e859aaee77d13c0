use std::path::PathBuf;

use clap::Args;

use super::archive::{ArchiveArgs, check_inputs};
use super::import::check_findings;
use super::shards::ShardsArgs;
use super::store::{RateArgs, check_rates, store};
use super::{GlobalArgs, help};
use crate::error::{Error, Result};
use crate::options::{PruneOptions, is_dash};

pub(super) const ABOUT: &str = "Delete legacy documents whose rekeyed twins are proven";

pub(super) const LONG_ABOUT: &str = "\
Delete legacy documents whose rekeyed twins are proven.

A stream's legacy documents are deleted only if every one of them has its equal twin, in the same collection or in \
--twins-in, and every legacy document still stored equals the archive's and none is extra. A stream that fails this is \
kept whole and reported (exit 3). Documents that are gone already are counted and are no finding. Nothing that is not \
in the legacy archive is ever deleted.

Keep the legacy archive: `rekey restore` puts its documents back.";

const EXAMPLES: &str = "\
Examples:
  rekey prune legacy.ndjson --rekeyed rekeyed.ndjson \\
      --from dynamodb://eu-west-1 --table Events --dry-run
  rekey prune legacy.ndjson --rekeyed rekeyed.ndjson \\
      --from mongodb://localhost:27017/excalibur --collection events \\
      --twins-in mongodb://localhost:27017/excalibur \\
      --twins-collection events-new

Exit codes: 0 no legacy document is left, 3 streams were kept, 4 the store failed (run again to go on), 74 an archive is damaged, cut off or unreadable, 130 interrupted (run again to go on).
";

/// The arguments of `prune`.
#[derive(Args, Debug)]
#[command(about = ABOUT, long_about = LONG_ABOUT, after_long_help = format!("{EXAMPLES}{}", help::MORE))]
pub(super) struct PruneArgs {
    #[command(flatten)]
    legacy: ArchiveArgs,

    #[command(flatten)]
    shards: ShardsArgs,

    /// The legacy archive's manifest, for standard input or where it does not stand beside the archive
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,

    /// The rekeyed archive made from it; once for each of its files
    #[arg(long, value_name = "ARCHIVE", required = true)]
    rekeyed: Vec<PathBuf>,

    /// The store to delete from
    #[arg(long, value_name = "STORE")]
    from: String,

    /// The collection, table or container to delete from
    #[arg(long, visible_aliases = ["table", "container"], value_name = "NAME")]
    collection: String,

    /// The store that holds the twins, if they are not in the same collection
    #[arg(long, value_name = "STORE", requires = "twins_collection")]
    twins_in: Option<String>,

    /// The collection, table or container that holds the twins
    #[arg(long, visible_aliases = ["twins-table", "twins-container"], value_name = "NAME", requires = "twins_in")]
    twins_collection: Option<String>,

    /// Accept an empty collection on Firestore, where it cannot be told from one that does not exist
    #[arg(long)]
    allow_empty: bool,

    /// Delete nothing; say what would be deleted and what would be kept
    #[arg(long)]
    dry_run: bool,

    /// Where the streams kept go, one JSON line each; beside the archive if left out
    #[arg(long, value_name = "FILE")]
    findings: Option<PathBuf>,

    /// Where spill files go; beside the archive if left out
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,

    #[command(flatten)]
    rates: RateArgs,
}

impl PruneArgs {
    pub(super) fn into_options(self, global: &GlobalArgs) -> Result<PruneOptions> {
        let rates = self.rates.into_rates();
        let from = store("--from", &self.from, self.collection, rates)?;
        let twins = match (self.twins_in, self.twins_collection) {
            (Some(address), Some(collection)) => Some(store("--twins-in", &address, collection, rates)?),
            _ => None,
        };
        if let Some(twins) = twins.as_ref().filter(|twins| twins.address.kind() != from.address.kind()) {
            let (twins, from) = (twins.address.kind().title(), from.address.kind().title());
            return Err(Error::usage(format!(
                "--twins-in is {twins} and --from {from}: no twins of its documents."
            ))
            .hint("Name the store that the rekeyed documents were imported into."));
        }
        let stores: Vec<_> = std::iter::once(&from).chain(&twins).collect();
        check_rates(rates, &stores)?;
        let archives = [self.legacy.paths(), &self.rekeyed].concat();
        check_findings(self.findings.as_ref(), global, &archives)?;
        check_inputs(&self.rekeyed)?;
        let from_stdin = archives.iter().filter(|path| is_dash(path)).count();
        if from_stdin > 1 {
            return Err(Error::usage("Two archives cannot both come from standard input.")
                .hint("Name a file for one of them."));
        }
        Ok(PruneOptions {
            legacy: self.legacy.into_options(self.manifest)?.of_shard(self.shards.shard),
            rekeyed: self.rekeyed,
            from,
            twins,
            allow_empty: self.allow_empty,
            dry_run: self.dry_run,
            findings: self.findings,
            state_dir: self.state_dir,
        })
    }
}
