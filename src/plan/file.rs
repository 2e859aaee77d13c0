use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::StorePlan;
use crate::archive::now;
use crate::report::{save, tool};
use crate::rewrite::RULES_VERSION;
use crate::{Error, ErrorKind, Result};

/// The version of the format that this build writes and reads.
const FORMAT: u32 = 1;

/// A plan file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    format: u32,
    /// The tool that made it.
    pub tool: String,
    /// The version of the rules by which keys are made ([`RULES_VERSION`]).
    pub rules: u32,
    /// When it was made (RFC 3339, UTC).
    pub made: String,
    /// What it was made from.
    pub basis: Basis,
    /// The project file, as it was named.
    pub project: PathBuf,
    /// By how many percent the documents may have grown, in a plan made from stores.
    pub max_growth: u32,
    /// The stores, in the order in which they are moved.
    pub stores: Vec<StorePlan>,
    /// SHA-256 of the plan without this member, 64 hex digits.
    #[serde(default)]
    pub digest: String,
}

/// What a plan was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// The legacy archives in the stores' folders.
    Archives,
    /// The stores as they were.
    Stores,
}

impl Plan {
    /// Puts a plan together.
    ///
    /// # Errors
    /// A bug: it has no JSON form.
    pub fn new(basis: Basis, project: PathBuf, max_growth: u32, stores: Vec<StorePlan>) -> Result<Self> {
        let mut plan = Self {
            format: FORMAT,
            tool: tool(),
            rules: RULES_VERSION,
            made: now().to_string(),
            basis,
            project,
            max_growth,
            stores,
            digest: String::new(),
        };
        plan.digest = plan.computed_digest()?;
        Ok(plan)
    }

    /// Reads a plan.
    ///
    /// # Errors
    /// File: it cannot be read or is no plan. Usage: it is of a newer format. Refused: its digest is another one.
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|source| Error::io("read the plan", path, source))?;
        let plan: Self = serde_json::from_slice(&bytes).map_err(|source| {
            Error::caused(ErrorKind::File, format!("{path:?} is damaged or no plan"), source)
                .hint("Make it again with `rekey plan`.")
        })?;
        if plan.format != FORMAT {
            return Err(Error::usage(format!(
                "The plan {path:?} has format {}; this build reads format {FORMAT}",
                plan.format
            ))
            .hint("Use the version of rekey that made it, or make it again."));
        }
        if plan.computed_digest()? != plan.digest {
            return Err(Error::refused(format!(
                "The plan {path:?} is not as it was made: its digest is another one; nothing was done"
            ))
            .hint("Make it again with `rekey plan`: a plan is not edited."));
        }
        Ok(plan)
    }

    /// Writes it; the file appears whole or not at all.
    ///
    /// # Errors
    /// File: it cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        save(&self.json(true)?, path)
    }

    /// The plan of one store.
    pub fn store(&self, name: &str) -> Option<&StorePlan> {
        self.stores.iter().find(|store| store.store == name)
    }

    /// The digest as it must be: of the plan in one line, its digest empty.
    fn computed_digest(&self) -> Result<String> {
        let without = Self { digest: String::new(), ..self.clone() };
        Ok(hex::encode(Sha256::digest(without.json(false)?)))
    }

    fn json(&self, pretty: bool) -> Result<String> {
        let text = if pretty { serde_json::to_string_pretty(self) } else { serde_json::to_string(self) };
        text.map_err(|error| Error::bug(format!("The plan has no JSON form: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_read_as_it_was_written_and_refused_once_it_was_edited() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan.json");
        let store = StorePlan { store: "orders".into(), documents: 7, ..StorePlan::default() };
        let plan = Plan::new(Basis::Stores, "rekey.toml".into(), 10, vec![store]).unwrap();
        plan.write(&path).unwrap();
        assert_eq!(Plan::load(&path).unwrap(), plan);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("\"documents\": 7", "\"documents\": 8")).unwrap();
        assert_eq!(Plan::load(&path).unwrap_err().kind(), ErrorKind::Refused);
        std::fs::write(&path, text.replace("\"format\": 1", "\"format\": 2")).unwrap();
        assert_eq!(Plan::load(&path).unwrap_err().kind(), ErrorKind::Usage);
        std::fs::write(&path, "{}").unwrap();
        assert_eq!(Plan::load(&path).unwrap_err().kind(), ErrorKind::File);
    }
}
