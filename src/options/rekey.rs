use std::path::PathBuf;

use super::{ArchiveOptions, Destination, OnRefused};
use crate::key::Escaping;
use crate::layout::StoredOwner;

/// What `rekey` is to do.
// Each switch is one flag of the command line, independent of the others.
#[allow(clippy::struct_excessive_bools)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RekeyOptions {
    /// The legacy archive. Its `manifest` is always `None`: the flag names the output's.
    pub archive: ArchiveOptions,
    /// Where the rekeyed archive goes; `None` in a dry run.
    pub out: Option<Destination>,
    /// Where the output's manifest goes when the lines go to standard output; `None` otherwise.
    pub manifest: Option<PathBuf>,
    /// How a stream gets its tenant.
    pub tenant: TenantRuleChoice,
    /// A file of the only tenants there may be, one a line.
    pub known_tenants: Option<PathBuf>,
    /// The tenants to move, each once; the others' streams are out of scope. Empty moves all.
    pub only_tenants: Vec<String>,
    /// How terms that hold `:` or `%` are joined; such terms are refused if `None`.
    pub escaping: Option<Escaping>,
    /// Whether versions may start later than the first one or have holes.
    pub allow_gaps: bool,
    /// Whether one tenant's rendered prefix may begin another's.
    pub allow_prefix_tenants: bool,
    /// What to do with a saga whose stored owner is another tenant.
    pub stored_owner: StoredOwner,
    /// What to do with a document that carries a tenant already.
    pub already_rekeyed: AlreadyRekeyed,
    /// What to do when documents are refused.
    pub on_refused: OnRefused,
    /// Whether to write nothing but what `preview` names.
    pub dry_run: bool,
    /// A CSV file to write with one row a document, in a dry run or beside the output.
    pub preview: Option<PathBuf>,
    /// Where the findings go; beside the output if `None`.
    pub findings: Option<PathBuf>,
    /// Where spill files go; beside the output if `None`.
    pub state_dir: Option<PathBuf>,
}

/// The one tenant rule of a run, as stated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TenantRuleChoice {
    /// `__default__`: the term of a host that never enabled multi-tenancy.
    SingleTenant,
    /// `__untenanted__`: the term of a multi-tenant host's deliberately untenanted documents.
    Untenanted,
    /// One tenant id for every document, as typed.
    Tenant(String),
    /// A CSV file that gives tenants to stream keys.
    Map(PathBuf),
    /// A field of the documents, with a JSON pointer after `#` into the JSON it holds.
    Field(String),
}

/// What to do with a document that carries a tenant in its key already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AlreadyRekeyed {
    /// Refuse it.
    #[default]
    Refuse,
    /// Pass it on unchanged once its key parses and its tenant agrees.
    Keep,
}
