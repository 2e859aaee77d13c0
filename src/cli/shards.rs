use clap::Args;

use crate::options::Shards;

/// Which shards a verb is to look at.
#[derive(Args, Debug)]
pub(super) struct ShardsArgs {
    /// Do the I-th of N shards alone, such as 2/4, so that N processes or machines can do one each
    ///
    /// A stream is never split, and which shard it is in depends on its name and N alone. The shards of a division have
    /// everything in them once; `rekey combine` makes one archive of theirs. Left out, an archive's manifest says which
    /// shard it is.
    #[arg(long, value_name = "I/N", help_heading = "Shards")]
    pub(super) shard: Option<Shards>,
}
