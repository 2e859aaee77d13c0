//! The list of known tenants: any other is refused.

use crate::{Error, Result};
use sha2::{Digest, Sha256};
use std::{collections::HashSet, path::Path, sync::Arc};

/// The tenants that exist, as the operator lists them; clones share the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownTenants {
    tenants: Arc<HashSet<Box<str>>>,
    sha256: String,
}

impl KnownTenants {
    /// Reads one id a line: UTF-8, blank lines ignored, CR LF and a byte order mark accepted.
    ///
    /// A file without any id is a usage error, since it would refuse everything.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|e| Error::io("read the list of known tenants", path, e))?;
        let text = std::str::from_utf8(&bytes).map_err(|e| {
            let line = 1 + memchr::memchr_iter(b'\n', &bytes[..e.valid_up_to()]).count();
            Error::usage(format!("The list of known tenants {} is not UTF-8 on line {line}", path.display()))
        })?;
        let known = Self::parse(text);
        if known.tenants.is_empty() {
            return Err(Error::usage(format!(
                "The list of known tenants {} holds no tenant",
                path.display()
            ))
            .hint("Write one tenant id a line, or leave out --known-tenants."));
        }
        Ok(known)
    }

    /// Takes the ids from `text`, each exactly as it stands on its line.
    pub fn parse(text: &str) -> Self {
        let lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines();
        let tenants: HashSet<_> = lines.filter(|line| !line.trim().is_empty()).map(Box::from).collect();
        Self { tenants: tenants.into(), sha256: hex::encode(Sha256::digest(text)) }
    }

    /// Whether `tenant` is listed, compared as the framework compares tenants: exactly.
    pub fn contains(&self, tenant: &str) -> bool {
        self.tenants.contains(tenant)
    }

    /// How many different tenants are listed.
    pub fn len(&self) -> usize {
        self.tenants.len()
    }

    /// Whether none is listed.
    pub fn is_empty(&self) -> bool {
        self.tenants.is_empty()
    }

    /// The SHA-256 of the file, in hex.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_order_mark_cr_lf_blank_lines_and_missing_last_line_end_are_accepted() {
        let known = KnownTenants::parse("\u{feff}acme\r\n\r\n  \nglobex corp\ninitech");
        assert_eq!(known.len(), 3);
        assert!(["acme", "globex corp", "initech"].iter().all(|tenant| known.contains(tenant)));
        assert!(!known.contains("ACME"));
    }

    #[test]
    fn a_list_without_tenants_and_one_that_is_not_utf8_are_usage_errors() {
        let dir = tempfile::tempdir().unwrap();
        for bytes in [&b"\r\n \n"[..], b"acme\n\xff\n"] {
            let path = dir.path().join("known.txt");
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(KnownTenants::read(&path).unwrap_err().kind(), crate::ErrorKind::Usage);
        }
    }
}
