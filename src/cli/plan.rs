use std::path::PathBuf;

use clap::Args;

use super::paths::{check_distinct, check_output};
use super::report::ReportArgs;
use super::run::{StoresArgs, store_run};
use super::{GlobalArgs, help};
use crate::error::{Error, Result};
use crate::options::PlanOptions;
use crate::plan::Basis;

pub(super) const ABOUT: &str = "Say what a run of a project will do, in a file that holds the run to it";

pub(super) const LONG_ABOUT: &str = "\
Say what a run of a project will do, in a file that holds the run to it.

For each store and tenant: documents, streams, bytes, old and new keys, refusals by reason, the longest new key against \
its limit, side effects (time to live, subscribers, missing indexes), and what the import will write, with the capacity \
and the least time that takes. It is made by the commands themselves: an export into a folder of its own, a rewrite \
there, and an import that only looks. No store is written.

`rekey apply PLAN` then does exactly that or refuses. Made from the stores, a week ahead, a plan binds rule, layout, \
places, options and limits, and the documents may grow by --max-growth percent; a new tenant or a new reason for a \
refusal is refused. With --archives it is made from the legacy archives in the stores' folders and binds their digests.";

const EXAMPLES: &str = "\
Examples:
  rekey plan
  rekey plan --project shop/rekey.toml --store orders --max-growth 25 \\
      --out orders.plan.json
  rekey plan --archives --report plan.html --output json

Exit codes: 0 planned and nothing in the way, 1 the import would find conflicts, 3 streams would be set aside, 5 the run would be refused (the plan is written in all of these), 4 a store failed, 130 interrupted.
";

/// The arguments of `plan`.
#[derive(Args, Debug)]
#[command(about = ABOUT, long_about = LONG_ABOUT, after_long_help = format!("{EXAMPLES}{}", help::MORE))]
pub(super) struct PlanArgs {
    #[command(flatten)]
    stores: StoresArgs,

    /// Plan from the legacy archives in the stores' folders, and bind their digests
    #[arg(long)]
    archives: bool,

    /// By how many percent the documents may grow until the plan is applied
    #[arg(long, value_name = "PERCENT", default_value = "10", conflicts_with = "archives")]
    max_growth: u32,

    /// The plan to write
    #[arg(long, value_name = "FILE", default_value = "plan.json")]
    out: PathBuf,

    #[command(flatten)]
    report: ReportArgs,
}

impl PlanArgs {
    pub(super) fn reports(&self) -> &ReportArgs {
        &self.report
    }

    pub(super) fn into_options(self, global: &GlobalArgs) -> Result<PlanOptions> {
        check_output("--out", &self.out)?;
        if self.report.show_content() {
            return Err(Error::usage("A plan shows keys alone; --show-content is for what verifies.")
                .hint("Leave it out, or pass it to `rekey apply`."));
        }
        let mut outputs = vec![("--out", Some(self.out.as_path())), ("--result", global.result.as_deref())];
        outputs.extend(self.report.paths());
        check_distinct(&outputs, &[])?;
        let project = self.stores.load()?;
        let stores = self.stores.chosen(&project)?;
        let stores = stores.into_iter().map(|store| store_run(project.path(), store, global));
        Ok(PlanOptions {
            stores: stores.collect::<Result<_>>()?,
            project: self.stores.project,
            basis: if self.archives { Basis::Archives } else { Basis::Stores },
            max_growth: if self.archives { 0 } else { self.max_growth },
            out: self.out,
        })
    }
}
