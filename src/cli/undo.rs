use std::path::PathBuf;

use clap::Args;

use super::archive::check_inputs;
use super::import::check_findings;
use super::layout::LayoutArgs;
use super::store::{RateArgs, check_rates, store};
use super::{GlobalArgs, help};
use crate::error::{Error, Result};
use crate::options::{UndoOptions, is_dash};

pub(super) const ABOUT: &str = "Take back what an import wrote, while nobody has used it";

pub(super) const LONG_ABOUT: &str = "\
Take back what an import wrote, while nobody has used it: for the day on which the tenant map turns out to be wrong.

Every import leaves an undo list beside its archive (NAME.import-….undo.ndjson) that names exactly the documents it \
created or changed. Undo goes by that list and by what the store holds now; it needs neither the archive nor the key map, \
which may have been made anew since. It works by whole stream: documents that were created are removed only while every \
one of them still has the content that was imported and an equal legacy document stands in the same collection or in \
--legacy-in; MongoDB events that were changed in place get their old streamId back. After prune, after import --move, or \
where the legacy documents are gone for another reason, run `rekey restore` first.

A stream that holds anything the list does not know is left whole and named (exit 3): the application has written since, \
and taking its stream away would lose that. Never touched are legacy documents, documents that were there before the \
import, the counter of MongoDB's sequence, and the collection itself. Killed at any moment and run again, it goes on; run \
again after the end, it changes nothing.";

const EXAMPLES: &str = "\
Examples:
  rekey undo rekeyed.ndjson --from dynamodb://eu-west-1 --table Events --dry-run
  rekey undo rekeyed.ndjson \\
      --from mongodb://localhost:27017/excalibur --collection events-new \\
      --legacy-in mongodb://localhost:27017/excalibur \\
      --legacy-collection events
  rekey undo rekeyed.ndjson.import-0f12ab34cd56.undo.ndjson \\
      --from mongodb://localhost:27017/excalibur --collection events

Exit codes: 0 nothing of the import is left, 3 streams were left, 4 the store failed (run again to go on), 74 the list is damaged or unreadable, 130 interrupted (run again to go on).
";

/// The arguments of `undo`.
#[derive(Args, Debug)]
#[command(about = ABOUT, long_about = LONG_ABOUT, after_long_help = format!("{EXAMPLES}{}", help::MORE))]
pub(super) struct UndoArgs {
    /// The undo list of the import, or the archive beside which it stands; several of one target together
    #[arg(value_name = "LIST", required = true)]
    lists: Vec<PathBuf>,

    #[command(flatten)]
    layout: LayoutArgs,

    /// The store that was imported into
    #[arg(long, value_name = "STORE")]
    from: String,

    /// The collection, table or container that was imported into
    #[arg(long, visible_aliases = ["table", "container"], value_name = "NAME")]
    collection: String,

    /// The store that holds the legacy documents, if they are not in the same collection
    #[arg(long, value_name = "STORE", requires = "legacy_collection")]
    legacy_in: Option<String>,

    /// The collection, table or container that holds the legacy documents
    #[arg(long, visible_aliases = ["legacy-table", "legacy-container"], value_name = "NAME", requires = "legacy_in")]
    legacy_collection: Option<String>,

    /// Change nothing; say what would be taken back and what would be left
    #[arg(long)]
    dry_run: bool,

    /// Where the streams left go, one JSON line each; beside the list if left out
    #[arg(long, value_name = "FILE")]
    findings: Option<PathBuf>,

    /// Where the list of an archive is looked for and spill files go; beside the archive if left out
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,

    #[command(flatten)]
    rates: RateArgs,
}

impl UndoArgs {
    pub(super) fn into_options(self, global: &GlobalArgs) -> Result<UndoOptions> {
        let rates = self.rates.into_rates();
        let from = store("--from", &self.from, self.collection, rates)?;
        let legacy = match (self.legacy_in, self.legacy_collection) {
            (Some(address), Some(collection)) => Some(store("--legacy-in", &address, collection, rates)?),
            _ => None,
        };
        if let Some(legacy) = legacy.as_ref().filter(|legacy| legacy.address.kind() != from.address.kind()) {
            let (legacy, from) = (legacy.address.kind().title(), from.address.kind().title());
            return Err(Error::usage(format!(
                "--legacy-in is {legacy} and --from {from}: no legacy documents of it."
            ))
            .hint("Name the store that the legacy documents are in."));
        }
        let stores: Vec<_> = std::iter::once(&from).chain(&legacy).collect();
        check_rates(rates, &stores)?;
        check_inputs(&self.lists)?;
        if self.lists.iter().any(|path| is_dash(path)) {
            return Err(Error::usage("An undo list cannot come from standard input: it is read twice.")
                .hint("Name the file."));
        }
        check_findings(self.findings.as_ref(), global, &self.lists)?;
        Ok(UndoOptions {
            lists: self.lists,
            layout: self.layout.into_options()?,
            from,
            legacy,
            dry_run: self.dry_run,
            findings: self.findings,
            state_dir: self.state_dir,
        })
    }
}
