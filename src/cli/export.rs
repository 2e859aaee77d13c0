use std::path::PathBuf;

use clap::Args;

use super::layout::ParameterArgs;
use super::paths::{check_distinct, destination, manifest_of_output};
use super::shards::ShardsArgs;
use super::store::{ReadRateArgs, check_rates, store};
use super::{GlobalArgs, help};
use crate::error::Result;
use crate::options::{ExportOptions, is_dash};

pub(super) const ABOUT: &str = "Write a collection into an archive, in the store's own lossless form";

pub(super) const LONG_ABOUT: &str = "\
Write a collection into an archive, in the store's own lossless form.

Every document becomes one line of NDJSON that the store's own tools read, too. The lines are sorted by stream and \
version, so that two exports of the same data are the same bytes. The manifest, NAME.manifest.json, is written last: \
an archive without one is not whole.

The collection is only read. Where the store can read all of it at one moment (MongoDB, Firestore) it does; if that \
moment is lost before the end, the export fails with exit 4. Stop the writers first: DynamoDB and Cosmos DB have no \
such moment.";

const EXAMPLES: &str = "\
Examples:
  rekey export --from mongodb://localhost:27017/excalibur \\
      --collection events --layout events --out events.ndjson.zst
  rekey export --from dynamodb://eu-west-1 --table Sagas --layout sagas \\
      --out sagas.ndjson --max-rcu 500
  rekey export --from 'embedded:shop.redb?as=firestore' --collection events \\
      --layout events --out - --manifest events.manifest.json | wc -l

Exit codes: 0 written, 2 no such collection, 4 the store failed or lost its snapshot, 74 the file failed.
";

/// The arguments of `export`.
#[derive(Args, Debug)]
#[command(about = ABOUT, long_about = LONG_ABOUT, after_long_help = format!("{EXAMPLES}{}", help::MORE))]
pub(super) struct ExportArgs {
    /// The store to read
    #[arg(long, value_name = "STORE")]
    from: String,

    /// The collection, table or container to read
    #[arg(long, visible_aliases = ["table", "container"], value_name = "NAME")]
    collection: String,

    /// `events`, `sagas`, a full name such as mongodb-events, or a TOML file
    #[arg(long, value_name = "LAYOUT", help_heading = "Layout")]
    layout: String,

    #[command(flatten)]
    parameters: ParameterArgs,

    /// The archive to write; `-` is standard output. Compressed by its name: .zst, .gz
    ///
    /// An existing file is replaced once the new one is complete; until then the new one is called FILE.part.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,

    /// Where the manifest goes with `--out -`; without it there is none
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,

    #[command(flatten)]
    shards: ShardsArgs,

    /// Go on without one consistent moment, and record that in the manifest
    #[arg(long)]
    no_snapshot: bool,

    /// Accept an empty collection on Firestore, where it cannot be told from one that does not exist
    #[arg(long)]
    allow_empty: bool,

    /// Where spill files go; beside the archive if left out
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,

    #[command(flatten)]
    rates: ReadRateArgs,
}

impl ExportArgs {
    pub(super) fn out_is_stdout(&self) -> bool {
        is_dash(&self.out)
    }

    pub(super) fn into_options(self, global: &GlobalArgs) -> Result<ExportOptions> {
        let from = store("--from", &self.from, self.collection, self.rates.into_rates())?;
        check_rates(from.rates, &[&from])?;
        let out = destination(self.out)?;
        let manifest = manifest_of_output(self.manifest, &out)?;
        check_distinct(
            &[
                ("--out", out.file()),
                ("--manifest", manifest.as_deref()),
                ("--result", global.result.as_deref()),
            ],
            &[],
        )?;
        Ok(ExportOptions {
            from,
            layout: self.parameters.into_options(Some(self.layout))?,
            shard: self.shards.shard,
            out,
            manifest,
            no_snapshot: self.no_snapshot,
            allow_empty: self.allow_empty,
            state_dir: self.state_dir,
        })
    }
}
