use std::fmt::Write as _;
use std::path::Path;

use super::{FIELDS, FILE_NAME, Field, FieldKind, Project, TENANT_RULES};
use crate::{Error, Result};

/// A commented project file with one store, as `rekey init` writes it.
#[derive(Clone, Debug)]
pub struct Template {
    /// The store's name.
    pub store: String,
    /// What is known of it: the name of a field and its value in TOML.
    pub fields: Vec<(&'static str, toml::Value)>,
}

const HEAD: &str = "\
# The stores of a migration, for `rekey --project`. Every field is called like the flag that it stands for;
# paths are relative to this file. No secret may stand here: credentials come from the environment, and a whole
# address may, too: source = { env = \"ORDERS_SOURCE\" }.
#
# `rekey init --print-schema` prints the JSON schema for editors.

# What the stores have alike. A store's own field takes the place of the default.
[defaults]
";

/// What a block shows, although nothing is known of it.
const OFFERED: [&str; 5] = ["target", "target-collection", "escaping", "create-target", "folder"];

impl Template {
    /// The whole file.
    pub fn file(&self) -> String {
        let mut text = HEAD.to_owned();
        for field in FIELDS.iter().filter(|field| !self.is_of_the_block(field)) {
            write_field(&mut text, field, None);
        }
        text + &self.block()
    }

    /// The table of the store alone, to be added to a file.
    pub fn block(&self) -> String {
        // Writing to a string cannot fail, here and below.
        let mut text = format!("\n# One collection, table or container.\n[stores.{}]\n", self.store);
        for field in FIELDS.iter().filter(|field| self.is_of_the_block(field)) {
            write_field(&mut text, field, self.value(field.name));
        }
        text
    }

    /// What stands in the file for a text: `$NAME` in place of an address is a variable of the environment.
    pub fn value_of(field: &str, text: String) -> toml::Value {
        match text.strip_prefix('$') {
            Some(name) if matches!(field, "source" | "target") => {
                let name = toml::Value::String(name.to_owned());
                toml::Value::Table([("env".to_owned(), name)].into_iter().collect())
            }
            _ => toml::Value::String(text),
        }
    }

    /// Tells whether a field may hold a value.
    ///
    /// # Errors
    /// Usage: it may not, as when it stands in a file.
    pub fn accepts(field: &'static str, value: &toml::Value) -> Result<()> {
        let text = |text: &str| toml::Value::String(text.to_owned());
        let mut fields =
            vec![("source", text("dynamodb://")), ("collection", text("c")), ("layout", text("events"))];
        fields.retain(|(name, _)| *name != field);
        fields.push((field, value.clone()));
        let tried = Self { store: "store".to_owned(), fields };
        let project = Project::parse(&tried.file(), Path::new(FILE_NAME));
        project.map(drop).map_err(|error| {
            let cause = error.messages().pop().unwrap_or_default();
            let refused = Error::usage(format!("{field} cannot be that: {cause}"));
            error.hints().iter().fold(refused, |refused, hint| refused.hint(hint.clone()))
        })
    }

    fn value(&self, name: &str) -> Option<&toml::Value> {
        self.fields.iter().find(|(field, _)| *field == name).map(|(_, value)| value)
    }

    fn is_of_the_block(&self, field: &Field) -> bool {
        let offers_rules = !TENANT_RULES.iter().any(|rule| self.value(rule).is_some());
        field.is_of_one_store()
            || self.value(field.name).is_some()
            || OFFERED.contains(&field.name)
            || (offers_rules && TENANT_RULES.contains(&field.name))
    }
}

/// Writes a field with what it says; one without a value is commented out.
fn write_field(text: &mut String, field: &Field, value: Option<&toml::Value>) {
    let mark = if value.is_some() { "" } else { "# " };
    let value = value.cloned().unwrap_or_else(|| example(field));
    let assigned = format!("{mark}{} = {value}", field.name);
    let _infallible = writeln!(text, "{assigned:42}  # {}", field.about);
}

/// What might stand in a field.
fn example(field: &Field) -> toml::Value {
    let text = |text: &str| toml::Value::String(text.to_owned());
    match (field.name, field.kind) {
        ("target-collection", _) => text("events-new"),
        ("tenant", _) => text("acme"),
        ("tenant-map", _) => text("tenants.csv"),
        ("tenant-field", _) => text("metadata#/tenantId"),
        ("known-tenants", _) => text("tenants.txt"),
        (_, FieldKind::Address) => text("mongodb://localhost:27017/excalibur"),
        (_, FieldKind::Layout | FieldKind::Text) => text("events"),
        (name, FieldKind::Path) => text(name),
        (_, FieldKind::Switch) => toml::Value::Boolean(true),
        ("concurrency", _) => toml::Value::Integer(8),
        (_, FieldKind::Number | FieldKind::NumberOrAll) => toml::Value::Integer(500),
        (_, FieldKind::Word(words)) => text(words.first().copied().unwrap_or_default()),
        (_, FieldKind::List) => toml::Value::Array(vec![text("acme"), text("globex")]),
        (_, FieldKind::Pairs) => {
            toml::Value::Table([("partition_key".to_owned(), text("PK"))].into_iter().collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Setting;
    use super::*;

    fn template() -> Template {
        let text = |text: &str| toml::Value::String(text.into());
        Template {
            store: "orders".into(),
            fields: vec![
                ("source", text("dynamodb://eu-west-1")),
                ("collection", text("Ev\"ents")),
                ("layout", text("events")),
            ],
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let project = Project::parse(&template().file(), Path::new("rekey.toml")).unwrap();
        let store = project.store("orders").unwrap();
        assert_eq!(store.collection(), "Ev\"ents");
        assert_eq!(store.settings().len(), 3, "{:?}", store.settings());
    }

    #[test]
    fn every_field_is_shown_and_its_example_is_accepted() {
        let file = template().file();
        for field in FIELDS {
            let shown = file
                .lines()
                .filter(|line| line.trim_start_matches("# ").starts_with(&format!("{} = ", field.name)));
            assert_eq!(shown.count(), 1, "{}", field.name);
            let mut template = template();
            template.fields.retain(|(name, _)| *name != field.name);
            template.fields.push((field.name, example(field)));
            let project = Project::parse(&template.file(), Path::new("rekey.toml")).unwrap();
            let settings = project.stores()[0].settings();
            assert!(settings.contains_key(field.name), "{}", field.name);
        }
    }

    #[test]
    fn a_block_can_be_added_to_a_file() {
        let second = Template { store: "carts".into(), ..template() };
        let text = template().file() + &second.block();
        let project = Project::parse(&text, Path::new("rekey.toml")).unwrap();
        assert_eq!(project.stores().len(), 2);
        assert!(!matches!(project.stores()[1].settings().get("target"), Some(Setting::Address(_))));
    }
}
