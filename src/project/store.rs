use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{ProjectAddress, TENANT_RULES};
use crate::document::StoreKind;
use crate::stores::StoreAddress;
use crate::{Error, Result};

/// What the fields of a store hold, by their names.
pub type Settings = BTreeMap<&'static str, Setting>;

/// What a field holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setting {
    /// A store address.
    Address(ProjectAddress),
    /// A text, a word, or a number that a flag takes as a text.
    Text(String),
    /// A path, from where the program runs.
    Path(PathBuf),
    /// A switch.
    Switch(bool),
    /// A number.
    Number(u32),
    /// Several texts.
    List(Vec<String>),
    /// Names and texts.
    Pairs(Vec<(String, String)>),
}

/// Limits that one kind of store alone counts in: as a default they are for the stores of that kind.
const LIMITS: [(&str, StoreKind); 3] =
    [("max-rcu", StoreKind::DynamoDb), ("max-wcu", StoreKind::DynamoDb), ("max-ru", StoreKind::CosmosDb)];

/// One collection, table or container of a project, with the defaults worked in.
#[derive(Clone, Debug)]
pub struct ProjectStore {
    name: String,
    folder: PathBuf,
    extension: &'static str,
    source: ProjectAddress,
    collection: String,
    settings: Settings,
}

impl ProjectStore {
    /// Puts a store together; `base` is the project file's folder.
    ///
    /// # Errors
    /// Usage: source, collection or layout is missing.
    pub(super) fn new(name: &str, base: &Path, defaults: &Settings, own: Settings) -> Result<Self> {
        let states_rule = TENANT_RULES.iter().any(|rule| own.contains_key(rule));
        let mut settings = defaults.clone();
        settings.retain(|field, _| !(states_rule && TENANT_RULES.contains(field)));
        let folder = match (own.get("folder"), defaults.get("folder")) {
            (Some(Setting::Path(folder)), _) => folder.clone(),
            (_, Some(Setting::Path(folder))) => folder.join(name),
            _ => base.join(name),
        };
        let own_names: Vec<&'static str> = own.keys().copied().collect();
        settings.extend(own);
        let (Some(Setting::Address(source)), Some(Setting::Text(collection)), true) =
            (settings.get("source"), settings.get("collection"), settings.contains_key("layout"))
        else {
            let missing =
                ["source", "collection", "layout"].into_iter().find(|it| !settings.contains_key(it));
            return Err(Error::usage(format!("{} is missing", missing.unwrap_or("source")))
                .hint("Add it: a store needs source, collection and layout."));
        };
        let (source, collection) = (source.clone(), collection.clone());
        if let Some(kind) = kind_of(&source) {
            let is_of_others = |field: &str| LIMITS.iter().any(|(limit, of)| *limit == field && *of != kind);
            settings.retain(|field, _| own_names.contains(field) || !is_of_others(field));
        }
        let extension = match settings.get("compression") {
            Some(Setting::Text(word)) if word == "gz" => ".gz",
            Some(Setting::Text(word)) if word == "none" => "",
            _ => ".zst",
        };
        Ok(Self { name: name.to_owned(), folder, extension, source, collection, settings })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where its archives and evidence go.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Every field with what it holds, defaults included.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The store to read.
    pub fn source(&self) -> &ProjectAddress {
        &self.source
    }

    /// The collection to read.
    pub fn collection(&self) -> &str {
        &self.collection
    }

    /// The store to write.
    pub fn target(&self) -> &ProjectAddress {
        match self.settings.get("target") {
            Some(Setting::Address(target)) => target,
            _ => &self.source,
        }
    }

    /// The collection to write.
    pub fn target_collection(&self) -> &str {
        match self.settings.get("target-collection") {
            Some(Setting::Text(collection)) => collection,
            _ => &self.collection,
        }
    }

    /// Whether the rekeyed documents go to another place than the legacy ones.
    pub fn has_own_target(&self) -> bool {
        self.target() != &self.source || self.target_collection() != self.collection
    }

    /// The layout: a name, or the path of a TOML file.
    pub fn layout(&self) -> &str {
        match self.settings.get("layout") {
            Some(Setting::Text(layout)) => layout,
            _ => "",
        }
    }

    /// The legacy archive.
    pub fn legacy(&self) -> PathBuf {
        self.folder.join(format!("legacy.ndjson{}", self.extension))
    }

    /// The rekeyed archive.
    pub fn rekeyed(&self) -> PathBuf {
        self.folder.join(format!("rekeyed.ndjson{}", self.extension))
    }

    /// The same store with rekeyed documents going somewhere else, and archives and evidence into another folder.
    #[must_use]
    pub fn aimed_at(&self, target: ProjectAddress, collection: &str, folder: PathBuf) -> Self {
        let mut settings = self.settings.clone();
        drop(settings.insert("target", Setting::Address(target)));
        drop(settings.insert("target-collection", Setting::Text(collection.to_owned())));
        Self { folder, settings, ..self.clone() }
    }

    /// The same store with a field set or left out.
    #[must_use]
    pub fn with(mut self, field: &'static str, setting: Option<Setting>) -> Self {
        drop(match setting {
            Some(setting) => self.settings.insert(field, setting),
            None => self.settings.remove(field),
        });
        self
    }
}

/// The kind of a store, if its address is known now.
fn kind_of(address: &ProjectAddress) -> Option<StoreKind> {
    StoreAddress::parse(&address.resolve().ok()?).ok().map(|address| address.kind())
}

#[cfg(test)]
mod tests {
    use super::super::Project;
    use super::*;

    fn store(text: &str) -> ProjectStore {
        Project::parse(text, Path::new("shop/rekey.toml")).unwrap().stores()[0].clone()
    }

    const STORE: &str =
        "[stores.orders]\nsource = \"dynamodb://\"\ncollection = \"Events\"\nlayout = \"events\"\n";

    #[test]
    fn the_target_is_the_source_unless_something_else_is_said() {
        let same = store(STORE);
        assert!(!same.has_own_target());
        assert_eq!((same.target().shown().as_str(), same.target_collection()), ("dynamodb://", "Events"));
        let other = store(&format!("{STORE}target-collection = \"New\"\n"));
        assert!(other.has_own_target());
        assert_eq!(other.target_collection(), "New");
    }

    #[test]
    fn paths_start_at_the_project_file() {
        let plain = store(STORE);
        assert_eq!(plain.folder(), Path::new("shop/orders"));
        assert_eq!(plain.legacy(), Path::new("shop/orders/legacy.ndjson.zst"));
        let defaults = "[defaults]\nfolder = \"out\"\ncompression = \"none\"\n";
        let set = store(&format!("{defaults}{STORE}tenant-map = \"maps/t.csv\"\n"));
        assert_eq!(set.rekeyed(), Path::new("shop/out/orders/rekeyed.ndjson"));
        assert_eq!(set.settings().get("tenant-map"), Some(&Setting::Path("shop/maps/t.csv".into())));
        let own = store(&format!("{defaults}{STORE}folder = \"here\"\n"));
        assert_eq!(own.folder(), Path::new("shop/here"));
    }

    #[test]
    fn a_default_limit_is_for_the_stores_that_count_in_it() {
        let dynamodb = store(&format!("[defaults]\nmax-wcu = 5\nmax-ru = 7\nconcurrency = 2\n{STORE}"));
        assert!(
            dynamodb.settings().contains_key("max-wcu") && dynamodb.settings().contains_key("concurrency")
        );
        assert!(!dynamodb.settings().contains_key("max-ru"));
        // What a store says itself stays, and is refused where it is used.
        assert!(store(&format!("{STORE}max-ru = 7\n")).settings().contains_key("max-ru"));
    }

    #[test]
    fn a_store_without_a_source_is_refused_with_what_is_missing() {
        let text = STORE.replace("layout = \"events\"\n", "");
        let error = Project::parse(&text, Path::new("rekey.toml")).unwrap_err();
        assert!(
            error.messages().join(": ").contains("line 1: the store orders is not usable: layout is missing"),
            "{error}"
        );
    }
}
