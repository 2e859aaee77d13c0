use std::collections::BTreeMap;

use serde::Deserialize;

use super::Layout;
use super::parameters::{Parameter, substitute};
use crate::{Error, Result};

/// A layout's own text, kept so that its parameters can be set later.
#[derive(Clone, Debug, Default)]
pub(super) struct Source {
    text: Box<str>,
    origin: Box<str>,
}

impl Layout {
    /// Reads a layout file; `origin` is what messages call it.
    ///
    /// # Errors
    /// A usage error that names the file and the key: bad TOML, an unknown key, a value of the wrong type, a
    /// rule that does not fit the others.
    pub fn parse(text: &str, origin: &str) -> Result<Self> {
        Self::read(Source { text: text.into(), origin: origin.into() }, &[])
    }

    /// Sets parameters, each a name and its value; the others keep theirs.
    ///
    /// # Errors
    /// A usage error for a name that is no parameter of this layout, with those that are, and for a value
    /// that cannot be a name.
    pub fn with_parameters(self, values: &[(String, String)]) -> Result<Self> {
        if let Some((name, _)) = values.iter().find(|(name, _)| !self.parameters.contains_key(name)) {
            return Err(unknown_parameter(&self, name));
        }
        if let Some((name, value)) =
            values.iter().find(|(_, value)| value.is_empty() || value.starts_with('$'))
        {
            return Err(Error::usage(format!("The parameter {name:?} cannot be {value:?}")));
        }
        let standing = self.parameters.into_iter().map(|(name, parameter)| (name, parameter.value));
        let values: Vec<_> = standing.chain(values.iter().cloned()).collect();
        Self::read(self.source, &values)
    }

    fn read(source: Source, values: &[(String, String)]) -> Result<Self> {
        // Read once as it stands, for messages with line numbers; then with the parameters' values in place.
        let written: Self =
            toml::from_str(&source.text).map_err(|error| at_line(&source, error.message(), error.span()))?;
        let mut parameters = written.parameters;
        for (name, parameter) in &mut parameters {
            let set = values.iter().rev().find(|(set, _)| set == name).map(|(_, value)| value);
            parameter.value.clone_from(set.unwrap_or(&parameter.default));
        }

        let mut layout = resolve(&source, &parameters)?;
        layout.parameters = parameters;
        layout.tidy().and_then(|()| layout.check()).map_err(|what| invalid(&source.origin, &what))?;
        layout.source = source;
        Ok(layout)
    }
}

/// Reads the layout with the parameters' values where it names them.
fn resolve(source: &Source, parameters: &BTreeMap<String, Parameter>) -> Result<Layout> {
    let table: toml::Table =
        toml::from_str(&source.text).map_err(|error| at_line(source, error.message(), error.span()))?;
    let mut value = toml::Value::Table(table);
    substitute(&mut value, parameters).map_err(|name| {
        let known = parameters.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        invalid(&source.origin, &format!("${name}: no such parameter; [parameters] has {known}"))
    })?;
    Layout::deserialize(value).map_err(|error| invalid(&source.origin, error.message()))
}

fn invalid(origin: &str, what: &str) -> Error {
    Error::usage(format!("The layout {origin} cannot be used: {what}"))
}

fn at_line(source: &Source, message: &str, span: Option<std::ops::Range<usize>>) -> Error {
    let before = span.and_then(|span| source.text.get(..span.start));
    let line = before.map(|before| format!("line {}: ", before.matches('\n').count() + 1));
    invalid(&source.origin, &format!("{}{message}", line.unwrap_or_default()))
}

fn unknown_parameter(layout: &Layout, name: &str) -> Error {
    let known: Vec<_> = layout
        .parameters
        .iter()
        .map(|(name, it)| format!("{name} ({}, now {:?})", it.about, it.value))
        .collect();
    let hint = if known.is_empty() {
        "Leave --set out: this layout has no parameters".to_owned()
    } else {
        format!("Choose one of: {}", known.join("; "))
    };
    Error::usage(format!("The layout {} has no parameter {name:?}", layout.name)).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(name: &str, from: &str, to: &str) -> Result<Layout> {
        let text = Layout::builtin_text(name).unwrap();
        assert!(text.contains(from), "{from}");
        Layout::parse(&text.replacen(from, to, 1), "mine.toml")
    }

    #[test]
    fn what_is_wrong_is_told_with_the_file_and_the_key() {
        let mut wrong = Vec::new();
        for (name, from, to, what) in [
            ("mongodb-events", "event_id ", "eventid ", "line 34: unknown field `eventid`"),
            ("mongodb-events", "at = \"version\" }", "at = \"version\", iss = 1 }", "unknown field `iss`"),
            ("mongodb-events", "store = \"mongodb\"", "store = \"mongo\"", "unknown variant `mongo`"),
            ("mongodb-events", "[stream]", "[stream", "line 31: unclosed table"),
            ("mongodb-events", "\"{id}\"", "\"{id\"", "the braces of \"{id\" do not match"),
            ("mongodb-events", "\"{id}\"", "\"{name}\"", "fields.id: bare: the key at \"streamId\""),
            ("mongodb-events", "$counter_collection", "$counter", "$counter: no such parameter"),
            ("mongodb-events", "bare = \"streamId\"", "bare = \"stream\"", "no [[key]]"),
            ("mongodb-events", "{tenant|e}:{id|e}", "{tenant|e}{id|e}", "fields.id: bare"),
            (
                "dynamodb-events",
                "\"{type}:{id}\"",
                "\"{kind}:{id}\"",
                "key[0].legacy: {kind} is none of [fields]",
            ),
            (
                "dynamodb-events",
                "\"{type}:{id}\"",
                "\"{tenant}:{id}\"",
                "key[0].legacy: a tenant is not known",
            ),
            ("dynamodb-events", "\"{type}:{id}\"", "\"{type|e}:{id}\"", "key[0].legacy: only a rekeyed key"),
            ("dynamodb-events", "stays = ", "rekeyed = ", "key[1] (sk): has either"),
            ("dynamodb-events", "stays = \"{version}\"", "stays = \"{id}\"", "key[1] (sk): an integer"),
            ("dynamodb-events", "{tenant|e}:", "", "key[0] (pk): `rekeyed` names {tenant} once"),
            ("dynamodb-events", "at = \"version\" }", "at = \"version\", optional = true }", "key[1].stays"),
            ("dynamodb-events", "type = \"N\"", "type = \"X\"", "collection.key: one or two attributes"),
            (
                "dynamodb-events",
                "[fields]",
                "[fields]\nname = { is = \"string\", at = \"x\" }",
                "fields.name: unknown",
            ),
            ("dynamodb-sagas", "[\"PK\", \"SK\"]", "[\"PK\", \"@id\"]", "@id: only a Firestore document"),
            ("dynamodb-sagas", "\"SK\", \"tenantId\"]", "\"other\"]", "query.equals: \"other\""),
            ("cosmosdb-sagas", "at    = \"tenantId\"", "at    = \"id\"", "set[0]: \"id\" is a key"),
            ("cosmosdb-sagas", "\"_ts\"", "\"tenantId\"", "document.drop: \"tenantId\""),
            ("cosmosdb-sagas", "stateJson#/tenantId", "stateJson#tenantId", "does not begin with #/"),
            ("cosmosdb-events", "/streamId", "/stream/id", "the path /stream/id"),
            ("cosmosdb-events", "version = {", "sequence = {", "fields.version: missing"),
        ] {
            let error = changed(name, from, to).unwrap_err().to_string();
            if !error.starts_with("The layout mine.toml cannot be used: ") || !error.contains(what) {
                wrong.push(format!("{error}\n  does not say {what}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn parameters_rename_fields_everywhere() {
        let set = |pairs: &[(&str, &str)]| {
            let pairs: Vec<_> =
                pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            Layout::builtin("dynamodb-events").unwrap().with_parameters(&pairs)
        };
        let layout = set(&[("partition_key", "PK2")]).unwrap();
        assert_eq!(layout.store_key_fields(), ["PK2", "sk"]);
        assert_eq!(layout.touched_fields(), ["PK2"]);
        assert_eq!(layout.probe().unwrap().field, "PK2");
        assert_eq!(layout.stream.key, ["PK2"]);
        assert_eq!(layout.parameter_values()["sort_key"], "sk");
        let both = layout.with_parameters(&[("sort_key".into(), "SK2".into())]).unwrap();
        assert_eq!(both.store_key_fields(), ["PK2", "SK2"]);

        let error = set(&[("partition", "PK2")]).unwrap_err();
        assert!(error.hints()[0].contains("partition_key"), "{error:?}");
        assert!(set(&[("partition_key", "")]).is_err());
        let none = Layout::builtin("firestore-events").unwrap().with_parameters(&[("x".into(), "y".into())]);
        assert!(none.unwrap_err().hints()[0].contains("no parameters"));
    }

    #[test]
    fn a_partition_key_path_is_a_field_with_or_without_its_slash() {
        for path in ["/tenantGroup", "tenantGroup"] {
            let layout = Layout::builtin("cosmosdb-sagas").unwrap();
            let layout = layout.with_parameters(&[("partition_key".into(), path.into())]).unwrap();
            assert_eq!(layout.store_key_fields(), ["tenantGroup", "id"]);
            assert_eq!(layout.collection_spec().key_fields[0].name, "tenantGroup");
        }
    }

    #[test]
    fn the_digest_counts_rules_and_parameters_but_not_comments() {
        let digest = |layout: Result<Layout>| layout.unwrap().digest();
        let builtin = Layout::builtin("dynamodb-events").unwrap().digest();
        assert_eq!(builtin.len(), 64);
        assert_eq!(digest(changed("dynamodb-events", "# Events", "# Ereignisse")), builtin);
        assert_ne!(digest(changed("dynamodb-events", "2048", "2047")), builtin);
        let set =
            Layout::builtin("dynamodb-events").unwrap().with_parameters(&[("sort_key".into(), "x".into())]);
        assert_ne!(digest(set), builtin);
    }
}
