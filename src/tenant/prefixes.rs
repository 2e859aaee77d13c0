//! Whether keys of different tenants can be told apart: no rendered prefix may begin another.

use std::collections::BTreeSet;

/// The rendered key prefixes of the tenants in use, such as `t:acme:`.
#[derive(Clone, Debug, Default)]
pub struct PrefixSet {
    /// Prefix, then tenant: sorted, a prefix stands directly before everything that begins with it.
    prefixes: BTreeSet<(Box<[u8]>, Box<str>)>,
}

/// Two tenants whose keys could be read two ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefixConflict {
    /// The tenant whose prefix begins the other's.
    pub shorter: String,
    /// The tenant whose prefix begins with the other's.
    pub longer: String,
}

impl std::fmt::Display for PrefixConflict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { shorter, longer } = self;
        write!(f, "the key prefix of the tenant {shorter:?} begins the key prefix of the tenant {longer:?}")
    }
}

impl PrefixSet {
    /// Makes an empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tenant with its prefix, the separator after the tenant term included; adding it again changes nothing.
    pub fn insert(&mut self, tenant: &str, prefix: &[u8]) {
        let _ = self.prefixes.insert((prefix.into(), tenant.into()));
    }

    /// Finds every tenant whose prefix begins with another's, each with the longest such prefix.
    pub fn conflicts(&self) -> Vec<PrefixConflict> {
        let mut conflicts = Vec::new();
        let mut open: Vec<(&[u8], &str)> = Vec::new();
        for (prefix, tenant) in &self.prefixes {
            while open.last().is_some_and(|(begun, _)| !prefix.starts_with(begun)) {
                let _ = open.pop();
            }
            if let Some((_, shorter)) = open.last() {
                conflicts.push(PrefixConflict { shorter: (*shorter).into(), longer: tenant.to_string() });
            }
            open.push((prefix, tenant));
        }
        conflicts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn raw(tenants: &[&str]) -> PrefixSet {
        let mut set = PrefixSet::new();
        for tenant in tenants {
            set.insert(tenant, format!("t:{tenant}:").as_bytes());
        }
        set
    }

    fn pairs(set: &PrefixSet) -> Vec<(String, String)> {
        set.conflicts().into_iter().map(|conflict| (conflict.shorter, conflict.longer)).collect()
    }

    #[test]
    fn raw_tenants_with_a_separator_conflict_with_the_tenant_they_begin_with() {
        let found = pairs(&raw(&["acme", "acme:eu", "acme:eu:west", "acmex", "globex"]));
        assert_eq!(found, [("acme".into(), "acme:eu".into()), ("acme:eu".into(), "acme:eu:west".into())]);
    }

    #[test]
    fn tenants_that_share_letters_only_do_not_conflict() {
        assert_eq!(raw(&["acme", "acme-eu", "acme2", "ac"]).conflicts(), []);
    }

    #[test]
    fn two_tenants_with_one_prefix_conflict_and_a_repeated_tenant_does_not() {
        let mut set = raw(&["acme", "acme"]);
        assert_eq!(set.conflicts(), []);
        set.insert("other", b"t:acme:");
        assert_eq!(set.conflicts().len(), 1);
    }

    proptest! {
        #[test]
        fn a_conflict_is_found_exactly_where_a_pair_conflicts(tenants in proptest::collection::btree_set("[a:]{1,4}", 0..8)) {
            let tenants: Vec<&str> = tenants.iter().map(String::as_str).collect();
            let begun = |longer: &str| tenants.iter().any(|shorter| *shorter != longer && format!("{longer}:").starts_with(&format!("{shorter}:")));
            let expected = tenants.iter().filter(|tenant| begun(tenant)).count();
            prop_assert_eq!(raw(&tenants).conflicts().len(), expected);
        }
    }
}
