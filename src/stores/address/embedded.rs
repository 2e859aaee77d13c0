//! `embedded:FILE?as=KIND`: one local file that stands for a database.

use std::fmt;
use std::path::{Path, PathBuf};

use super::wrong;
use crate::Result;
use crate::document::StoreKind;

pub(super) const EXAMPLE: &str = "embedded:rehearsal.redb?as=mongodb";

/// A local file that holds any number of collections of one database kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddedAddress {
    file: PathBuf,
    stands_for: StoreKind,
}

pub(super) fn parse(text: &str) -> Result<EmbeddedAddress> {
    let rest = text.strip_prefix("embedded:").unwrap_or(text);
    // The last `?` counts: a file name may hold one.
    let Some((file, option)) = rest.rsplit_once('?') else {
        let what = "The embedded address does not say which store the file stands for";
        return Err(wrong(what, EXAMPLE));
    };
    let Some(kind) = option.strip_prefix("as=") else {
        return Err(wrong("The embedded address has one option, `as`", EXAMPLE));
    };
    let stands_for = kind.parse().map_err(|what: String| wrong(what, EXAMPLE))?;
    if file.is_empty() {
        return Err(wrong("The embedded address names no file", EXAMPLE));
    }
    Ok(EmbeddedAddress::new(file, stands_for))
}

impl EmbeddedAddress {
    /// Makes an address.
    pub fn new(file: impl Into<PathBuf>, stands_for: StoreKind) -> Self {
        Self { file: file.into(), stands_for }
    }

    /// The file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The database kind whose rules the file keeps.
    pub fn stands_for(&self) -> StoreKind {
        self.stands_for
    }

    /// The file's path without `.`, `..` and links, as far as it exists.
    pub fn resolved(&self) -> PathBuf {
        if let Ok(path) = self.file.canonicalize() {
            return path;
        }
        let parent = self.file.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new(".")).canonicalize();
        match (parent, self.file.file_name()) {
            (Ok(parent), Some(name)) => parent.join(name),
            _ => self.file.clone(),
        }
    }

    pub(super) fn identity(&self) -> String {
        format!("embedded:{}?as={}", self.resolved().display(), self.stands_for)
    }
}

impl fmt::Display for EmbeddedAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "embedded:{}?as={}", self.file.display(), self.stands_for)
    }
}
