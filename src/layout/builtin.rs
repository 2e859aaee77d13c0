use std::path::Path;

use super::Layout;
use crate::document::StoreKind;
use crate::{Error, ErrorKind, Result};

macro_rules! builtin {
    ($($name:literal),* $(,)?) => {
        const TEXTS: &[&str] = &[$(include_str!(concat!("../layouts/", $name, ".toml")),)*];

        impl Layout {
            /// The full names of the built-in layouts.
            pub const NAMES: &'static [&'static str] = &[$($name,)*];
        }
    };
}

builtin!(
    "mongodb-events",
    "mongodb-sagas",
    "dynamodb-events",
    "dynamodb-sagas",
    "firestore-events",
    "firestore-sagas",
    "cosmosdb-events",
    "cosmosdb-sagas",
    "cosmosdb-hierarchical",
);

impl Layout {
    /// The built-in layout of a full name.
    pub fn builtin(name: &str) -> Option<Self> {
        let text = Self::builtin_text(name)?;
        // The tests read every built-in layout, so that this is never an error.
        Self::parse(text, name).ok()
    }

    /// The text of a built-in layout, for people to read and to start their own from.
    pub fn builtin_text(name: &str) -> Option<&'static str> {
        Self::NAMES.iter().position(|known| *known == name).and_then(|at| TEXTS.get(at)).copied()
    }

    /// Finds the layout a user names: `events` or `sagas` (of the store at hand), a full name, or a TOML file.
    ///
    /// # Errors
    /// A usage error for a name that is none (with the closest that is), for a file that cannot be read, and
    /// for a layout of another store than `store`.
    pub fn resolve(text: &str, store: Option<StoreKind>) -> Result<Self> {
        let layout = if is_file_name(text) {
            let content = std::fs::read_to_string(text).map_err(|error| {
                Error::caused(ErrorKind::Usage, format!("Cannot read the layout {text:?}"), error)
            })?;
            Self::parse(&content, text)?
        } else {
            let full_name = full_name(text, store)?;
            Self::builtin(&full_name).ok_or_else(|| unknown(text, &full_name))?
        };
        match store {
            Some(store) if store != layout.store => Err(Error::usage(format!(
                "The layout {} is for {}, but the documents are {}'s",
                layout.name,
                layout.store.title(),
                store.title()
            ))
            .hint(format!("Pass --layout {}", layout.kind.name()))),
            _ => Ok(layout),
        }
    }
}

fn is_file_name(text: &str) -> bool {
    let path = Path::new(text);
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
        || path.components().count() > 1
}

/// Completes `events` and `sagas` with the store's name.
fn full_name(text: &str, store: Option<StoreKind>) -> Result<String> {
    match (text, store) {
        ("events" | "sagas", Some(store)) => Ok(format!("{store}-{text}")),
        ("events" | "sagas", None) => {
            let ending = format!("-{text}");
            let names: Vec<_> =
                Layout::NAMES.iter().copied().filter(|name| name.ends_with(&ending)).collect();
            Err(Error::usage(format!("The layout {text:?} names no store, and nothing else here does"))
                .hint(format!("Pass the full name: {}", names.join(", "))))
        }
        _ => Ok(text.to_owned()),
    }
}

fn unknown(text: &str, full_name: &str) -> Error {
    let closest = Layout::NAMES.iter().min_by_key(|name| distance(name, full_name));
    let close = closest.filter(|name| distance(name, full_name) <= full_name.len() / 2);
    let hint = match close {
        Some(name) => format!("Did you mean {name}? The built-in layouts are {}", Layout::NAMES.join(", ")),
        None => format!("Choose one of {}, or a TOML file", Layout::NAMES.join(", ")),
    };
    Error::usage(format!("There is no layout {text:?}")).hint(hint)
}

/// Levenshtein's distance between two names, in bytes.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, y) in row.iter_mut().skip(1).zip(b.bytes()) {
            let cost = diagonal + usize::from(x != y);
            diagonal = *cell;
            left = cost.min(diagonal + 1).min(left + 1);
            *cell = left;
        }
        row[0] = i + 1;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::DocumentKind;

    #[test]
    fn every_builtin_layout_is_read_and_named_as_its_file() {
        for name in Layout::NAMES {
            let layout = Layout::parse(Layout::builtin_text(name).unwrap(), name).unwrap();
            assert_eq!(layout.name, *name);
            let kind = if layout.kind == DocumentKind::Items { "hierarchical" } else { layout.kind.name() };
            assert_eq!(layout.name, format!("{}-{kind}", layout.store));
        }
    }

    #[test]
    fn short_names_take_the_store_at_hand() {
        let layout = Layout::resolve("sagas", Some(StoreKind::CosmosDb)).unwrap();
        assert_eq!(layout.name, "cosmosdb-sagas");
        assert!(Layout::resolve("sagas", None).unwrap_err().hints()[0].contains("firestore-sagas"));
    }

    #[test]
    fn a_mistyped_name_is_answered_with_the_closest() {
        let error = Layout::resolve("mongo-events", None).unwrap_err();
        assert!(error.hints()[0].starts_with("Did you mean mongodb-events?"), "{error:?}");
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn a_layout_of_another_store_is_refused() {
        let error = Layout::resolve("mongodb-events", Some(StoreKind::DynamoDb)).unwrap_err();
        assert!(error.to_string().contains("is for MongoDB, but the documents are DynamoDB's"), "{error}");
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = Layout::resolve("no/such.toml", None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().contains("no/such.toml"), "{error}");
    }
}
