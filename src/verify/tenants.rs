use std::collections::BTreeMap;

use crate::key::Escaping;
use crate::layout::Layout;

/// The tenants of a comparison, each with a number and the way its keys begin.
#[derive(Clone, Debug, Default)]
pub struct TenantNames {
    names: Vec<String>,
    numbers: BTreeMap<String, u32>,
    prefixes: Vec<(String, u32)>,
    /// Whether the documents say nothing of their tenant besides their key.
    by_prefix: bool,
}

impl TenantNames {
    /// Numbers the tenants that the archives know.
    pub fn new<'a>(tenants: impl IntoIterator<Item = &'a str>, layout: &Layout, escaping: Escaping) -> Self {
        let mut names = Self { by_prefix: layout.has_tenant_in_key_alone(), ..Self::default() };
        for tenant in tenants {
            let number = names.number(tenant);
            names.prefixes.push((layout.tenant_prefix(tenant, escaping), number));
        }
        // The longest prefix first: where tenants overlap, that is the closest reading.
        names.prefixes.sort_by(|(a, _), (b, _)| b.len().cmp(&a.len()).then(a.cmp(b)));
        names.prefixes.dedup();
        names
    }

    /// The number of a tenant, a new one if it has none.
    pub fn number(&mut self, tenant: &str) -> u32 {
        if let Some(number) = self.numbers.get(tenant) {
            return *number;
        }
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(tenant.to_owned());
        let _ = self.numbers.insert(tenant.to_owned(), number);
        number
    }

    /// The number of the tenant that a key belongs to: a known one whose keys begin so, else the one it reads as.
    ///
    /// A MongoDB event's key can be read in more than one way where tenants hold `:` and terms are raw. Where one
    /// tenant's prefix begins another's, that is the closest reading, and only a key map knows the right one.
    pub fn number_of_key(&mut self, shown_key: &str, read_as: &str) -> u32 {
        if let Some(number) = self.numbers.get(read_as).filter(|_| !self.by_prefix) {
            return *number;
        }
        let known = self.prefixes.iter().find(|(prefix, _)| shown_key.starts_with(prefix.as_str()));
        match known {
            Some((_, number)) => *number,
            None => self.number(read_as),
        }
    }

    /// What stands in a key of a tenant behind its prefix.
    pub fn behind_prefix<'k>(&self, number: u32, shown_key: &'k str) -> Option<&'k str> {
        let mut own = self.prefixes.iter().filter(|(_, owner)| *owner == number);
        own.find_map(|(prefix, _)| shown_key.strip_prefix(prefix.as_str()))
    }

    /// The tenant with a number.
    pub fn name(&self, number: u32) -> &str {
        usize::try_from(number).ok().and_then(|number| self.names.get(number)).map_or("", String::as_str)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}
