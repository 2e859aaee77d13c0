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
