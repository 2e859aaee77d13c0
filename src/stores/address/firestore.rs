//! `firestore://[PROJECT[/DATABASE]]`.

use std::fmt;

use super::query::percent_decode;
use super::wrong;
use crate::Result;

pub(super) const EXAMPLE: &str = "firestore://my-project";

/// The name of the database that every project has.
const DEFAULT_DATABASE: &str = "(default)";

/// A Firestore database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirestoreAddress {
    /// The project; from the usual Google settings if `None`.
    pub project: Option<String>,
    /// The database, `(default)` unless another one is named.
    pub database: String,
}

pub(super) fn parse(text: &str) -> Result<FirestoreAddress> {
    let Some(rest) = text.strip_prefix("firestore://") else {
        return Err(wrong("The Firestore address lacks its two slashes", EXAMPLE));
    };
    let (project, database) = rest.split_once('/').unwrap_or((rest, ""));
    if database.contains('/') {
        let what = "The Firestore address holds more than project and database; the collection is given with --collection";
        return Err(wrong(what, "firestore://my-project/my-database"));
    }
    if project.contains(['@', '?', ' ']) || database.contains(['@', '?', ' ']) {
        return Err(wrong(
            "The Firestore address holds a character that no project and no database has",
            EXAMPLE,
        ));
    }
    let database = if database.is_empty() { DEFAULT_DATABASE.to_owned() } else { percent_decode(database) };
    let project = (!project.is_empty()).then(|| project.to_owned());
    Ok(FirestoreAddress { project, database })
}

impl FirestoreAddress {
    pub(super) fn identity(&self) -> String {
        format!("firestore://{}/{}", self.project.as_deref().unwrap_or("default"), self.database)
    }
}

impl fmt::Display for FirestoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "firestore://{}", self.project.as_deref().unwrap_or_default())?;
        if self.database == DEFAULT_DATABASE { Ok(()) } else { write!(f, "/{}", self.database) }
    }
}
