use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::store::{Setting, Settings};
use super::{FIELDS, Field, FieldKind, ProjectAddress, ProjectStore, TENANT_RULES, closest};
use crate::{Error, Result};

/// A name or value with the place where it stands.
type Named<'a, 'i> = (&'a Spanned<std::borrow::Cow<'i, str>>, &'a Spanned<DeValue<'i>>);

/// Reads the stores of a project file, in the order of the file.
pub(super) fn stores(text: &str, path: &Path) -> Result<Vec<ProjectStore>> {
    let base = path.parent().map_or_else(PathBuf::new, Path::to_owned);
    let file = File { text, path, base: &base };
    let root = DeTable::parse(text)
        .map_err(|error| file.wrong(error.span().unwrap_or_default(), error.message()))?;
    let (mut defaults, mut tables) = (Settings::new(), Vec::new());
    for (name, value) in in_order(root.get_ref()) {
        match name.get_ref().as_ref() {
            "defaults" => defaults = file.settings(file.table(name, value)?, "[defaults]", false)?,
            "stores" => tables = in_order(file.table(name, value)?),
            other => return Err(file.unknown(name.span(), other, "the file", &["defaults", "stores"])),
        }
    }
    if tables.is_empty() {
        return Err(file
            .wrong(text.len()..text.len(), "there is no store")
            .hint("Add one: a table [stores.NAME] with source, collection and layout."));
    }
    tables.into_iter().map(|(name, value)| file.store(name, value, &defaults)).collect()
}

/// The file being read.
struct File<'a> {
    text: &'a str,
    path: &'a Path,
    base: &'a Path,
}

impl File<'_> {
    fn store(
        &self,
        name: &Spanned<std::borrow::Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
        defaults: &Settings,
    ) -> Result<ProjectStore> {
        let text = name.get_ref().as_ref();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if text.is_empty() || text.len() > 64 || text.starts_with('-') || !text.bytes().all(is_plain) {
            return Err(self
                .wrong(name.span(), &format!("{text:?} cannot be the name of a store"))
                .hint("Take up to 64 letters, digits, - and _: it names a folder, too."));
        }
        let own = self.settings(self.table(name, value)?, &format!("[stores.{text}]"), true)?;
        ProjectStore::new(text, self.base, defaults, own).map_err(|error| {
            error.context(format!("{}: the store {text} is not usable", self.place(&name.span())))
        })
    }

    fn table<'v, 'i>(
        &self,
        name: &Spanned<std::borrow::Cow<'_, str>>,
        value: &'v Spanned<DeValue<'i>>,
    ) -> Result<&'v DeTable<'i>> {
        value.get_ref().as_table().ok_or_else(|| {
            let name = name.get_ref();
            self.wrong(value.span(), &format!("{name} is no table")).hint(format!("Write it as [{name}]."))
        })
    }

    /// Reads the fields of one table.
    fn settings(&self, table: &DeTable<'_>, of: &str, is_store: bool) -> Result<Settings> {
        let mut settings = Settings::new();
        for (name, value) in in_order(table) {
            let typed = name.get_ref().as_ref();
            let Some(field) = Field::named(typed) else {
                let names: Vec<_> = FIELDS.iter().map(|field| field.name).collect();
                return Err(self.unknown(name.span(), typed, of, &names));
            };
            if field.is_of_one_store() && !is_store {
                return Err(self
                    .wrong(name.span(), &format!("{typed} belongs to one store and cannot be a default"))
                    .hint("Move it into the table of the store."));
            }
            let setting = self.setting(field, value)?;
            drop(settings.insert(field.name, setting));
        }
        let stated: Vec<_> = TENANT_RULES.into_iter().filter(|rule| is_stated(settings.get(rule))).collect();
        if let [first, second, ..] = stated[..] {
            return Err(self
                .wrong(table_span(table), &format!("{of} has two tenant rules, {first} and {second}"))
                .hint("Keep one of them."));
        }
        Ok(settings)
    }

    fn setting(&self, field: &Field, value: &Spanned<DeValue<'_>>) -> Result<Setting> {
        let read = match (field.kind, value.get_ref()) {
            (FieldKind::Address, DeValue::String(text)) => {
                let address = ProjectAddress::plain(text, self.base);
                return address.map(Setting::Address).map_err(|error| {
                    error.context(format!("{}: {} cannot be used", self.place(&value.span()), field.name))
                });
            }
            (FieldKind::Address, DeValue::Table(table)) => variable(table).map(Setting::Address),
            (FieldKind::Text, DeValue::String(text)) => filled(text).map(Setting::Text),
            (FieldKind::Path, DeValue::String(text)) => {
                filled(text).map(|text| Setting::Path(self.base.join(text)))
            }
            (FieldKind::Layout, DeValue::String(text)) => filled(text).map(|text| self.layout(text)),
            (FieldKind::Switch, DeValue::Boolean(on)) => Some(Setting::Switch(*on)),
            (FieldKind::Number, DeValue::Integer(_)) => {
                self.scalar::<u32>(value).filter(|number| *number > 0).map(Setting::Number)
            }
            (FieldKind::NumberOrAll, DeValue::Integer(_)) => {
                self.scalar::<u64>(value).map(|number| Setting::Text(number.to_string()))
            }
            (FieldKind::NumberOrAll, DeValue::String(text)) if text.as_ref() == "all" => {
                Some(Setting::Text("all".into()))
            }
            (FieldKind::Word(words), DeValue::String(text)) => {
                words.iter().find(|word| **word == text.as_ref()).map(|word| Setting::Text((*word).into()))
            }
            (FieldKind::List, DeValue::Array(values)) => values
                .iter()
                .map(|value| value.get_ref().as_str().and_then(filled).filter(|text| !text.contains(',')))
                .collect::<Option<Vec<_>>>()
                .map(Setting::List),
            (FieldKind::Pairs, DeValue::Table(table)) => in_order(table)
                .into_iter()
                .map(|(name, value)| {
                    let value = value.get_ref().as_str().and_then(filled);
                    value.map(|value| (name.get_ref().to_string(), value))
                })
                .collect::<Option<Vec<_>>>()
                .map(Setting::Pairs),
            _ => None,
        };
        read.ok_or_else(|| {
            self.wrong(value.span(), &format!("{} must be {}", field.name, field.kind.expected()))
        })
    }

    /// A layout's file is found from the project file's folder; a name stays one.
    fn layout(&self, text: String) -> Setting {
        let is_file = Path::new(&text).extension().is_some_and(|it| it.eq_ignore_ascii_case("toml"));
        Setting::Text(if is_file { self.base.join(text).to_string_lossy().into_owned() } else { text })
    }

    /// A number as it stands in the file, if it is one of that type.
    fn scalar<T: DeserializeOwned>(&self, value: &Spanned<DeValue<'_>>) -> Option<T> {
        let text = self.text.get(value.span())?;
        T::deserialize(toml::de::ValueDeserializer::parse(text).ok()?).ok()
    }

    fn unknown(&self, span: Range<usize>, typed: &str, of: &str, known: &[&str]) -> Error {
        let error = self.wrong(span, &format!("there is no {typed:?} in {of}"));
        match typed {
            "table" | "container" => return error.hint("Write `collection`, whatever the store calls it."),
            "from" => return error.hint("Write `source`."),
            "to" | "against" => return error.hint("Write `target`."),
            _ => {}
        }
        match closest(typed, known.iter().copied()) {
            Some(closest) => error.hint(format!("Write `{closest}`.")),
            None => error.hint(format!("There may be {}.", known.join(", "))),
        }
    }

    fn wrong(&self, span: Range<usize>, what: &str) -> Error {
        Error::usage(format!("{}: {}", self.place(&span), what.trim_end().replace('\n', "; ")))
    }

    /// The file with the line of a place in it.
    fn place(&self, span: &Range<usize>) -> String {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        format!("{}, line {}", self.path.display(), before.matches('\n').count() + 1)
    }
}

/// The members of a table as they stand in the file.
fn in_order<'a, 'i>(table: &'a DeTable<'i>) -> Vec<Named<'a, 'i>> {
    let mut members: Vec<_> = table.iter().collect();
    members.sort_by_key(|(name, _)| name.span().start);
    members
}

/// Where the first member of a table stands.
fn table_span(table: &DeTable<'_>) -> Range<usize> {
    in_order(table).first().map_or(0..0, |(name, _)| name.span())
}

fn filled(text: impl AsRef<str>) -> Option<String> {
    let text = text.as_ref();
    (!text.trim().is_empty()).then(|| text.to_owned())
}

/// `{ env = "VARIABLE" }`.
fn variable(table: &DeTable<'_>) -> Option<ProjectAddress> {
    let members = in_order(table);
    let [(name, value)] = members[..] else { return None };
    let variable = value.get_ref().as_str().filter(|_| name.get_ref() == "env")?;
    let is_name = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (!variable.is_empty() && is_name(variable)).then(|| ProjectAddress::Variable(variable.to_owned()))
}

fn is_stated(rule: Option<&Setting>) -> bool {
    !matches!(rule, None | Some(Setting::Switch(false)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORE: &str =
        "[stores.orders]\nsource = \"dynamodb://\"\ncollection = \"Events\"\nlayout = \"events\"\n";

    fn parse(text: &str) -> Result<Vec<ProjectStore>> {
        stores(text, Path::new("shop/rekey.toml"))
    }

    fn refused(more: &str) -> Error {
        let error = parse(&format!("{STORE}{more}\n")).expect_err(more);
        assert_eq!(error.kind(), crate::ErrorKind::Usage, "{more}");
        error
    }

    #[test]
    fn an_unknown_field_is_refused_with_its_line_and_the_closest_name() {
        let error = refused("tenant-mop = \"a.csv\"");
        assert_eq!(
            error.to_string(),
            "shop/rekey.toml, line 5: there is no \"tenant-mop\" in [stores.orders]"
        );
        assert_eq!(error.hints(), ["Write `tenant-map`."]);
        assert_eq!(refused("table = \"x\"").hints(), ["Write `collection`, whatever the store calls it."]);
        assert_eq!(parse("[stoers.a]\n").unwrap_err().hints(), ["Write `stores`."]);
    }

    #[test]
    fn a_value_that_is_none_is_refused_with_what_was_expected() {
        for (line, expected) in [
            ("max-wcu = 0", "a whole number from 1 on"),
            ("max-wcu = \"5\"", "a whole number from 1 on"),
            ("max-wcu = 5000000000", "a whole number from 1 on"),
            ("escaping = \"escape\"", "\"raw\" or \"escaped\""),
            ("create-target = \"yes\"", "true or false"),
            ("probe-streams = \"most\"", "a whole number or \"all\""),
            ("only-tenants = [\"a,b\"]", "a list of texts without commas"),
            ("set = { a = 1 }", "a table of names and texts"),
            ("tenant = \" \"", "a text"),
            ("target = { var = \"X\" }", "{ env = \"VARIABLE\" }"),
        ] {
            let error = refused(line);
            assert!(error.to_string().contains(expected), "{line}: {error}");
            assert!(error.to_string().starts_with("shop/rekey.toml, line 5: "), "{error}");
        }
    }

    #[test]
    fn bad_toml_is_refused_with_its_line() {
        assert!(refused("tenant = ").to_string().starts_with("shop/rekey.toml, line 5: "));
        assert!(refused("layout = \"sagas\"").to_string().contains("line 5"));
    }

    #[test]
    fn a_secret_is_refused_with_its_line_and_is_not_shown() {
        let error = refused("target = \"mongodb://ops:S3CRET@db/shop\"");
        assert!(error.to_string().starts_with("shop/rekey.toml, line 5: target cannot be used"), "{error}");
        assert!(!format!("{error:?}").contains("S3CRET"), "{error:?}");
    }

    #[test]
    fn two_tenant_rules_are_refused_and_a_stores_rule_replaces_the_default() {
        let error = refused("single-tenant = true\ntenant = \"acme\"");
        assert!(error.to_string().contains("two tenant rules, single-tenant and tenant"), "{error}");
        let stores =
            parse(&format!("[defaults]\ntenant-map = \"m.csv\"\n{STORE}tenant = \"acme\"\n")).unwrap();
        assert_eq!(stores[0].settings().get("tenant"), Some(&Setting::Text("acme".into())));
        assert_eq!(stores[0].settings().get("tenant-map"), None);
    }

    #[test]
    fn names_of_stores_can_name_folders() {
        for name in ["\"a/b\"", "\"..\"", "\"\"", "-a"] {
            let text = STORE.replace("orders", name);
            assert!(
                parse(&text).unwrap_err().to_string().contains("cannot be the name of a store"),
                "{name}"
            );
        }
    }

    #[test]
    fn a_collection_is_no_default_and_a_file_without_stores_is_none() {
        let error = parse("[defaults]\ncollection = \"a\"\n").unwrap_err();
        assert!(error.to_string().contains("cannot be a default"), "{error}");
        assert!(parse("[defaults]\n").unwrap_err().to_string().contains("there is no store"));
    }
}
