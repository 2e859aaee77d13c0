/// One field of a store in the project file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name, which is that of the flag it stands for.
    pub name: &'static str,
    /// What stands in it.
    pub kind: FieldKind,
    /// What it says, one line, as `rekey init` writes it.
    pub about: &'static str,
}

/// What stands in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// The address of a store, or `{ env = "VARIABLE" }`.
    Address,
    /// Any text that is not empty.
    Text,
    /// The path of a file or folder, relative to the project file.
    Path,
    /// A layout: a name, or the path of a TOML file.
    Layout,
    /// `true` or `false`.
    Switch,
    /// A number from 1 to 4,294,967,295.
    Number,
    /// A number from 0, or the text `all`.
    NumberOrAll,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of texts without a comma.
    List,
    /// A table of names and texts.
    Pairs,
}

impl FieldKind {
    /// What a message says was expected.
    pub(super) fn expected(self) -> String {
        match self {
            Self::Address => "a store address, or { env = \"VARIABLE\" }".into(),
            Self::Text => "a text".into(),
            Self::Path => "the path of a file or folder".into(),
            Self::Layout => "a layout's name, or the path of a TOML file".into(),
            Self::Switch => "true or false".into(),
            Self::Number => "a whole number from 1 on".into(),
            Self::NumberOrAll => "a whole number or \"all\"".into(),
            Self::Word(words) => {
                words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(" or ")
            }
            Self::List => "a list of texts without commas".into(),
            Self::Pairs => "a table of names and texts".into(),
        }
    }
}

/// The fields that say which tenant a stream belongs to; a store has at most one of them.
pub const TENANT_RULES: [&str; 5] = ["single-tenant", "untenanted", "tenant", "tenant-map", "tenant-field"];

const fn field(name: &'static str, kind: FieldKind, about: &'static str) -> Field {
    Field { name, kind, about }
}

/// Every field that a store may have, in the order in which `rekey init` writes them.
pub const FIELDS: &[Field] = &[
    field("source", FieldKind::Address, "the store to read"),
    field("collection", FieldKind::Text, "the collection, table or container to read"),
    field("target", FieldKind::Address, "the store to write; the source if left out"),
    field(
        "target-collection",
        FieldKind::Text,
        "the collection, table or container to write; the one read if left out",
    ),
    field("layout", FieldKind::Layout, "events, sagas, a full name such as mongodb-events, or a TOML file"),
    field("set", FieldKind::Pairs, "layout parameters: names that the framework lets users change"),
    field("single-tenant", FieldKind::Switch, "the tenant is __default__"),
    field("untenanted", FieldKind::Switch, "the tenant is __untenanted__"),
    field("tenant", FieldKind::Text, "one tenant id for all of it"),
    field("tenant-map", FieldKind::Path, "a CSV file that gives each stream its tenant"),
    field("tenant-field", FieldKind::Text, "a field of the documents that holds the tenant"),
    field("known-tenants", FieldKind::Path, "refuse tenants that are not in this file, one id a line"),
    field("only-tenants", FieldKind::List, "move the streams of these tenants alone"),
    field("allow-prefix-tenants", FieldKind::Switch, "accept tenants of which one's prefix begins another's"),
    field(
        "escaping",
        FieldKind::Word(&["raw", "escaped"]),
        "how terms that hold : or % are joined; must be stated if there are any",
    ),
    field("allow-gaps", FieldKind::Switch, "accept streams whose versions have holes"),
    field("on-refused", FieldKind::Word(&["stop", "set-aside"]), "what to do when documents are refused"),
    field(
        "stored-owner",
        FieldKind::Word(&["refuse", "replace"]),
        "what to do with a saga whose stored owner is another tenant",
    ),
    field(
        "already-rekeyed",
        FieldKind::Word(&["refuse", "keep"]),
        "what to do with a document that carries a tenant in its key already",
    ),
    field("create-target", FieldKind::Switch, "create the target if it is missing"),
    field(
        "in-place",
        FieldKind::Switch,
        "rename the keys of MongoDB events in the collection that they came from",
    ),
    field("move", FieldKind::Switch, "move Firestore documents in the collection that they came from"),
    field(
        "subscribers-handled",
        FieldKind::Switch,
        "whoever reads the target's changes is paused or ready to see every document as new",
    ),
    field("no-snapshot", FieldKind::Switch, "export without one consistent moment"),
    field("allow-empty", FieldKind::Switch, "accept an empty collection on Firestore"),
    field(
        "probe-streams",
        FieldKind::NumberOrAll,
        "how many streams are read the way the framework reads them",
    ),
    field("max-rcu", FieldKind::Number, "the most read capacity units a second (DynamoDB)"),
    field("max-wcu", FieldKind::Number, "the most write capacity units a second (DynamoDB)"),
    field("max-ru", FieldKind::Number, "the most request units a second (Cosmos DB)"),
    field("max-writes-per-second", FieldKind::Number, "the most documents written or deleted a second"),
    field("concurrency", FieldKind::Number, "the most requests in flight at one time"),
    field(
        "folder",
        FieldKind::Path,
        "where archives and evidence go; a folder called like the store if left out",
    ),
    field("state-dir", FieldKind::Path, "where journals and spill files go; beside the archives if left out"),
    field(
        "compression",
        FieldKind::Word(&["zst", "gz", "none"]),
        "how archives are compressed; zst if left out",
    ),
];

impl Field {
    /// The field of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        FIELDS.iter().find(|field| field.name == name)
    }

    /// Whether it says something about one store alone, so that it cannot be a default.
    pub fn is_of_one_store(&self) -> bool {
        matches!(self.name, "collection" | "target-collection")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_a_name_of_its_own() {
        for (index, field) in FIELDS.iter().enumerate() {
            assert!(FIELDS.iter().skip(index + 1).all(|other| other.name != field.name), "{}", field.name);
            assert_eq!(Field::named(field.name), Some(field));
        }
        assert!(TENANT_RULES.iter().all(|rule| Field::named(rule).is_some()));
    }
}
