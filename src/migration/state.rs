use serde::{Deserialize, Serialize};

/// How far the documents of a store are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The legacy archive is whole.
    Exported,
    /// The rekeyed archive is whole.
    Rekeyed,
    /// Every document of it is in the target. The verb looks for writers that were not stopped, before its first write.
    Imported,
    /// The target is proven to hold the archive.
    Verified,
    /// The legacy documents are gone.
    Pruned,
}

impl State {
    /// Every state, in order.
    pub const ALL: [Self; 5] = [Self::Exported, Self::Rekeyed, Self::Imported, Self::Verified, Self::Pruned];

    /// Its name in results, evidence and file names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exported => "exported",
            Self::Rekeyed => "rekeyed",
            Self::Imported => "imported",
            Self::Verified => "verified",
            Self::Pruned => "pruned",
        }
    }

    /// The command that leads to it.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Exported => "export",
            Self::Rekeyed => "rekey",
            Self::Imported => "import",
            Self::Verified => "verify",
            Self::Pruned => "prune",
        }
    }

    /// Whether it changes a store, and so is confirmed before.
    pub fn changes_a_store(self) -> bool {
        matches!(self, Self::Imported | Self::Pruned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_stand_in_order_and_have_their_json_names() {
        assert!(State::ALL.is_sorted());
        for state in State::ALL {
            assert_eq!(serde_json::to_string(&state).unwrap(), format!("{:?}", state.name()));
        }
    }
}
