//! The project file, `rekey.toml`: every store of a migration with what the command line would say about it.
//!
//! ```toml
//! [defaults]                       # what all stores have alike
//! tenant-map = "tenants.csv"
//!
//! [stores.orders]                  # one collection, table or container
//! source     = "mongodb://db.example.com/shop"
//! collection = "events"
//! layout     = "events"
//! ```
//!
//! A field is called like the flag that it stands for, and [`FIELDS`] lists all of them. Paths are relative to the
//! file. It holds no secret: an address with one is refused, and may come from a variable of the environment.

mod address;
mod field;
mod parse;
mod secret;
mod store;
mod template;

use std::path::{Path, PathBuf};

pub use address::ProjectAddress;
pub use field::{FIELDS, Field, FieldKind, TENANT_RULES};
pub use store::{ProjectStore, Setting, Settings};
pub use template::Template;

use crate::{Error, Result};

/// What the project file is called where nobody says otherwise.
pub const FILE_NAME: &str = "rekey.toml";

/// A project file as it was read.
#[derive(Clone, Debug)]
pub struct Project {
    path: PathBuf,
    stores: Vec<ProjectStore>,
}

impl Project {
    /// Reads a project file.
    ///
    /// # Errors
    /// Usage: the file is not there, is no TOML, has a field that is not known or a value that is none, holds a secret,
    /// or has no store. The message names the line.
    pub fn load(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|source| {
            Error::caused(crate::ErrorKind::Usage, format!("Cannot read the project file {path:?}"), source)
                .hint("Write one with `rekey init`, or name it with --project FILE.")
        })?;
        Self::parse(&text, path)
    }

    /// Reads the text of a project file; `path` is what messages call it and what its paths are relative to.
    ///
    /// # Errors
    /// As [`Project::load`].
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        let stores = parse::stores(text, path)?;
        let project = Self { path: path.to_owned(), stores };
        project.refuse_shared_folders()?;
        Ok(project)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its stores, in the order of the file; at least one.
    pub fn stores(&self) -> &[ProjectStore] {
        &self.stores
    }

    /// The store of that name.
    ///
    /// # Errors
    /// Usage: there is none; the closest name is the hint.
    pub fn store(&self, name: &str) -> Result<&ProjectStore> {
        self.stores.iter().find(|store| store.name() == name).ok_or_else(|| {
            let names: Vec<&str> = self.stores.iter().map(ProjectStore::name).collect();
            let hint = match closest(name, names.iter().copied()) {
                Some(closest) => format!("Try --store {closest}."),
                None => format!("The stores are {}.", names.join(", ")),
            };
            Error::usage(format!("{} has no store {name:?}", self.path.display())).hint(hint)
        })
    }

    /// The only store there is.
    ///
    /// # Errors
    /// Usage: there are several.
    pub fn only_store(&self) -> Result<&ProjectStore> {
        match self.stores.as_slice() {
            [store] => Ok(store),
            several => {
                let names: Vec<&str> = several.iter().map(ProjectStore::name).collect();
                Err(Error::usage(format!("{} has several stores", self.path.display()))
                    .hint(format!("Say which one with --store: {}.", names.join(", "))))
            }
        }
    }

    /// Two stores in one folder would replace each other's archives.
    fn refuse_shared_folders(&self) -> Result<()> {
        for (index, store) in self.stores.iter().enumerate() {
            let earlier = self.stores.iter().take(index).find(|it| it.folder() == store.folder());
            if let Some(earlier) = earlier {
                return Err(Error::usage(format!(
                    "{}: the stores {} and {} have the same folder {}",
                    self.path.display(),
                    earlier.name(),
                    store.name(),
                    store.folder().display()
                ))
                .hint("Give one of them another `folder`."));
            }
        }
        Ok(())
    }
}

/// The name that was most likely meant.
pub(crate) fn closest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |name: &&str| strsim::osa_distance(name, typed);
    names.into_iter().min_by_key(distance).filter(|name| distance(name) <= name.len().div_ceil(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = r#"
[stores.orders]
source     = "mongodb://localhost/shop"
collection = "events"
layout     = "events"

[stores.carts]
source     = "dynamodb://eu-west-1"
collection = "Carts"
layout     = "sagas"
"#;

    #[test]
    fn stores_stand_in_the_order_of_the_file() {
        let project = Project::parse(TWO, Path::new("rekey.toml")).unwrap();
        let names: Vec<_> = project.stores().iter().map(ProjectStore::name).collect();
        assert_eq!(names, ["orders", "carts"]);
        assert_eq!(project.store("carts").unwrap().name(), "carts");
    }

    #[test]
    fn a_mistyped_store_gets_the_closest_one_and_none_gets_the_list() {
        let project = Project::parse(TWO, Path::new("rekey.toml")).unwrap();
        assert_eq!(project.store("order").unwrap_err().hints(), ["Try --store orders."]);
        assert_eq!(project.store("zebra").unwrap_err().hints(), ["The stores are orders, carts."]);
        assert_eq!(project.only_store().unwrap_err().hints(), ["Say which one with --store: orders, carts."]);
    }

    #[test]
    fn two_stores_never_share_a_folder() {
        let text = TWO.replace("layout ", "folder = \"a\"\nlayout ");
        let error = Project::parse(&text, Path::new("rekey.toml")).unwrap_err();
        assert!(error.to_string().contains("orders and carts have the same folder a"), "{error}");
    }

    #[test]
    fn a_file_that_is_not_there_is_a_usage_error() {
        let error = Project::load(Path::new("/nowhere/rekey.toml")).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Usage);
        assert!(error.hints()[0].contains("rekey init"), "{error:?}");
    }
}
