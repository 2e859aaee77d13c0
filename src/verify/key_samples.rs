use std::collections::BTreeMap;

use crate::key::{Escaping, Template};
use crate::layout::{Identity, Layout};

/// How many keys of one tenant are kept.
const OF_EACH: usize = 2;
/// Of how many tenants.
const TENANTS: usize = 200;
/// The most characters of a document that are kept.
const CONTENT: usize = 4_000;

/// The first keys of each tenant that a store holds, of different streams, in their order, with the legacy keys of the same documents.
#[derive(Clone, Debug)]
pub struct KeySamples {
    legacy: Option<Template>,
    with_content: bool,
    by_tenant: BTreeMap<u32, Vec<FoundKey>>,
}

/// One key that a store holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundKey {
    /// The legacy key of the document, as the layout makes it from the document's fields.
    pub legacy: String,
    /// The key as a person sees it.
    pub shown: String,
    /// The beginning of the document, where content may be shown.
    pub document: Option<String>,
    type_name: String,
    id: String,
}

impl KeySamples {
    /// Keeps keys, and with `with_content` their documents.
    pub fn new(layout: &Layout, with_content: bool) -> Self {
        let legacy = layout.keys.first().and_then(|key| key.legacy.clone());
        Self { legacy, with_content, by_tenant: BTreeMap::new() }
    }

    /// Looks at the next document, in whatever order they come.
    pub fn take(&mut self, tenant: u32, shown: &str, identity: &Identity, line: &[u8]) {
        let Some(legacy) = &self.legacy else { return };
        if self.by_tenant.len() >= TENANTS && !self.by_tenant.contains_key(&tenant) {
            return;
        }
        let kept = self.by_tenant.entry(tenant).or_default();
        if kept.len() >= OF_EACH && kept.last().is_none_or(|last| last.shown.as_str() <= shown) {
            return;
        }
        let stream = (&identity.type_name, &identity.id);
        let same = kept.iter().position(|it| (&it.type_name, &it.id) == stream);
        match same.and_then(|at| kept.get(at)) {
            // Of one stream the first document will do.
            Some(it) if it.shown.as_str() <= shown => return,
            _ => drop(same.map(|at| kept.remove(at))),
        }
        let mut old = String::new();
        legacy.render(&identity.terms(""), Escaping::Raw, &mut old);
        let document = self.with_content.then(|| beginning(&String::from_utf8_lossy(line)));
        let place = kept.partition_point(|it| it.shown.as_str() <= shown);
        let (type_name, id) = (identity.type_name.clone(), identity.id.clone());
        kept.insert(place, FoundKey { legacy: old, shown: shown.to_owned(), document, type_name, id });
        kept.truncate(OF_EACH);
    }

    /// What was kept, with the tenants' numbers.
    pub fn into_found(self) -> impl Iterator<Item = (u32, FoundKey)> {
        self.by_tenant.into_iter().flat_map(|(tenant, keys)| keys.into_iter().map(move |key| (tenant, key)))
    }
}

fn beginning(text: &str) -> String {
    match text.char_indices().nth(CONTENT) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(with_content: bool) -> KeySamples {
        KeySamples::new(&Layout::builtin("cosmosdb-events").unwrap(), with_content)
    }

    fn identity(id: &str) -> Identity {
        Identity { type_name: "Order".into(), id: id.into(), version: Some(7), ..Identity::default() }
    }

    #[test]
    fn the_first_keys_of_each_tenant_are_kept_whatever_order_they_come_in() {
        let mut samples = samples(false);
        for id in ["c", "a", "d", "b"] {
            for (tenant, version) in [(1, 8), (1, 7), (0, 7), (0, 8)] {
                let key = format!("t:{tenant}:Order:{id}:{version}");
                samples.take(tenant, &key, &Identity { version: Some(version), ..identity(id) }, b"{}");
            }
        }
        let found: Vec<_> = samples.into_found().map(|(tenant, it)| (tenant, it.legacy, it.shown)).collect();
        let row =
            |tenant: u32, id: &str| (tenant, format!("Order:{id}:7"), format!("t:{tenant}:Order:{id}:7"));
        assert_eq!(found, [row(0, "a"), row(0, "b"), row(1, "a"), row(1, "b")]);
    }

    #[test]
    fn content_is_kept_only_where_it_was_asked_for_and_not_all_of_it() {
        let line = format!(r#"{{"id":"{}"}}"#, "é".repeat(CONTENT));
        for (with_content, characters) in [(false, None), (true, Some(CONTENT + 1))] {
            let mut samples = samples(with_content);
            samples.take(0, "t:acme:Order:a:7", &identity("a"), line.as_bytes());
            let (_, found) = samples.into_found().next().unwrap();
            assert_eq!(found.document.map(|it| it.chars().count()), characters);
        }
    }
}
