use std::path::PathBuf;

use clap::{ArgGroup, Args};
use toml::Value;

use super::help;
use super::verb::Command;
use super::words::one_of;
use crate::key::Escaping;
use crate::options::InitOptions;
use crate::project::{FILE_NAME, Template};
use crate::report::PageReport;

pub(super) const ABOUT: &str = "Write a project file, or add a store to one";

pub(super) const LONG_ABOUT: &str = "\
Write a project file, or add a store to one.

A project file (rekey.toml) names every collection of a migration with its source, target, layout, tenant rule and \
limits, so that `--project rekey.toml --store NAME` takes the place of the long flags, and `rekey run` takes all of them \
through the window. Every field is written with what it says; what is not used is commented out. On a terminal, what is \
needed and not given is asked for. The file holds no secret: an address with a password in it is refused. No store is \
reached.";

const EXAMPLES: &str = "\
Examples:
  rekey init
  rekey init --store orders --source mongodb://localhost:27017/excalibur \\
      --collection events --target-collection events-new --layout events \\
      --tenant-map tenants.csv --create-target
  rekey init --store carts --source '$CARTS_SOURCE' --collection Carts \\
      --layout sagas --single-tenant
  rekey init --print-schema > rekey.schema.json

An address that begins with $ names a variable of the environment that holds it.

Exit codes: 0 written; 2 something is missing or wrong, or the store is in the file already; 74 the file cannot be written.
";

/// The schema of the project file, for editors.
const SCHEMA: &str = include_str!("../../docs/rekey.schema.json");

/// The arguments of `init`.
// Each switch is one flag, independent of the others.
#[allow(clippy::struct_excessive_bools)]
#[derive(Args, Debug)]
#[command(about = ABOUT, long_about = LONG_ABOUT, after_long_help = format!("{EXAMPLES}{}", help::MORE))]
#[command(group = ArgGroup::new("rule").multiple(false)
    .args(["single_tenant", "untenanted", "tenant", "tenant_map", "tenant_field"]))]
pub(super) struct InitArgs {
    /// The project file
    #[arg(long, value_name = "FILE", default_value = FILE_NAME)]
    project: PathBuf,

    /// The store's name in the file
    #[arg(long, value_name = "NAME")]
    store: Option<String>,

    /// The store to read; `$NAME` for the variable that holds its address
    #[arg(long, value_name = "STORE")]
    source: Option<String>,

    /// The collection, table or container to read
    #[arg(long, visible_aliases = ["table", "container"], value_name = "NAME")]
    collection: Option<String>,

    /// The store to write; the source if left out
    #[arg(long, value_name = "STORE")]
    target: Option<String>,

    /// The collection, table or container to write; the one read if left out
    #[arg(long, visible_aliases = ["target-table", "target-container"], value_name = "NAME")]
    target_collection: Option<String>,

    /// `events`, `sagas`, a full name such as mongodb-events, or a TOML file
    #[arg(long, value_name = "LAYOUT")]
    layout: Option<String>,

    /// The tenant is `__default__`
    #[arg(long)]
    single_tenant: bool,

    /// The tenant is `__untenanted__`
    #[arg(long)]
    untenanted: bool,

    /// One tenant id for all of it, exactly as typed
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    tenant: Option<String>,

    /// A CSV file that gives each stream its tenant
    #[arg(long, value_name = "FILE.csv")]
    tenant_map: Option<String>,

    /// A field of the documents that holds the tenant
    #[arg(long, value_name = "PATH")]
    tenant_field: Option<String>,

    /// How terms that hold `:` or `%` are joined
    #[arg(long, value_name = "HOW", value_parser = one_of(super::rekey::ESCAPINGS))]
    escaping: Option<Escaping>,

    /// Create the target if it is missing
    #[arg(long)]
    create_target: bool,

    /// Rename the keys of MongoDB events in the collection that they came from
    #[arg(long)]
    in_place: bool,

    /// Where archives and evidence go; a folder called like the store if left out
    #[arg(long, value_name = "DIR")]
    folder: Option<String>,

    /// Print the JSON schema of the project file, for editors, and do nothing else
    #[arg(long)]
    print_schema: bool,
}

impl InitArgs {
    pub(super) fn into_command(self) -> Command {
        if self.print_schema {
            return Command::Print(PageReport { text: SCHEMA.to_owned() });
        }
        let texts = [
            ("source", self.source),
            ("collection", self.collection),
            ("target", self.target),
            ("target-collection", self.target_collection),
            ("layout", self.layout),
            ("tenant", self.tenant),
            ("tenant-map", self.tenant_map),
            ("tenant-field", self.tenant_field),
            ("escaping", self.escaping.map(|it| it.name().to_owned())),
            ("folder", self.folder),
        ];
        let switches = [
            ("single-tenant", self.single_tenant),
            ("untenanted", self.untenanted),
            ("create-target", self.create_target),
            ("in-place", self.in_place),
        ];
        let texts = texts.into_iter().filter_map(|(name, text)| Some((name, text?)));
        let switches = switches.into_iter().filter(|(_, on)| *on);
        let fields = texts
            .map(|(name, text)| (name, Template::value_of(name, text)))
            .chain(switches.map(|(name, on)| (name, Value::Boolean(on))))
            .collect();
        Command::Init(InitOptions { project: self.project, store: self.store, fields })
    }
}
