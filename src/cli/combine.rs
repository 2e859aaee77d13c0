use std::path::PathBuf;

use clap::Args;

use super::archive::check_inputs;
use super::layout::LayoutArgs;
use super::paths::{check_distinct, destination};
use super::{GlobalArgs, help};
use crate::error::{Error, Result};
use crate::options::{CombineOptions, Destination, is_dash};

pub(super) const ABOUT: &str = "Make one archive of those of all shards";

pub(super) const LONG_ABOUT: &str = "\
Make one archive of those of all shards.

The lines are merged in the order of an archive, with the rows of the key maps and the lists of what was set aside. \
Archive, key map and manifest are those of a run without --shard; only the times in the manifest are those of the parts.

A shard that is missing, is there twice or is of another run is an error, and so are tenants of different shards whose \
keys could be read two ways. Nothing is written then.";

const EXAMPLES: &str = "\
Examples:
  rekey combine rekeyed-1.ndjson rekeyed-2.ndjson rekeyed-3.ndjson rekeyed-4.ndjson \\
      --out rekeyed.ndjson
  rekey combine legacy-parts/ --out legacy.ndjson.zst
  rekey combine rekeyed-parts/ --legacy legacy.ndjson.zst --out rekeyed.ndjson.zst

Exit codes: 0 written, 2 the parts are not all shards of one run, 5 refused and nothing written, 74 a part is damaged, cut off or unreadable.
";

/// The arguments of `combine`.
#[derive(Args, Debug)]
#[command(about = ABOUT, long_about = LONG_ABOUT, after_long_help = format!("{EXAMPLES}{}", help::MORE))]
pub(super) struct CombineArgs {
    /// The archives of all shards, or a folder of them, each with its manifest beside it
    #[arg(value_name = "PART", required = true)]
    parts: Vec<PathBuf>,

    /// The archive to write. Compressed by its name: .zst, .gz
    #[arg(long, value_name = "FILE")]
    out: PathBuf,

    /// The whole legacy archive, if each rekeyed part was made from a part of it
    ///
    /// Combine the legacy parts first: the manifest of the whole names the archive that it was made from.
    #[arg(long, value_name = "ARCHIVE")]
    legacy: Option<PathBuf>,

    #[command(flatten)]
    layout: LayoutArgs,

    /// Where spill files go; beside the archive if left out
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
}

impl CombineArgs {
    pub(super) fn into_options(self, global: &GlobalArgs) -> Result<CombineOptions> {
        check_inputs(&self.parts)?;
        let named = self.parts.iter().chain(&self.legacy).chain([&self.out]);
        if named.into_iter().any(|path| is_dash(path)) {
            return Err(Error::usage("Parts and the whole have manifests beside them, which - has not.")
                .hint("Name files."));
        }
        let inputs: Vec<_> =
            self.parts.iter().chain(&self.legacy).map(|path| ("PART", path.as_path())).collect();
        let out = destination(self.out.clone())?;
        let outputs = [("--out", Destination::file(&out)), ("--result", global.result.as_deref())];
        check_distinct(&outputs, &inputs)?;
        Ok(CombineOptions {
            parts: self.parts,
            layout: self.layout.into_options()?,
            out: self.out,
            legacy: self.legacy,
            state_dir: self.state_dir,
        })
    }
}
