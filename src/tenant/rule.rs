//! The rule the operator states, and how a manifest describes it.

use super::{KnownTenants, SINGLE_TENANT, TenantField, TenantMap, UNTENANTED, UnusedRows};
use crate::ui::format::count;
use serde::{Deserialize, Serialize};

/// How the tenant of a stream is found. Clones share what they learn about the use of the rule.
#[derive(Clone)]
pub enum TenantRule {
    /// One tenant for every stream.
    Constant(String),
    /// A map from keys to tenants.
    Map(Box<TenantMap>),
    /// A field of the documents.
    Field(TenantField),
}

impl TenantRule {
    /// The rule of a host that never enabled multi-tenancy.
    pub fn single_tenant() -> Self {
        Self::Constant(SINGLE_TENANT.to_owned())
    }

    /// The rule for what a multi-tenant host keeps outside every tenant.
    pub fn untenanted() -> Self {
        Self::Constant(UNTENANTED.to_owned())
    }

    /// The rows of the tenant map that gave no stream its tenant so far; `None` for other rules.
    pub fn unused_rows(&self) -> Option<UnusedRows> {
        match self {
            Self::Map(map) => Some(map.unused_rows()),
            Self::Constant(_) | Self::Field(_) => None,
        }
    }

    /// How many documents held something else than JSON where the rule looked for it; they carry no tenant.
    pub fn documents_without_json(&self) -> u64 {
        match self {
            Self::Field(field) => field.documents_without_json(),
            Self::Constant(_) | Self::Map(_) => 0,
        }
    }
}

/// A rule as a manifest records it: enough to tell whether two runs used the same one, without a map's rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleDescription {
    /// The rule.
    #[serde(flatten)]
    pub rule: DescribedRule,
    /// The list of known tenants, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_tenants: Option<FileDescription>,
}

/// A rule without its rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum DescribedRule {
    /// One tenant for every stream.
    Constant {
        /// The tenant term.
        tenant: String,
    },
    /// A map.
    Map(FileDescription),
    /// A field of the documents.
    Field {
        /// Field name, or field name and JSON pointer.
        path: String,
    },
}

/// A file that took part in the rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDescription {
    /// The SHA-256 of the file in hex.
    pub sha256: String,
    /// How many rows of the map, or tenants of the list, it holds.
    pub rows: u64,
}

impl RuleDescription {
    /// Describes a rule and the known tenants.
    pub fn of(rule: &TenantRule, known: Option<&KnownTenants>) -> Self {
        let rule = match rule {
            TenantRule::Constant(tenant) => DescribedRule::Constant { tenant: tenant.clone() },
            TenantRule::Map(map) => {
                DescribedRule::Map(FileDescription { sha256: map.sha256().to_owned(), rows: map.rows() })
            }
            TenantRule::Field(field) => DescribedRule::Field { path: field.path().to_owned() },
        };
        let known_tenants = known
            .map(|known| FileDescription { sha256: known.sha256().to_owned(), rows: known.len() as u64 });
        Self { rule, known_tenants }
    }
}

impl std::fmt::Display for DescribedRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Constant { tenant } => write!(f, "the tenant {tenant:?} for every stream"),
            Self::Map(FileDescription { rows, .. }) => write!(f, "a tenant map of {}", count(*rows, "row")),
            Self::Field { path } => write!(f, "the tenant that documents carry in {path:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_keep_their_form_in_manifests() {
        let file = FileDescription { sha256: "ab".into(), rows: 3 };
        let cases = [
            (DescribedRule::Constant { tenant: "acme".into() }, r#"{"kind":"constant","tenant":"acme"}"#),
            (DescribedRule::Map(file.clone()), r#"{"kind":"map","sha256":"ab","rows":3}"#),
            (
                DescribedRule::Field { path: "metadata#/tenantId".into() },
                r#"{"kind":"field","path":"metadata#/tenantId"}"#,
            ),
        ];
        for (rule, json) in cases {
            let description = RuleDescription { rule, known_tenants: None };
            assert_eq!(serde_json::to_string(&description).unwrap(), json);
            assert_eq!(serde_json::from_str::<RuleDescription>(json).unwrap(), description);
        }
        let known = RuleDescription { rule: DescribedRule::Map(file.clone()), known_tenants: Some(file) };
        let json = r#"{"kind":"map","sha256":"ab","rows":3,"known_tenants":{"sha256":"ab","rows":3}}"#;
        assert_eq!(serde_json::to_string(&known).unwrap(), json);
    }
}
