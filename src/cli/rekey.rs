use std::path::{Path, PathBuf};

use clap::Args;

use super::archive::ArchiveArgs;
use super::paths::{check_distinct, check_output, destination, manifest_of_output};
use super::shards::ShardsArgs;
use super::tenant::{TenantArgs, tenants};
use super::words::{Word, one_of};
use super::{GlobalArgs, help};
use crate::error::{Error, Result};
use crate::key::Escaping;
use crate::layout::StoredOwner;
use crate::options::{AlreadyRekeyed, Destination, OnRefused, RekeyOptions, TenantRuleChoice, is_dash};

pub(super) const ABOUT: &str = "Give every document of an archive its tenant-carrying key";

pub(super) const LONG_ABOUT: &str = "\
Give every document of an archive its tenant-carrying key.

Reads a legacy archive and writes a rekeyed one: the key in every place where it stands, a saga's tenantId, and \
nothing else; every other byte of a document stays. Beside the archive stand its manifest and its key map \
(NAME.keys.ndjson), the evidence for import, verify and prune. No store is touched.

Everything that can be known before a write is checked first: keys that disagree with the document's fields, two \
documents with one new key, streams without a tenant or with two, gaps and repeats of versions, owners stored in \
sagas, the store's limits. If one document is refused nothing is written (exit 5), unless --on-refused set-aside puts \
its whole stream into a side file (exit 3). State exactly one tenant rule.

WHICH TENANT? A host that never enabled multi-tenancy (no AddMultiTenancy) resolves __default__ in the framework's \
code, although the framework's migration page tells such hosts to use __untenanted__. Documents under the wrong term \
are never found again, and no error says so. Do not trust either text: read the value from your own host, on the new \
release, with the registrations it runs with:

    using Excalibur.Dispatch;
    using Microsoft.Extensions.DependencyInjection;

    // host is your built IHost or WebApplication
    using var scope = host.Services.CreateScope();
    var tenant = scope.ServiceProvider.GetRequiredService<ITenantContext>();
    Console.WriteLine($\"'{tenant.TenantId}'\");
    Console.WriteLine($\"'{TenantDefaults.DefaultTenantId}' is the framework's default\");

What it prints       What to state
    '__default__'        --single-tenant
    '__untenanted__'     --untenanted
    another id           --tenant with exactly that id
A multi-tenant host prints the tenant of that one scope, or nothing: use --tenant-map or --tenant-field.";

const EXAMPLES: &str = "\
Examples:
  rekey rekey legacy.ndjson --dry-run --single-tenant
  rekey rekey legacy.ndjson --out rekeyed.ndjson --tenant acme \\
      --escaping escaped
  rekey rekey legacy.ndjson --dry-run --tenant-map tenants.csv \\
      --preview preview.csv
  rekey rekey legacy.ndjson.zst --out rekeyed.ndjson.zst \\
      --tenant-field 'metadata#/tenantId' --on-refused set-aside
  mongoexport --db=excalibur --collection=events --jsonFormat=canonical \\
      | rekey rekey - --out - --layout mongodb-events --single-tenant \\
      > rekeyed.ndjson

With --out - discard the output unless the exit code is 0.

A tenant map is a CSV file with the header key,tenant and the optional columns type and match (exact, prefix or regex). The key is the legacy stream key: the aggregate id on MongoDB, type:id elsewhere, the bare saga id for sagas.

Exit codes: 0 rekeyed, 3 some streams were set aside, 5 refused and nothing written, 74 the archive is damaged, cut off or unreadable.
";

const CHECKS: &str = "Keys and checks";

/// The arguments of `rekey`.
// Each switch is one flag, independent of the others.
#[allow(clippy::struct_excessive_bools)]
#[derive(Args, Debug)]
#[command(about = ABOUT, long_about = LONG_ABOUT, after_long_help = format!("{EXAMPLES}{}", help::MORE))]
pub(super) struct RekeyArgs {
    #[command(flatten)]
    archive: ArchiveArgs,

    #[command(flatten)]
    shards: ShardsArgs,

    /// The archive to write; `-` is standard output. Compressed by its name: .zst, .gz
    ///
    /// An existing file is replaced once the new one is complete; until then the new one is called FILE.part. With
    /// `-` nothing is written before the whole input has passed its checks.
    #[arg(long, value_name = "FILE", required_unless_present = "dry_run")]
    out: Option<PathBuf>,

    /// Where the manifest goes with `--out -`, with the key map beside it; without it there is none
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,

    /// Write nothing but the preview; show counts per tenant, sample keys and refusals
    #[arg(long)]
    dry_run: bool,

    /// Write a CSV file with old and new key and the status of every document
    #[arg(long, value_name = "FILE.csv")]
    preview: Option<PathBuf>,

    #[command(flatten)]
    tenant: TenantArgs,

    /// How terms that hold `:` or `%` are joined; must be stated if there are any
    #[arg(long, value_name = "HOW", help_heading = CHECKS, value_parser = one_of(ESCAPINGS))]
    escaping: Option<Escaping>,

    /// Accept streams whose versions do not start at 0 or have holes
    #[arg(long, help_heading = CHECKS)]
    allow_gaps: bool,

    /// What to do when documents are refused
    #[arg(long, value_name = "WHAT", help_heading = CHECKS, default_value = "stop", value_parser = one_of(ON_REFUSED))]
    on_refused: OnRefused,

    /// What to do with a saga whose stored owner is another tenant
    #[arg(long, value_name = "WHAT", help_heading = CHECKS, default_value = "refuse", value_parser = one_of(STORED_OWNER))]
    stored_owner: StoredOwner,

    /// What to do with a document that carries a tenant in its key already
    #[arg(long, value_name = "WHAT", help_heading = CHECKS, default_value = "refuse", value_parser = one_of(ALREADY_REKEYED))]
    already_rekeyed: AlreadyRekeyed,

    /// Where the refusals go, one JSON line each; beside the output if left out
    #[arg(long, value_name = "FILE")]
    findings: Option<PathBuf>,

    /// Where spill files go; beside the output if left out
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
}

pub(super) const ESCAPINGS: &[Word<Escaping>] =
    &[("raw", "As they are", Escaping::Raw), ("escaped", "With % as %25 and : as %3A", Escaping::Escaped)];

pub(super) const ON_REFUSED: &[Word<OnRefused>] = &[
    ("stop", "Write nothing; exit 5", OnRefused::Stop),
    ("set-aside", "Put their whole streams into a side file, do the rest; exit 3", OnRefused::SetAside),
];

const STORED_OWNER: &[Word<StoredOwner>] = &[
    ("refuse", "Refuse it", StoredOwner::Refuse),
    ("replace", "Replace the owner by the tenant assigned", StoredOwner::Replace),
];

const ALREADY_REKEYED: &[Word<AlreadyRekeyed>] = &[
    ("refuse", "Refuse it", AlreadyRekeyed::Refuse),
    ("keep", "Pass it on unchanged if its tenant agrees", AlreadyRekeyed::Keep),
];

impl RekeyArgs {
    pub(super) fn out_is_stdout(&self) -> bool {
        self.out.as_deref().is_some_and(is_dash)
    }

    /// Tells whether lines will go to standard output: a dry run writes none.
    pub(super) fn takes_stdout(&self) -> bool {
        self.out_is_stdout() && !self.dry_run
    }

    pub(super) fn into_options(self, global: &GlobalArgs) -> Result<RekeyOptions> {
        let out = self.out.map(destination).transpose()?;
        let manifest = match &out {
            Some(out) => manifest_of_output(self.manifest, out)?,
            None if self.manifest.is_some() => {
                return Err(Error::usage("--manifest is for --out - alone.").hint("Leave it out."));
            }
            None => None,
        };
        if let Some(preview) = &self.preview {
            check_output("--preview", preview)?;
        }
        let known_tenants = self.tenant.known_tenants.clone();
        let tenant = self.tenant.rule()?;
        let mut inputs: Vec<(&str, &Path)> =
            self.archive.paths().iter().map(|path| ("ARCHIVE", path.as_path())).collect();
        if let TenantRuleChoice::Map(map) = &tenant {
            inputs.push(("--tenant-map", map));
        }
        inputs.extend(known_tenants.as_deref().map(|known| ("--known-tenants", known)));
        let outputs = [
            ("--out", out.as_ref().and_then(Destination::file)),
            ("--manifest", manifest.as_deref()),
            ("--preview", self.preview.as_deref()),
            ("--findings", self.findings.as_deref()),
            ("--result", global.result.as_deref()),
        ];
        check_distinct(&outputs, &inputs)?;
        Ok(RekeyOptions {
            archive: self.archive.into_options(None)?.of_shard(self.shards.shard),
            out: out.filter(|_| !self.dry_run),
            manifest: manifest.filter(|_| !self.dry_run),
            tenant,
            known_tenants,
            only_tenants: tenants("--only-tenants", self.tenant.only_tenants)?,
            escaping: self.escaping,
            allow_gaps: self.allow_gaps,
            allow_prefix_tenants: self.tenant.allow_prefix_tenants,
            stored_owner: self.stored_owner,
            already_rekeyed: self.already_rekeyed,
            on_refused: self.on_refused,
            dry_run: self.dry_run,
            preview: self.preview,
            findings: self.findings,
            state_dir: self.state_dir,
        })
    }
}
