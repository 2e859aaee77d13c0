use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toml::Value;

/// A name that the framework lets users change: `$NAME` in the layout, `--set NAME=VALUE` on the command line.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// The framework's own value.
    #[serde(skip_serializing)]
    pub default: String,
    /// What it names, for help texts.
    #[serde(skip_serializing)]
    pub about: String,
    /// The value in force.
    #[serde(skip_deserializing)]
    pub value: String,
}

/// Puts the parameters' values where a layout's strings name them.
///
/// # Errors
/// The name that no parameter has.
pub(super) fn substitute(value: &mut Value, parameters: &BTreeMap<String, Parameter>) -> Result<(), String> {
    match value {
        Value::String(text) => {
            if let Some(name) = text.strip_prefix('$') {
                let parameter = parameters.get(name).ok_or_else(|| name.to_owned())?;
                text.clone_from(&parameter.value);
            }
            Ok(())
        }
        Value::Array(values) => values.iter_mut().try_for_each(|value| substitute(value, parameters)),
        Value::Table(table) => table.iter_mut().try_for_each(|(_, value)| substitute(value, parameters)),
        _ => Ok(()),
    }
}
