use std::ffi::OsString;
use std::path::Path;

use crate::error::Result;
use crate::project::{ProjectAddress, ProjectStore, Setting};

/// What a verb takes from a store of a project beside the fields that are called like its flags.
pub(super) struct Takes {
    pub verb: &'static str,
    /// A flag, or the archives if it is empty, and what stands in it.
    pub parts: &'static [(&'static str, Part)],
}

/// What a store is made of, as flags name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The store to read, and its collection.
    Source,
    SourceCollection,
    /// The store to write, and its collection.
    Target,
    TargetCollection,
    /// The same, where they are not those to read.
    OwnTarget,
    OwnTargetCollection,
    /// The store to read, and its collection, where they are not those to write.
    OwnSource,
    OwnSourceCollection,
    /// The archives.
    Legacy,
    LegacyOut,
    Rekeyed,
    RekeyedOut,
    /// The layout, and its parameters.
    Layout,
    Parameters,
    /// The layout where it is a file: an archive's manifest knows those that are built in.
    LayoutFile,
}

/// Every verb that takes something from a project.
pub(super) const VERBS: &[Takes] = &[
    Takes {
        verb: "export",
        parts: &[
            ("from", Part::Source),
            ("collection", Part::SourceCollection),
            ("out", Part::LegacyOut),
            ("layout", Part::Layout),
            ("set", Part::Parameters),
        ],
    },
    Takes {
        verb: "rekey",
        parts: &[("", Part::Legacy), ("out", Part::RekeyedOut), ("layout", Part::LayoutFile)],
    },
    Takes {
        verb: "import",
        parts: &[
            ("", Part::Rekeyed),
            ("to", Part::Target),
            ("collection", Part::TargetCollection),
            ("layout", Part::LayoutFile),
        ],
    },
    Takes {
        verb: "verify",
        parts: &[
            ("", Part::Rekeyed),
            ("legacy", Part::Legacy),
            ("against", Part::Target),
            ("collection", Part::TargetCollection),
            ("layout", Part::LayoutFile),
        ],
    },
    Takes {
        verb: "prune",
        parts: &[
            ("", Part::Legacy),
            ("rekeyed", Part::Rekeyed),
            ("from", Part::Source),
            ("collection", Part::SourceCollection),
            ("twins-in", Part::OwnTarget),
            ("twins-collection", Part::OwnTargetCollection),
            ("layout", Part::LayoutFile),
        ],
    },
    Takes {
        verb: "restore",
        parts: &[
            ("", Part::Legacy),
            ("to", Part::Source),
            ("collection", Part::SourceCollection),
            ("layout", Part::LayoutFile),
        ],
    },
    Takes {
        verb: "undo",
        parts: &[
            ("", Part::Rekeyed),
            ("from", Part::Target),
            ("collection", Part::TargetCollection),
            ("legacy-in", Part::OwnSource),
            ("legacy-collection", Part::OwnSourceCollection),
            ("layout", Part::LayoutFile),
        ],
    },
    Takes {
        verb: "doctor",
        parts: &[
            ("from", Part::Source),
            ("collection", Part::SourceCollection),
            ("to", Part::Target),
            ("collection", Part::TargetCollection),
        ],
    },
    Takes {
        verb: "sagas",
        parts: &[
            ("from", Part::Source),
            ("collection", Part::SourceCollection),
            ("layout", Part::Layout),
            ("set", Part::Parameters),
        ],
    },
];

/// Fields that are parts of a store, or say nothing to a verb.
const PARTS: [&str; 8] =
    ["source", "collection", "target", "target-collection", "layout", "set", "folder", "compression"];

/// Fields about the target, which a restore into another place than the target has nothing to do with.
const OF_THE_TARGET: [&str; 2] = ["create-target", "subscribers-handled"];

impl Takes {
    /// What that verb takes, if it takes anything.
    pub(super) fn of(verb: &str) -> Option<&'static Self> {
        VERBS.iter().find(|takes| takes.verb == verb)
    }

    /// Whether an archive that was typed takes the place of the store: the verb reads either.
    pub(super) fn reads_an_archive_instead(&self) -> bool {
        self.parts.iter().all(|(flag, _)| !flag.is_empty())
    }

    /// Whether an archive comes of it.
    pub(super) fn writes_an_archive(&self) -> bool {
        self.parts.iter().any(|(_, part)| part.is_output())
    }

    /// Whether a field is for the flag of the same name.
    pub(super) fn takes_by_name(&self, field: &str, store: &ProjectStore) -> bool {
        let is_elsewhere = self.verb == "restore" && store.has_own_target() && OF_THE_TARGET.contains(&field);
        !PARTS.contains(&field) && !is_elsewhere
    }
}

impl Part {
    /// Whether it is an archive to read.
    pub(super) fn is_archive(self) -> bool {
        matches!(self, Self::Legacy | Self::Rekeyed)
    }

    /// Whether it is an archive to write.
    pub(super) fn is_output(self) -> bool {
        matches!(self, Self::LegacyOut | Self::RekeyedOut)
    }

    /// What stands in the flag, once for each time it is given, and how it is shown.
    pub(super) fn values(self, store: &ProjectStore) -> Result<Vec<(OsString, String)>> {
        let address = |address: &ProjectAddress| -> Result<_> {
            Ok(vec![(OsString::from(address.resolve()?), address.shown())])
        };
        let text = |text: &str| vec![(OsString::from(text), text.to_owned())];
        let own = store.has_own_target();
        Ok(match self {
            Self::Source => address(store.source())?,
            Self::Target => address(store.target())?,
            Self::OwnTarget if own => address(store.target())?,
            Self::OwnSource if own => address(store.source())?,
            Self::SourceCollection => text(store.collection()),
            Self::TargetCollection => text(store.target_collection()),
            Self::OwnTargetCollection if own => text(store.target_collection()),
            Self::OwnSourceCollection if own => text(store.collection()),
            Self::OwnTarget | Self::OwnTargetCollection | Self::OwnSource | Self::OwnSourceCollection => {
                Vec::new()
            }
            Self::Legacy | Self::LegacyOut => vec![file(&store.legacy())],
            Self::Rekeyed | Self::RekeyedOut => vec![file(&store.rekeyed())],
            Self::Layout => text(store.layout()),
            Self::LayoutFile if store.layout_is_file() => text(store.layout()),
            Self::LayoutFile => Vec::new(),
            Self::Parameters => match store.settings().get("set") {
                Some(Setting::Pairs(pairs)) => {
                    pairs.iter().flat_map(|(name, value)| text(&format!("{name}={value}"))).collect()
                }
                _ => Vec::new(),
            },
        })
    }
}

/// A path as an argument, which must not look like a flag.
fn file(path: &Path) -> (OsString, String) {
    let path = if path.as_os_str().as_encoded_bytes().starts_with(b"-") {
        Path::new(".").join(path)
    } else {
        path.to_owned()
    };
    let shown = path.display().to_string();
    (path.into_os_string(), shown)
}
