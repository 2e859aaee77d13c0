use std::path::PathBuf;

use clap::Args;

use super::report::ReportArgs;
use super::run::HowArgs;
use super::{GlobalArgs, help};
use crate::error::Result;
use crate::options::RunOptions;
use crate::plan::Plan;
use crate::project::Project;

pub(super) const ABOUT: &str = "Run a project exactly as a plan says, or refuse";

pub(super) const LONG_ABOUT: &str = "\
Run a project exactly as a plan says, or refuse.

It is `rekey run`, held to a plan. Before anything is done, the layout, tenant rule, map, places, options, limits and the \
version of the rules are compared with the plan, and in a plan made from archives the digests of the documents. Before \
the first write to a store, the documents are: exactly the planned ones, or, in a plan made from stores, no more than \
--max-growth allowed, of no tenant that was not planned, and with no new reason for a refusal. What differs is a finding \
with a code of its own, and exit 5; nothing is written then.

Run again, it goes on where it was, like `rekey run`.";

const EXAMPLES: &str = "\
Examples:
  rekey apply plan.json
  rekey apply plan.json --yes --parallel 2 --output json
  rekey apply plan.json --prune --report pruned.html

Exit codes: those of `rekey run`; 5 something is not as it was planned.
";

/// The arguments of `apply`.
#[derive(Args, Debug)]
#[command(about = ABOUT, long_about = LONG_ABOUT, after_long_help = format!("{EXAMPLES}{}", help::MORE))]
pub(super) struct ApplyArgs {
    /// The plan that `rekey plan` made
    #[arg(value_name = "PLAN")]
    plan: PathBuf,

    /// The project file; the one that the plan names if left out
    #[arg(long, value_name = "FILE")]
    project: Option<PathBuf>,

    /// Delete the legacy documents, too, once every store is verified
    #[arg(long)]
    prune: bool,

    #[command(flatten)]
    how: HowArgs,

    #[command(flatten)]
    report: ReportArgs,
}

impl ApplyArgs {
    pub(super) fn reports(&self) -> &ReportArgs {
        &self.report
    }

    pub(super) fn into_options(self, global: &GlobalArgs) -> Result<RunOptions> {
        self.report.check(global)?;
        let plan = Plan::load(&self.plan)?;
        let path = self.project.unwrap_or_else(|| plan.project.clone());
        let project = Project::load(&path)?;
        let stores = plan.stores.iter().map(|planned| {
            let store = project.store(&planned.store)?;
            self.report.store_run(project.path(), store, global)
        });
        Ok(RunOptions {
            stores: stores.collect::<Result<_>>()?,
            project: path,
            prune: self.prune,
            yes: self.how.yes,
            parallel: self.how.parallel,
            anew: false,
            plan: Some((self.plan, plan)),
        })
    }
}
