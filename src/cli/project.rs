//! `--project FILE --store NAME`: the flags of a command, taken from the project file.
//!
//! The one place that knows how the fields of a project and the flags of the commands go together. What stands in the
//! project is put behind what was typed, as flags; from there on the command line is read as ever. So a project can say
//! nothing that flags could not, and every check is that of the flags.

mod part;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

use crate::error::{Error, Result};
use crate::project::{FILE_NAME, Project, ProjectStore, Setting, TENANT_RULES};
use part::Takes;

const HEADING: &str = "Project";

/// The arguments of a command with what a project adds to them.
pub(super) struct Expanded {
    pub arguments: Vec<OsString>,
    pub origin: Option<Origin>,
}

/// Where added flags are from, for whoever finds one that they did not type in an error.
pub(super) struct Origin {
    project: PathBuf,
    store: String,
    flags: Vec<String>,
}

impl Origin {
    /// Adds to an error where the flags are from.
    pub(super) fn explain(&self, error: Error) -> Error {
        error.hint(self.hint())
    }

    fn hint(&self) -> String {
        format!("From the store {} of {}: {}.", self.store, self.project.display(), self.flags.join(" "))
    }
}

/// One flag, or an archive, that a project gives.
struct Given {
    argument: OsString,
    shown: String,
}

/// The flag that names a project file.
pub(super) fn project_arg() -> Arg {
    Arg::new("project")
        .long("project")
        .value_name("FILE")
        .value_parser(clap::value_parser!(PathBuf))
        .help_heading(HEADING)
        .help("Take the flags that are not given from a store of this project file; rekey.toml with --store alone")
}

/// Adds the flags to every command that takes something from a project.
pub(super) fn offer(command: Command) -> Command {
    let store = Arg::new("store")
        .long("store")
        .value_name("NAME")
        .help_heading(HEADING)
        .help("The store of the project file; may be left out where there is only one");
    command.mut_subcommands(|verb| match Takes::of(verb.get_name()) {
        Some(_) => verb.args([project_arg(), store.clone()]),
        None => verb,
    })
}

/// Puts the flags that a project gives behind those that were typed.
///
/// # Errors
/// Usage: the project file cannot be used, or has no such store.
pub(super) fn expand(typed: Vec<OsString>, command: &Command) -> Result<Expanded> {
    let unchanged = |arguments| Ok(Expanded { arguments, origin: None });
    // What is missing is what the project is to give; every other mistake is found when all flags are read.
    let Ok(matches) = command.clone().ignore_errors(true).try_get_matches_from(&typed) else {
        return unchanged(typed);
    };
    let Some((verb, matches)) = matches.subcommand() else { return unchanged(typed) };
    let Some(takes) = Takes::of(verb) else { return unchanged(typed) };
    let file = matches.get_one::<PathBuf>("project");
    let name = matches.get_one::<String>("store");
    if file.is_none() && name.is_none() {
        return unchanged(typed);
    }
    let project = Project::load(file.map_or(Path::new(FILE_NAME), PathBuf::as_path))?;
    let store = match name {
        Some(name) => project.store(name)?,
        None => project.only_store()?,
    };
    let Some(verb) = command.find_subcommand(verb) else { return unchanged(typed) };
    let is_typed = |flag: &str| is_typed(verb, matches, flag);
    if takes.writes_an_archive() && !is_typed("out") && !is_typed("dry-run") {
        make_folder(store)?;
    }
    let given = given(takes, verb, store, &is_typed)?;
    let origin = Origin {
        project: project.path().to_owned(),
        store: store.name().to_owned(),
        flags: given.iter().map(|it| it.shown.clone()).collect(),
    };
    Ok(Expanded { arguments: put_behind(typed, given), origin: Some(origin) })
}

/// The whole command line of a verb as a project gives it, and how it is shown.
///
/// # Errors
/// Usage: a variable that an address is in is not set.
pub(super) fn command_line(
    verb: &str,
    command: &Command,
    project: &Path,
    store: &ProjectStore,
) -> Result<Expanded> {
    let missing = || Error::bug(format!("{verb} takes nothing from a project"));
    let takes = Takes::of(verb).ok_or_else(missing)?;
    let given = given(takes, command.find_subcommand(verb).ok_or_else(missing)?, store, &|_| false)?;
    let origin = Origin {
        project: project.to_owned(),
        store: store.name().to_owned(),
        flags: given.iter().map(|it| it.shown.clone()).collect(),
    };
    let start = vec![OsString::from("rekey"), OsString::from(verb)];
    Ok(Expanded { arguments: put_behind(start, given), origin: Some(origin) })
}

/// Makes the folder of a store, which archives are written into.
pub(super) fn make_folder(store: &ProjectStore) -> Result<()> {
    let folder = store.folder();
    let mut builder = std::fs::DirBuilder::new();
    // Archives hold production data.
    #[cfg(unix)]
    let _ = std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder).map_err(|error| Error::io("create the folder", folder, error))
}

/// Whether a flag, or the archives if it is empty, were typed.
fn is_typed(verb: &Command, matches: &ArgMatches, flag: &str) -> bool {
    let mut arguments = verb.get_arguments();
    let argument =
        arguments.find(|it| if flag.is_empty() { it.is_positional() } else { it.get_long() == Some(flag) });
    argument.is_some_and(|it| matches.value_source(it.get_id().as_str()) == Some(ValueSource::CommandLine))
}

/// Everything that a store gives to a verb and that was not typed.
fn given(
    takes: &Takes,
    verb: &Command,
    store: &ProjectStore,
    is_typed: &dyn Fn(&str) -> bool,
) -> Result<Vec<Given>> {
    let mut all = Vec::new();
    // Archives belong together: where one was typed, none is taken from the project.
    let archives_typed = takes.parts.iter().any(|(flag, part)| part.is_archive() && is_typed(flag));
    if takes.reads_an_archive_instead() && is_typed("") {
        return Ok(all);
    }
    for (flag, part) in takes.parts {
        let writes_nothing = part.is_output() && is_typed("dry-run");
        if is_typed(flag) || writes_nothing || (part.is_archive() && archives_typed) {
            continue;
        }
        for (value, shown) in part.values(store)? {
            all.push(Given::new(flag, Some((value.as_os_str(), shown))));
        }
    }
    let rule_typed = TENANT_RULES.iter().any(|rule| is_typed(rule));
    let has_flag = |name: &str| verb.get_arguments().any(|it| it.get_long() == Some(name));
    for (field, setting) in store.settings() {
        let is_left_out = is_typed(field) || (rule_typed && TENANT_RULES.contains(field));
        if takes.takes_by_name(field, store) && has_flag(field) && !is_left_out {
            all.extend(Given::of_setting(field, setting));
        }
    }
    Ok(all)
}

impl Given {
    /// A flag with its value; an archive where the flag is empty.
    fn new(flag: &str, value: Option<(&OsStr, String)>) -> Self {
        let Some((value, shown)) = value else {
            let flag = format!("--{flag}");
            return Self { argument: flag.clone().into(), shown: flag };
        };
        if flag.is_empty() {
            return Self { argument: value.to_owned(), shown };
        }
        let mut argument = OsString::from(format!("--{flag}="));
        argument.push(value);
        Self { argument, shown: format!("--{flag} {shown}") }
    }

    /// The flags that a field of the same name stands for.
    fn of_setting(field: &str, setting: &Setting) -> Vec<Self> {
        let one = |text: &str| Self::new(field, Some((OsStr::new(text), text.to_owned())));
        match setting {
            Setting::Switch(false) | Setting::Address(_) => Vec::new(),
            Setting::Switch(true) => vec![Self::new(field, None)],
            Setting::Text(text) => vec![one(text)],
            Setting::Number(number) => vec![one(&number.to_string())],
            Setting::Path(path) => {
                vec![Self::new(field, Some((path.as_os_str(), path.display().to_string())))]
            }
            Setting::List(texts) => texts.iter().map(|text| one(text)).collect(),
            Setting::Pairs(pairs) => {
                pairs.iter().map(|(name, value)| one(&format!("{name}={value}"))).collect()
            }
        }
    }
}

/// Puts arguments behind the others, but before a `--`, behind which no flag is one.
fn put_behind(mut typed: Vec<OsString>, given: Vec<Given>) -> Vec<OsString> {
    let end = typed.iter().position(|word| word == "--").unwrap_or(typed.len());
    let behind = typed.split_off(end);
    typed.extend(given.into_iter().map(|it| it.argument));
    typed.extend(behind);
    typed
}

#[cfg(test)]
mod tests {
    use super::part::VERBS;
    use super::*;

    const PROJECT: &str = r#"
[stores.orders]
source            = "dynamodb://eu-west-1"
collection        = "Events"
target-collection = "New"
layout            = "events"
tenant            = "-acme"
set               = { partition_key = "PK=2" }
only-tenants      = ["a", "b"]
create-target     = true
in-place          = false
max-wcu           = 5
"#;

    fn line(verb: &str) -> Vec<String> {
        let project = Project::parse(PROJECT, Path::new("rekey.toml")).unwrap();
        let expanded =
            command_line(verb, &super::super::command(), project.path(), &project.stores()[0]).unwrap();
        expanded.arguments.iter().map(|it| it.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn every_verb_gets_what_it_takes_and_nothing_else() {
        assert_eq!(
            line("export"),
            [
                "rekey",
                "export",
                "--from=dynamodb://eu-west-1",
                "--collection=Events",
                "--out=orders/legacy.ndjson.zst",
                "--layout=events",
                "--set=partition_key=PK=2"
            ]
        );
        assert_eq!(
            line("rekey"),
            [
                "rekey",
                "rekey",
                "orders/legacy.ndjson.zst",
                "--out=orders/rekeyed.ndjson.zst",
                "--only-tenants=a",
                "--only-tenants=b",
                "--tenant=-acme"
            ]
        );
        assert_eq!(
            line("import"),
            [
                "rekey",
                "import",
                "orders/rekeyed.ndjson.zst",
                "--to=dynamodb://eu-west-1",
                "--collection=New",
                "--create-target",
                "--max-wcu=5"
            ]
        );
        assert_eq!(
            line("prune")[2..],
            [
                "orders/legacy.ndjson.zst",
                "--rekeyed=orders/rekeyed.ndjson.zst",
                "--from=dynamodb://eu-west-1",
                "--collection=Events",
                "--twins-in=dynamodb://eu-west-1",
                "--twins-collection=New",
                "--max-wcu=5"
            ]
        );
    }

    #[test]
    fn what_a_project_gives_is_read_like_flags() {
        for takes in VERBS {
            let arguments = line(takes.verb);
            let parsed = super::super::parse(arguments.iter().map(OsString::from).collect());
            assert_eq!(parsed.unwrap().verb.name(), takes.verb);
        }
    }

    fn expanded(typed: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rekey.toml");
        std::fs::write(&file, PROJECT).unwrap();
        let typed = typed.split(' ').map(OsString::from);
        let typed = typed.chain(["--project".into(), file.into_os_string()]).collect();
        let expanded = expand(typed, &super::super::command()).unwrap();
        let prefix = format!("{}/", folder.path().display());
        let all = expanded.arguments.iter().map(|it| it.to_string_lossy().replace(&prefix, ""));
        all.collect()
    }

    #[test]
    fn what_was_typed_wins() {
        let line = expanded("rekey rekey --single-tenant --out mine.ndjson");
        assert!(!line.iter().any(|it| it.starts_with("--tenant") || it.starts_with("--out=")), "{line:?}");
        let line = expanded("rekey import --to mongodb://h/d --create-target");
        assert!(!line.iter().any(|it| it.starts_with("--to=")), "{line:?}");
        assert_eq!(line.iter().filter(|it| *it == "--create-target").count(), 1);
    }

    #[test]
    fn where_an_archive_was_typed_no_other_is_taken() {
        let line = expanded("rekey verify other.ndjson");
        assert!(!line.iter().any(|it| it.starts_with("--legacy") || it.contains("rekeyed")), "{line:?}");
        assert!(line.iter().any(|it| it == "--against=dynamodb://eu-west-1"), "{line:?}");
        // What is written is no archive that belongs to another one.
        let line = expanded("rekey rekey other.ndjson");
        assert!(line.iter().any(|it| it.starts_with("--out=")), "{line:?}");
    }

    #[test]
    fn without_a_project_nothing_is_changed() {
        let typed: Vec<OsString> = ["rekey", "export", "--out", "a"].map(OsString::from).into();
        let same = expand(typed.clone(), &super::super::command()).unwrap();
        assert!(same.origin.is_none() && same.arguments == typed);
    }
}
