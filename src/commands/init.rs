//! `rekey init`: a project file, written with what is known of a store and what an operator answers.

use std::io::Write as _;
use std::path::Path;

use toml::Value;

use crate::options::InitOptions;
use crate::project::{Project, TENANT_RULES, Template};
use crate::report::{InitReport, Outcome, Report, save};
use crate::signal::StopSignal;
use crate::ui::Ui;
use crate::{Error, Result};

/// What a store cannot do without, and what is asked for it.
const NEEDED: [(&str, &str); 3] = [
    (
        "source",
        "Address of the store to read (mongodb://…, dynamodb://…, firestore://…, cosmosdb://…, $VARIABLE):",
    ),
    ("collection", "Collection, table or container to read:"),
    ("layout", "Layout (events, sagas, a full name or a TOML file):"),
];

/// Writes the file, or adds the store to it.
pub async fn run(options: InitOptions, ui: &Ui, stop: &StopSignal) -> Result<Outcome> {
    let InitOptions { project, store, fields } = options;
    refuse_without_flags(store.as_deref(), &fields, ui)?;
    let mut template = Template { store: store.unwrap_or_default(), fields };
    if ui.can_ask() {
        ask(&mut template, ui, stop).await?;
    }
    let earlier = match std::fs::read_to_string(&project) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(Error::io("read", &project, error)),
    };
    let text = match &earlier {
        Some(earlier) => {
            refuse_known(earlier, &project, &template.store)?;
            let end = if earlier.ends_with('\n') { "" } else { "\n" };
            format!("{earlier}{end}{}", template.block())
        }
        None => template.file(),
    };
    let read = Project::parse(&text, &project).map_err(|error| error.context("Nothing was written"))?;
    let store = read.store(&template.store)?.name().to_owned();
    write(&project, &text, earlier.is_some())?;
    let report = InitReport { project, store, created: earlier.is_none() };
    Ok(Outcome::done(Report::Init(report)))
}

/// Writes the file: a new one only where there is none, another one in place of the old and with its permissions.
fn write(project: &Path, text: &str, replaces: bool) -> Result<()> {
    let failed = |source| Error::io("write", project, source);
    if replaces {
        let permissions = std::fs::metadata(project).map_err(failed)?.permissions();
        save(text.trim_end(), project)?;
        return std::fs::set_permissions(project, permissions).map_err(failed);
    }
    let mut file = std::fs::File::create_new(project).map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)
}

/// Where nobody can be asked, the flags must say all that is needed.
fn refuse_without_flags(store: Option<&str>, fields: &[(&str, Value)], ui: &Ui) -> Result<()> {
    let is_given = |name: &str| fields.iter().any(|(field, _)| *field == name);
    let mut missing: Vec<String> =
        NEEDED.iter().filter(|(name, _)| !is_given(name)).map(|(name, _)| format!("--{name}")).collect();
    if store.is_none() {
        missing.insert(0, "--store".to_owned());
    }
    if missing.is_empty() || ui.can_ask() {
        return Ok(());
    }
    Err(Error::usage(format!("Nobody can be asked here, and {} not given", listed(&missing)))
        .hint(format!("Pass {}; or run it on a terminal, where it asks.", missing.join(" "))))
}

/// `--store is`, `--store and --layout are`.
fn listed(flags: &[String]) -> String {
    match flags {
        [one] => format!("{one} is"),
        several => format!("{} are", several.join(", ")),
    }
}

/// Asks for what is needed and not given, and for the target and the tenant rule where neither flag was given.
async fn ask(template: &mut Template, ui: &Ui, stop: &StopSignal) -> Result<()> {
    if template.store.is_empty() {
        template.store =
            needed("Name of the store in the file (letters, digits, - and _):", ui, stop).await?;
    }
    let mut asked = false;
    for (name, question) in NEEDED {
        if !is_known(template, name) {
            template.fields.push((name, acceptable(name, question, ui, stop).await?));
            asked = true;
        }
    }
    if !asked {
        return Ok(()); // Whoever says all that is needed by flags has said what they want.
    }
    let optional = [
        ("target", "Address of the store to write (empty: the same):"),
        ("target-collection", "Collection, table or container to write (empty: the same):"),
    ];
    for (name, question) in optional {
        if !is_known(template, name) {
            let answer = optional_value(name, question, ui, stop).await?;
            template.fields.extend(answer.map(|value| (name, value)));
        }
    }
    if TENANT_RULES.iter().any(|rule| is_known(template, rule)) {
        return Ok(());
    }
    let question =
        "Tenant: `single`, `untenanted`, `id:ID`, `map:FILE.csv`, `field:PATH` (empty: decided later):";
    let answer = ui.ask(question, stop).await?;
    if let Some(rule) = rule(&answer)? {
        template.fields.push(rule);
    }
    Ok(())
}

fn is_known(template: &Template, name: &str) -> bool {
    template.fields.iter().any(|(field, _)| *field == name)
}

/// The same, where no answer is one, too.
async fn optional_value(
    name: &'static str,
    question: &str,
    ui: &Ui,
    stop: &StopSignal,
) -> Result<Option<Value>> {
    loop {
        let answer = ui.ask(question, stop).await?;
        if answer.is_empty() {
            return Ok(None);
        }
        let value = Template::value_of(name, answer);
        match Template::accepts(name, &value) {
            Ok(()) => return Ok(Some(value)),
            Err(error) => ui.error(&error),
        }
    }
}

/// Asks until the answer is one that the field takes, so that a mistyped address costs no other answer.
async fn acceptable(name: &'static str, question: &str, ui: &Ui, stop: &StopSignal) -> Result<Value> {
    loop {
        let value = Template::value_of(name, needed(question, ui, stop).await?);
        match Template::accepts(name, &value) {
            Ok(()) => return Ok(value),
            Err(error) => ui.error(&error),
        }
    }
}

async fn needed(question: &str, ui: &Ui, stop: &StopSignal) -> Result<String> {
    loop {
        let answer = ui.ask(question, stop).await?;
        if !answer.is_empty() {
            return Ok(answer);
        }
    }
}

/// The tenant rule that an answer names.
fn rule(answer: &str) -> Result<Option<(&'static str, Value)>> {
    let text = |text: &str| Value::String(text.to_owned());
    Ok(Some(match answer.split_once(':') {
        None if answer.is_empty() => return Ok(None),
        None if answer == "single" => ("single-tenant", Value::Boolean(true)),
        None if answer == "untenanted" => ("untenanted", Value::Boolean(true)),
        Some(("id", id)) if !id.is_empty() => ("tenant", text(id)),
        Some(("map", file)) if !file.is_empty() => ("tenant-map", text(file)),
        Some(("field", path)) if !path.is_empty() => ("tenant-field", text(path)),
        _ => {
            return Err(Error::usage(format!("{answer:?} is no tenant rule; nothing was written"))
                .hint("Answer single, untenanted, id:ID, map:FILE.csv or field:PATH."));
        }
    }))
}

/// A store that is in the file already stays what it is.
fn refuse_known(text: &str, project: &Path, store: &str) -> Result<()> {
    let known = Project::parse(text, project)?;
    match known.stores().iter().find(|it| it.name() == store) {
        None => Ok(()),
        Some(_) => Err(Error::usage(format!(
            "{} has a store {store:?} already; nothing was written",
            project.display()
        ))
        .hint("Choose another name, or edit the file.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_answered_in_one_word() {
        assert_eq!(rule("").unwrap(), None);
        assert_eq!(rule("single").unwrap(), Some(("single-tenant", Value::Boolean(true))));
        assert_eq!(rule("id:a:b").unwrap(), Some(("tenant", Value::String("a:b".into()))));
        for wrong in ["acme", "id:", "map", "table:x"] {
            assert_eq!(rule(wrong).unwrap_err().kind(), crate::ErrorKind::Usage, "{wrong}");
        }
    }
}
