use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;

use super::archive::ArchiveArgs;
use super::paths::check_distinct;
use super::{GlobalArgs, help};
use crate::error::Result;
use crate::options::ShardOptions;

pub(super) const ABOUT: &str = "Number the documents of an archive by the shard of their stream";

pub(super) const LONG_ABOUT: &str = "\
Number the documents of an archive by the shard of their stream, for an engine such as Spark that spreads them over machines.

Writes each line to standard output behind the number of its shard, from 1 to N, and a tab. All documents of a stream have \
one number, and so have all that could get the same new key, so that each shard can be given to a `rekey rekey` of its own \
with all its checks. The number depends on the stream and N alone: it is the same on every machine.

A line of which nobody can tell the stream has the number 0, and the exit code is 3: whoever goes on without it may leave a \
stream with a hole.";

const EXAMPLES: &str = "\
Examples:
  rekey shard legacy.ndjson.zst --of 64 > numbered.tsv
  zcat part-7.json.gz | rekey shard - --layout dynamodb-events --of 64

Exit codes: 0 all numbered, 3 some lines belong to no shard, 74 the archive is damaged, cut off or unreadable.
";

/// The arguments of `shard`.
#[derive(Args, Debug)]
#[command(about = ABOUT, long_about = LONG_ABOUT, after_long_help = format!("{EXAMPLES}{}", help::MORE))]
pub(super) struct ShardArgs {
    #[command(flatten)]
    archive: ArchiveArgs,

    /// How many shards there are
    #[arg(long, value_name = "N")]
    of: NonZeroU32,

    /// Where the lines go that belong to no shard: their numbers and reasons, one JSON line each
    #[arg(long, value_name = "FILE")]
    findings: Option<PathBuf>,
}

impl ShardArgs {
    pub(super) fn into_options(self, global: &GlobalArgs) -> Result<ShardOptions> {
        let inputs: Vec<_> = self.archive.paths().iter().map(|path| ("ARCHIVE", path.as_path())).collect();
        let outputs = [("--findings", self.findings.as_deref()), ("--result", global.result.as_deref())];
        check_distinct(&outputs, &inputs)?;
        Ok(ShardOptions { archive: self.archive.into_options(None)?, of: self.of, findings: self.findings })
    }
}
