use std::path::{Path, PathBuf};

use clap::Args;

use super::archive::ArchiveArgs;
use super::paths::{check_distinct, check_output};
use super::rekey::ON_REFUSED;
use super::shards::ShardsArgs;
use super::store::{RateArgs, check_rates, store};
use super::words::one_of;
use super::{GlobalArgs, help};
use crate::error::Result;
use crate::options::{ImportOptions, OnRefused};

pub(super) const ABOUT: &str = "Write a rekeyed archive into a store, creating documents only";

pub(super) const LONG_ABOUT: &str = "\
Write a rekeyed archive into a store, creating documents only.

Every document is written, identical (the same one was there), in conflict (a different one was there) or expired (its \
own time to live has passed); nothing is ever overwritten. Killed at any moment and run again, it goes on where it \
stopped; run again after the end, it writes nothing.

The legacy documents stay: `rekey prune` removes them once their twins are proven. A MongoDB event keeps its _id and so \
cannot stand beside its legacy self: import it into another collection, or rename its key in the collection it came \
from with --in-place. Firestore documents of a small collection that readers still look at may move with --move: each is \
created under its new key and deleted under the old one in one step; the way back is `rekey restore`.

Whoever reads the store's changes (change streams, table streams, change feeds, listeners, triggers) sees every copied \
document as new. Where the store shows such a subscriber, or cannot show whether there is one, import stops until \
--subscribers-handled says that they are paused or ready.";

const EXAMPLES: &str = "\
Examples:
  rekey import rekeyed.ndjson --to mongodb://localhost:27017/excalibur \\
      --collection events-new --create-target --dry-run
  rekey import rekeyed.ndjson.zst --to dynamodb://eu-west-1 --table Events \\
      --max-wcu 1000 --subscribers-handled
  rekey import rekeyed.ndjson --to mongodb://localhost:27017/excalibur \\
      --collection events --in-place

Exit codes: 0 all there, 1 conflicts, 3 documents were set aside, 4 the store failed (run again to go on), 5 refused before the first write, 130 interrupted (run again to go on).
";

/// The arguments of `import`.
// Each switch is one flag, independent of the others.
#[allow(clippy::struct_excessive_bools)]
#[derive(Args, Debug)]
#[command(about = ABOUT, long_about = LONG_ABOUT, after_long_help = format!("{EXAMPLES}{}", help::MORE))]
pub(super) struct ImportArgs {
    #[command(flatten)]
    archive: ArchiveArgs,

    #[command(flatten)]
    shards: ShardsArgs,

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

    /// Rename the keys of MongoDB events in the collection that they came from
    #[arg(long)]
    in_place: bool,

    /// Move Firestore documents to their new keys, each in one step, in the collection that they came from
    #[arg(long = "move", conflicts_with = "in_place")]
    moves: bool,

    /// Whoever reads the target's changes is paused or ready to see every document as new
    #[arg(long)]
    subscribers_handled: bool,

    /// What to do with documents that the target refuses
    #[arg(long, value_name = "WHAT", default_value = "stop", value_parser = one_of(ON_REFUSED))]
    on_refused: OnRefused,

    /// Write nothing; read the target and say what would be written, is there, or conflicts
    #[arg(long)]
    dry_run: bool,

    /// Where the conflicts and refusals go, one JSON line each; beside the archive if left out
    #[arg(long, value_name = "FILE")]
    findings: Option<PathBuf>,

    /// Where the journal goes; beside the archive if left out
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,

    #[command(flatten)]
    rates: RateArgs,
}

impl ImportArgs {
    pub(super) fn into_options(self, global: &GlobalArgs) -> Result<ImportOptions> {
        let to = store("--to", &self.to, self.collection, self.rates.into_rates())?;
        check_rates(to.rates, &[&to])?;
        check_findings(self.findings.as_ref(), global, self.archive.paths())?;
        Ok(ImportOptions {
            archive: self.archive.into_options(self.manifest)?.of_shard(self.shards.shard),
            to,
            create_target: self.create_target,
            in_place: self.in_place,
            moves: self.moves,
            subscribers_handled: self.subscribers_handled,
            on_refused: self.on_refused,
            dry_run: self.dry_run,
            findings: self.findings,
            state_dir: self.state_dir,
        })
    }
}

/// Checks `--findings` and `--result` of a verb whose archives are its inputs.
pub(super) fn check_findings(
    findings: Option<&PathBuf>,
    global: &GlobalArgs,
    archives: &[PathBuf],
) -> Result<()> {
    check_outputs(findings, global, &[], archives)
}

/// Checks `--findings`, `--result` and the other outputs of a verb whose archives are its inputs.
pub(super) fn check_outputs(
    findings: Option<&PathBuf>,
    global: &GlobalArgs,
    others: &[(&'static str, Option<&Path>)],
    archives: &[PathBuf],
) -> Result<()> {
    if let Some(findings) = findings {
        check_output("--findings", findings)?;
    }
    let inputs: Vec<_> = archives.iter().map(|path| ("ARCHIVE", path.as_path())).collect();
    let outputs = [("--findings", findings.map(PathBuf::as_path)), ("--result", global.result.as_deref())];
    check_distinct(&[&outputs, others].concat(), &inputs)
}
