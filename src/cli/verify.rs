use std::path::PathBuf;

use clap::Args;

use super::archive::{ArchiveArgs, check_inputs};
use super::import::check_outputs;
use super::report::ReportArgs;
use super::shards::ShardsArgs;
use super::store::{ReadRateArgs, check_rates, store};
use super::tenant::tenants;
use super::{GlobalArgs, help};
use crate::error::Result;
use crate::options::{ProbeStreams, VerifyOptions};

pub(super) const ABOUT: &str = "Prove that a store holds what the archives say, and nothing else";

pub(super) const LONG_ABOUT: &str = "\
Prove that a store holds what the archives say, and nothing else.

Reads the whole collection and compares, tenant by tenant: streams, events or sagas, last versions, and the content of \
every document. It also asks what the framework asks: its probe for legacy keys, and its query for every stream (for a \
sample beyond 1,000). Given manifests alone it compares counts, versions and digests, so that it can run in CI without \
the archives. The store is only read.

Legacy documents that are still beside their twins are expected before prune: with --legacy they are compared with the \
legacy archive, which also proves that nothing but the key and the filled-in fields changed. With --pruned, and in a \
collection of its own, every legacy document is a finding.";

const EXAMPLES: &str = "\
Examples:
  rekey verify rekeyed.ndjson --against mongodb://localhost:27017/excalibur \\
      --collection events-new --legacy legacy.ndjson
  rekey verify rekeyed.ndjson.manifest.json --against dynamodb://eu-west-1 \\
      --table Events --pruned --output json
  rekey verify rekeyed.ndjson --against firestore://shop --collection events \\
      --legacy legacy.ndjson --report verify.html --report junit.xml
  rekey verify acme.ndjson others.ndjson --container events \\
      --against 'embedded:shop.redb?as=cosmosdb'

Exit codes: 0 match, 1 mismatch, 4 the store failed, 74 an archive is damaged, cut off or unreadable.
";

/// The arguments of `verify`.
#[derive(Args, Debug)]
#[command(about = ABOUT, long_about = LONG_ABOUT, after_long_help = format!("{EXAMPLES}{}", help::MORE))]
pub(super) struct VerifyArgs {
    #[command(flatten)]
    archive: ArchiveArgs,

    #[command(flatten)]
    shards: ShardsArgs,

    /// The archive's manifest, for standard input or where it does not stand beside the archive
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,

    /// The store to check
    #[arg(long, value_name = "STORE")]
    against: String,

    /// The collection, table or container to check
    #[arg(long, visible_aliases = ["table", "container"], value_name = "NAME")]
    collection: String,

    /// The legacy archive whose documents may still be there; once for each of its files
    #[arg(long, value_name = "ARCHIVE")]
    legacy: Vec<PathBuf>,

    /// No legacy document may be there any more
    #[arg(long)]
    pruned: bool,

    /// Compare counts, versions and digests only, although an archive is given
    #[arg(long)]
    counts_only: bool,

    /// Check these tenants alone
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    only_tenants: Vec<String>,

    /// How many streams are read the way the framework reads them: `all`, or a number
    ///
    /// Up to the number every stream is read; beyond it each tenant's longest and a sample.
    #[arg(long, value_name = "all|N", default_value = "1000", value_parser = probe_streams)]
    probe_streams: ProbeStreams,

    /// Where the findings go, one JSON line each; beside the archive if left out
    #[arg(long, value_name = "FILE")]
    findings: Option<PathBuf>,

    /// Where spill files go; beside the archive if left out
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,

    #[command(flatten)]
    rates: ReadRateArgs,

    #[command(flatten)]
    report: ReportArgs,
}

impl VerifyArgs {
    pub(super) fn reports(&self) -> &ReportArgs {
        &self.report
    }

    pub(super) fn into_options(self, global: &GlobalArgs) -> Result<VerifyOptions> {
        let against = store("--against", &self.against, self.collection, self.rates.into_rates())?;
        check_rates(against.rates, &[&against])?;
        let archives = [self.archive.paths(), &self.legacy].concat();
        let reports: Vec<_> = self.report.paths().collect();
        check_outputs(self.findings.as_ref(), global, &reports, &archives)?;
        check_inputs(&self.legacy)?;
        Ok(VerifyOptions {
            archive: self.archive.into_options(self.manifest)?.of_shard(self.shards.shard),
            against,
            legacy: self.legacy,
            pruned: self.pruned,
            counts_only: self.counts_only,
            only_tenants: tenants("--only-tenants", self.only_tenants)?,
            probe_streams: self.probe_streams,
            findings: self.findings,
            show_content: self.report.show_content(),
            state_dir: self.state_dir,
        })
    }
}

fn probe_streams(typed: &str) -> Result<ProbeStreams, String> {
    match typed {
        "all" => Ok(ProbeStreams::All),
        number => match number.parse() {
            Ok(number) => Ok(ProbeStreams::UpTo(number)),
            Err(_) => Err("expected `all` or a number".into()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_to_probe_are_all_or_a_number() {
        assert_eq!(probe_streams("all"), Ok(ProbeStreams::All));
        assert_eq!(probe_streams("0"), Ok(ProbeStreams::UpTo(0)));
        assert!(probe_streams("most").is_err() && probe_streams("-1").is_err());
        assert_eq!(probe_streams("1000"), Ok(ProbeStreams::default()));
    }
}
