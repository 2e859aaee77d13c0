//! The tenant term: the framework's constants, and what cannot be a tenant or looks like a slip of the pen.

use super::KnownTenants;
use crate::check::{Reason, Refusal};

/// The term of a host that never enabled multi-tenancy (`TenantDefaults.DefaultTenantId`).
pub const SINGLE_TENANT: &str = "__default__";
/// The term of what a multi-tenant host keeps outside every tenant (`TenantScope.UntenantedSentinel`).
pub const UNTENANTED: &str = "__untenanted__";
/// The longest tenant id in UTF-16 units (`TenantId.MaxLength`).
pub const MAX_UTF16_UNITS: usize = 64;

/// How many letters a tenant may differ from a constant and still be taken for a misspelling of it.
const MISSPELLED: usize = 2;
/// What programs write where a value is missing.
const PLACEHOLDERS: [&str; 3] = ["null", "undefined", "none"];

/// Where a tenant was stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Typed by the operator: a constant needs no entry among the known tenants.
    CommandLine,
    /// Read from a map or from documents.
    Data,
}

/// Whether `tenant` is one of the framework's two constants.
pub fn is_constant(tenant: &str) -> bool {
    tenant == SINGLE_TENANT || tenant == UNTENANTED
}

/// Refuses what the framework would not take for a tenant, what looks mistyped and is not known, and,
/// where the known tenants are listed, every other.
pub fn check_tenant(tenant: &str, origin: Origin, known: Option<&KnownTenants>) -> Result<(), Refusal> {
    if let Some(detail) = invalid(tenant) {
        return Err(Refusal::new(Reason::TenantInvalid, detail));
    }
    if is_constant(tenant) && (origin == Origin::CommandLine || known.is_none()) {
        return Ok(());
    }
    if known.is_some_and(|known| known.contains(tenant)) {
        return Ok(());
    }
    if let Some(detail) = suspicious(tenant) {
        return Err(Refusal::new(Reason::TenantSuspicious, detail));
    }
    match known {
        Some(_) => Err(Refusal::new(
            Reason::TenantUnknown,
            format!("the tenant {tenant:?} is not among the known tenants"),
        )),
        None => Ok(()),
    }
}

fn invalid(tenant: &str) -> Option<String> {
    if tenant.trim().is_empty() {
        return Some(format!("the tenant {tenant:?} is blank"));
    }
    let units = tenant.encode_utf16().count();
    (units > MAX_UTF16_UNITS)
        .then(|| format!("the tenant {tenant:?} has {units} UTF-16 units; {MAX_UTF16_UNITS} are the most"))
}

fn suspicious(tenant: &str) -> Option<String> {
    if is_constant(tenant) {
        return None;
    }
    if tenant.starts_with(is_unseen) || tenant.ends_with(is_unseen) {
        return Some(format!("the tenant {tenant:?} begins or ends with white space"));
    }
    if tenant.contains(char::is_control) {
        return Some(format!("the tenant {tenant:?} holds a control character"));
    }
    let letters: String =
        tenant.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    if letters.is_empty() {
        return Some(format!("the tenant {tenant:?} holds no letter or digit"));
    }
    if PLACEHOLDERS.contains(&letters.as_str()) {
        return Some(format!("the tenant {tenant:?} looks like a missing value"));
    }
    let meant = [(SINGLE_TENANT, "default"), (UNTENANTED, "untenanted")]
        .into_iter()
        .find(|(_, bare)| is_misspelling(&letters, bare));
    meant.map(|(constant, _)| {
        format!("the tenant {tenant:?} resembles the constant {constant:?} but is not it")
    })
}

/// Compares lengths first, so that most tenants cost no comparison of letters.
fn is_misspelling(letters: &str, bare: &str) -> bool {
    letters.chars().count().abs_diff(bare.len()) <= MISSPELLED
        && strsim::osa_distance(letters, bare) <= MISSPELLED
}

/// White space, control characters, and the characters of no width that copying from a page brings along.
fn is_unseen(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(tenant: &str, origin: Origin, known: Option<&str>) -> Option<Reason> {
        let known = known.map(KnownTenants::parse);
        check_tenant(tenant, origin, known.as_ref()).err().map(|refusal| refusal.reason)
    }

    #[test]
    fn ordinary_tenants_and_exact_constants_are_accepted() {
        let tenants =
            ["acme", "a:b", "100%", "Ünternehmen", "t/1 #2", "__default__", "__untenanted__", "7", "na"];
        for tenant in tenants {
            assert_eq!(reason(tenant, Origin::Data, None), None, "{tenant}");
        }
    }

    #[test]
    fn blank_and_overlong_tenants_are_invalid_even_when_known() {
        let long = "x".repeat(65);
        for tenant in ["", " ", "\t\u{a0}", long.as_str()] {
            assert_eq!(reason(tenant, Origin::Data, Some(tenant)), Some(Reason::TenantInvalid), "{tenant:?}");
        }
        assert_eq!(reason(&"x".repeat(64), Origin::Data, None), None);
        assert_eq!(reason(&"😀".repeat(33), Origin::Data, None), Some(Reason::TenantInvalid));
    }

    #[test]
    fn what_resembles_a_constant_is_suspicious_until_it_is_known() {
        let slips = [
            "__defualt__",
            "_default_",
            "__DEFAULT__",
            "default",
            "Default",
            "__default",
            "untenanted",
            "__untenated__",
            "__unteanted__",
            "*",
            "__",
            " acme",
            "acme\u{a0}",
            "acme\u{200b}",
            "ac\nme",
            "NULL",
            "(none)",
            "undefined",
        ];
        for tenant in slips {
            assert_eq!(
                reason(tenant, Origin::CommandLine, None),
                Some(Reason::TenantSuspicious),
                "{tenant:?}"
            );
        }
        for tenant in ["default", "*", " acme", "__defualt__"] {
            assert_eq!(reason(tenant, Origin::Data, Some(tenant)), None, "{tenant:?}");
        }
    }

    #[test]
    fn known_tenants_refuse_any_other_but_a_constant_that_was_typed() {
        assert_eq!(reason("acme", Origin::Data, Some("acme\nglobex")), None);
        assert_eq!(reason("initech", Origin::CommandLine, Some("acme")), Some(Reason::TenantUnknown));
        assert_eq!(reason("__default__", Origin::CommandLine, Some("acme")), None);
        assert_eq!(reason("__default__", Origin::Data, Some("acme")), Some(Reason::TenantUnknown));
    }
}
