use std::path::PathBuf;

use clap::{ArgGroup, Args};

use crate::error::{Error, Result};
use crate::options::TenantRuleChoice;

const RULE: &str = "Tenant rule (exactly one)";

/// Which tenant each stream belongs to.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("tenant_rule").required(true).multiple(false)
    .args(["single_tenant", "untenanted", "tenant", "tenant_map", "tenant_field"]))]
pub(super) struct TenantArgs {
    /// `__default__`: what a host that never enabled multi-tenancy resolves
    #[arg(long, help_heading = RULE)]
    single_tenant: bool,

    /// `__untenanted__`: a multi-tenant host's deliberately untenanted documents
    #[arg(long, help_heading = RULE)]
    untenanted: bool,

    /// One tenant id for all of it, exactly as typed
    #[arg(long, value_name = "ID", allow_hyphen_values = true, help_heading = RULE)]
    tenant: Option<String>,

    /// A CSV file with the header key,tenant that gives each stream its tenant
    #[arg(long, value_name = "FILE.csv", help_heading = RULE)]
    tenant_map: Option<PathBuf>,

    /// A field of the documents, with a JSON pointer into the JSON it holds: tenantId, metadata#/tenantId
    ///
    /// JSON in text, base64 and binary is read. Documents of a stream that carry it must agree; the others inherit.
    #[arg(long, value_name = "PATH", help_heading = RULE)]
    tenant_field: Option<String>,

    /// Refuse tenants that are not in this file, one id a line
    #[arg(long, value_name = "FILE", help_heading = "Tenants")]
    pub(super) known_tenants: Option<PathBuf>,

    /// Move the streams of these tenants alone; the others are counted as out of scope
    #[arg(long, value_name = "A,B", value_delimiter = ',', help_heading = "Tenants")]
    pub(super) only_tenants: Vec<String>,

    /// Accept tenants of which one's key prefix begins another's (raw `acme` and `acme:eu`)
    #[arg(long, help_heading = "Tenants")]
    pub(super) allow_prefix_tenants: bool,
}

impl TenantArgs {
    /// The one rule that was stated.
    pub(super) fn rule(&self) -> Result<TenantRuleChoice> {
        let rules = [
            self.single_tenant.then_some(TenantRuleChoice::SingleTenant),
            self.untenanted.then_some(TenantRuleChoice::Untenanted),
            self.tenant.clone().map(TenantRuleChoice::Tenant),
            self.tenant_map.clone().map(TenantRuleChoice::Map),
            self.tenant_field.clone().map(TenantRuleChoice::Field),
        ];
        let mut stated = rules.into_iter().flatten();
        match (stated.next(), stated.next()) {
            (Some(rule), None) => Ok(rule),
            _ => {
                Err(Error::usage("State exactly one tenant rule.")
                    .hint("Run `rekey rekey --help` to see them."))
            }
        }
    }
}

/// Checks a list of tenants: none empty, each once.
pub(super) fn tenants(flag: &str, typed: Vec<String>) -> Result<Vec<String>> {
    let mut tenants: Vec<String> = Vec::with_capacity(typed.len());
    for tenant in typed {
        if tenant.trim().is_empty() {
            return Err(Error::usage(format!("{flag} names a tenant without a name."))
                .hint("Separate tenants by single commas: acme,globex."));
        }
        if !tenants.contains(&tenant) {
            tenants.push(tenant);
        }
    }
    Ok(tenants)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tenants_are_listed_once_and_none_is_empty() {
        let list =
            |typed: &[&str]| tenants("--only-tenants", typed.iter().map(ToString::to_string).collect());
        assert_eq!(list(&["acme", "globex", "acme"]).unwrap(), ["acme", "globex"]);
        assert_eq!(list(&[]).unwrap(), Vec::<String>::new());
        assert_eq!(list(&["acme", " "]).unwrap_err().kind(), crate::ErrorKind::Usage);
    }
}
