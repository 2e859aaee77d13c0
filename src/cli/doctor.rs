use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use super::help;
use super::store::store;
use super::words::{Word, one_of};
use crate::error::{Error, Result};
use crate::options::{DoctorOptions, ExaminedStore, Purpose, Rates, StoreRole};

pub(super) const ABOUT: &str = "Find what would stand in the way of a migration before it begins";

pub(super) const LONG_ABOUT: &str = "\
Find what would stand in the way of a migration before it begins.

Reaches each store and says who it is there, which rights it has (read, create, update, delete, make collections), how far \
the clocks are apart, the server's and the library's versions; then whether this machine has room for archives and spill \
files, may open enough files, and whether a variable of the environment leads an address to an emulator. What stands in \
the way is a finding, with what to do, and makes the exit code 1; what may be wanted later is a notice.

Nothing is changed. Where a store cannot be asked for rights they are tried by requests that it must turn down and that \
could not change a document if it did not. --for says what else is to be done, so that its rights count, too.";

const EXAMPLES: &str = "\
Examples:
  rekey doctor --from mongodb://localhost:27017/excalibur --collection events \\
      --to mongodb://localhost:27017/excalibur --collection events-new
  rekey doctor --from dynamodb://eu-west-1 --table Events --for prune \\
      --state-dir /data/migration --output json

Exit codes: 0 nothing stands in the way, 1 something does.
";

/// The arguments of `doctor`.
#[derive(Args, Debug)]
#[command(about = ABOUT, long_about = LONG_ABOUT, after_long_help = format!("{EXAMPLES}{}", help::MORE))]
pub(super) struct DoctorArgs {
    #[command(flatten)]
    stores: StoreList,

    /// What is to be done besides export, import and verify: its rights are looked for, too
    #[arg(long = "for", value_name = "A,B", value_delimiter = ',', value_parser = one_of(PURPOSES))]
    purposes: Vec<Purpose>,

    /// Where archives and spill files will go; the current folder if left out
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
}

const PURPOSES: &[Word<Purpose>] = &[
    ("create-target", "import --create-target", Purpose::CreateTarget),
    ("in-place", "import --in-place", Purpose::InPlace),
    ("move", "import --move", Purpose::Move),
    ("prune", "prune", Purpose::Prune),
    ("undo", "undo", Purpose::Undo),
];

impl DoctorArgs {
    pub(super) fn into_options(self) -> Result<DoctorOptions> {
        Ok(DoctorOptions {
            stores: self.stores.into_stores()?,
            purposes: self.purposes,
            state_dir: self.state_dir,
        })
    }
}

/// Sources, targets and collections in the order typed: a collection is that of the store before it.
#[derive(Clone, Debug, Default)]
struct StoreList(Vec<Typed>);

#[derive(Clone, Debug)]
enum Typed {
    Store(StoreRole, String),
    Collection(String),
}

impl StoreList {
    fn into_stores(self) -> Result<Vec<ExaminedStore>> {
        let named: Vec<_> = self.0.iter().filter(|it| matches!(it, Typed::Collection(_))).cloned().collect();
        let mut stores: Vec<(StoreRole, String, Option<String>)> = Vec::new();
        for typed in self.0 {
            match typed {
                Typed::Store(role, address) => stores.push((role, address, None)),
                Typed::Collection(name) => match stores.last_mut() {
                    Some((_, _, collection @ None)) => *collection = Some(name),
                    // Typed before its store, as other commands allow it.
                    None if named.len() == 1 => {}
                    _ => {
                        return Err(Error::usage(format!("--collection {name} belongs to no store."))
                            .hint("Put each --collection behind the --from or --to that it belongs to."));
                    }
                },
            }
        }
        // A single one is that of every store.
        let single = match named.as_slice() {
            [Typed::Collection(name)] => Some(name.clone()),
            _ => None,
        };
        let examined = |(role, address, collection): (StoreRole, String, Option<String>)| {
            let flag = if role == StoreRole::Source { "--from" } else { "--to" };
            let Some(collection) = collection.or_else(|| single.clone()) else {
                return Err(Error::usage(format!("{flag} has no --collection."))
                    .hint("Put each --collection behind the --from or --to that it belongs to."));
            };
            Ok(ExaminedStore { role, store: store(flag, &address, collection, Rates::default())? })
        };
        stores.into_iter().map(examined).collect()
    }
}

impl Args for StoreList {
    fn augment_args(command: Command) -> Command {
        let arg = |name: &'static str| Arg::new(name).long(name).action(ArgAction::Append);
        command
            .arg(
                arg("from")
                    .value_name("STORE")
                    .required_unless_present("to")
                    .help("A store that documents come from; may be given more than once"),
            )
            .arg(
                arg("to")
                    .value_name("STORE")
                    .help("A store that documents go to; may be given more than once"),
            )
            .arg(
                arg("collection")
                    .value_name("NAME")
                    .visible_aliases(["table", "container"])
                    .required(true)
                    .help("The collection, table or container of the store before it, or of every store"),
            )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for StoreList {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let placed = |name: &str| {
            let values = matches.get_many::<String>(name).into_iter().flatten().cloned();
            matches.indices_of(name).into_iter().flatten().zip(values).collect::<Vec<_>>()
        };
        let store = |role| move |(place, address)| (place, Typed::Store(role, address));
        let mut typed: Vec<(usize, Typed)> = Vec::new();
        typed.extend(placed("from").into_iter().map(store(StoreRole::Source)));
        typed.extend(placed("to").into_iter().map(store(StoreRole::Target)));
        typed.extend(placed("collection").into_iter().map(|(place, name)| (place, Typed::Collection(name))));
        typed.sort_by_key(|(place, _)| *place);
        Ok(Self(typed.into_iter().map(|(_, typed)| typed).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stores(typed: &str) -> Result<Vec<(StoreRole, String)>> {
        let command = StoreList::augment_args(Command::new("doctor").no_binary_name(true));
        let matches = command.try_get_matches_from(typed.split(' ')).unwrap();
        let stores = StoreList::from_arg_matches(&matches).unwrap().into_stores()?;
        Ok(stores.into_iter().map(|it| (it.role, it.store.collection)).collect())
    }

    #[test]
    fn a_collection_is_that_of_the_store_before_it() {
        use StoreRole::{Source, Target};
        let of = |role, name: &str| (role, name.to_owned());
        let both = stores("--to dynamodb:// --table b --from dynamodb:// --collection a").unwrap();
        assert_eq!(both, [of(Target, "b"), of(Source, "a")]);
        let one = stores("--collection a --from dynamodb:// --to dynamodb://").unwrap();
        assert_eq!(one, [of(Source, "a"), of(Target, "a")]);
        for wrong in [
            "--from dynamodb:// --collection a --collection b",
            "--from dynamodb:// --collection a --to dynamodb:// --from dynamodb:// --collection b",
            "--collection a --from dynamodb:// --collection b",
        ] {
            assert_eq!(stores(wrong).unwrap_err().kind(), crate::ErrorKind::Usage, "{wrong}");
        }
    }
}
