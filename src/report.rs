//! What a run came to, as data: the members of the JSON result, and the same for a person.
//!
//! The members of each verb are a contract with scripts (`docs/format.md`); others may be added, none renamed.

mod code;
pub mod dossier;
mod envelope;
mod explanation;
mod finding;
mod text;
mod verb;

pub use code::{FindingCode, NoticeCode};
pub use envelope::{Envelope, save};
pub use explanation::Explanation;
pub use finding::{FIRST_FINDINGS, Finding, Findings, FindingsAccount};
pub use text::{show, what_was_found};
pub use verb::{
    CombineReport, Counted, DemoLayout, DemoReport, DoctorReport, ExplainReport, ExportReport, ImportReport,
    InitReport, JournalState, JournalStatus, KeySample, Level, MachineHealth, Met, PageReport,
    PermissionHealth, PlanReport, PruneReport, RehearsalReport, RekeyReport, RunReport, SagaAges, SagaGroup,
    SagasReport, ShardReport, StateReport, StatusReport, StoreHealth, StoreReport, StoreStatus,
    TenantVerdict, Totals, UndoReport, Verdict, VerifyReport,
};

use serde::Serialize;

use dossier::Dossier;

use crate::error::Error;
use crate::exit::ExitStatus;
use crate::shard::Shards;

/// What a command hands back when it came to a result, be it a refusal.
#[derive(Debug)]
pub struct Outcome {
    /// How the run ended.
    pub exit: ExitStatus,
    /// The result of the verb.
    pub report: Report,
    /// What was found; empty if nothing was.
    pub findings: FindingsAccount,
    /// The shards that it is about; `None` is everything.
    pub shard: Option<Shards>,
    /// Why it was refused or left undone; printed after the result, with its hints.
    pub error: Option<Error>,
    /// The same for people who were not there, where the verb takes `--report`.
    pub dossier: Option<Box<Dossier>>,
}

impl Outcome {
    /// A result with nothing found.
    pub fn done(report: Report) -> Self {
        Self {
            exit: ExitStatus::Done,
            report,
            findings: FindingsAccount::default(),
            shard: None,
            error: None,
            dossier: None,
        }
    }

    /// Adds another way the run ended; the worst of all counts.
    #[must_use]
    pub fn and(mut self, exit: ExitStatus) -> Self {
        self.exit = self.exit.worst(exit);
        self
    }

    /// Adds what was found. It does not change the exit code: a refused document and a conflict weigh differently.
    #[must_use]
    pub fn with_findings(mut self, findings: FindingsAccount) -> Self {
        self.findings = findings;
        self
    }

    /// Says which shards it is about.
    #[must_use]
    pub fn of_shards(mut self, shards: Option<Shards>) -> Self {
        self.shard = shards;
        self
    }

    /// Adds what a report says.
    #[must_use]
    pub fn with_dossier(mut self, dossier: Dossier) -> Self {
        self.dossier = Some(Box::new(dossier));
        self
    }

    /// Adds an error that the result is still worth printing beside; its kind joins the exit code.
    #[must_use]
    pub fn with_error(mut self, error: Error) -> Self {
        self.exit = self.exit.worst(ExitStatus::from(&error));
        self.error = Some(error);
        self
    }
}

/// The result of one verb.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Report {
    /// Of `export`.
    Export(ExportReport),
    /// Of `rekey`.
    Rekey(RekeyReport),
    /// Of `import`.
    Import(ImportReport),
    /// Of `verify`.
    Verify(VerifyReport),
    /// Of `prune`.
    Prune(PruneReport),
    /// Of `restore`.
    Restore(ImportReport),
    /// Of `undo`.
    Undo(UndoReport),
    /// Of `plan`.
    Plan(PlanReport),
    /// Of `run` and of `apply`.
    Run(RunReport),
    /// Of `rehearse`.
    Rehearsal(RehearsalReport),
    /// Of `sagas`.
    Sagas(SagasReport),
    /// Of `combine`.
    Combine(CombineReport),
    /// Of `shard`.
    Shard(ShardReport),
    /// Of `status`.
    Status(StatusReport),
    /// Of `init`.
    Init(InitReport),
    /// Of `doctor`.
    Doctor(DoctorReport),
    /// Of `demo`.
    Demo(DemoReport),
    /// Of `explain`.
    Explain(ExplainReport),
    /// Of `completions` and `man`.
    Page(PageReport),
}

impl Report {
    /// Whether it tells of several stores, each with an exit code of its own: it is printed however the run ended.
    pub fn is_of_several_stores(&self) -> bool {
        matches!(self, Self::Run(_) | Self::Rehearsal(_))
    }
}

/// Something worth knowing that does not change the exit code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Notice {
    /// The stable code.
    pub code: NoticeCode,
    /// One sentence.
    pub message: String,
}

/// The tool with its version, as results and manifests name it.
pub fn tool() -> String {
    concat!("rekey ", env!("CARGO_PKG_VERSION")).to_owned()
}
