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

/// The folder of a rehearsal, in the store's own.
const REHEARSAL: &str = "rehearsal";

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

    /// Whether the layout is a file and not built in.
    pub fn layout_is_file(&self) -> bool {
        Path::new(self.layout()).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
    }

    /// The same migration on embedded storage that keeps the store's rules, in a folder of its own: without limits,
    /// and with nobody who reads the changes.
    ///
    /// # Errors
    /// Usage: a variable that the address is in is not set.
    pub fn rehearsal(&self) -> Result<Self> {
        let kind = StoreAddress::parse(&self.source.resolve()?)?.kind();
        let folder = self.folder.join(REHEARSAL);
        let place =
            |file: &str| ProjectAddress::Plain(format!("embedded:{}?as={kind}", folder.join(file).display()));
        let (source, target) = (place("source.redb"), place("target.redb"));
        let mut settings = self.settings.clone();
        settings
            .retain(|field, _| !field.starts_with("max-") && !matches!(*field, "concurrency" | "state-dir"));
        let own = self.target() != &self.source;
        let mut set = |field: &'static str, setting| drop(settings.insert(field, setting));
        set("source", Setting::Address(source.clone()));
        set("target", Setting::Address(if own { target } else { source.clone() }));
        set("subscribers-handled", Setting::Switch(true));
        set("allow-empty", Setting::Switch(true));
        // Whether the real target is there is not known here.
        set("create-target", Setting::Switch(self.has_own_target()));
        Ok(Self { folder, source, settings, ..self.clone() })
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
