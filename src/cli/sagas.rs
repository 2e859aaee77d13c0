use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args};

use super::archive::check_inputs;
use super::help;
use super::layout::ParameterArgs;
use super::store::{ReadRateArgs, check_rates, store};
use crate::error::{Error, Result};
use crate::options::{ArchiveOptions, SagasOptions, SagasSource, Wait};

pub(super) const ABOUT: &str = "Say which sagas are running, to see whether they can be waited for";

pub(super) const LONG_ABOUT: &str = "\
Say which sagas are running, to see whether they can be waited for.

Counts the sagas of a collection or an archive by type, tenant and age: running (isCompleted is false, or missing) and \
completed. Of a legacy saga the tenant is the owner stored in it, if it names one. When the oldest was created and when \
any was changed last tells whether they will ever end: sagas that nobody has changed for weeks are stuck, and move as they \
are. The collection is only read, from end to end; memory does not grow with it.

The exit code is 0 however many are running. With --fail-if-running it is 1 if any is; with --wait the collection is read \
again and again until none is, and it is 1 if some still are when the time is over.";

const EXAMPLES: &str = "\
Examples:
  rekey sagas --from mongodb://localhost:27017/excalibur --collection sagas
  rekey sagas --from dynamodb://eu-west-1 --table Sagas --wait 30m --every 1m
  rekey sagas sagas.ndjson.zst --fail-if-running --output json

Exit codes: 0 counted, 1 some are running (--fail-if-running, --wait), 2 no such collection, 4 the store failed.
";

/// The arguments of `sagas`.
#[derive(Args, Debug)]
#[command(
    about = ABOUT,
    long_about = LONG_ABOUT,
    after_long_help = format!("{EXAMPLES}{}", help::MORE),
    group = ArgGroup::new("sagas").args(["archive", "from"]).required(true)
)]
pub(super) struct SagasArgs {
    /// An archive of sagas: a file, a folder of parts, several files in order, or `-` for standard input
    #[arg(value_name = "ARCHIVE")]
    archive: Vec<PathBuf>,

    /// The store to read
    #[arg(long, value_name = "STORE", requires = "collection")]
    from: Option<String>,

    /// The collection, table or container to read
    #[arg(long, visible_aliases = ["table", "container"], value_name = "NAME", requires = "from")]
    collection: Option<String>,

    /// The number of documents that must be there, for an archive that another tool wrote
    #[arg(long, value_name = "N", requires = "archive")]
    expect_documents: Option<u64>,

    /// `sagas`, a full name such as mongodb-sagas, or a TOML file; of an archive the one its manifest names
    #[arg(long, value_name = "LAYOUT", help_heading = "Layout")]
    layout: Option<String>,

    #[command(flatten)]
    parameters: ParameterArgs,

    /// Exit with 1 if a saga is running
    #[arg(long)]
    fail_if_running: bool,

    /// Read again until no saga is running, for so long at most (90s, 30m, 2h); exit with 1 if some still are
    #[arg(long, value_name = "TIME", value_parser = time, requires = "from")]
    wait: Option<Duration>,

    /// How long to wait between two looks
    #[arg(long, value_name = "TIME", default_value = "15s", value_parser = time, requires = "wait")]
    every: Duration,

    #[command(flatten)]
    rates: ReadRateArgs,
}

impl SagasArgs {
    pub(super) fn into_options(self) -> Result<SagasOptions> {
        let rates = self.rates.into_rates();
        let source = if let (Some(from), Some(collection)) = (self.from, self.collection) {
            let store = store("--from", &from, collection, rates)?;
            check_rates(store.rates, &[&store])?;
            let layout = self.layout.unwrap_or_else(|| "sagas".to_owned());
            SagasSource::Store(store, self.parameters.into_options(Some(layout))?)
        } else {
            check_rates(rates, &[])?;
            check_inputs(&self.archive)?;
            SagasSource::Archive(ArchiveOptions {
                paths: self.archive,
                expect_documents: self.expect_documents,
                layout: self.parameters.into_options(self.layout)?,
                ..ArchiveOptions::default()
            })
        };
        let wait = self.wait.map(|most| Wait { most, every: self.every });
        if wait.is_some_and(|wait| wait.every.is_zero()) {
            return Err(
                Error::usage("--every 0s would not let the store rest.").hint("Use --every 1s or more.")
            );
        }
        Ok(SagasOptions { source, fail_if_running: self.fail_if_running, wait })
    }
}

/// Reads `90s`, `30m`, `1h 30m`.
fn time(typed: &str) -> Result<Duration, String> {
    let parsed = typed.parse::<jiff::SignedDuration>().ok();
    let positive = parsed.and_then(|time| Duration::try_from(time).ok());
    positive.ok_or_else(|| "expected a time such as 90s, 30m or 2h".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_numbers_with_units() {
        assert_eq!(time("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(time("30m"), Ok(Duration::from_mins(30)));
        assert_eq!(time("1h 30m"), Ok(Duration::from_mins(90)));
        for wrong in ["30", "-5s", "soon", ""] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
