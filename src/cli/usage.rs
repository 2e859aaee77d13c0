use std::io::ErrorKind as IoErrorKind;

use clap::error::{ContextKind, ContextValue, ErrorKind as ClapErrorKind};

use super::plain_ui;
use super::project::Origin;
use crate::error::{Error, ErrorKind};
use crate::exit::ExitStatus;

/// Prints help, version or a usage error as clap found it, and says how the run ended.
pub(super) fn conclude(error: &clap::Error, origin: Option<&Origin>) -> ExitStatus {
    match error.kind() {
        ClapErrorKind::DisplayHelp | ClapErrorKind::DisplayVersion => print(error, ExitStatus::Done),
        ClapErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            print(error, ExitStatus::Failed(ErrorKind::Usage))
        }
        _ => {
            let error =
                origin.map_or_else(|| usage_error(error), |origin| origin.explain(usage_error(error)));
            plain_ui().error(&error);
            ExitStatus::from(&error)
        }
    }
}

fn print(text: &clap::Error, status: ExitStatus) -> ExitStatus {
    match text.print() {
        Ok(()) => status,
        Err(source) if source.kind() == IoErrorKind::BrokenPipe => ExitStatus::Failed(ErrorKind::ClosedPipe),
        Err(_) => ExitStatus::Failed(ErrorKind::File),
    }
}

/// Puts clap's error into our own words and order: one sentence, then what to do.
pub(super) fn usage_error(error: &clap::Error) -> Error {
    let rendered = error.render().to_string();
    let mut usage = Error::usage(sentence(&rendered));
    for hint in suggestions(error) {
        usage = usage.hint(hint);
    }
    if error.kind() == ClapErrorKind::MissingRequiredArgument && rendered.contains("--single-tenant") {
        usage = usage.hint(
            "Read the tenant term from your own host before you choose: `rekey rekey --help` shows how.",
        );
    }
    usage.hint(format!("Run `{} --help` for all flags and examples.", command_of(&rendered)))
}

/// The first paragraph as one sentence.
fn sentence(rendered: &str) -> String {
    let paragraph = rendered.split("\n\n").next().unwrap_or_default();
    let text = paragraph.strip_prefix("error: ").unwrap_or(paragraph);
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut sentence = lines.next().unwrap_or_default().to_owned();
    for (index, line) in lines.enumerate() {
        let joint = if index == 0 || line.starts_with('[') { " " } else { ", " };
        sentence.push_str(joint);
        sentence.push_str(line);
    }
    let mut characters = sentence.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => "The arguments are not understood".into(),
    }
}

/// The flags, values and commands that clap finds close to what was typed.
fn suggestions(error: &clap::Error) -> Vec<String> {
    let kinds = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    let suggested = kinds.into_iter().filter_map(|kind| error.get(kind)).flat_map(|value| match value {
        ContextValue::String(one) => vec![one.clone()],
        ContextValue::Strings(several) => several.clone(),
        _ => Vec::new(),
    });
    let mut suggested: Vec<String> = suggested.map(|word| format!("`{word}`")).collect();
    suggested.reverse(); // Clap puts the closest last.
    if suggested.is_empty() { Vec::new() } else { vec![format!("Try {}.", suggested.join(" or "))] }
}

/// The command that was being read, from clap's usage line.
fn command_of(rendered: &str) -> String {
    let usage = rendered.lines().find_map(|line| line.strip_prefix("Usage: ")).unwrap_or("rekey");
    let words: Vec<&str> =
        usage.split_whitespace().take_while(|word| word.starts_with(char::is_lowercase)).collect();
    if words.is_empty() { "rekey".into() } else { words.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::super::Cli;
    use super::*;
    use clap::Parser as _;

    fn refused(arguments: &str) -> Error {
        usage_error(&Cli::try_parse_from(arguments.split(' ')).unwrap_err())
    }

    #[test]
    fn a_mistyped_flag_gets_the_closest_one() {
        let error = refused("rekey export --form mongodb://h/d");
        assert_eq!(error.to_string(), "Unexpected argument '--form' found");
        assert_eq!(error.hints(), ["Try `--from`.", "Run `rekey export --help` for all flags and examples."]);
    }

    #[test]
    fn a_mistyped_value_gets_the_closest_one() {
        let error = refused("rekey rekey a --out b --untenanted --escaping escape");
        assert_eq!(
            error.to_string(),
            "Invalid value 'escape' for '--escaping <HOW>' [possible values: raw, escaped]"
        );
        assert_eq!(error.hints()[0], "Try `escaped`.");
    }

    #[test]
    fn a_mistyped_command_gets_the_closest_one() {
        let error = refused("rekey exprt");
        assert_eq!(
            error.hints(),
            ["Try `export` or `import`.", "Run `rekey --help` for all flags and examples."]
        );
    }

    #[test]
    fn without_a_tenant_rule_the_hint_sends_to_the_host() {
        let error = refused("rekey rekey a --out b");
        assert!(error.to_string().contains("--single-tenant"), "{error}");
        assert!(error.hints()[0].contains("from your own host"), "{error:?}");
    }

    #[test]
    fn an_address_in_the_wrong_place_does_not_show_its_password() {
        let error = refused("rekey demo mongodb+srv://ops:S3C@RET@db.example.com/shop");
        assert_eq!(error.to_string(), "Unexpected argument 'mongodb+srv://…@db.example.com/shop' found");
    }
}
