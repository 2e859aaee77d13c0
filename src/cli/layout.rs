use clap::Args;

use crate::error::{Error, Result};
use crate::options::LayoutOptions;

/// Which layout the documents have, where the archive says it.
#[derive(Args, Debug)]
pub(super) struct LayoutArgs {
    /// `events`, `sagas`, a full name or a TOML file; taken from the archive's manifest if left out
    ///
    /// Needed for archives that other tools wrote and for standard input. A full name is one of mongodb-events,
    /// mongodb-sagas, dynamodb-events, dynamodb-sagas, firestore-events, firestore-sagas, cosmosdb-events,
    /// cosmosdb-sagas, cosmosdb-hierarchical.
    #[arg(long, value_name = "LAYOUT", help_heading = "Layout")]
    layout: Option<String>,

    #[command(flatten)]
    parameters: ParameterArgs,
}

/// Names that users of the framework may change.
#[derive(Args, Debug)]
pub(super) struct ParameterArgs {
    /// Set a layout parameter: a name that the framework lets you change, such as `partition_key=PK2`
    #[arg(long = "set", value_name = "NAME=VALUE", help_heading = "Layout")]
    set: Vec<String>,
}

impl LayoutArgs {
    pub(super) fn into_options(self) -> Result<LayoutOptions> {
        self.parameters.into_options(self.layout)
    }
}

impl ParameterArgs {
    pub(super) fn into_options(self, layout: Option<String>) -> Result<LayoutOptions> {
        let mut parameters: Vec<(String, String)> = Vec::with_capacity(self.set.len());
        for typed in self.set {
            let (name, value) = match typed.split_once('=') {
                Some((name, value)) if !name.is_empty() && !value.is_empty() => (name, value),
                _ => {
                    return Err(Error::usage(format!("--set {typed:?} is not NAME=VALUE."))
                        .hint("Write it like --set partition_key=PK2."));
                }
            };
            if parameters.iter().any(|(earlier, _)| earlier == name) {
                return Err(
                    Error::usage(format!("--set gives {name:?} twice.")).hint("Keep one of the two values.")
                );
            }
            parameters.push((name.to_owned(), value.to_owned()));
        }
        match layout {
            Some(layout) if layout.trim().is_empty() => Err(Error::usage("--layout is empty.")
                .hint("Name a layout: events, sagas, a full name such as mongodb-events, or a TOML file.")),
            layout => Ok(LayoutOptions { layout, parameters }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(set: &[&str]) -> Result<LayoutOptions> {
        ParameterArgs { set: set.iter().map(ToString::to_string).collect() }.into_options(None)
    }

    #[test]
    fn a_parameter_is_cut_at_its_first_equals_sign() {
        let options = parameters(&["partition_key=PK=2", "sort_key=SK"]).unwrap();
        assert_eq!(
            options.parameters,
            [("partition_key".into(), "PK=2".into()), ("sort_key".into(), "SK".into())]
        );
    }

    #[test]
    fn what_is_no_parameter_or_stands_twice_is_a_usage_error() {
        for set in [&["PK2"][..], &["=PK2"], &["partition_key="], &["a=1", "a=2"]] {
            assert_eq!(parameters(set).unwrap_err().kind(), crate::ErrorKind::Usage, "{set:?}");
        }
    }
}
