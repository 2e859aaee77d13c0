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

    /// Whether a command that ended with this exit code has led to it: its stop condition does not hold.
    ///
    /// Streams that were set aside stop nothing, since the project asked for that; a conflict, a mismatch and a stream
    /// that prune kept do.
    pub fn is_reached_with(self, exit_code: u8) -> bool {
        match exit_code {
            0 => true,
            3 => matches!(self, Self::Rekeyed | Self::Imported),
            _ => false,
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
    fn only_what_the_project_asked_for_is_no_hindrance() {
        for state in State::ALL {
            assert!(state.is_reached_with(0));
            assert!([1, 2, 4, 5, 70, 74, 130].iter().all(|code| !state.is_reached_with(*code)));
        }
        let set_aside = State::ALL.into_iter().filter(|state| state.is_reached_with(3));
        assert_eq!(set_aside.collect::<Vec<_>>(), [State::Rekeyed, State::Imported]);
    }

    #[test]
    fn states_stand_in_order_and_have_their_json_names() {
        assert!(State::ALL.is_sorted());
        for state in State::ALL {
            assert_eq!(serde_json::to_string(&state).unwrap(), format!("{:?}", state.name()));
        }
    }
}
